"""Run the client in children that are killed, one at each point of the whole path, and then run it again.

    python -m tests.e2e.crash_driver PLAN

PLAN is a JSON object: ``url``, ``study`` (a file), ``folder``, ``how`` ("send" or "file"), ``points`` ("calls",
"lines" or "instructions"), ``stride`` and ``client`` ("ours", or the name of a broken one below); where a study wants
them ``more`` arguments, and ``tickets``, one for each child; and for a site its ``records``, a file.

Child n kills itself with SIGKILL right before its n-th point: a call of any Python function whatever its module, or
a line, or a bytecode instruction, of ``fairgauge/client``.  It uses its own ledger, and its own address, which ends
in n.  Then another child runs to the end.  Children are forks of this process, which has one thread and has imported
everything, so a child costs milliseconds.  Prints one JSON object for each n: exit status, and what the ledger holds.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import fairgauge.client.answer_file
import fairgauge.client.delivery
import fairgauge.client.policy
import fairgauge.client.site_counts
import fairgauge.client.site_records
import fairgauge.client.site_settings
import fairgauge.client.study_source
import fairgauge.study
from fairgauge.client import Answer, Ledger, Patience, answer, command
from fairgauge.client.durable_files import sync_folder

ROOM = str(Path(command.__file__).parent)
AT_ONCE = Patience(tries=5, first=0, longest=0, timeout=10)


def trace_to(last: int, points: str) -> Callable[[FrameType, str, Any], Any]:
    """Return a trace function that kills the process at its last point."""
    seen = 0

    def count() -> None:
        nonlocal seen
        if seen == last:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        if event == ("opcode" if points == "instructions" else "line"):
            count()
        return local

    def outer(frame: FrameType, event: str, arg: Any) -> Any:
        if points == "calls":
            count()
            return None
        if not frame.f_code.co_filename.startswith(ROOM):
            return None
        frame.f_trace_opcodes = points == "instructions"
        frame.f_trace_lines = points == "lines"
        return local

    return outer


def forget(self: Ledger, study: Any, profile: Any, **_: Any) -> Answer:
    """Broken: sends before it remembers."""
    found: Answer = answer(study, profile)
    self._sent_early = found  # type: ignore[attr-defined]
    return found


def remember_late(self: Ledger, found: Answer) -> None:
    with self._transaction() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, 'delivered')", (found.study, found.id, "[1]")
        )


def draw_again(self: Ledger, study: Any, profile: Any, **_: Any) -> Answer:
    """Broken: keeps the id, which makes the answer look the same, and randomises again at every start."""
    found: Answer = REAL_ANSWER(self, study, profile)
    return Answer(found.study, found.id, answer(study, profile).payload)


def make_in_place(self: Ledger) -> None:
    """Broken: the name is there before the ledger is, as SQLite does it."""
    self.path.touch()
    for _ in self.path.parent.glob("*"):
        sync_folder(self.path)  # lines of the client, to be killed at
    self.path.unlink()
    REAL_MAKE(self)


def count_again(self: Ledger, study: Any, records: Any, **_: Any) -> Answer:
    """Broken: keeps the id, and draws the noise again at every start."""
    found: Answer = REAL_ANSWER(self, study, records, ticket="0" * 32)
    return Answer(found.study, found.id, found.payload if records is None else answer(study, records).payload)


REAL_ANSWER, REAL_MAKE = Ledger.answer, Ledger._make
BROKEN: dict[str, dict[str, Any]] = {
    "ours": {},
    "remembers late": {"answer": forget, "mark_sent": remember_late},
    "draws again": {"answer": draw_again, "mark_sent": lambda self, found: None},
    "makes it in place": {"_make": make_in_place},
    "counts again": {"answer": count_again, "mark_sent": lambda self, found: None},
}


def child(plan: dict[str, Any], number: int, *, killed: bool) -> NoReturn:
    ledger = f"{plan['folder']}/{number}"
    target = ["--send", f"{plan['url']}/{number}"] if plan["how"] == "send" else ["--to-file", f"{ledger}.out"]
    more = [*plan.get("more", []), *(["--ticket", plan["tickets"][number]] if "tickets" in plan else [])]
    # A collector behind a gateway is one for all: the path that tells children apart is not part of its own.
    target[1:] = [plan["url"]] if more else target[1:]
    person = ["--group", "female", "--value", "recall=0.83", "--limit", "1.1"]
    arguments = [plan["study"], *person, "--ledger", ledger]
    if "records" in plan:  # each site has a file and a ledger of its own, and what was read from their records
        site = Path(f"{ledger}.json")
        allowed = {"attributes": {"sex": ["female", "male"]}, "confusion": True}
        own = {"records": "none.csv", "prepared": plan["records"], "ledger": ledger}
        site.write_text(json.dumps(own | allowed), encoding="utf-8")
        arguments = [plan["study"], "--site", str(site), "--ticket", "0" * 32]
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    if killed:
        sys.settrace(trace_to(number * plan["stride"], plan["points"]))
    status = command.main([*arguments, *target, *more], patience=AT_ONCE)
    sys.settrace(None)
    os._exit(status)


def run(plan: dict[str, Any], number: int, *, killed: bool) -> int:
    """Return a child's exit status, negative if a signal ended it."""
    process = os.fork()
    if process == 0:
        try:
            child(plan, number, killed=killed)
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main() -> None:
    plan = json.loads(sys.argv[1])
    for name, method in BROKEN[plan["client"]].items():
        setattr(Ledger, name, method)
    study = fairgauge.study.Study.load(plan["study"]).digest
    number, status = 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        status = run(plan, number, killed=True)
        ledger = Ledger(f"{plan['folder']}/{number}")
        left = ledger.path.stat().st_size if ledger.path.exists() else None
        if left == 0:
            print(json.dumps({"number": number, "killed": status, "left": left}), flush=True)  # noqa: T201
            break
        again = run(plan, number, killed=False)
        report = {
            "number": number,
            "killed": status,
            "left": left,
            "again": again,
            "state": ledger.state(study),
            "spent": {name: str(cost) for name, cost in ledger.spent().items()},
        }
        print(json.dumps(report), flush=True)  # noqa: T201
        number += 1


if __name__ == "__main__":
    main()
