"""Attributes that cross, guesses of shares, and comparisons."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fairgauge.errors import BadStudy
from fairgauge.study import Attribute, Comparison
from fairgauge.study.attribute import _INDEPENDENT
from tests.samples import RECALL, SEX

AGE = Attribute("age", {"18-29": "0.25", "30+": "0.75"}, answering="alike")


def test_stated_shares_are_known_only_where_all_groups_answer_alike() -> None:
    assert SEX.known_shares == (0.6, 0.4)
    stated = Attribute("sex", {"female": 0.6, "male": 0.4})
    assert (stated.shares, stated.answering, stated.known_shares) == (("0.6", "0.4"), "any", None)
    assert Attribute("sex", ("female", "male")).known_shares is None


def test_many_digits_of_shares_are_summed_exactly() -> None:
    tiny = "0." + "0" * 29 + "1"
    with pytest.raises(BadStudy, match="must sum to exactly 1"):
        Attribute("sex", ("a", "b", "c"), ("0.5", "0.5", tiny), answering="alike")


def test_crossed_shares_are_independent_unless_given_and_that_is_said() -> None:
    cells = Attribute.crossed(SEX, AGE)
    assert cells.name == "sex by age"
    assert cells.groups == ("female, 18-29", "female, 30+", "male, 18-29", "male, 30+")
    assert (cells.shares, cells.share_source) == (("0.15", "0.45", "0.1", "0.3"), _INDEPENDENT)
    given = Attribute.crossed(SEX, AGE, name="cells", shares=[0.1, 0.2, 0.3, 0.4], answering="alike")
    assert (given.name, given.shares, given.share_source) == ("cells", ("0.1", "0.2", "0.3", "0.4"), None)
    assert Attribute.crossed(SEX, replace(AGE, shares=None, answering="any")).shares is None


def test_cells_answer_alike_where_the_groups_of_every_factor_do() -> None:
    assert Attribute.crossed(SEX, AGE).answering == "alike"
    assert Attribute.crossed(SEX, replace(AGE, answering="any")).answering == "any"
    assert Attribute.crossed(SEX, AGE, answering="any").answering == "any"


def test_a_person_has_a_group_of_each_factor() -> None:
    assert [factor.name for factor in Attribute.crossed(SEX, AGE).factors] == ["sex", "age"]
    assert SEX.factors == (SEX,)


def test_shares_to_reckon_with() -> None:
    assert SEX.reckoned_shares == (0.6, 0.4)
    assert Attribute("sex", ["a", "b"], shares=[0.3, 0.7]).reckoned_shares == (0.3, 0.7)
    assert Attribute("sex", ["a", "b"]).reckoned_shares == (0.5, 0.5)


def test_comparisons_are_pairs_or_sets_of_groups() -> None:
    age = Attribute("age", ["abc", "b", "c"], comparisons=[("b", "c"), Comparison("abc", ["b", "c"], 2)])
    assert age.comparisons == (Comparison(["b"], ["c"]), Comparison(("abc",), ("b", "c"), "2"))


def sex(**changes: Any) -> Attribute:
    return replace(SEX, **changes)


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: Attribute.crossed(SEX), "cross=1 attributes: must be from 2 to 4"),
    (lambda: Attribute.crossed(SEX, RECALL), "factors[1]=a Metric: must be an Attribute"),  # type: ignore[arg-type]
    (lambda: Attribute.crossed(SEX, SEX), "cross[1].name=sex: must be crossed once"),
    (
        lambda: Attribute("cells", ["a", "b"], cross=[SEX, AGE]),
        "cross[0].shares=something: must be said of the cells",
    ),
    (
        lambda: replace(Attribute.crossed(SEX, AGE), groups=("a", "b", "c", "d")),
        "groups=a, b, c, d: must be the cells of what is crossed",
    ),
    (
        lambda: Attribute.crossed(*(Attribute(name, ["x", "y", "z"]) for name in "abcd")),
        "groups=81 groups: must be from 2 to 64",
    ),
    (lambda: sex(answering="often"), "answering=often: must be any, alike or a ratio above 1"),
    (
        lambda: sex(shares=None),
        "answering=alike: must not be given where shares are not: state every group's, or leave it out",
    ),
    (
        lambda: sex(answering="any", share_error="0.01"),
        "share_error=0.01: must not be given where answering is any",
    ),
    (lambda: sex(comparisons=[]), "comparisons=0 comparisons: must be from 1 to 2048"),
    (lambda: sex(comparisons="female"), "comparisons=female: must be a list of comparisons"),
    (lambda: sex(comparisons=["female"]), "comparisons[0]=female: must be a Comparison"),
    (lambda: sex(comparisons=[("female", "men")]), "comparisons[0].against[0]=men: must be one of the attr"),
    (lambda: sex(comparisons=[("male", "male")]), "comparisons[0].against[0]=male: must not be on both sides"),
    (lambda: sex(comparisons=[((), "male")]), "comparisons[0].of=no groups: must name at least one group"),
    (
        lambda: sex(comparisons=[(["male", "female"], "male")]),
        "comparisons[0].of=male, female: must name groups once, in the attribute's order",
    ),
    (
        lambda: sex(comparisons=[("male", "female"), ("male", "female")]),
        "comparisons[1]=male against female: must be listed once",
    ),
    (lambda: Comparison("a", "b", 0), "weight=0: must be above 0"),
    (lambda: sex(help=""), "help='': must be text of 1 to 2000 characters"),
]


@pytest.mark.parametrize(("mistake", "text"), MISTAKES, ids=[text[:40] for _, text in MISTAKES])
def test_a_mistake_gets_one_line(mistake: Callable[[], Any], text: str) -> None:
    with pytest.raises(BadStudy) as caught:
        mistake()
    assert str(caught.value).startswith(text)
