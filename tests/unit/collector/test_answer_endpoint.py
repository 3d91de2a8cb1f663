"""Batches: charged as they come in, read in slices, and given up when too much of them is wrong."""

import asyncio
from typing import Any

import pytest

from fairgauge.client import Answer
from fairgauge.collector import answer_endpoint
from fairgauge.collector.answer_endpoint import _SLICE, _slices
from fairgauge.server.problems import URN
from fairgauge.study import Study
from tests.collecting.desk import Desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_question, sample_study

STUDY = sample_study()
BAD = answer_bytes(STUDY.digest, bytes(16), 0).replace(b'"symbol":0', b'"symbol":0,"more":1')


def good(first: int, count: int) -> list[bytes]:
    return [answer_bytes(STUDY.digest, n.to_bytes(16), n % 4) for n in range(first, first + count)]


def test_a_few_bad_lines_are_told_and_too_many_end_the_batch(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        told = (await desk.batch(STUDY, [*good(0, 500), *[BAD] * 100])).json()
        assert (told["accepted"], len(told["errors"]), told["errors"][0]["line"]) == (500, 100, 501)
        refused = await desk.batch(STUDY, [*good(1000, 500), *[BAD] * 101])
        assert (refused.status_code, refused.json()["type"]) == (400, URN + "bad-answer")
        assert (
            "101 lines of this batch are refused, so all of it is; line 501: more=not shown" in refused.json()["detail"]
        )
        assert sum(await desk.tally(STUDY)) == 500

    ask(scene)


def test_too_many_bad_tickets_end_a_batch(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY, admission="tickets")
        tickets = [bytes.fromhex(desk.collector.tickets.new(STUDY.digest)) for _ in range(20)]
        lines = [answer_bytes(STUDY.digest, ticket, 1) for ticket in tickets]
        told = (await desk.batch(STUDY, [*good(0, 100), *lines[:10]])).json()
        assert (told["accepted"], len(told["errors"])) == (10, 100)
        refused = await desk.batch(STUDY, [*good(0, 101), *lines[10:]])
        assert (refused.status_code, refused.json()["type"]) == (403, URN + "bad-ticket")
        assert sum(await desk.tally(STUDY)) == 10

    ask(scene)


@pytest.mark.parametrize("line", [BAD, b"x" * 130, b"", GOOD_LINE := good(0, 1)[0]], ids=["bad", "x", "empty", "good"])
def test_what_comes_in_is_charged_good_or_bad(ask, line: bytes):
    """A second batch has to wait for what the first one owes, whatever that was made of."""

    async def scene(
        desk: Desk,
    ) -> None:
        await desk.publish(STUDY)
        await desk.batch(STUDY, [line] * 2000)
        assert (await desk.batch(STUDY, good(0, 2))).status_code == 429
        assert (await desk.answer(STUDY, b"\1" * 16, 1)).status_code == 200  # which has a rate of its own

    ask(scene, rates={"open": 100.0})


def test_bytes_are_charged_where_there_are_no_lines(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        assert (await desk.batch(STUDY, [b"[" * 256_000])).json()["errors"][0]["status"] == 400
        assert (await desk.batch(STUDY, good(0, 2))).status_code == 429

    ask(scene, rates={"open": 100.0})


def test_a_flood_of_bad_lines_costs_a_hundred_of_them(ask, monkeypatch: pytest.MonkeyPatch):
    read: list[int] = []
    strict = Answer.from_bytes

    def counted(data: bytes) -> Any:
        read.append(len(data))
        return strict(data)

    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        assert (await desk.batch(STUDY, [BAD] * 10_000)).status_code == 400

    monkeypatch.setattr(Answer, "from_bytes", counted)
    ask(scene)
    assert len(read) == 101


def test_a_line_that_is_too_long_is_not_even_read(ask, monkeypatch: pytest.MonkeyPatch):
    def never(data: bytes) -> Any:
        pytest.fail(f"{len(data)} bytes were read")

    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        told = (await desk.batch(STUDY, [b"[" * 5000, b"[" * 1_000_000])).json()
        assert [error["detail"] for error in told["errors"]] == [
            "line=5000 bytes: must be at most 4096 bytes",
            "line=1000000 bytes: must be at most 4096 bytes",
        ]

    monkeypatch.setattr(Answer, "from_bytes", never)
    ask(scene)


def test_everyone_else_gets_a_turn_while_a_batch_is_read(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        lines = good(0, 10_000)
        turns = 0
        sending = asyncio.create_task(desk.batch(STUDY, lines))
        while not sending.done():
            await asyncio.sleep(0)
            turns += 1
        assert (await sending).json()["accepted"] == 10_000
        parts = len(list(_slices(b"\n".join(lines))))
        assert parts > 30
        assert turns > parts

    ask(scene)


def test_a_slice_is_small_unless_a_line_is_longer():
    lines = [b"x" * (n * 37 % 500) for n in range(3000)]
    assert max(map(len, _slices(b"\n".join(lines)))) <= _SLICE
    assert [len(part) for part in _slices(b"y" * 100_000 + b"\nz")] == [100_000, 1]


def test_a_batch_waits_for_room_that_others_hold(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        with desk.collector.bodies.guest() as guest:
            guest.hold(desk.collector.config.limits.held_bytes - 1000)
            assert (await desk.batch(STUDY, good(0, 100))).json()["type"] == URN + "busy"
            assert (await desk.answer(STUDY, b"\1" * 16, 1)).status_code == 200
        assert (await desk.batch(STUDY, good(0, 100))).json()["accepted"] == 100
        assert desk.collector.bodies.held == 0

    ask(scene)


def test_a_batch_that_comes_too_early_is_refused_as_a_whole(ask):
    timed = Study("Timed", [sample_question()], opens="2026-01-01T00:00:00Z")

    async def scene(desk: Desk) -> None:
        await desk.publish(timed)
        lines = [answer_bytes(timed.digest, n.to_bytes(16), 0) for n in range(5)]
        assert (await desk.batch(timed, lines)).status_code == 425

    ask(scene, clock=lambda: 1767225599.0)


def test_the_constants_fit_together():
    assert answer_endpoint._LONGEST <= _SLICE
    assert answer_endpoint._PART <= _SLICE
