"""Plans for sites: widths are those that the estimate gives, and noise costs what it was said to."""

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.planning.sites import Expected, plan_sites
from fairgauge.study import Attribute, Site
from tests.sites import SEX, levels_study, site_of


def site(epsilon: str = "1") -> Site:
    return Site(SEX, "confusion", epsilon)


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
    three = Site(Attribute("age", ("young", "middle", "old")), "confusion", "1")
    two = Site(Attribute("age", ("young", "old")), "confusion", "1")
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


def test_levels_are_not_planned() -> None:
    found = site_of(levels_study())
    with pytest.raises(InvalidInput, match="must be confusion"):
        plan_sites(found, Expected(5, 5))
