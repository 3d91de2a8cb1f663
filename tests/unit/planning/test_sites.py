"""Plans for sites: widths are those that the estimate gives, and noise costs what it was said to."""

from dataclasses import replace

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import InvalidInput
from fairgauge.goals.reckoning import Reckoning
from fairgauge.planning.sites import Expected, plan_sites
from fairgauge.study import Attribute, NoisyCounts
from tests.sites import SEX, levels_study, site_of


def site(epsilon: str = "1") -> NoisyCounts:
    return NoisyCounts(SEX, "confusion", epsilon)


@pytest.mark.parametrize(("epsilon", "more"), [("1", 1.21), ("2", 1.05)])
def test_what_noise_adds_for_twenty_hospitals(epsilon: str, more: float) -> None:
    rows = {row.metric: row for row in plan_sites(site(epsilon), Expected(20, 500, 0.3), confidence=0.95)}
    assert list(rows) == ["selection_rate", "accuracy", "tpr", "fpr", "precision"]
    found = rows["tpr"]
    assert found.error is not None
    assert found.error_without_privacy is not None
    assert found.error / found.error_without_privacy == pytest.approx(more, abs=0.005)


def test_too_few_to_tell() -> None:
    assert plan_sites(site("0.1"), Expected(3, 20))[2].error is None


def test_several_groups_hold_together() -> None:
    three = NoisyCounts(Attribute("age", ("young", "middle", "old")), "confusion", "1")
    two = NoisyCounts(Attribute("age", ("young", "old")), "confusion", "1")
    wide, narrow = (plan_sites(one, Expected(20, 500, 0.3))[2].error for one in (three, two))
    assert wide is not None
    assert narrow is not None
    assert wide > narrow


@pytest.mark.parametrize(
    ("expected", "field"),
    [
        ({"sites": 0, "people": 5}, "sites"),
        ({"sites": 5, "people": 0}, "people"),
        ({"sites": 5, "people": 5, "positives": 0.0}, "positives"),
        ({"sites": 5, "people": 5, "right": 1.0}, "expect"),
    ],
)
def test_out_of_range(expected: dict[str, float], field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        Expected(**expected)  # type: ignore[arg-type]


def test_levels_are_planned_in_the_metrics_units() -> None:
    """Without noise the error is what values and their rounding to levels let it be, by the normal law."""
    found = site_of(levels_study())
    assert found.metric is not None
    assert found.levels is not None
    expected = Expected(20, 500, values=Reckoning(0.4, 0.3))
    each = expected.counts(found).reshape(2, -1)[0] / 5000
    levels = np.array(found.levels) / LEVEL_UNIT
    mean, variance = each @ levels, each @ levels**2 - (each @ levels) ** 2
    assert mean == pytest.approx(0.4, abs=1e-3)
    assert 0.3**2 < variance < 0.3**2 + (levels[1] - levels[0]) ** 2 / 4
    (row,) = plan_sites(found, expected, confidence=0.95)
    assert row.error is not None
    assert row.error_without_privacy is not None
    # A little wider: how much values vary is not known exactly.
    assert 1 < row.error_without_privacy / (1.96 * (2 * variance / 5000) ** 0.5 * found.metric.scale) < 1.2
    assert row.error > row.error_without_privacy
    (widest,) = plan_sites(found, replace(expected, values=Reckoning(0.4, None)), confidence=0.95)
    assert (widest.error or 0) > row.error


def test_stated_shares_are_reckoned_with() -> None:
    even, uneven = (plan_sites(site(), Expected(20, 500, shares=of))[0].error for of in (None, (0.1, 0.9)))
    assert (uneven or 0) > 1.3 * (even or 1)
