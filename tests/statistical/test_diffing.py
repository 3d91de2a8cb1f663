"""Attacks on published counts by whoever takes part: all other answers of a batch are the attacker's own.

An issuer can sign tickets for itself, a relay can send a thousand answers, and where anyone may answer one request
fills a batch: each then knows every answer but one, subtracts them from the public counts, and must guess which of two
inputs the person holds, 50 to 50 beforehand.  Here they play that game again and again, each time with a fresh batch.
``FAIRGAUGE_GAMES`` says how often; ``make attacks`` plays 500.
"""

import asyncio
import os
import random
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from fairgauge.collector.stores import released_sums
from fairgauge.study import Release, Study
from tests.collecting.desk import open_desk
from tests.collecting.wire import answer_bytes
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.statistical.guessing import DELTA, DRAWS, ONE, PLAIN, ROWS, TWO, likelier, luck

GAMES = int(os.environ.get("FAIRGAUGE_GAMES", "150"))
SIZE = 5
RELEASED = replace(PLAIN, release=Release(SIZE, DELTA, DRAWS))


@dataclass
class Attack:
    """What came of it."""

    games: int
    right: int
    symbols: int  # how many single symbols the attacker read off


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
    assert luck(with_draws.right, GAMES) > FALSE_POSITIVE_RATE


def test_with_draws_that_are_no_secret_the_attack_reads_every_symbol_and_beats_the_bound(without: Attack):
    assert (without.games, without.symbols) == (GAMES, GAMES)
    assert luck(without.right, GAMES) < FALSE_POSITIVE_RATE


def test_where_counts_are_shown_as_they_come_so_it_does(tmp_path: Path):
    found = attack(PLAIN, tmp_path)
    assert (found.games, found.symbols) == (GAMES, GAMES)
