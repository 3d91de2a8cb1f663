"""Many gaps and many groups in panels that people can read."""

from dataclasses import replace
from itertools import combinations

from fairgauge.estimation import Interval, QuestionEstimate
from fairgauge.reports.device_sentences import question_sentence
from fairgauge.reports.small_multiples import _MOST_GAPS, gap_panels, left_out_sentence, mean_panels, shown_gaps
from fairgauge.study import Attribute, Comparison
from fairgauge.study.margins import margins, planned, side_name, usual_comparisons
from tests.samples import sample_question

SEX, AGE = Attribute("sex", ["female", "male"]), Attribute("age", ["young", "middle", "old"])
CELLS = Attribute.crossed(SEX, AGE)
MANY = Attribute("town", [f"t{n}" for n in range(20)])


def found_for(attribute: Attribute) -> QuestionEstimate:
    """An estimate whose gaps grow in the order of the comparisons."""
    names = [(side_name(attribute, one.of), side_name(attribute, one.against)) for one in planned(attribute)]
    gaps = {pair: Interval(n / 100, n / 100 - 0.5, n / 100 + 0.5) for n, pair in enumerate(names)}
    means = {group: Interval(0.5, 0.4, 0.6) for group in attribute.groups}
    told = {name: Interval(0.5, 0.45, 0.55) for name in margins(attribute)}
    return QuestionEstimate(
        "recall", attribute.name, attribute.groups, 9, gaps, means, None, {}, None, {}, None, None, (), margins=told
    )


def asked(attribute: Attribute):
    return sample_question(attribute=attribute)


def titles(panels) -> list[tuple[str | None, list[str]]]:
    return [(panel.title, [name for name, _ in panel.rows]) for panel in panels]


def test_what_differs_in_one_attribute_stands_together():
    attribute = replace(CELLS, comparisons=usual_comparisons(CELLS))
    assert titles(gap_panels(asked(attribute), found_for(attribute))) == [
        ("female − male", ["over all", "young", "middle", "old"]),
        ("age", ["middle − old", "young − old", "young − middle"]),  # the largest first
    ]


def test_other_comparisons_have_a_panel_of_their_own():
    odd = Comparison("female, young", "male, old")
    attribute = replace(CELLS, comparisons=(odd, Comparison("female, old", "male, old")))
    assert titles(gap_panels(asked(attribute), found_for(attribute))) == [
        ("sex", ["female − male, old"]),
        ("other comparisons", ["female, young − male, old"]),
    ]


def test_means_are_margins_and_then_cells():
    assert titles(mean_panels(asked(CELLS), found_for(CELLS))) == [
        ("sex", ["female", "male"]),
        ("age", ["young", "middle", "old"]),
        ("female", ["young", "middle", "old"]),
        ("male", ["young", "middle", "old"]),
    ]


def test_of_190_gaps_the_largest_are_shown_and_the_rest_is_said():
    found = found_for(MANY)
    assert len(found.gaps) == 190
    shown = shown_gaps(found)
    assert len(shown) == _MOST_GAPS
    assert shown[0][0] == ("t18", "t19")
    assert left_out_sentence(found) == (
        "The 24 largest of 190 gaps are shown. The other 166, 115 of them clear, are in the JSON."
    )
    ((title, rows),) = titles(gap_panels(asked(MANY), found))
    assert (title, len(rows)) == (None, _MOST_GAPS)


def test_few_gaps_are_all_shown_in_their_order():
    found = found_for(AGE)
    assert [pair for pair, _ in shown_gaps(found)] == list(combinations(AGE.groups, 2))
    assert left_out_sentence(found) is None


def test_the_question_names_what_crosses():
    assert question_sentence(asked(CELLS)) == "Does the model's recall differ by sex and age (6 cells)?"
