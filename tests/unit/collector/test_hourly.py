"""A study that says how many answers it takes in an hour takes no more, and says when to come again.

Covers: fairgauge.collector.load_limits.
"""

import asyncio
from dataclasses import replace
from pathlib import Path

from fairgauge.server.problems import URN
from tests.collecting.desk import Desk, open_desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

STUDY = sample_study()
NOON = 1767268800.0  # 12:00:00
ONE = f"/studies/{STUDY.digest}"


def ids(first: int, count: int) -> list[bytes]:
    return [n.to_bytes(16) for n in range(first, first + count)]


async def statuses(desk: Desk, first: int, count: int) -> list[int]:
    return [(await desk.answer(STUDY, id_, 1)).status_code for id_ in ids(first, count)]


def test_beyond_its_number_it_refuses_until_the_next_hour(ask):
    now = NOON + 600

    async def scene(desk: Desk) -> None:
        nonlocal now
        made = await desk.post("/studies?hourly=5", STUDY.to_bytes())
        assert (made.status_code, made.json()["hourly"]) == (201, 5)
        assert await statuses(desk, 0, 7) == [200] * 5 + [429] * 2
        refused = await desk.answer(STUDY, b"\7" * 16, 1)
        assert (refused.json()["type"], refused.headers["retry-after"]) == (URN + "too-many", "3000")
        assert refused.json()["detail"] == "This study takes 5 answers in an hour, and 0 are left of this one."
        now = NOON + 3600
        assert await statuses(desk, 100, 6) == [200] * 5 + [429]
        assert sum(await desk.tally(STUDY)) == 10

    ask(scene, clock=lambda: now)


def test_what_was_counted_before_takes_no_room(ask):
    async def scene(desk: Desk) -> None:
        await desk.post("/studies?hourly=3", STUDY.to_bytes())
        assert await statuses(desk, 0, 2) == [200, 200]
        for _ in range(5):
            assert (await desk.answer(STUDY, ids(0, 1)[0], 1)).json() == {"status": "duplicate"}
            assert (await desk.answer(STUDY, ids(0, 1)[0], 2)).status_code == 409
        assert await statuses(desk, 2, 2) == [200, 429]

    ask(scene, clock=lambda: NOON)


def test_a_batch_that_does_not_fit_is_refused_as_a_whole(ask):
    async def scene(desk: Desk) -> None:
        await desk.post("/studies?hourly=300", STUDY.to_bytes())
        lines = [answer_bytes(STUDY.digest, id_, 0) for id_ in ids(0, 301)]
        refused = await desk.batch(STUDY, lines)
        assert (refused.status_code, "and 300 are left of this one" in refused.json()["detail"]) == (429, True)
        assert sum(await desk.tally(STUDY)) == 0
        assert (await desk.batch(STUDY, lines[:300])).json()["accepted"] == 300
        assert (await desk.batch(STUDY, lines[300:])).status_code == 429

    ask(scene, clock=lambda: NOON)


def test_many_at_once_are_no_more(ask):
    async def scene(desk: Desk) -> None:
        await desk.post("/studies?hourly=20", STUDY.to_bytes())
        told = await asyncio.gather(*(desk.answer(STUDY, id_, 1) for id_ in ids(0, 60)))
        assert sum(one.status_code == 200 for one in told) == sum(await desk.tally(STUDY)) == 20

    ask(scene, clock=lambda: NOON)


def test_a_collector_that_starts_again_remembers(tmp_path: Path):
    async def play() -> None:
        store = f"sqlite:///{tmp_path / 'gauge.db'}"
        async with open_desk(store, tmp_path, clock=lambda: NOON) as desk:
            await desk.post("/studies?hourly=5", STUDY.to_bytes())
            assert await statuses(desk, 0, 4) == [200] * 4
        async with open_desk(store, tmp_path, clock=lambda: NOON + 5) as desk:
            told = await asyncio.gather(*(desk.answer(STUDY, id_, 1) for id_ in ids(10, 20)))
            assert sorted(one.status_code for one in told) == [200] + [429] * 19

    asyncio.run(play())


def test_a_study_without_a_number_takes_any(ask):
    async def scene(desk: Desk) -> None:
        assert (await desk.publish(STUDY)).json()["hourly"] == 0
        assert await statuses(desk, 0, 30) == [200] * 30
        assert (await desk.post("/studies?hourly=7", STUDY.to_bytes())).status_code == 409

    ask(scene)


def test_the_page_of_an_open_study_says_what_it_cannot_promise(ask):
    async def scene(desk: Desk) -> None:
        await desk.post("/studies?hourly=12345", STUDY.to_bytes())
        page = (await desk.client.get(ONE, headers={"accept": "text/html"})).text
        assert "cannot tell a crowd from one person who makes answers up" in page
        assert "at most 12,345 answers in an hour" in page

    ask(scene)


def test_what_the_document_says_comes_before_what_is_asked_for(ask):
    said = replace(STUDY, hourly=3)

    async def scene(desk: Desk) -> None:
        made = await desk.post("/studies?hourly=100", said.to_bytes())
        assert (made.status_code, made.json()["hourly"]) == (201, 3)
        told = [(await desk.answer(said, id_, 1)).status_code for id_ in ids(0, 4)]
        assert told == [200, 200, 200, 429]

    ask(scene, clock=lambda: NOON)
