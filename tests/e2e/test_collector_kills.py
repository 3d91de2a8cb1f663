"""kill -9 under load: nothing acknowledged is lost, nothing is counted twice, and the tally is the rows.

``bench/kills.py`` runs the same for longer.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.study import Release, Study
from tests.collecting.batches import Watched, kill_in_batches
from tests.collecting.kills import Count, Sent, kill_clients, kill_collectors, kill_database
from tests.collecting.lives import kill_backups, kill_lives
from tests.collecting.servers import SERVE, kill_postgres, new_database, new_postgres, new_store
from tests.samples import sample_study
from tests.sites import levels_study


def check(sent: Sent, count: Count) -> None:
    assert (count.lost, count.altered, count.unknown) == (0, 0, 0)
    assert count.tally_is_rows
    assert count.tally == count.rows
    assert len(sent.acknowledged) <= count.rows <= len(sent.answers)
    # Each row was new exactly once; some senders did not live to hear it.
    assert sent.accepted <= count.rows
    assert sent.retried > 0, "no kill hit a request: the test shows nothing"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_collector_loses_nothing(kind: str, tmp_path: Path):
    check(*kill_collectors(tmp_path, new_store(kind, tmp_path), sample_study(), kills=2))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_client_is_counted_once(kind: str, tmp_path: Path):
    answers, count, killed = kill_clients(tmp_path, new_store(kind, tmp_path), sample_study(), kills=4)
    assert killed >= 4
    assert (count.lost, count.altered, count.unknown) == (0, 0, 0), "what arrived is what the ledgers hold"
    assert count.rows == count.tally == len(answers)
    assert count.tally_is_rows


HASTY = (
    """
import asyncio
from fairgauge.collector.group_commit import Intake
honest = Intake.submit
async def submit(self, rows):
    asyncio.get_running_loop().call_later(2, lambda: asyncio.create_task(honest(self, rows)))
    return ["fresh"] * len(rows)
Intake.submit = submit
"""
    + SERVE
)


@pytest.mark.parametrize("study", [sample_study, levels_study])
def test_a_collector_that_acknowledges_too_early_is_caught(study: Callable[[], Study], tmp_path: Path):
    store = new_store("sqlite", tmp_path)
    _, count = kill_collectors(tmp_path, store, study(), kills=1, code=HASTY)
    assert count.lost > 0


def test_a_killed_collector_loses_no_site(tmp_path: Path):
    check(*kill_collectors(tmp_path, new_store("sqlite", tmp_path), levels_study(), kills=2))


def test_sites_at_two_collectors_of_one_database(tmp_path: Path):
    check(*kill_collectors(tmp_path, new_database(), levels_study(), kills=2, processes=2))


def test_two_collectors_on_one_database(tmp_path: Path):
    check(*kill_collectors(tmp_path, new_database(), sample_study(), kills=2, processes=2))


def test_a_killed_database_loses_nothing(tmp_path: Path):
    server = new_postgres()
    store = new_database(server)
    check(*kill_database(tmp_path, store, sample_study(), kills=2, restart=lambda _: kill_postgres(server)))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_studies_live_their_whole_lives_through_kills(kind: str, tmp_path: Path):
    found = kill_lives(tmp_path, new_store(kind, tmp_path), sample_study(), kills=3)
    assert (found.lost, found.faults) == (0, [])
    assert found.kills >= 3
    assert found.acknowledged == 30 * found.studies > 0


def test_a_killed_backup_leaves_a_whole_copy_or_none(tmp_path: Path):
    store = new_store("sqlite", tmp_path)
    kill_lives(tmp_path, store, sample_study(), kills=1)
    assert kill_backups(tmp_path, store, kills=3).faults == []


SIZE = 40
DRAWS = 5
IN_BATCHES = replace(sample_study(), release=Release(SIZE, "0.0001", DRAWS))


def check_batches(sent: Sent, count: Count, watched: Watched) -> None:
    check(sent, count)
    assert watched.broken(SIZE + DRAWS) == []
    assert any(sum(step) >= SIZE for step in watched.steps()), "no batch left while it was watched"
    drawn = DRAWS * (count.rows // SIZE)
    assert (sum(watched.sealed), watched.export) == (count.rows + drawn, count.rows)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_kills_never_show_a_batch_below_its_size(kind: str, tmp_path: Path):
    processes = 1 if kind == "sqlite" else 2
    check_batches(*kill_in_batches(tmp_path, new_store(kind, tmp_path), IN_BATCHES, kills=2, processes=processes))


LEAKY = (
    """
from fairgauge.collector.stores import released_sums, sql_store
released_sums.closed_batches = sql_store.closed_batches = lambda taken, size, at_end=False: taken // 7
honest = released_sums.placed
sql_store.placed = lambda symbols, taken, size: honest(symbols, taken, 7)
"""
    + SERVE
)


def test_a_collector_that_lets_smaller_batches_go_is_caught(tmp_path: Path):
    store = new_store("sqlite", tmp_path)
    _, _, watched = kill_in_batches(tmp_path, store, IN_BATCHES, kills=1, code=LEAKY)
    assert watched.broken(SIZE + DRAWS) != []
