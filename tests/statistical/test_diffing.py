"""Attacks on published counts by whoever takes part: all other answers of a batch are the attacker's own.

An issuer can sign tickets for itself, a relay can send a thousand answers, and where anyone may answer one request
fills a batch: each then knows every answer but one, subtracts them from the public counts, and must guess which of two
inputs the person holds, 50 to 50 beforehand.  Here they play that game again and again, each time with a fresh batch.
``FAIRGAUGE_GAMES`` says how often; ``make attacks`` plays 500.
"""

import asyncio
import math
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from scipy.stats import binom

from fairgauge.channel import ROW_SUM
from fairgauge.collector.stores import released_sums
from fairgauge.crowd import blanket_weights, crowd_of
from fairgauge.study import Release, Study
from tests.collecting.desk import open_desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_question, sample_study
from tests.statistical.exact import FALSE_POSITIVE_RATE

GAMES = int(os.environ.get("FAIRGAUGE_GAMES", "150"))
SIZE, DRAWS, DELTA = 5, 1500, "0.001"
ONE, TWO = 1, 2  # the inputs between which the attacker must guess
PLAIN = sample_study(sample_question(epsilon="4.2", loss=60))
RELEASED = replace(PLAIN, release=Release(SIZE, DELTA, DRAWS))
ROWS = [[weight / ROW_SUM for weight in row] for row in PLAIN.questions[0].channel.table]
BLANKET = blanket_weights(PLAIN.channels)


@dataclass
class Attack:
    """What came of it."""

    games: int
    right: int
    symbols: int  # how many single symbols the attacker read off


def bound() -> float:
    """Return how often a guess is right at most, by the crowd's certificate."""
    crowd = crowd_of(PLAIN, DRAWS, delta=Decimal(DELTA))
    factor = math.exp(crowd.number)
    return (factor + float(crowd.delta)) / (1 + factor)


def likelier(counts: Sequence[int]) -> int:
    """Return the input that makes these counts likelier: one symbol of the person's, and draws of the blanket."""
    weights = [sum(n * ROWS[x][j] / BLANKET[j] for j, n in enumerate(counts)) for x in (ONE, TWO)]
    return ONE if weights[0] > weights[1] else TWO


def attack(study: Study, folder: Path, known: int = 0) -> Attack:
    """Play all games against a collector, one batch each, and read the public counts after each batch.

    Of the draws so many are ``known``, and all of the first symbol.
    """
    chance = random.Random(7)
    held = [chance.choice((ONE, TWO)) for _ in range(GAMES)]

    async def play() -> list[list[int]]:
        seen = [[0] * study.symbols]
        async with open_desk(f"sqlite:///{folder / 'gauge.db'}", folder) as desk:
            assert (await desk.post("/studies?results=public", study.to_bytes())).status_code == 201
            for row in held:
                symbol = chance.choices(range(study.symbols), ROWS[row])[0]
                sent = [answer_bytes(study.digest, chance.randbytes(16), s) for s in (symbol, *[0] * (SIZE - 1))]
                assert (await desk.batch(study, sent)).json()["accepted"] == SIZE
                seen.append((await desk.get(f"/studies/{study.digest}/tally", token="")).json()["counts"])
            await desk.post(f"/studies/{study.digest}/close")
            seen.append((await desk.get(f"/studies/{study.digest}/tally", token="")).json()["counts"])
        return seen

    steps = [[late - early for early, late in zip(*pair, strict=True)] for pair in pairwise(asyncio.run(play()))]
    left = [[step[0] - (SIZE - 1) - known, *step[1:]] for step in steps if sum(step)]
    guesses = [likelier(step) for step in left]
    right = sum(guess == truth for guess, truth in zip(guesses, held, strict=True))
    return Attack(len(guesses), right, sum(sum(step) == 1 for step in left))


@pytest.fixture(scope="module")
def with_draws(tmp_path_factory: pytest.TempPathFactory) -> Attack:
    return attack(RELEASED, tmp_path_factory.mktemp("released"))


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Attack:
    """The defence is switched off: draws are no secret, and the same games are played."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(released_sums, "draw_symbols", lambda _, count: Counter({0: count}))
        return attack(RELEASED, tmp_path_factory.mktemp("known"), known=DRAWS)


def test_who_knows_every_other_answer_is_right_no_more_often_than_promised(with_draws: Attack):
    assert (with_draws.games, with_draws.symbols) == (GAMES, 0)
    assert binom.sf(with_draws.right - 1, GAMES, bound()) > FALSE_POSITIVE_RATE


def test_with_draws_that_are_no_secret_the_attack_reads_every_symbol_and_beats_the_bound(without: Attack):
    assert (without.games, without.symbols) == (GAMES, GAMES)
    assert binom.sf(without.right - 1, GAMES, bound()) < FALSE_POSITIVE_RATE


def test_where_counts_are_shown_as_they_come_so_it_does(tmp_path: Path):
    found = attack(PLAIN, tmp_path)
    assert (found.games, found.symbols) == (GAMES, GAMES)
