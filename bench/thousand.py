"""A thousand kills over both stores, workers and tools: nothing lost or doubled, no study sealed twice.

It goes in small steps that are remembered: stop it when you like, and it goes on later.

``python -m bench.thousand`` runs until the number is reached or its minutes are over.  What it counts is in
``bench/.thousand.json``; ``make bench ARGS=thousand`` shows it in the table.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console

from bench.lines import Line
from tests.collecting.kills import Count, Sent, kill_clients, kill_collectors, kill_database
from tests.collecting.lives import Lives, kill_backups, kill_lives, kill_restores
from tests.collecting.servers import kill_postgres, new_database, new_postgres, new_store
from tests.samples import sample_study

STATE = Path(os.environ.get("FAIRGAUGE_KILLS", Path(__file__).parent / ".thousand.json"))
STUDY = sample_study()
KILLS = 1000
STEP = 10  # kills in one step; what a stop in the middle of a step has done is not counted
Tally = dict[str, int]


def _of_storm(sent: Sent, left: Count) -> Tally:
    return {
        "acknowledged": len(sent.acknowledged),
        "lost": left.lost + left.altered + left.unknown,
        "doubled": left.rows - left.tally,
        "faults": int(not left.tally_is_rows),
    }


def _of_lives(found: Lives) -> Tally:
    return {"acknowledged": found.acknowledged, "lost": found.lost, "doubled": 0, "faults": len(found.faults)}


def _collectors(kind: str) -> Callable[[Path], Tally]:
    return lambda at: _of_storm(*kill_collectors(at, new_store(kind, at), STUDY, kills=STEP))


def _lives(kind: str) -> Callable[[Path], Tally]:
    return lambda at: _of_lives(kill_lives(at, new_store(kind, at), STUDY, kills=STEP))


def _database(at: Path) -> Tally:
    own = new_postgres()
    return _of_storm(
        *kill_database(at, new_database(own), STUDY, kills=STEP, restart=lambda _number: kill_postgres(own))
    )


def _clients(kind: str) -> Callable[[Path], Tally]:
    def run(at: Path) -> Tally:
        answers, left, _ = kill_clients(at, new_store(kind, at), STUDY, kills=STEP)
        sent = Sent({}, {bytes.fromhex(one.id) for one in answers})
        return _of_storm(sent, left) | {"lost": left.lost + left.altered + abs(left.rows - len(answers))}

    return run


def _two(at: Path) -> Tally:
    return _of_storm(*kill_collectors(at, new_database(), STUDY, kills=STEP, processes=2))


def _restores(at: Path) -> Tally:
    store = new_store("sqlite", at)
    kill_lives(at, store, STUDY, kills=1, answers=200)
    return _of_lives(kill_restores(at, store, kills=STEP))


def _backups(at: Path) -> Tally:
    store = new_store("sqlite", at)
    kill_lives(at, store, STUDY, kills=1, answers=200)
    return _of_lives(kill_backups(at, store, kills=STEP))


WAYS: dict[str, Callable[[Path], Tally]] = {
    "a collector on SQLite under load": _collectors("sqlite"),
    "a collector on PostgreSQL under load": _collectors("postgresql"),
    "SQLite: publish, seal, export": _lives("sqlite"),
    "PostgreSQL: publish, seal, export": _lives("postgresql"),
    "PostgreSQL itself": _database,
    "clients, SQLite": _clients("sqlite"),
    "clients, PostgreSQL": _clients("postgresql"),
    "one of two collectors on PostgreSQL": _two,
    "a backup": _backups,
    "restore and forget": _restores,
}


def read_state() -> dict[str, Tally]:
    """Return what was counted so far."""
    return json.loads(STATE.read_text(encoding="utf-8")) if STATE.exists() else {}


def _write_state(state: dict[str, Tally]) -> None:
    part = STATE.with_suffix(".part")
    part.write_text(json.dumps(state, indent=1), encoding="utf-8")
    os.replace(part, STATE)  # noqa: PTH105 - whole or not at all


def kills_in(state: dict[str, Tally]) -> int:
    """Return the number of kills."""
    return sum(counted["kills"] for counted in state.values())


def go_on(*, until: int, minutes: float, tell: Callable[[str], object]) -> dict[str, Tally]:
    """Kill on until the number is reached or the time is over, the way with the fewest kills first."""
    ends, state = time.monotonic() + 60 * minutes, read_state()
    while kills_in(state) < until and time.monotonic() < ends:
        way = min(WAYS, key=lambda name: state.get(name, {}).get("kills", 0))
        with tempfile.TemporaryDirectory(prefix="fairgauge-kills-") as place:
            found = WAYS[way](Path(place)) | {"kills": STEP}
        before = state.get(way, {})
        state[way] = {name: before.get(name, 0) + count for name, count in found.items()}
        _write_state(state)
        tell(f"{kills_in(state):,} kills; {way}: {state[way]}")
    return state


def thousand() -> Iterator[Line]:
    """What a thousand kills over both stores left: as far as they were run, see bench/thousand.py."""
    for way, counted in go_on(until=KILLS, minutes=30, tell=str).items():
        wrong = counted["lost"] + counted["doubled"] + counted["faults"]
        value = (
            f"{counted['kills']} kills: {counted['acknowledged']:,} acknowledged, {counted['lost']} lost, "
            f"{counted['doubled']} counted twice, {counted['faults']} faults"
        )
        yield Line(f"kill -9, {way}", value, "kills", wrong / counted["kills"], "0")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--minutes", type=float, default=30.0)
    asked = parser.parse_args()
    go_on(until=asked.kills, minutes=asked.minutes, tell=Console().print)
