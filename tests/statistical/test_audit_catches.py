"""The auditor against randomisers whose epsilon is known: it never accuses the honest, and it catches the rest.

The confidence is 1 - FALSE_POSITIVE_RATE, so an honest randomiser is accused that seldom.
"""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fairgauge.audit import audit_study, lower_bound
from fairgauge.channel import Channel
from fairgauge.client.randomiser import draw_symbol
from fairgauge.paper.mechanisms import (
    Published,
    notebook_laplace,
    published_laplace,
    published_response,
    sound_laplace,
    sound_response,
)
from fairgauge.paper.theorems import claimed_epsilon, exact_loss
from tests.samples import THREE_LEVELS, sample_question, sample_study
from tests.statistical.exact import FALSE_POSITIVE_RATE

SEED = 20261115
CONFIDENCE = 1 - FALSE_POSITIVE_RATE


def found_epsilon(mechanism: Published, samples: int) -> float:
    rng = np.random.default_rng(SEED)

    def reports(group: int) -> NDArray[np.float64]:
        return np.column_stack(mechanism.randomise(np.full(samples, group), np.ones(samples), rng))

    return lower_bound(reports(0), reports(1), confidence=CONFIDENCE).epsilon


@pytest.mark.parametrize(("epsilon", "samples"), [(0.1, 400_000), (1.0, 40_000), (3.0, 40_000)])
def test_claimed_m_r_is_caught(epsilon: float, samples: int) -> None:
    mechanism = published_response(epsilon)
    assert claimed_epsilon(mechanism) < found_epsilon(mechanism, samples) <= exact_loss(mechanism).epsilon


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
def test_claimed_m_l_is_caught(epsilon: float) -> None:
    assert found_epsilon(published_laplace(epsilon), 40_000) > max(2.0, claimed_epsilon(published_laplace(epsilon)))
    assert found_epsilon(notebook_laplace(epsilon), 40_000) > 1.0


@pytest.mark.parametrize("make", [sound_response, sound_laplace])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_sound_ones_are_not(make: Callable[[float], Published], epsilon: float) -> None:
    assert found_epsilon(make(epsilon), 100_000) <= epsilon


STUDY = sample_study(sample_question(levels=THREE_LEVELS))
DRAW = draw_symbol
DRAWN = "fairgauge.client.randomiser.draw_symbol"


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random._urandom", random.Random(SEED).randbytes)


def caught() -> bool:
    (question,) = audit_study(STUDY, samples=6000, confidence=CONFIDENCE)
    return question.caught


def test_the_honest_client_is_not_caught() -> None:
    assert not caught()


def test_a_client_that_sometimes_tells_the_truth_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    coin = random.Random(SEED)

    def draw(channel: Channel, group: int, position: object) -> int:
        truth = group * len(channel.levels) + (0 if position == -(2**30) else 2 if position == 2**30 else 1)
        return truth if coin.random() < 0.25 else DRAW(channel, group, position)  # type: ignore[arg-type]

    monkeypatch.setattr(DRAWN, draw)
    assert caught()


def test_a_client_that_draws_from_a_sharper_table_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(channel: Channel, group: int, position: object) -> int:
        return max(DRAW(channel, group, position) for _ in range(2))  # type: ignore[arg-type]

    monkeypatch.setattr(DRAWN, draw)
    assert caught()


def test_a_generator_with_stuck_bits_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one bit of a byte left, two places of a row are hit, and which symbols those are depends on the input."""
    stream = random.Random(SEED)
    monkeypatch.setattr("random._urandom", lambda size: bytes(byte & 0x80 for byte in stream.randbytes(size)))
    assert caught()


def test_a_client_of_another_study_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client answers with a table of epsilon 3 while the published one says 1.1."""
    weights = np.array([20, 1, 1, 1, 1, 1])
    table = tuple(tuple(int(w) for w in np.roll(weights, x) * (2**53 // 25)) for x in range(6))
    table = tuple((row[0] + 2**53 - sum(row), *row[1:]) for row in table)
    other = replace(STUDY.questions[0].channel, table=table)
    monkeypatch.setattr(DRAWN, lambda channel, group, position: DRAW(other, group, position))
    assert caught()
