"""An attack on published tallies: who looks before and after an answer sees its symbol, unless counts leave in batches.

One person at a time answers among others whose inputs the attacker knows.  The attacker asks for the public tally
before and after, and must guess which of two inputs the person holds, 50 to 50 beforehand.
"""

import asyncio
import math
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from scipy.stats import binom

from fairgauge.channel import ROW_SUM
from fairgauge.crowd import crowd_of
from fairgauge.study import Release, Study
from tests.collecting.desk import Desk, open_desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_question, sample_study
from tests.statistical.exact import FALSE_POSITIVE_RATE

SIZE, PEOPLE = 200, 220
OTHERS, ONE, TWO = 0, 1, 2  # the row that everyone else holds, and the two between which the attacker must guess
PLAIN = sample_study(sample_question(epsilon="2.4", loss=10))
RELEASED = replace(PLAIN, release=Release(SIZE, "0.001", "0"))
ROWS = [[weight / ROW_SUM for weight in row] for row in PLAIN.questions[0].channel.table]


@dataclass
class Attack:
    """What came of it."""

    people: int
    right: int
    symbols: int  # how many single symbols the attacker read off


def bound(study: Study) -> float:
    """Return how often a guess is right at most, by the crowd's certificate."""
    crowd = crowd_of(study, SIZE, observed=Decimal(0), delta=Decimal("0.001"))
    factor = math.exp(crowd.number)
    return (factor + float(crowd.delta)) / (1 + factor)


def likelier(counts: Sequence[int]) -> int:
    """Return the input that makes a sum of symbols likelier, if all but one of them are the others'.

    The sum has n symbols in no order, so its likelihood with input x, against all holding the others' input, is the
    average over its symbols of P(symbol | x) / P(symbol | others).
    """
    weights = [sum(n * ROWS[x][j] / ROWS[OTHERS][j] for j, n in enumerate(counts)) for x in (ONE, TWO)]
    return ONE if weights[0] > weights[1] else TWO


async def tallies(desk: Desk, study: Study, chance: random.Random, held: list[int]) -> AsyncIterator[list[int]]:
    """Let people answer, and yield the public tally whenever it may have changed."""

    def drawn(row: int, count: int) -> list[bytes]:
        symbols = chance.choices(range(study.symbols), ROWS[row], k=count)
        return [answer_bytes(study.digest, chance.randbytes(16), symbol) for symbol in symbols]

    for row in held:
        for answers in (drawn(OTHERS, SIZE // 2), drawn(row, 1), drawn(OTHERS, SIZE - SIZE // 2 - 1)):
            assert (await desk.batch(study, answers)).json()["accepted"] == len(answers)
            yield (await desk.get(f"/studies/{study.digest}/tally", token="")).json()["counts"]
    await desk.post(f"/studies/{study.digest}/close")
    yield (await desk.get(f"/studies/{study.digest}/tally", token="")).json()["counts"]


def attack(study: Study, folder: Path) -> Attack:
    """Run the attack against a collector."""
    chance = random.Random(7)
    held = [chance.choice((ONE, TWO)) for _ in range(PEOPLE)]

    async def play() -> list[list[int]]:
        async with open_desk(f"sqlite:///{folder / 'gauge.db'}", folder) as desk:
            assert (await desk.post("/studies?results=public", study.to_bytes())).status_code == 201
            return [[0] * study.symbols, *[tally async for tally in tallies(desk, study, chance, held)]]

    seen = asyncio.run(play())
    steps = [[late - early for early, late in zip(*pair, strict=True)] for pair in pairwise(seen)]
    grown = [step for step in steps if sum(step)]
    alone = [step for step in grown if sum(step) == 1]
    guesses = [likelier(step) for step in (alone or grown)]
    right = sum(guess == truth for guess, truth in zip(guesses, held, strict=False))
    return Attack(len(guesses), right, len(alone))


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Attack:
    return attack(PLAIN, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def with_batches(tmp_path_factory: pytest.TempPathFactory) -> Attack:
    return attack(RELEASED, tmp_path_factory.mktemp("released"))


def test_without_batches_the_attack_reads_every_symbol_and_beats_the_bound(without: Attack):
    assert (without.people, without.symbols) == (PEOPLE, PEOPLE)
    assert binom.sf(without.right - 1, PEOPLE, bound(PLAIN)) < FALSE_POSITIVE_RATE


def test_with_batches_it_reads_no_symbol_and_stays_within_the_bound(with_batches: Attack):
    assert with_batches.symbols == 0
    assert with_batches.people >= PEOPLE - 1  # the last two may leave together
    assert binom.sf(with_batches.right - 1, with_batches.people, bound(RELEASED)) > FALSE_POSITIVE_RATE


def test_with_batches_it_does_worse_than_without(without: Attack, with_batches: Attack):
    honest = without.right / without.people
    assert binom.cdf(with_batches.right, with_batches.people, honest) < FALSE_POSITIVE_RATE
