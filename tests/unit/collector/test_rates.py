"""Rates: what is taken, what waits for its turn, and what batches cannot take from single answers.

Covers: fairgauge.collector.load_limits.
"""

import asyncio

import pytest

from fairgauge.collector.config import Rates
from fairgauge.collector.load_limits import Turnstile
from fairgauge.server.server_errors import TooMany
from fairgauge.server.token_bucket import TokenBucket


def test_each_waits_for_those_who_came_before():
    async def play() -> list[int]:
        turnstile, order = Turnstile(Rates(visitors=100.0)), []
        turnstile.owe("visitors", 1000)  # the burst is used up

        async def come(number: int) -> None:
            await turnstile.turn("visitors", 60)
            order.append(number)

        await asyncio.gather(*map(come, range(12)))
        return order

    assert asyncio.run(play()) == list(range(12))


def test_whoever_waits_too_long_is_refused():
    async def play() -> None:
        turnstile = Turnstile(Rates(visitors=0.001))
        await turnstile.turn("visitors", 0.01)
        with pytest.raises(TooMany) as refused:
            await turnstile.turn("visitors", 0.01)
        assert refused.value.seconds > 100

    asyncio.run(play())


@pytest.mark.parametrize("kind", ["answers", "open", "tickets"])
def test_what_batches_owe_keeps_no_single_answer_out(kind: str):
    async def play() -> None:
        turnstile = Turnstile(Rates())
        await turnstile.turn(f"{kind} in batches", 0.01)
        turnstile.owe(f"{kind} in batches", 1e9)
        with pytest.raises(TooMany):
            await turnstile.turn(f"{kind} in batches", 0.01)
        turnstile.enter(kind)

    asyncio.run(play())


def test_what_is_only_slowed_passes_in_the_end():
    async def play() -> None:
        turnstile = Turnstile(Rates(faulty=0.001))
        turnstile.owe("faulty", 1000)
        await turnstile.slow("faulty", 0.01)

    asyncio.run(play())


@pytest.mark.parametrize("rate", [2.0, 50.0])
def test_ten_seconds_worth_may_come_at_once_and_no_more(rate: float):
    now = [0.0]
    taken = TokenBucket(rate, lambda: now[0])
    assert [taken.take() for _ in range(int(10 * rate))] == [0.0] * int(10 * rate)
    assert taken.take() == pytest.approx(1 / rate)
    now[0] += 1e6  # however long nobody comes
    assert sum(taken.take() == 0 for _ in range(int(30 * rate))) == 10 * rate
    now[0] += 3
    assert sum(taken.take() == 0 for _ in range(int(30 * rate))) == 3 * rate
