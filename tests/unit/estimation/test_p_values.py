"""How surprising a gap is: the same for a gap and its mirror image, whether shares are known or estimated."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from scipy.stats import binomtest

from fairgauge.estimation import estimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval_readers import READERS, counts_of
from fairgauge.estimation.p_values import holm
from fairgauge.targets.comparisons import Pair
from tests.surveys import expected_tally, people, study, tells_all

PAIR = ("female", "male")


def p_value(
    shares: tuple[str, ...], values: tuple[str, str], tolerance: float, *, each: int = 5000, interval: str = "normal"
) -> float:
    """Return the p-value of a gap between as many women as men with these values."""
    asked = study(tells_all(*shares))
    women, men = values
    tally = expected_tally(asked, people(("female", women, each), ("male", men, each)))
    return estimate(asked, tally, tolerance=tolerance, interval=interval).questions[0].p_values[PAIR]


@pytest.mark.parametrize("shares", [("0.5", "0.5"), ()], ids=["known", "estimated"])
def test_a_negative_gap_is_as_surprising_as_the_positive_one(shares: tuple[str, ...]):
    up, down = p_value(shares, ("0.2", "0"), 0.01), p_value(shares, ("0", "0.2"), 0.01)
    assert 1e-9 < up < 0.1
    # Where shares are estimated, other studies deal out their answers otherwise.
    assert down == pytest.approx(up, rel=0.05 if shares else 0.7)


@pytest.mark.parametrize("shares", [("0.5", "0.5"), ()], ids=["known", "estimated"])
@pytest.mark.parametrize("values", [("0.2", "0"), ("0", "0.2")])
def test_a_gap_within_the_tolerance_is_no_surprise_on_either_side(shares: tuple[str, ...], values: tuple[str, str]):
    assert p_value(shares, values, 0.3) == 1.0


@pytest.mark.parametrize("interval", ["population", "normal"])
@pytest.mark.parametrize("shares", [("0.5", "0.5"), ()], ids=["known", "estimated"])
def test_a_gap_is_as_surprising_as_its_mirror_image_far_from_zero(shares: tuple[str, ...], interval: str):
    """Compared with the tolerance on its own side: with the other one, a tolerance of half the gap would be nothing."""
    up, down = (p_value(shares, values, 0.1, each=15_000, interval=interval) for values in (("0.2", "0"), ("0", "0.2")))
    assert 1e-9 < up < 0.2
    assert down == pytest.approx(up, rel=0.25)  # parts of the answers are dealt anew


def test_holm_is_never_larger_than_bonferroni_and_keeps_the_order():
    bonferroni: dict[Pair, float] = {(0, 1): 0.4, (0, 2): 0.001, (1, 2): 1.0, (0, 3): 0.004, (1, 3): 0.02, (2, 3): 0.02}
    found = holm(bonferroni, 6)
    assert list(found) == list(bonferroni)
    assert all(found[pair] <= bonferroni[pair] for pair in found)
    assert found == pytest.approx(
        {
            (0, 2): 0.001,
            (0, 3): 0.004 * 5 / 6,
            (1, 3): 0.02 * 4 / 6,
            (2, 3): 0.02 * 4 / 6,
            (0, 1): 0.4 * 2 / 6,
            (1, 2): 1,
        }
    )


def test_holm_makes_few_mistakes_among_many_that_are_true():
    """With 9 of 10 gaps within the tolerance, some p-value of theirs is at most 5 % in at most 5 % of studies."""

    def mistakes(adjust: Callable[[dict[Pair, float]], Mapping[Pair, float]]) -> int:
        rng, wrong = np.random.default_rng(5), 0
        for _ in range(2000):
            raw = rng.random(10)
            raw[0] = 1e-9
            found = adjust({(0, n): 10 * p if p < 0.05 else 1.0 for n, p in enumerate(raw)})
            wrong += any(found[0, n] <= 0.05 for n in range(1, 10))
        return wrong

    assert binomtest(mistakes(lambda ps: holm(ps, 10)), 2000, 0.05, alternative="greater").pvalue > 1e-6
    # Mutant: p-values of their own, not together.
    assert (
        binomtest(mistakes(lambda ps: {k: p / 10 for k, p in ps.items()}), 2000, 0.05, alternative="greater").pvalue
        < 1e-6
    )


def test_gaps_that_are_not_told_count_among_those_that_are_compared():
    """Which gaps are told depends on the answers: to leave the others out would be to choose after seeing them."""
    told = holm({(0, 1): 0.001, (0, 2): 0.03}, 6)
    assert told == pytest.approx({(0, 1): 0.001, (0, 2): 0.03 * 5 / 6})


@pytest.mark.parametrize("interval", ["normal", "anytime"])
def test_gaps_of_estimated_shares_are_holms_too(interval: str):
    asked = study(tells_all(groups=3))
    values = (("female", "0.9", 3000), ("male", "0.1", 3000), ("other", "-0.5", 3000))
    reader = READERS[interval](
        estimands_of(asked.questions[0]), counts_of(expected_tally(asked, people(*values)).counts)
    )
    pairs = reader.estimands.compared
    alone = {pair: reader.p_value(pair, 0.1) for pair in pairs}
    assert len({p for p in alone.values() if p < 1}) > 1
    assert reader.p_values(pairs, 0.1) == holm(alone, 3) != alone


def test_the_clearest_of_several_gaps_is_as_surprising_as_all_of_them_together_say():
    """Holm sharpens the others; the first p-value is Bonferroni's, three times what the gap alone would have."""
    asked = study(tells_all("0.3", "0.3", "0.4"))
    values = (("female", "0.9", 600), ("male", "0.1", 600), ("other", "0.5", 800))
    counts = counts_of(expected_tally(asked, people(*values)).counts)
    reader = READERS["normal"](estimands_of(asked.questions[0]), counts)
    together = {pair: reader.p_value(pair, 0.0) for pair in reader.estimands.compared}
    found = reader.p_values(reader.estimands.compared, 0.0)
    assert len(together) == 3
    assert 1e-9 < min(together.values()) < 0.5
    assert min(found.values()) == min(together.values())
    assert found == holm(together, 3)
