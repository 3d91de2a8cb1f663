"""The long kill tests: kill -9 at random moments under load, and of the client at every instruction.

The share of acknowledged answers that were lost, altered or counted twice must be 0.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from bench.lines import Line
from fairgauge.study import Release
from tests.collecting.batches import kill_in_batches
from tests.collecting.kills import Count, Sent, kill_clients, kill_collectors, kill_database
from tests.collecting.servers import kill_postgres, new_database, new_postgres, new_store
from tests.e2e.test_crash import check_reports, drive, lose_the_first_reply, on_the_wire, randomised_twice
from tests.recorder import recorder
from tests.samples import sample_study

STUDY = sample_study()
SIZE = 40
IN_BATCHES = replace(STUDY, release=Release(SIZE, "0.0001", 5))
KILLS = 20


def killed_collectors() -> Iterator[Line]:
    """Kill collectors, and the database under one, while answers arrive and are sent again."""
    own = new_postgres()
    runs: dict[str, Callable[[Path], tuple[Sent, Count]]] = {
        "a collector on SQLite": lambda at: kill_collectors(at, new_store("sqlite", at), STUDY, kills=KILLS),
        "a collector on PostgreSQL": lambda at: kill_collectors(at, new_database(), STUDY, kills=KILLS),
        "one of two collectors on PostgreSQL": lambda at: kill_collectors(
            at, new_database(), STUDY, kills=KILLS, processes=2
        ),
        "PostgreSQL under a collector": lambda at: kill_database(
            at, new_database(own), STUDY, kills=KILLS, restart=lambda _: kill_postgres(own)
        ),
    }
    for victim, run in runs.items():
        with tempfile.TemporaryDirectory(prefix="fairgauge-kills-") as name:
            sent, left = run(Path(name))
        yield _line(victim, KILLS, f"{len(sent.acknowledged):,} acknowledged, {sent.retried:,} retries", left)


def killed_batches() -> Iterator[Line]:
    """Kill collectors while a study in the crowd is answered, and watch what its readers see."""
    for name, kind, processes in (("one on SQLite", "sqlite", 1), ("one of two on PostgreSQL", "postgresql", 2)):
        with tempfile.TemporaryDirectory(prefix="fairgauge-kills-") as place:
            folder = Path(place)
            store = new_store(kind, folder)
            sent, left, watched = kill_in_batches(folder, store, IN_BATCHES, kills=KILLS, processes=processes)
        steps = [sum(step) for step in watched.steps()]
        wrong = len(watched.broken(SIZE)) + left.lost + (sum(watched.sealed) != left.rows)
        value = (
            f"{KILLS} kills: {len(sent.acknowledged):,} acknowledged, {left.lost} lost; {len(steps):,} steps seen, the "
            f"least of {min(steps):,} answers, {wrong} wrong"
        )
        yield Line(f"kill -9 in batches of {SIZE}, {name}", value, "kills", wrong / KILLS, "0")


def killed_clients() -> Iterator[Line]:
    """Kill clients at random moments while they answer, and start them again."""
    for name, kind in (("SQLite", "sqlite"), ("PostgreSQL", "postgresql")):
        with tempfile.TemporaryDirectory(prefix="fairgauge-kills-") as place:
            folder = Path(place)
            answers, left, killed = kill_clients(folder, new_store(kind, folder), STUDY, kills=KILLS)
        if left.rows != len(answers):
            raise AssertionError(f"{len(answers)} clients left {left.rows} answers")
        yield _line(f"clients of a collector on {name}", killed, f"{len(answers)} clients", left)


def killed_everywhere() -> Iterator[Line]:
    """Kill a client right before every bytecode instruction that it executes, and start it again."""
    # In memory where there is such a folder: a killed process takes nothing from a disk's cache, so none is needed.
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place, prefix="fairgauge-kills-") as name, recorder() as server:
        lose_the_first_reply(server)
        reports = drive(server, Path(name), patience=None, how="send", points="instructions", stride=1)
        check_reports(reports, at_least=1000)
        twice, sent = len(randomised_twice(server)), len(on_the_wire(server))
    value = f"{len(reports) - 1:,} kills: {sent:,} delivered, {twice} randomised twice"
    yield Line("kill -9 of a client, before every instruction", value, "delivered", twice / sent, "0")


def _line(victim: str, kills: int, load: str, left: Count) -> Line:
    if not left.tally_is_rows:
        raise AssertionError("the tally is not the rows")
    wrong = left.lost + left.altered + left.unknown
    value = f"{kills} kills: {load}, {left.lost} lost, {left.rows - left.tally} counted twice"
    return Line(f"kill -9 of {victim}", value, "acknowledged", wrong / left.rows, "0")
