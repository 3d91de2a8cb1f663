"""The check of honesty: false alarms among honest clients who are drawn, and what forging it catches.

Alarms among honest answers are at most binomial with the stated level, so a number of them that a binomial reaches
with probability 1e-6 is a broken promise.  So is a number of catches that a binomial with the stated power does not.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from fairgauge.estimation import honesty
from fairgauge.estimation.honesty import SUSPICIOUS, _nearest_mixtures, fit_p_value
from fairgauge.simulation import Population, simulate
from fairgauge.study import Question, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import RECALL
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.surveys import designed, people, tells_all

SEED = 20261115
POWER = 0.9
TWO, RARE = Scores(Target((0.5, 0.5))), Scores(Target((0.1, 0.9)))
ASKED: dict[str, Callable[[], tuple[Question, ...]]] = {
    "two groups": lambda: (designed(TWO, "1", design="uncentred"),),
    "a rare group": lambda: (designed(RARE, "4", design="uncentred"),),
    "shares estimated": lambda: (designed(Scores(Target((0.5, 0.5), shares_known=False, kind="means")), "1"),),
    "several questions": lambda: (tells_all("0.5", "0.5"), tells_all("0.5", "0.5", metric=RECALL)),
}
# The range of every metric here holds these values.
VALUES = {
    "everyone at one value": ("0.9",),
    "everyone at the end": ("1",),
    "values at the ends": ("0", "1"),
    "values everywhere": ("0", "0.13", "0.5", "0.77", "1"),
}


def asked(name: str) -> Study:
    return Study("Fit", ASKED[name]())


def population(values: tuple[str, ...]) -> Population:
    return people(*((group, value, 1) for group in ("female", "male") for value in values))


def alarms(study: Study, values: tuple[str, ...], answers: int, *, runs: int, forged: tuple[int, int] = (0, 0)) -> int:
    """Count the alarms over so many studies, where so many answers are replaced by one symbol."""
    rng, (symbol, replaced) = np.random.default_rng(SEED), forged
    rows = _rows(study)
    found = 0
    for run in range(runs):
        tally = simulate(study, population(values), clients=answers - replaced, seed=rng)
        own = np.array(tally.for_question(study, 0))
        counts = own if len(study.questions) == 1 else np.append(own, tally.contributors - own.sum())
        counts[symbol] += replaced
        found += fit_p_value(rows, tuple(counts.tolist()), name=f"study {run}") < SUSPICIOUS
    return found


def _rows(study: Study) -> np.ndarray:
    own = np.array(study.questions[0].channel.table, dtype=float) / 2**53
    several = len(study.questions)
    return own if several == 1 else np.column_stack([own / several, np.full(len(own), 1 - 1 / several)])


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize(
    ("study", "answers"),
    [("two groups", 10_000), ("two groups", 40), ("a rare group", 1000), ("shares estimated", 10_000),
     ("several questions", 10_000)],
)  # fmt: skip
def test_honest_answers_raise_no_more_alarms_than_stated(study: str, values: str, answers: int):
    found = alarms(asked(study), VALUES[values], answers, runs=40)
    assert binom.sf(found - 1, 40, SUSPICIOUS) >= FALSE_POSITIVE_RATE


def nowhere_near(laws: np.ndarray, rows: np.ndarray, **_: object) -> np.ndarray:
    """A bad way to find the nearest mixture: the first row, whatever the law is."""
    return np.tile(np.eye(len(rows))[0], (len(laws), 1))


def test_a_mutant_without_the_price_raises_false_alarms(monkeypatch: pytest.MonkeyPatch):
    study, values = asked("two groups"), VALUES["values everywhere"]
    monkeypatch.setattr(honesty, "_nearest_mixtures", nowhere_near)
    assert alarms(study, values, 10_000, runs=20) == 0
    monkeypatch.setattr(honesty, "_log_price", lambda ratio, _: np.zeros(len(ratio)))
    found = alarms(study, values, 10_000, runs=20)
    assert binom.sf(found - 1, 20, SUSPICIOUS) < FALSE_POSITIVE_RATE


@pytest.mark.parametrize("values", VALUES)
def test_one_forged_answer_in_twenty_is_caught(values: str):
    """Whatever the symbol is that they are forged to."""
    study = asked("two groups")
    for symbol in range(study.symbols):
        caught = alarms(study, VALUES[values], 10_000, runs=20, forged=(symbol, 500))
        assert binom.cdf(caught, 20, POWER) >= FALSE_POSITIVE_RATE


def test_a_mutant_that_suspects_nobody_is_blind(monkeypatch: pytest.MonkeyPatch):
    def honest(counts: np.ndarray, rows: np.ndarray) -> np.ndarray:
        found: np.ndarray = _nearest_mixtures(counts / counts.sum(axis=1, keepdims=True), rows) @ rows
        return found

    monkeypatch.setattr(honesty, "_suspected", honest)
    caught = alarms(asked("two groups"), VALUES["everyone at one value"], 10_000, runs=20, forged=(0, 500))
    assert binom.cdf(caught, 20, POWER) < FALSE_POSITIVE_RATE


def test_what_no_check_can_see_is_an_honest_law():
    """5 % sent to one symbol of randomized response is what another population sends: no test tells them apart."""
    rows = np.array(designed(TWO, "1", design="randomized-response").channel.table, dtype=float) / 2**53
    honest = np.array([0.15, 0.35, 0.15, 0.35]) @ rows
    for symbol in range(4):
        forged = 0.95 * honest + 0.05 * np.eye(4)[symbol]
        weights = _nearest_mixtures(forged[None], rows)
        assert (weights @ rows)[0] == pytest.approx(forged, abs=1e-7)
        assert (weights >= 0).all()
