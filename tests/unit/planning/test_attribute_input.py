"""Attributes that cross, as they are typed."""

from pathlib import Path
from typing import Any

import pytest

from fairgauge import Attribute, Metric, design
from fairgauge.errors import InvalidInput
from fairgauge.planning.attribute_input import Grouping, read_attribute, read_groups
from fairgauge.planning.input import ask
from fairgauge.study import Comparison
from fairgauge.study.attribute import _INDEPENDENT
from fairgauge.study.margins import side_name
from tests.samples import RECALL

CROSSED = ["sex=female,male", "age=young,old"]
ROWS = "sex,age,{}\nfemale,young,{}\nfemale,old,{}\nmale,young,{}\nmale,old,{}\n"


def shares(tmp_path: Path, *entries: str) -> Path:
    path = tmp_path / "shares.csv"
    path.write_text(ROWS.format(*entries))
    return path


def read(*crosses: str, file: Path | None = None, compare: tuple[str, ...] = ()):
    return read_attribute(Grouping(crosses=crosses, shares=file, compare=compare))


def test_shares_of_cells_come_from_a_file(tmp_path: Path):
    found = read(*CROSSED, file=shares(tmp_path, "share", "0.1", "0.4", "0.3", "0.2"))
    assert found.groups == ("female, young", "female, old", "male, young", "male, old")
    assert (found.shares, found.share_source) == (("0.1", "0.4", "0.3", "0.2"), None)


def test_counts_become_shares_that_sum_to_one(tmp_path: Path):
    found = read(*CROSSED, file=shares(tmp_path, "count", "1", "1", "1", "4"))
    assert found.shares == ("0.142857", "0.142857", "0.142857", "0.571429")


def test_margins_are_taken_as_independent_and_the_study_says_so():
    found = read("sex=female:0.4,male:0.6", "age=young:0.25,old:0.75")
    assert (found.shares, found.share_source) == (("0.1", "0.3", "0.15", "0.45"), _INDEPENDENT)


def test_cells_answer_as_it_is_typed():
    crosses = ("sex=female:0.4,male:0.6", "age=young:0.25,old:0.75")
    assert read(*crosses).known_shares is None
    assert read_attribute(Grouping(crosses=crosses, answering="alike")).known_shares == (0.1, 0.3, 0.15, 0.45)
    assert read(*CROSSED).shares is None


def test_what_is_compared_is_part_of_the_study():
    def names(*compare: str) -> list[tuple[str, str]]:
        found = read(*CROSSED, compare=compare)
        return [(side_name(found, one.of), side_name(found, one.against)) for one in found.comparisons or ()]

    assert names() == names("margins") == [
        ("female", "male"), ("young", "old"), ("female, young", "male, young"), ("female, old", "male, old"),
    ]  # fmt: skip
    assert len(names("cells")) == 6
    assert names("old:young", "male, old:female, old", "old:young") == [("old", "young"), ("male, old", "female, old")]


def test_groups_without_a_cross_may_be_compared_too():
    plain = read_attribute(Grouping(["a=0.2", "b=0.3", "c=0.5"], compare=["a:c"]))
    assert [(one.of, one.against) for one in plain.comparisons or ()] == [(("a",), ("c",))]
    assert read_attribute(Grouping(["a=0.5", "b=0.5"])).comparisons is None


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        (Grouping(["a", "b"], crosses=CROSSED), "group=a, b: must not be given beside --cross"),
        (Grouping(["a", "b"], shares=Path("x.csv")), "shares=x.csv: is about the cells of --cross"),
        (Grouping(crosses=CROSSED[:1]), "cross=sex=female,male: give at least two"),
        (Grouping(crosses=["sex", "age=a,b"]), "cross=sex: must be an attribute and its groups"),
        (Grouping(crosses=["sex=a:0.5,b", "age=a,b"]), "cross=sex=a:0.5,b: give every group a share"),
        (Grouping(crosses=["sex=a:0.5,b:0.5", "age=a,b"]), "give every group a share, or none"),
        (Grouping(crosses=CROSSED, compare=["female"]), "compare=female: must be two of female, male, young, old"),
        (Grouping(crosses=CROSSED, shares=Path("no.csv")), "shares=no.csv: cannot be read: No such file"),
    ],
)
def test_what_is_typed_wrong_is_named(typed: Grouping, line: str):
    with pytest.raises(InvalidInput) as refused:
        read_attribute(typed)
    assert line in str(refused.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sex,age\nfemale,young\n", "must have the columns sex, age and share or count; it has sex, age"),
        ("sex,age,share\nfemale,young,1\n", "must have a row for female, old"),
        ("sex,age,share\nfemale,young,1\nfemale,young,1\n", "shares, row 3=female, young: must be there once"),
        ("sex,age,share\nfemale,gone,1\n", "shares, row 2: age=gone: must be one of young, old"),
        (
            ROWS.format("share", "0.1", "0.1", "0.1", "0.1"),
            "must sum to exactly 1, not to 0.4; a column count",
        ),
        (ROWS.format("count", "900", "1,200", "1", "1"), "shares, row 3=4 fields: must be 3, as in the first line"),
        (ROWS.splitlines()[0].format("share"), "must have a row for"),
        ("\n" + ROWS.format("share", "0.25", "0.25", "0.25", "0.25"), "share or count; it has none"),
        ("sex,age,share\n\nfemale,teen,0.1\n", "shares, row 3: age=teen"),
        (ROWS.format("share", "much", "0.1", "0.1", "0.1"), "shares, row 2: share=much: must be a number"),
        (ROWS.format("count", "0", "1", "1", "1"), "must count somebody in every cell"),
        (ROWS.format("count", "1", "1", "1", "9000000"), "must have at least one in 1,000,000 in every cell"),
    ],
)
def test_a_file_of_shares_that_is_none_is_refused(tmp_path: Path, text: str, line: str):
    path = tmp_path / "shares.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput) as refused:
        read(*CROSSED, file=path)
    assert line in str(refused.value)


THREE = ("women=0.49", "men=0.49", "nonbinary=0.02")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"weigh": ["women:men"]}, "weigh=women:men: must be two groups and a weight, such as women:nonbinary=3"),
        ({"weigh": ["women:men=0"]}, "weigh=women:men=0: must have a weight above 0"),
        ({"weigh": ["women:men=nan"]}, "weigh=nan: must be a number"),
        ({"weigh": ["women:children=2"]}, "weigh=women:children: must be two of women, men, nonbinary"),
        ({"weigh": ["women:men=2", "men:women=3"]}, "weigh=men:women=3: must be weighed once"),
        ({"weigh": ["women:men=101"]}, "weigh=101: must be at most 100 times the smallest"),
        ({"weigh": ["women:men=0.009"]}, "weigh=1: must be at most 100 times the smallest"),
        ({"against": "children"}, "against=children: must be one of women, men, nonbinary"),
        ({"against": "men", "weigh": ["women:nonbinary=2"]}, "weigh=women:nonbinary=2: must be one of the comparisons"),
        ({"against": "men", "compare": ["women:men"]}, "against=men: must not be given beside --compare"),
        ({"compare": ["women:men", "men:women"]}, "compare=men:women: must be there once: it is there in the other"),
    ],
)
def test_what_is_weighed_or_compared_wrongly_is_said(typed: dict[str, Any], said: str):
    with pytest.raises(InvalidInput) as caught:
        ask(RECALL, read_attribute(Grouping(THREE, **typed)))
    assert str(caught.value).startswith(said)


def test_a_weight_is_of_a_comparison_in_either_order_and_a_reference_group_leaves_the_others():
    found = read_attribute(Grouping(THREE, against="men", weigh=["men:nonbinary=1e2"]))
    assert [(one.of, one.against, one.weight) for one in found.comparisons or ()] == [
        (("women",), ("men",), None),
        (("nonbinary",), ("men",), "100"),
    ]


def test_what_is_compared_in_python_is_checked_too():
    both = Attribute(
        "x", {"a": 0.5, "b": 0.3, "c": 0.2}, comparisons=[Comparison("a", "b"), Comparison("b", "a")], answering="alike"
    )
    with pytest.raises(InvalidInput, match="comparisons=b and a: must be there once, in one order"):
        design(Metric("recall", 0, 1), both, epsilon=1)


def test_stated_shares_steer_the_design_and_divide_nothing():
    found = read_groups(["female=0.30", "male=.7"], "sex")
    assert (found.name, found.groups, found.shares) == ("sex", ("female", "male"), ("0.3", "0.7"))
    assert found.reckoned_shares == pytest.approx((0.3, 0.7))
    assert (found.answering, found.known_shares) == ("any", None)


def test_where_all_answer_alike_the_shares_are_known():
    assert read_groups(["female=0.3", "male=0.7"], "sex", "alike").known_shares == (0.3, 0.7)


def test_what_divides_nothing_may_be_rounded():
    assert read_groups(["female=0.3", "male=0.7005"], "sex").shares == ("0.3", "0.7")
    assert read_groups(["a=0.333", "b=0.333", "c=0.333"], "age").shares == ("0.333", "0.333", "0.334")
    with pytest.raises(InvalidInput, match="must sum to exactly 1"):
        read_groups(["female=0.3", "male=0.7005"], "sex", "alike")


def test_without_shares_the_guess_is_that_all_are_alike():
    found = read_groups(["a", "b", "c"], "age")
    assert found.reckoned_shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert found.shares is None  # which needs no new format


@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        (["female~0.5", "male~0.5"], "group=female~0.5: must have its share behind ="),
        (["female=0.5", "male"], "give every group a share"),
        (["female"], "give at least two"),
        ([], "give at least two"),
        (["female=0.3", "male=0.6"], "shares=0.3, 0.6: must sum to exactly 1"),
        (["female=0", "male=1"], "group female=0: must have a share above 0 and below 1"),
        (["female=1", "male=0.5"], "group female=1: must have a share above 0 and below 1"),
        (["female=half", "male=0.5"], "group female=half: must be a number"),
    ],
)
def test_groups_that_cannot_be_read_are_refused_with_a_hint(typed: list[str], rule: str):
    with pytest.raises(InvalidInput) as refused:
        read_groups(typed, "sex")
    assert rule in str(refused.value)


@pytest.mark.parametrize("typed", ["1.1", "1.100", "01.10", "1.1e0"])
def test_a_ratio_is_one_however_it_is_typed(typed: str):
    assert read_attribute(Grouping(("a=0.5", "b=0.5"), answering=typed)).answering == "1.1"


@pytest.mark.parametrize("typed", ["sometimes", "1.0", "0.9", "nan", "1e9"])
def test_what_is_no_ratio_is_refused(typed: str):
    with pytest.raises(InvalidInput, match=r"answering=.*: must be any, alike or a ratio above 1"):
        read_attribute(Grouping(("a=0.5", "b=0.5"), answering=typed))
