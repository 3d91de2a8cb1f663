from dataclasses import replace
from decimal import Decimal

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.estimation import Interval, estimate
from fairgauge.reports.gap_change import describe_change
from fairgauge.simulation import Cell, Population, simulate_exactly
from fairgauge.study import Metric, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.surveys import designed

PAIR = ("female", "male")


def test_an_interval_around_nothing_says_so() -> None:
    told = describe_change(Interval(0.0, -0.05, 0.03), PAIR, before=-0.3)
    assert told == (
        "The answers do not tell whether the new model widens the gap: female falls behind male by something between "
        "0.030 less and 0.050 more than before."
    )


@pytest.mark.parametrize(("before", "behind", "word"), [(-0.3, "female", "widens"), (0.3, "male", "narrows")])
def test_who_was_behind_decides_what_a_change_means(before: float, behind: str, word: str) -> None:
    told = describe_change(Interval(-0.1, -0.2, -0.05), PAIR, before=before)
    assert told.startswith(f"The new model {word} the gap: {behind} falls behind")
    assert "between 0.050 and 0.200" in told
    # The twin: the other way round.
    other = describe_change(Interval(0.1, 0.05, 0.2), PAIR, before=before)
    assert word not in other


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (-0.02, "reverses the gap: female was behind male, and is now ahead by between 0.130 and 0.230."),
        (
            Interval(-0.1, -0.13, -0.05),
            "reverses the gap: female was behind male, and is now ahead by between 0.020 and",
        ),
        (
            Interval(-0.1, -0.2, -0.05),
            "narrows the gap or reverses it: female falls behind male by between 0.150 and 0.250",
        ),
        (Interval(-0.5, -0.6, -0.4), "narrows the gap: female falls behind male by between 0.150 and 0.250 less"),
        (0.02, "widens the gap: male falls behind female by between 0.150 and 0.250 more than before."),
    ],
)
def test_a_gap_that_turns_round_is_not_called_narrower(before: Interval | float, told: str) -> None:
    """Before, a gap of -.02 that became +.18 was said to narrow."""
    assert told in describe_change(Interval(0.2, 0.15, 0.25), PAIR, before=before)


@pytest.mark.parametrize("before", [0.0, Interval(0.0, -0.1, 0.1)])
def test_who_was_behind_must_be_known(before: Interval | float) -> None:
    with pytest.raises(InvalidInput, match="must tell whether female or male was behind"):
        describe_change(Interval(0.1, 0.05, 0.2), PAIR, before=before)


def test_a_study_of_differences_finds_what_the_two_models_do() -> None:
    question = designed(Scores(Target((0.5, 0.5))), "4", design="randomized-response")
    asked = replace(question, metric=Metric("recall, new minus old", -1, 1))
    study = Study("Two models", (asked,))
    # Women lose 0.3 with the new model, and men nothing.
    population = Population((Cell("female", Decimal("-0.3"), 40_000), Cell("male", Decimal(0), 40_000)))
    found = estimate(study, simulate_exactly(study, population, seed=1))
    told = describe_change(found.questions[0].gap(*PAIR), PAIR, before=-0.1)
    assert told.startswith("The new model widens the gap: female falls behind male by between 0.2")
