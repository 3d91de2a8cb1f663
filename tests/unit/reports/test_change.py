from dataclasses import replace
from decimal import Decimal

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.estimation import Interval, estimate
from fairgauge.goals.goal import Goal
from fairgauge.reports.change import describe_change
from fairgauge.simulation import Cell, Population, simulate_exactly
from fairgauge.study import Metric, Study
from tests.surveys import designed

PAIR = ("female", "male")


def test_an_interval_around_nothing_says_so() -> None:
    told = describe_change(Interval(0.0, -0.05, 0.03), PAIR, behind="female")
    assert told == (
        "The answers do not tell whether the new model widens the gap: female falls behind male by something between "
        "0.030 less and 0.050 more than before."
    )


@pytest.mark.parametrize(("behind", "word"), [("female", "widens"), ("male", "narrows")])
def test_who_was_behind_decides_what_a_change_means(behind: str, word: str) -> None:
    told = describe_change(Interval(-0.1, -0.2, -0.05), PAIR, behind=behind)
    assert told.startswith(f"The new model {word} the gap: {behind} falls behind")
    assert "between 0.050 and 0.200" in told
    # The twin: the other way round.
    other = describe_change(Interval(0.1, 0.05, 0.2), PAIR, behind=behind)
    assert word not in other


def test_a_group_that_is_not_compared_is_refused() -> None:
    with pytest.raises(InvalidInput, match="behind=old: must be female or male"):
        describe_change(Interval(0.1, 0.05, 0.2), PAIR, behind="old")


def test_a_study_of_differences_finds_what_the_two_models_do() -> None:
    question = designed(Goal((0.5, 0.5)), "4", design="randomized-response")
    asked = replace(question, metric=Metric("recall, new minus old", -1, 1))
    study = Study("Two models", (asked,))
    # Women lose 0.3 with the new model, and men nothing.
    population = Population((Cell("female", Decimal("-0.3"), 40_000), Cell("male", Decimal(0), 40_000)))
    found = estimate(study, simulate_exactly(study, population, seed=1))
    told = describe_change(found.questions[0].gap(*PAIR), PAIR, behind="female")
    assert told.startswith("The new model widens the gap: female falls behind male by between 0.2")
