"""Secret draws among the counts: exact probabilities for coins, tails against convolutions, and what forgets draws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from fairgauge.estimation.anytime import AnytimeTest
from fairgauge.estimation.betting import log_money
from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.estimation.edgeworth import Tails, drawn_of
from fairgauge.estimation.population_test import PopulationTest
from fairgauge.estimation.populations import Laws
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.symbol_scores import Decoder
from tests.surveys import coin_channel
from tests.unit.estimation.test_edgeworth import tails_of

HALF = np.array([0.5, 0.5])
COIN = Laws(Decoder.even(coin_channel(), HALF), HALF)
SCORE, ONE = np.array([-4.0, 4.0]), np.ones(2)
BLANKET = np.array([0.3, 0.7])  # any law that is known will do


def counted(gap: float, answers: int, draws: int) -> Vector:
    """How likely each number of ones is: of answers, 1/2 + gap/8 each, and of draws."""
    first, second = (binom.pmf(np.arange(n + 1), n, p) for n, p in ((answers, 0.5 + gap / 8), (draws, BLANKET[1])))
    return np.convolve(first, second)


def missed(kind: type, gap: float, answers: int, draws: int, alpha: float, *, known: Draws | None = None) -> float:
    """Return how often the right gap is rejected: the exact sum over all counts."""
    law, found = counted(gap, answers, draws), 0.0
    for ones in np.flatnonzero(law > 1e-9):
        counts = np.array([answers + draws - ones, ones], dtype=float)
        test = kind(COIN, SCORE, ONE, counts, alpha, draws=Draws(draws, BLANKET) if known is None else known)
        found += law[ones] if test.margin(gap) >= 0 else 0.0
    return float(found + law[law <= 1e-9].sum())


@pytest.mark.parametrize("kind", [PopulationTest, AnytimeTest])
@pytest.mark.parametrize("gap", [0.0, 0.6])
@pytest.mark.parametrize(("answers", "draws", "alpha"), [(4, 30, 0.1), (60, 20, 0.1), (60, 99, 0.01), (300, 90, 0.05)])
def test_with_draws_the_right_value_is_rejected_no_more_often_than_stated(
    kind: type, gap: float, answers: int, draws: int, alpha: float
) -> None:
    assert missed(kind, gap, answers, draws, alpha) <= alpha


@pytest.mark.parametrize("kind", [PopulationTest, AnytimeTest])
def test_counts_whose_draws_are_forgotten_reject_it(kind: type) -> None:
    """The mutant twin: all counts are taken for answers."""
    assert missed(kind, 0.0, 400, 150, 0.05, known=NO_DRAWS) > 0.1


def test_a_test_that_does_not_pay_for_their_scatter_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant twin: their mean is removed, and they are taken to have no variance."""
    monkeypatch.setattr(Draws, "variance", lambda self, scores: np.zeros(scores.shape[:-1]))
    monkeypatch.setattr("fairgauge.estimation.population_test.drawn_of", lambda *_: drawn_of(NO_DRAWS, ONE[None], ONE))
    assert missed(PopulationTest, 0.0, 400, 1500, 0.05) > 0.2


def test_money_is_a_martingale_with_draws() -> None:
    answers, draws, stakes = 5, 4, np.array([0.05, 0.2])
    law = counted(0.4, answers, draws)
    gains = SCORE - 0.4
    known = Draws(draws, BLANKET)
    each = [log_money(gains, np.array([answers + draws - n, n], dtype=float), stakes, known) for n in range(len(law))]
    assert law @ np.exp(each) == pytest.approx(1)


def test_what_answers_have_of_a_mean_follows_from_all() -> None:
    draws, values = Draws(30.0, BLANKET), np.array([1.0, 5.0])
    of_all = draws.of_all(np.array(2.0), values, 70.0)
    assert float(of_all) == pytest.approx((70 * 2.0 + 30 * 3.8) / 100)
    assert float(draws.of_answers(of_all, values, 70.0)) == pytest.approx(2.0)
    counts = np.array([40.0, 60.0])
    assert draws.removed(counts).tolist() == pytest.approx([31.0, 39.0])
    assert NO_DRAWS.removed(counts) is counts
    assert float(NO_DRAWS.mean(values)) == float(NO_DRAWS.variance(values)) == float(NO_DRAWS.won(values)) == 0


def with_draws(tails: Tails, draws: Draws, score: Vector) -> Tails:
    times = tails.heard.grid.points / tails.heard.scale
    return replace(tails, drawn=drawn_of(draws, score[None], times))


@pytest.mark.parametrize(("answers", "draws"), [(400, 100), (100, 400), (1, 300), (2000, 3)])
def test_tails_with_draws_are_bounded_by_the_convolution(answers: int, draws: int) -> None:
    """A skewed score, and draws by another skewed law: sums lie on a lattice, so both tails are exact numbers."""
    score, law, blanket = np.array([-1.0, 0.0, 7.0]), np.array([0.7, 0.2, 0.1]), np.array([0.5, 0.3, 0.2])
    known = Draws(float(draws), blanket)
    exact, spread = np.array([1.0]), np.array([0, 1, 8])
    for times, chances in ((answers, law), (draws, blanket)):
        one = np.zeros(9)
        one[spread] = chances
        for _ in range(times):
            exact = np.convolve(exact, one)
    sums = np.arange(len(exact)) - answers - draws - draws * float(blanket @ score)
    tails = with_draws(tails_of(score, law, answers), known, score)
    deviation = np.sqrt(answers * float(law @ score**2) + draws * float(known.variance(score)))
    low, high = (float(third[0]) for third in tails.thirds)
    skew = float(exact @ sums**3)
    assert low - 1e-6 * abs(skew) <= skew <= high + 1e-6 * abs(skew)
    for far in np.linspace(0.3, 4, 20) * deviation:
        above, below = float(tails.above(far / answers)[0]), float(tails.below(far / answers)[0])
        assert exact[sums >= far - 1e-9].sum() <= above
        assert exact[sums <= -far + 1e-9].sum() <= below
        if answers + draws >= 500:
            assert above <= exact[sums >= far - 1e-9].sum() + 0.03
