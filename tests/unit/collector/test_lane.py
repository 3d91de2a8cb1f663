"""The lane: one slice at a time, everyone else in between, and rest while single answers come in.

Covers: fairgauge.collector.load_limits.
"""

import asyncio
import threading
import time

import pytest

from fairgauge.collector import load_limits as module
from fairgauge.collector.load_limits import _REST, STRANGER, Asker, Desk, Lane
from fairgauge.server.server_errors import BrokenOff
from fairgauge.server.slow_clients import GONE


def test_slices_take_turns_and_let_everyone_else_in_between():
    async def play() -> list[str]:
        lane, order = Lane(), []

        async def work(name: str) -> None:
            for _ in range(3):
                async with lane.slice():
                    order.append(name)

        async def other() -> None:
            for _ in range(6):
                order.append("other")
                await asyncio.sleep(0)

        await asyncio.gather(work("a"), work("b"), other())
        return order

    order = asyncio.run(play())
    slices = [name for name in order if name != "other"]
    assert slices == ["a", "b", "a", "b", "a", "b"]
    first, last = order.index("a"), len(order) - 1 - order[::-1].index("b")
    assert order[first:last].count("other") >= 4


@pytest.mark.parametrize(("before", "rested"), [(0.0, True), (module._CALM_SECONDS * 2, False)])
def test_it_rests_while_single_answers_come_in(monkeypatch: pytest.MonkeyPatch, before: float, rested: bool):
    now, slept = 100.0, []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def play() -> None:
        nonlocal now
        lane = Lane()
        lane.answering()
        now += before
        async with lane.slice():
            now += 0.01

    monkeypatch.setattr("fairgauge.collector.load_limits.time.monotonic", lambda: now)
    monkeypatch.setattr("fairgauge.collector.load_limits.asyncio.sleep", sleep)
    asyncio.run(play())
    assert slept == [pytest.approx(0.01 * _REST) if rested else 0]


def test_a_slice_that_fails_frees_the_lane():
    async def play() -> str:
        lane = Lane()
        with pytest.raises(KeyError):
            async with lane.slice():
                raise KeyError
        async with lane.slice():
            return "free"

    assert asyncio.run(play()) == "free"


def test_requests_begin_one_by_one_and_all_that_is_ready_goes_first():
    async def play() -> tuple[int, list[int]]:
        lane, begun, seen = Lane(), 0, []

        async def request() -> None:
            nonlocal begun
            await lane.begin()
            begun += 1

        async def answer() -> None:
            for _ in range(10):  # steps, as an answer has
                await asyncio.sleep(0)
                seen.append(begun)

        await asyncio.gather(*(request() for _ in range(1000)), answer())
        return begun, seen

    begun, seen = asyncio.run(play())
    assert begun == 1000
    assert seen[-1] <= 10  # one in each round, not a thousand in the first


@pytest.mark.parametrize("answering", [True, False])
def test_requests_without_end_leave_most_of_the_time_to_answers(monkeypatch: pytest.MonkeyPatch, answering: bool):
    """Thousands of pages a second on forty connections made answers take six times as long."""
    now, sleep = 100.0, asyncio.sleep

    async def slept(seconds: float) -> None:
        nonlocal now
        now += seconds
        await sleep(0)

    async def play() -> None:
        lane = Lane()
        for _ in range(4000):
            if answering:
                lane.answering()
            await lane.begin()

    monkeypatch.setattr("fairgauge.collector.load_limits.time.monotonic", lambda: now)
    monkeypatch.setattr("fairgauge.collector.load_limits.asyncio.sleep", slept)
    asyncio.run(play())
    assert now - 100 == pytest.approx(4000 / module._BESIDE_ANSWERS - 0.05 if answering else 0, abs=0.01)


def test_strangers_have_one_thread_among_them_and_nobody_else_waits_for_it():
    """Or a few who ask for reports keep so many threads busy that devices wait for the interpreter."""
    begun, most, lock = [0], [0], threading.Lock()
    hold = threading.Event()

    def held() -> None:
        with lock:
            begun[0] += 1
            most[0] = max(most[0], begun[0])
        hold.wait(3)
        with lock:
            begun[0] -= 1

    async def play() -> str:
        desk = Desk(Lane())
        waiting = [asyncio.create_task(desk.work(held, Asker(STRANGER))) for _ in range(5)]
        while not begun[0]:
            await asyncio.sleep(0.001)
        told = await asyncio.wait_for(desk.work(lambda: "an operator's", Asker("operator")), 2)
        hold.set()
        await asyncio.gather(*waiting)
        return told

    assert asyncio.run(play()) == "an operator's"
    assert most == [1]


@pytest.mark.parametrize(
    ("kind", "answering", "rested"), [(STRANGER, True, True), (STRANGER, False, False), ("operator", True, False)]
)
def test_after_a_stranger_s_work_the_next_begins_late_while_devices_answer(kind: str, answering: bool, rested: bool):
    async def play() -> float:
        lane, ended = Lane(), 0.0
        desk = Desk(lane)
        if answering:
            lane.answering()
        await desk.work(lambda: time.sleep(0.03), Asker(kind))
        ended = time.monotonic()
        return await desk.work(time.monotonic, Asker(kind)) - ended

    assert (asyncio.run(play()) >= 0.03 * _REST - 0.01) is rested


def test_whoever_leaves_makes_no_room_for_another_thread():
    """Or those who come and go have as many threads at work as they like."""
    hold, order = threading.Event(), []

    def first() -> None:
        hold.wait(3)
        order.append("first")

    async def play() -> None:
        desk = Desk(Lane())
        left = asyncio.create_task(desk.work(first, Asker(STRANGER)))
        await asyncio.sleep(0.02)
        left.cancel()
        after = asyncio.create_task(desk.work(lambda: order.append("after"), Asker(STRANGER)))
        await asyncio.sleep(0.05)
        hold.set()
        await after

    asyncio.run(play())
    assert order == ["first", "after"]


def test_what_nobody_waits_for_any_more_is_not_made():
    """Or the line of those who ask and leave grows without end, and everybody else waits behind them."""
    made: list[str] = []

    async def play() -> None:
        desk = Desk(Lane())
        scope: dict[str, bool] = {}
        first = asyncio.create_task(desk.work(lambda: time.sleep(0.02), Asker(STRANGER)))
        await asyncio.sleep(0)
        left = asyncio.create_task(desk.work(lambda: made.append("left"), Asker(STRANGER, scope)))
        stays = asyncio.create_task(desk.work(lambda: made.append("stays"), Asker(STRANGER, {"path": "/"})))
        await asyncio.sleep(0)
        scope[GONE] = True
        with pytest.raises(BrokenOff):
            await left
        await asyncio.gather(first, stays)

    asyncio.run(play())
    assert made == ["stays"]


def test_work_that_fails_frees_the_desk():
    async def play() -> str:
        desk = Desk(Lane())
        with pytest.raises(ZeroDivisionError):
            await desk.work(lambda: 1 // 0, Asker(STRANGER))
        return await desk.work(lambda: "free", Asker(STRANGER))

    assert asyncio.run(play()) == "free"
