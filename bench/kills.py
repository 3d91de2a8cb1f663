"""A thousand times kill -9, over both stores, workers, clients and tools: nothing lost, and no study sealed twice.

``make bench ARGS=kills`` runs it, in some twenty minutes: with a step of each way first, then the way with the fewest
kills.  Every step is remembered in ``bench/.kills.json``: stop it when you like, and it goes on where it was, unless
the sources are others by then.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from bench.lines import Line, tell
from fairgauge.study import Release
from tests.collecting.batches import kill_in_batches
from tests.collecting.kills import Count, Sent, kill_clients, kill_collectors, kill_database, kill_workers
from tests.collecting.lives import Lives, kill_backups, kill_lives, kill_restores
from tests.collecting.servers import kill_postgres, new_database, new_postgres, new_store, use_postgres_tools
from tests.e2e.test_crash import check_reports, drive, lose_the_first_reply, on_the_wire, randomised_twice
from tests.recorder import recorder
from tests.samples import sample_study

STATE = Path(os.environ.get("FAIRGAUGE_KILLS_STATE", Path(__file__).parent / ".kills.json"))
KILLS = int(os.environ.get("FAIRGAUGE_KILLS", "1000"))
STEP = 10  # kills in one step; what a stop in the middle of a step has done is not counted
SIZE, DRAWS = 40, 5
STUDY = sample_study()
IN_BATCHES = replace(STUDY, release=Release(SIZE, "0.0001", DRAWS))
Tally = dict[str, int]
Way = Callable[[Path], Tally]


def _of_load(sent: Sent, left: Count) -> Tally:
    return {
        "acknowledged": len(sent.acknowledged),
        "lost": left.lost + left.altered + left.unknown,
        "doubled": left.rows - left.tally,
        "faults": int(not left.tally_is_rows),
    }


def _of_lives(found: Lives) -> Tally:
    return {"acknowledged": found.acknowledged, "lost": found.lost, "doubled": 0, "faults": len(found.faults)}


def _collectors(kind: str, processes: int = 1) -> Way:
    return lambda at: _of_load(*kill_collectors(at, new_store(kind, at), STUDY, kills=STEP, processes=processes))


def _lives(kind: str) -> Way:
    return lambda at: _of_lives(kill_lives(at, new_store(kind, at), STUDY, kills=STEP))


def _batches(kind: str, processes: int = 1) -> Way:
    def run(at: Path) -> Tally:
        sent, left, watched = kill_in_batches(at, new_store(kind, at), IN_BATCHES, kills=STEP, processes=processes)
        drawn = DRAWS * (left.rows // SIZE)
        wrong = len(watched.broken(SIZE + DRAWS)) + len(watched.faults)
        wrong += (sum(watched.sealed), watched.export) != (left.rows + drawn, left.rows)
        return _of_load(sent, left) | {"faults": wrong + (not left.tally_is_rows)}

    return run


def _database(at: Path) -> Tally:
    own = new_postgres()
    found = kill_database(at, new_database(own), STUDY, kills=STEP, restart=lambda _number: kill_postgres(own))
    return _of_load(*found)


def _workers(at: Path) -> Tally:
    """Kill five, twice: after more in a row the next worker starts late, which is what a crew promises."""
    halves = []
    for name in ("first", "second"):
        (at / name).mkdir()
        halves.append(_of_load(*kill_workers(at / name, new_database(), STUDY, kills=STEP // 2)))
    return {what: sum(half[what] for half in halves) for what in halves[0]}


def _clients(kind: str) -> Way:
    def run(at: Path) -> Tally:
        answers, left, _ = kill_clients(at, new_store(kind, at), STUDY, kills=STEP)
        sent = Sent({}, {bytes.fromhex(one.id) for one in answers})
        return _of_load(sent, left) | {"lost": left.lost + left.altered + abs(left.rows - len(answers))}

    return run


def _tool(kind: str, kill: Callable[..., Lives]) -> Way:
    def run(at: Path) -> Tally:
        store = new_store(kind, at)
        kill_lives(at, store, STUDY, kills=1, answers=200)
        return _of_lives(kill(at, store, kills=STEP))

    return run


WAYS: dict[str, Way] = {
    "a collector on SQLite under load": _collectors("sqlite"),
    "a collector on PostgreSQL under load": _collectors("postgresql"),
    "one of two collectors on PostgreSQL": _collectors("postgresql", processes=2),
    "workers of a collector on PostgreSQL": _workers,
    "SQLite: publish, seal, export": _lives("sqlite"),
    "PostgreSQL: publish, seal, export": _lives("postgresql"),
    "SQLite: batches of a crowd": _batches("sqlite"),
    "PostgreSQL: batches of a crowd, two collectors": _batches("postgresql", processes=2),
    "PostgreSQL itself": _database,
    "clients, SQLite": _clients("sqlite"),
    "clients, PostgreSQL": _clients("postgresql"),
    "a backup of SQLite": _tool("sqlite", kill_backups),
    "a backup of PostgreSQL": _tool("postgresql", kill_backups),
    "restore and forget, SQLite": _tool("sqlite", kill_restores),
    "restore and forget, PostgreSQL": _tool("postgresql", kill_restores),
}


def killed() -> Iterator[Line]:
    """Kill until there were a thousand, and say what each way left."""
    for way, counted in _go_on().items():
        wrong = counted["lost"] + counted["doubled"] + counted["faults"]
        value = (
            f"{counted['kills']} kills: {counted['acknowledged']:,} acknowledged, {counted['lost']} lost, "
            f"{counted['doubled']} counted twice, {counted['faults']} faults"
        )
        yield Line(f"kill -9, {way}", value, "kills", wrong / counted["kills"], "0")


def _go_on() -> dict[str, Tally]:
    use_postgres_tools()
    state, began = _read_state(), time.monotonic()
    before = _kills_in(state)
    while (so_far := _kills_in(state)) < KILLS:
        way = min(WAYS, key=lambda name: state.get(name, {}).get("kills", 0))
        left = (time.monotonic() - began) / (so_far - before) * (KILLS - so_far) / 60 if so_far > before else None
        tell(f"{so_far:,} of {KILLS:,} kills{'' if left is None else f', {left:.0f} minutes left'}: {way}")
        with tempfile.TemporaryDirectory(prefix="fairgauge-kills-") as place:
            found = WAYS[way](Path(place)) | {"kills": STEP}
        counted = state.get(way, {})
        state[way] = {name: counted.get(name, 0) + count for name, count in found.items()}
        if found["lost"] or found["doubled"] or found["faults"]:
            tell(f"WRONG: {way}: {found}")
        part = STATE.with_suffix(".part")
        part.write_text(json.dumps({"sources": _sources(), "ways": state}, indent=1), encoding="utf-8")
        os.replace(part, STATE)  # noqa: PTH105 - whole or not at all
    return state


def _read_state() -> dict[str, Tally]:
    found = json.loads(STATE.read_text(encoding="utf-8")) if STATE.exists() else {}
    return found["ways"] if found.get("sources") == _sources() else {}


def _sources() -> str:
    """Return the name that git has for what is in ``src``."""
    here = Path(__file__).parent
    return subprocess.run(
        ["git", "rev-parse", "HEAD:src"], cwd=here, capture_output=True, text=True, check=True
    ).stdout.strip()


def _kills_in(state: dict[str, Tally]) -> int:
    return sum(counted["kills"] for counted in state.values())


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
