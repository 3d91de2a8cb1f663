"""Single answers are kept for as many days after closing as a study says, and then they are gone."""

import asyncio
from dataclasses import replace
from typing import cast

import pytest

from fairgauge.collector.retention import Retention
from fairgauge.collector.stores.store import Event, Published, Store
from fairgauge.study import Study
from tests.collecting.desk import Desk
from tests.samples import two_questions

CLOSING = 1_800_000_000  # a moment in the middle of an hour
HOUR, DAY = 3600, 86_400


@pytest.mark.parametrize("days", [0, 7, None])
def test_answers_go_when_their_time_is_over_and_the_seal_stays(ask, days: int | None):
    study = replace(two_questions(), purpose="To know.", retention=days)
    now = [float(CLOSING)]

    async def rows(desk: Desk, number: int) -> int:
        return sum([len(page) async for page in desk.collector.store.answers(number)])

    async def scene(desk: Desk) -> None:
        await desk.publish(study)
        for each in range(3):
            assert (await desk.answer(study, bytes([each] * 16), each)).status_code == 200
        await desk.collector.close(study.digest)
        sealed = (await desk.get(f"/studies/{study.digest}/sealed")).content
        kept = await desk.collector.store.study(study.digest)
        assert kept is not None
        if days:
            assert await rows(desk, kept.number) == 3
            now[0] = kept.closed + days * DAY - 1  # type: ignore[operator]
            assert await desk.collector.retention.keep_to(now[0], desk.collector.bucket()) == []
            assert await rows(desk, kept.number) == 3
        now[0] = CLOSING + (days or 0) * DAY + HOUR
        await desk.collector.retention.keep_to(now[0], desk.collector.bucket())
        assert await rows(desk, kept.number) == (3 if days is None else 0)
        assert (await desk.get(f"/studies/{study.digest}/sealed")).content == sealed
        assert sum(await desk.tally(study)) == 3
        told = [(e.who, e.did, e.about) for e in await desk.collector.store.events(9)]
        assert (("clock", "removed answers", study.digest) in told) == (days is not None)

    ask(scene, clock=lambda: now[0])


def test_a_clock_that_is_behind_what_is_stored_removes_nothing(ask):
    study = replace(two_questions(), retention=0)
    now = [float(CLOSING)]

    async def scene(desk: Desk) -> None:
        await desk.publish(study)
        await desk.answer(study, bytes(16), 1)
        await desk.collector.close(study.digest)
        assert await desk.collector.retention.keep_to(CLOSING - DAY, 0) == []

    ask(scene, clock=lambda: now[0])


@pytest.mark.parametrize(("latest", "removed"), [(CLOSING + DAY, True), (CLOSING + 40 * DAY, False)])
def test_nothing_goes_while_what_is_stored_is_later_than_the_clock(latest: int, removed: bool, capsys):
    """A clock that jumped back and forth may say that time is over when it is not: what is stored knows better."""
    study = replace(two_questions(), retention=7)
    kept = Published(study.digest, b"", "open", "", 0, None, number=1, closed=CLOSING, sealed=True)
    dropped = []

    class Stored:
        async def latest(self) -> int:
            return latest

        async def studies(self) -> list[Published]:
            return [kept]

        async def study(self, _digest: str) -> Published:
            return kept

        async def scrub(self) -> str:
            return ""

        async def drop_answers(self, number: int, event: Event) -> bool:
            dropped.append((number, event.did))
            return True

    async def read(_digest: str) -> Study:
        return study

    retention = Retention(cast("Store", Stored()), read)

    def looked(moment: float) -> list[str]:
        return asyncio.run(retention.keep_to(moment, CLOSING))

    # At the start it may be the clock that is wrong: a month ahead of what is stored, it must stand for an hour.
    assert looked(CLOSING + 30 * DAY) == []
    assert looked(CLOSING + 30 * DAY + HOUR - 1) == []
    assert not dropped
    assert capsys.readouterr().out.count("waiting") == 1, "said once, not at every look"
    done = looked(CLOSING + 30 * DAY + HOUR)
    assert (done, dropped) == (([study.digest], [(1, "removed answers")]) if removed else ([], []))


def test_a_new_store_does_not_wait_for_its_clock(ask, capsys):
    async def scene(desk: Desk) -> None:
        await desk.collector.retention.keep_to(4e9, 0)

    ask(scene)
    assert "ahead of what is stored" not in capsys.readouterr().out
