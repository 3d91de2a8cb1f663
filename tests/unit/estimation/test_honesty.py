"""The check of honesty: what it must catch, what it must not, and that its bets are fair, to the digit."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from fairgauge.estimation import honesty
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.honesty import _LEAST, SUSPICIOUS, fit_p_value
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import Decoder
from fairgauge.targets.target import Target
from tests.surveys import coin_question, designed, tells_all

GAP = estimands_of(designed(Scores(Target((0.5, 0.5))), "1", design="uncentred")).decoder
MEANS = estimands_of(
    designed(Scores(Target((0.5, 0.5), shares_known=False, kind="means")), "2", design="uncentred")
).decoder
ALL = estimands_of(tells_all("0.3", "0.7")).decoder
COIN = estimands_of(coin_question()).decoder
DECODERS = pytest.mark.parametrize("decoder", [GAP, MEANS, ALL], ids=["gap", "means", "all"])


def honest(decoder: Decoder, answers: int, seed: int) -> tuple[int, ...]:
    rng = np.random.default_rng(seed)
    mixture = rng.dirichlet(np.full(len(decoder.rows), 0.2))
    return tuple(rng.multinomial(answers, mixture @ decoder.rows).tolist())


def p_value(decoder: Decoder, counts: tuple[int, ...]) -> float:
    return fit_p_value(decoder.rows, counts, name="a study")


@DECODERS
@pytest.mark.parametrize("answers", [1, 30, 1000, 10**6, 10**9, 10**15])
def test_honest_counts_are_not_suspicious(decoder: Decoder, answers: int):
    assert min(p_value(decoder, honest(decoder, answers, seed)) for seed in range(8)) > SUSPICIOUS


@DECODERS
def test_everyone_sending_one_symbol_is_caught(decoder: Decoder):
    for symbol in range(decoder.rows.shape[1]):
        counts = np.zeros(decoder.rows.shape[1], dtype=int)
        counts[symbol] = 300
        assert p_value(decoder, tuple(counts.tolist())) < SUSPICIOUS


def test_a_p_value_has_a_least():
    assert p_value(GAP, (10**9, *(0,) * (GAP.rows.shape[1] - 1))) == pytest.approx(_LEAST)


def test_uniform_counts_are_caught_where_no_mixture_is_uniform():
    counts = (20_000 // GAP.rows.shape[1],) * GAP.rows.shape[1]
    assert p_value(GAP, counts) < SUSPICIOUS


def test_the_counts_of_another_table_are_caught():
    other = GAP.rows[:, ::-1] if not np.allclose(GAP.rows, GAP.rows[:, ::-1]) else np.roll(GAP.rows, 1, axis=1)
    counts = np.round(20_000 * other.mean(axis=0)).astype(int)
    assert p_value(GAP, tuple(np.roll(counts, 1).tolist())) < SUSPICIOUS


def test_the_split_follows_from_the_name_alone():
    counts = honest(GAP, 10_000, 1)
    assert fit_p_value(GAP.rows, counts, name="a") == fit_p_value(GAP.rows, counts, name="a")
    assert (honesty._split(counts, "a") != honesty._split(counts, "b")).any()
    assert (honesty._split(counts, "a").sum(axis=1) == counts).all()


def test_a_symbol_that_no_row_gives_is_caught():
    rows = np.array([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0]])
    assert fit_p_value(rows, (500, 500, 0), name="a") > SUSPICIOUS
    assert fit_p_value(rows, (480, 480, 40), name="a") < SUSPICIOUS


# Six clients of two kinds who send one of two symbols, each in one of three parts: every case there is.
KINDS = (0, 0, 0, 0, 1, 1)
ROWS = np.array([[0.75, 0.25], [0.25, 0.75]])


def expected_winnings(*, split: bool = True) -> float:
    """What honest clients win on average."""
    chances: Counter[tuple[int, ...]] = Counter()
    for sent in product(range(2), repeat=len(KINDS)):
        chance = float(np.prod([ROWS[kind, symbol] for kind, symbol in zip(KINDS, sent, strict=True)]))
        for parts in product(range(3), repeat=len(KINDS)):
            counts = np.zeros((3, 2), dtype=int)
            np.add.at(counts, (list(parts), list(sent)), 1)
            chances[tuple(counts.ravel().tolist())] += chance / 3 ** len(KINDS)
    cases = np.array(list(chances)).reshape(-1, 3, 2)
    if not split:
        # A cheat who learns from the very answers that he bets on.
        cases = np.stack([cases.sum(axis=1)] * 2, axis=1)
    return float(np.exp(honesty._log_winnings(cases, ROWS)) @ list(chances.values()))


def nowhere_near(laws: np.ndarray, rows: np.ndarray, **_: object) -> np.ndarray:
    """A bad way to find the nearest mixture."""
    return np.tile(np.linspace(1, 2, len(rows)) / np.linspace(1, 2, len(rows)).sum(), (len(laws), 1))


def test_bets_are_fair():
    assert 0.5 < expected_winnings() <= 1 + 1e-9


def test_bets_are_fair_however_badly_the_nearest_mixture_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(honesty, "_nearest_mixtures", nowhere_near)
    assert expected_winnings() <= 1 + 1e-9


def test_a_mutant_without_the_price_is_unfair(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(honesty, "_nearest_mixtures", nowhere_near)
    monkeypatch.setattr(honesty, "_log_price", lambda ratio, _: np.zeros(len(ratio)))
    assert expected_winnings() > 1.01


def test_a_mutant_that_does_not_split_is_unfair():
    assert expected_winnings(split=False) > 1.01
