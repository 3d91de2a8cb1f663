"""A clock that jumps for a moment closes nothing."""

import asyncio
from dataclasses import replace
from pathlib import Path

from fairgauge.collector.retention import _PATIENCE, _TOLERANCE, SteadyClock
from fairgauge.collector.stores.store import Event
from tests.collecting.desk import open_desk
from tests.samples import sample_study

YEAR = 365 * 86400.0
START = 1_800_000_000.0


class Hands:
    """A wall clock and a monotonic one that a test moves."""

    def __init__(self) -> None:
        self.wall, self.steady = START, 50.0
        self.clock = SteadyClock(lambda: self.wall, lambda: self.steady)

    def pass_by(self, seconds: float, *, jump: float = 0.0) -> float:
        self.steady += seconds
        self.wall += seconds + jump
        return self.clock()


def test_time_passes_and_small_corrections_are_followed():
    hands = Hands()
    assert hands.pass_by(10) == START + 10
    assert hands.pass_by(10, jump=_TOLERANCE) == START + 20 + _TOLERANCE
    assert hands.pass_by(10, jump=-_TOLERANCE) == START + 30


def test_a_jump_is_not_followed_at_once_and_is_forgotten_when_it_is_over():
    for jump in (YEAR, -YEAR, _TOLERANCE + 1):
        hands = Hands()
        assert hands.pass_by(1, jump=jump) == START + 1
        assert hands.pass_by(_PATIENCE - 1) == START + _PATIENCE
        assert hands.pass_by(1, jump=-jump) == START + _PATIENCE + 1
        assert hands.pass_by(_PATIENCE) == START + 2 * _PATIENCE + 1


def test_a_new_time_that_stands_is_believed():
    hands = Hands()
    hands.pass_by(1, jump=YEAR)
    assert hands.pass_by(_PATIENCE) == START + 1 + _PATIENCE + YEAR


def test_a_clock_that_wanders_is_never_believed():
    hands = Hands()
    for _ in range(5):
        assert hands.pass_by(_PATIENCE - 1, jump=YEAR) < START + 5 * _PATIENCE


def test_a_study_stays_open_while_the_clock_is_wrong(tmp_path: Path):
    hands, study = Hands(), replace(sample_study(), closes="2027-06-01T00:00:00Z")

    async def play() -> tuple[bool, bool, int]:
        async with open_desk(f"sqlite:///{tmp_path / 'g.db'}", tmp_path, clock=hands.clock) as desk:
            await desk.publish(study)
            hands.pass_by(6, jump=YEAR)
            await desk.collector.close_what_is_due()
            then = (await desk.collector.document(study.digest)).closed is not None
            status = (await desk.answer(study, bytes(16), 0)).status_code
            hands.pass_by(_PATIENCE)
            await desk.collector.close_what_is_due()
            return then, (await desk.collector.document(study.digest)).closed is not None, status

    assert asyncio.run(play()) == (False, True, 200)


def test_a_clock_that_is_behind_what_is_stored_closes_nothing(tmp_path: Path):
    hands, study = Hands(), replace(sample_study(), closes="2027-01-01T00:00:00Z")

    async def play() -> tuple[bool, bool]:
        async with open_desk(f"sqlite:///{tmp_path / 'g.db'}", tmp_path, clock=lambda: START) as desk:
            # Before the study is there: what is due is also closed in the background.
            await desk.collector.store.record(Event(int(START + YEAR), "me", "looked ahead"))
            await desk.publish(study)
            hands.wall = START + YEAR / 2
            await desk.collector.close_what_is_due()
            by_itself = (await desk.collector.document(study.digest)).closed is not None
            await desk.post(f"/studies/{study.digest}/close")
            return by_itself, (await desk.collector.document(study.digest)).closed is not None

    assert asyncio.run(play()) == (False, True)
