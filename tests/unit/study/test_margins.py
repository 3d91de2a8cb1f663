"""Groups taken together: margins, what is compared, and what people call it."""

from fairgauge.study import Attribute, Comparison
from fairgauge.study.margins import EVERYONE, margins, named_side, planned, side_name, usual_comparisons

SEX, AGE = Attribute("sex", ["female", "male"]), Attribute("age", ["18-29", "30-49", "50+"])
CELLS = Attribute.crossed(SEX, AGE)


def test_a_margin_has_all_cells_of_its_group():
    assert list(margins(CELLS)) == ["female", "male", "18-29", "30-49", "50+"]
    assert margins(CELLS)["50+"] == ("female, 50+", "male, 50+")
    assert margins(SEX) == {}


def test_a_group_that_two_attributes_have_is_called_by_its_attribute():
    both = Attribute.crossed(Attribute("eyes", ["good", "other"]), Attribute("ears", ["good", "other", "none"]))
    assert list(margins(both)) == ["eyes good", "eyes other", "ears good", "ears other", "none"]
    assert side_name(both, both.groups[:3]) == "eyes good"


def test_every_two_groups_are_compared_unless_something_is_planned():
    assert [(one.of, one.against) for one in planned(AGE)] == [
        (("18-29",), ("30-49",)),
        (("18-29",), ("50+",)),
        (("30-49",), ("50+",)),
    ]
    some = Attribute("age", AGE.groups, comparisons=[("50+", "18-29")])
    assert planned(some) == (Comparison("50+", "18-29"),)


def test_names_of_sides():
    assert side_name(CELLS, CELLS.groups) == EVERYONE
    assert side_name(CELLS, ("female, 18-29", "male, 18-29", "female, 50+")[:1]) == "female, 18-29"
    assert side_name(CELLS, ("female, 18-29", "male, 30-49")) == "(female, 18-29) or (male, 30-49)"
    assert side_name(CELLS, ("female, 18-29", "female, 30-49", "male, 18-29", "male, 30-49")) == "18-29 or 30-49"


def test_what_is_usual_is_margins_and_the_first_attribute_within_the_others():
    names = [tuple(side_name(CELLS, side) for side in (one.of, one.against)) for one in usual_comparisons(CELLS)]
    assert names == [
        ("female", "male"),
        ("18-29", "30-49"),
        ("18-29", "50+"),
        ("30-49", "50+"),
        ("female, 18-29", "male, 18-29"),
        ("female, 30-49", "male, 30-49"),
        ("female, 50+", "male, 50+"),
    ]
    Attribute.crossed(SEX, AGE, comparisons=usual_comparisons(CELLS))  # all are of its groups, in order


def test_a_name_stands_for_a_group_or_a_margin():
    assert named_side(CELLS, "male, 50+") == ("male, 50+",)
    assert named_side(CELLS, "male") == CELLS.groups[3:]
    assert named_side(CELLS, "old") is None
