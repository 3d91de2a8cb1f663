"""The smallest epsilon: as good as the reference cells or better, the least on its grid, and quick for many groups."""

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fairgauge.channel import Channel
from fairgauge.crowd import search
from fairgauge.crowd.certificate import certify
from fairgauge.crowd.laws import Blanket
from fairgauge.crowd.search import best_t, log_bound, smallest_epsilon
from fairgauge.designs import make_channel
from fairgauge.targets.target import Goal
from tests.samples import sample_channel

CELLS = json.loads((Path(__file__).parents[2] / "data" / "crowd_reference.json").read_text(encoding="utf-8"))["cells"]


@cache
def channel(local: str) -> Channel:
    return make_channel(Goal(target="gap", shares=(0.5, 0.5)), Decimal(local), design="uncentred")[1]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell['local']} {cell['n']} {cell['delta']}")
def test_cells_of_the_reference(cell: dict[str, Any]) -> None:
    table = channel(cell["local"])
    found = smallest_epsilon([Blanket.of(table.table)], cell["n"], Decimal(str(cell["delta"])), table.epsilon_bound)
    assert cell["lower"] <= found <= Decimal(cell["chernoff"]) * Decimal("1.001")
    assert found >= Decimal(cell["upper"]) * Decimal("0.998"), "no less than the bound that it is an upper bound of"


def test_no_smaller_one_is_certified_at_any_t() -> None:
    blanket = Blanket.of(sample_channel().table)
    found = smallest_epsilon([blanket], 5000, Decimal("1e-8"), Decimal("1.1"))
    assert len(found.as_tuple().digits) <= 5
    below = found * (1 - Decimal("2e-4"))
    for power in range(-40, 40):
        assert certify([blanket], 5000, below, Decimal("0.05") * Decimal("1.1") ** power)[0] > Decimal("1e-8")


def test_the_best_t_is_the_best() -> None:
    laws = [[[(0.2, 3.0, 1.0), (0.2, 1.0, 3.0), (0.1, 1.0, 1.0)]]]
    for people in (10, 10**4, 10**8):
        t = best_t(laws, people, 0.1)
        assert all(log_bound(laws, people, 0.1, t) < log_bound(laws, people, 0.1, t * other) for other in (0.98, 1.02))


def test_a_small_crowd_is_no_crowd() -> None:
    table = sample_channel()
    assert smallest_epsilon([Blanket.of(table.table)], 1, Decimal("1e-8"), table.epsilon_bound) == table.epsilon_bound


def test_more_people_hide_better() -> None:
    blanket = Blanket.of(sample_channel(loss=50).table)
    found = [
        smallest_epsilon([blanket], people, Decimal("1e-8"), Decimal(4)) for people in (10**3, 10**4, 10**6, 10**9)
    ]
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
