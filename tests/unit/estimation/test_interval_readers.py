"""Readers that test values: the interval is the hull of what is accepted, for every kind of number."""

from dataclasses import replace

import numpy as np
import pytest

from fairgauge.errors import CannotEstimate
from fairgauge.estimation import estimate
from fairgauge.estimation.confidence_set import inverted
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval_readers import READERS, TestReader
from tests.surveys import expected_tally, people, study, tells_all
from tests.unit.estimation.test_estimands import law
from tests.unit.estimation.test_normal import CASES, UNKNOWN

TESTED = ("population", "anytime")


def reader(name: str, interval: str, answers: int = 20_000) -> TestReader:
    question, population = CASES[name]
    counts = np.random.default_rng(3).multinomial(answers, law(question, population))
    found = READERS[interval](estimands_of(question), counts.astype(float))
    assert isinstance(found, TestReader)
    return found


@pytest.mark.parametrize("interval", TESTED)
@pytest.mark.parametrize("name", CASES)
def test_the_interval_is_the_hull_of_what_is_accepted(name: str, interval: str):
    read = reader(name, interval)
    ratio = (read.estimands.means or ())[0]
    found = read.ratio(ratio, 0.05)
    width = found.high - found.low
    assert found.low < found.estimate < found.high
    inside = np.linspace(found.low + 1e-3 * width, found.high - 1e-3 * width, 5)
    assert all(read.believes(ratio, float(r), 0.05) for r in inside)
    assert not any(read.believes(ratio, r, 0.05) for r in (found.low - 1e-3 * width, found.high + 1e-3 * width))
    assert read.beyond(ratio, found.low - 1e-3 * width, 0.05)
    assert not read.beyond(ratio, found.low + 1e-3 * width, 0.05)


@pytest.mark.parametrize("answers", [40, 150, 1500])
@pytest.mark.parametrize("name", CASES)
def test_no_value_beyond_what_is_found_is_accepted(name: str, answers: int):
    """That acceptance has no further run is assumed where the hull is searched for: nothing proves it."""
    read = reader(name, "population", answers)
    for ratio in (read.estimands.means or ())[:1]:
        test = read.test(ratio, 0.05)
        low, high = inverted(test)
        assert not [v for v in np.linspace(*test.extent, 83) if not low <= v <= high and test.margin(float(v)) < 0]


@pytest.mark.parametrize("interval", TESTED)
def test_a_share_that_is_not_clearly_above_zero_gives_no_number(interval: str):
    told = estimands_of(UNKNOWN)
    read = READERS[interval](told, np.round(500 * law(UNKNOWN, {(0, 1): 0.01, (1, 0): 0.99})))
    with pytest.raises(CannotEstimate, match=r"^the share of female is not clearly above zero$"):
        read.ratio((told.means or ())[0], 0.01)
    assert not read.beyond((told.means or ())[0], -100.0, 0.01)


@pytest.mark.parametrize("interval", [*TESTED, "normal"])
@pytest.mark.parametrize("value", ["0.5", "-0.5"])
def test_a_negative_gap_with_estimated_shares_has_the_p_value_of_a_positive_one(interval: str, value: str):
    asked = study(tells_all())
    tally = expected_tally(asked, people(("female", value, 500_000), ("male", "0", 500_000)))
    found = estimate(asked, tally, interval=interval, tolerance=0.05).questions[0]
    assert found.gap("female", "male").estimate == pytest.approx(float(value), abs=1e-3)
    assert found.p_values["female", "male"] < 0.01


@pytest.mark.parametrize("interval", TESTED)
@pytest.mark.parametrize("name", CASES)
def test_the_extremes_of_means_enclose_those_of_all_intervals(name: str, interval: str):
    read = reader(name, interval)
    groups = range(read.estimands.decoder.inputs.groups)
    every = [read.mean(group, 0.05 / len(groups)) for group in groups]
    smallest, largest = read.extremes(groups, 0.05)
    assert (smallest.estimate, largest.estimate) == (min(m.estimate for m in every), max(m.estimate for m in every))
    assert smallest.low == pytest.approx(min(mean.low for mean in every), abs=1e-9)
    assert largest.high == pytest.approx(max(mean.high for mean in every), abs=1e-9)
    # These ends may be of any one group.
    assert min(mean.high for mean in every) <= smallest.high <= max(mean.high for mean in every)
    assert min(mean.low for mean in every) <= largest.low <= max(mean.low for mean in every)


@pytest.mark.parametrize("interval", TESTED)
def test_extremes_of_means_that_rest_on_a_band_of_shares_have_each_their_part_of_alpha(interval: str):
    question = tells_all("0.3", "0.7")
    uncertain = replace(question.attribute, answering="alike", share_error="0.02")
    stated = replace(question, attribute=uncertain)
    read = READERS[interval](estimands_of(stated), np.round(20_000 * law(stated, {(0, 1): 0.3, (1, 1): 0.7})))
    every = [read.mean(group, 0.01) for group in range(2)]
    smallest, largest = read.extremes(range(2), 0.02)
    assert (smallest.low, smallest.high) == (min(m.low for m in every), min(m.high for m in every))
    assert (largest.low, largest.high) == (max(m.low for m in every), max(m.high for m in every))
