"""The smallest epsilon: as good as the reference or better, the least on its grid, and quick for many groups."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fairgauge.crowd import search
from fairgauge.crowd.certificate import Blanket, certify
from fairgauge.crowd.search import best_t, log_bound, smallest_epsilon
from tests.samples import sample_channel

POINTS = json.loads((Path(__file__).parents[2] / "data" / "draws_reference.json").read_text(encoding="utf-8"))["points"]


@pytest.mark.parametrize("point", POINTS, ids=lambda point: f"{point['table']} {point['draws']}")
def test_points_of_the_reference(point: dict[str, Any]) -> None:
    blankets = [Blanket.of(map(tuple, table)) for table in point["integers"]]
    found = smallest_epsilon(blankets, point["draws"], Decimal(point["delta"]), Decimal(10))
    assert Decimal("0.999") * Decimal(point["exact_fft"]) <= found <= Decimal("1.005") * Decimal(point["certified"])


def test_no_smaller_one_is_certified_at_any_t() -> None:
    blanket = Blanket.of(sample_channel().table)
    found = smallest_epsilon([blanket], 5000, Decimal("1e-8"), Decimal("1.1"))
    assert len(found.as_tuple().digits) <= 5
    below = found * (1 - Decimal("2e-4"))
    for power in range(-40, 40):
        assert certify([blanket], 5000, below, Decimal("0.05") * Decimal("1.1") ** power)[0] > Decimal("1e-8")


def test_the_best_t_is_the_best() -> None:
    laws = [[[(0.2, 3.0, 1.0), (0.2, 1.0, 3.0), (0.1, 1.0, 1.0)]]]
    for draws in (10, 10**4, 10**8):
        t = best_t(laws, draws, 0.1)
        assert all(log_bound(laws, draws, 0.1, t) < log_bound(laws, draws, 0.1, t * other) for other in (0.98, 1.02))


def test_one_draw_hides_next_to_nothing() -> None:
    table = sample_channel()
    assert smallest_epsilon([Blanket.of(table.table)], 1, Decimal("1e-8"), table.epsilon_bound) == table.epsilon_bound


def test_more_draws_hide_better() -> None:
    blanket = Blanket.of(sample_channel(loss=50).table)
    found = [smallest_epsilon([blanket], draws, Decimal("1e-8"), Decimal(4)) for draws in (10**3, 10**4, 10**6, 10**9)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < Decimal("0.002")


def test_many_groups() -> None:
    """Forty groups of three levels with a row and a symbol each, and one to abstain: 121 rows, 14,641 pairs."""
    wide = sample_channel(groups=40, levels=(-(2**30), 0, 2**30), abstain=True, loss=20)
    found = smallest_epsilon([Blanket.of(wide.table)], 10**5, Decimal("1e-8"), wide.epsilon_bound)
    assert 0 < found < Decimal("0.5")


@pytest.mark.parametrize("part", [0.997, 0.9995])
def test_what_floats_find_too_small_is_not_promised(monkeypatch: pytest.MonkeyPatch, part: float) -> None:
    """Floats say where to look; what is promised is what the integers certify."""
    blanket, delta = Blanket.of(sample_channel().table), Decimal("1e-8")
    honest = smallest_epsilon([blanket], 5000, delta, Decimal("1.1"))
    least = search._least
    monkeypatch.setattr(search, "_least", lambda *given: part * (least(*given) or 1.0))
    found = smallest_epsilon([blanket], 5000, delta, Decimal("1.1"))
    assert found == honest
