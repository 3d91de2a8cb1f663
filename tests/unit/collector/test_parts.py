"""The collector's settings, limits, log, migrations and group commit."""

import asyncio
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import structlog

from fairgauge.collector.config import Config, Rates, read_config
from fairgauge.collector.intake import Intake
from fairgauge.collector.limits import Bucket, Turnstile
from fairgauge.collector.logs import log, log_fault, log_to
from fairgauge.collector.metrics import Metrics
from fairgauge.collector.problems import Problem
from fairgauge.collector.stores.base import FRESH, Row, StoreAway, StoreError, StoreFull, check_version, migrations
from fairgauge.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("prot = 1", "unknown field"),
        ("port = 'x'", "int"),
        ("port = 70000", "from 0 to 65535"),
        ("bucket_seconds = 0", "from 1"),
        ("[limits]\nwaiting = 0", "limits.waiting=0: must be above 0"),
        ("[rates]\nopen = nan", "rates.open=nan: must be above 0"),
        ("[rates]\nall = 1", "unknown field"),
        ("= 1", "must be TOML"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, text: str, rule: str):
    path = tmp_path / "fairgauge.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=rule):
        read_config(path)


def test_settings_come_from_the_file_and_options_win(tmp_path: Path):
    path = tmp_path / "fairgauge.toml"
    path.write_text("port = 1\nhost = '::1'\n[limits]\nwaiting = 5")
    found = read_config(path, port=2, store=None)
    assert (found.port, found.host, found.limits.waiting, found.store) == (2, "::1", 5, Config().store)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_config(tmp_path / "none.toml")


def test_a_bucket_gives_bursts_and_an_average():
    now = 0.0
    bucket = Bucket(2.0, clock=lambda: now)
    assert [bucket.take() for _ in range(20)] == [0.0] * 20
    assert bucket.take() == 0.5
    now = 1.0
    assert [bucket.take() == 0 for _ in range(3)] == [True, True, False]
    now = 100.0
    assert bucket.take(50) == 0  # a large batch passes once, and those after it wait
    assert bucket.take() == 15.5


def test_classes_have_rates_of_their_own():
    turnstile = Turnstile(Rates(open=0.1, tickets=100.0))
    turnstile.enter("open")
    with pytest.raises(Problem) as refused:
        turnstile.enter("open")
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "10"})
    turnstile.enter("tickets", 1000)


def test_the_log_has_allowed_fields_and_hours_only():
    stream = io.StringIO()
    log_to(stream)
    try:
        log("event", study="x", address="203.0.113.9")
        try:
            raise ValueError("203.0.113.9")
        except ValueError as error:
            log_fault(error)
        stream.close()
        log("a log that cannot be written is no reason to fail")
    except ValueError:
        pytest.fail("a closed log was noticed")
    finally:
        structlog.reset_defaults()


def test_what_the_log_says():
    stream = io.StringIO()
    log_to(stream)
    try:
        log("event", study="x", address="203.0.113.9", id="00")
        log_fault(ValueError("203.0.113.9"))
    finally:
        structlog.reset_defaults()
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first.keys() == {"event", "study", "level", "hour"}
    assert first["hour"].endswith(":00:00Z")
    assert (second["fault"], second["place"]) == ("ValueError", "outside fairgauge")
    assert "203" not in stream.getvalue()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_migrations_are_numbered_and_the_future_is_refused(kind: str):
    known = migrations(kind)
    assert known
    check_version(len(known), len(known), "x")
    with pytest.raises(StoreError, match="x has schema version 9"):
        check_version(9, len(known), "x")


class MemoryStore:
    """Counts commits, and fails when told to."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, bytes], int] = {}
        self.groups: list[int] = []
        self.fail: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def add(self, rows: Sequence[Row], bucket: int) -> list[int]:
        await self.gate.wait()
        assert len({row[:2] for row in rows}) == len(rows)
        if self.fail is not None:
            raise self.fail
        self.groups.append(len(rows))
        return [self.rows.setdefault(row[:2], row[2]) if row[:2] in self.rows else self._new(row) for row in rows]

    def _new(self, row: Row) -> int:
        self.rows[row[:2]] = row[2]
        return FRESH


def play(scene: Any, *, most: int = 1000) -> MemoryStore:
    async def run() -> MemoryStore:
        store = MemoryStore()
        intake = Intake(store, Metrics(), lambda: 0, window=0.001, most=most)  # type: ignore[arg-type]
        intake.start()
        await scene(store, intake)
        await intake.stop()
        return store

    return asyncio.run(run())


def row(number: int, symbol: int = 0, study: int = 1) -> Row:
    return study, bytes([number] * 16), symbol


def test_answers_that_wait_together_are_committed_together():
    async def scene(store: MemoryStore, intake: Intake) -> None:
        found = await asyncio.gather(*(intake.submit([row(n)]) for n in range(50)))
        assert found == [[FRESH]] * 50

    assert play(scene).groups == [50]


def test_the_same_id_within_a_group_counts_once():
    async def scene(store: MemoryStore, intake: Intake) -> None:
        sent = [[row(1, 5), row(1, 6), row(2, 7)], [row(1, 5)], [row(1, 8, 2)]]
        assert await asyncio.gather(*map(intake.submit, sent)) == [[FRESH, 5, FRESH], [5], [FRESH]]

    assert play(scene).rows == {(1, bytes([1] * 16)): 5, (1, bytes([2] * 16)): 7, (2, bytes([1] * 16)): 8}


@pytest.mark.parametrize(
    ("error", "told"), [(StoreFull("x"), StoreFull), (StoreAway("x"), StoreAway), (KeyError("x"), StoreAway)]
)
def test_a_failed_commit_tells_everyone_and_the_next_may_succeed(error: Exception, told: type[Exception]):
    async def scene(store: MemoryStore, intake: Intake) -> None:
        store.fail = error
        found = await asyncio.gather(*(intake.submit([row(n)]) for n in range(3)), return_exceptions=True)
        assert [type(one) for one in found] == [told] * 3
        store.fail = None
        assert await intake.submit([row(1)]) == [FRESH]

    play(scene)


def test_nothing_is_acknowledged_before_the_commit_and_a_full_queue_refuses():
    async def scene(store: MemoryStore, intake: Intake) -> None:
        store.gate.clear()
        first = asyncio.create_task(intake.submit([row(1)]))
        await asyncio.sleep(0.02)  # now it is being committed
        rest = [asyncio.create_task(intake.submit([row(n)])) for n in (2, 3)]
        await asyncio.sleep(0.02)
        with pytest.raises(Problem) as refused:
            await intake.submit([row(4)])
        assert (refused.value.status, refused.value.kind) == (503, "busy")
        assert not first.done()
        store.gate.set()
        assert await asyncio.gather(first, *rest) == [[FRESH]] * 3

    assert play(scene, most=2).groups == [1, 2]


def test_stopping_commits_what_was_taken():
    async def scene(store: MemoryStore, intake: Intake) -> None:
        tasks = [asyncio.create_task(intake.submit([row(n)])) for n in range(9)]
        await asyncio.sleep(0)
        await intake.stop()
        assert [await task for task in tasks] == [[FRESH]] * 9
        with pytest.raises(Problem, match="stopping"):
            await intake.submit([row(10)])

    assert len(play(scene).rows) == 9
