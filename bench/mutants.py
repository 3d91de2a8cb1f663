"""Break the code that carries the promises, in one small way at a time, and see whether its tests notice.

    python -m bench.mutants                     all named mutants, then 300 random ones over all rooms
    python -m bench.mutants --named             the named ones alone
    python -m bench.mutants --named alpha seal  those of them with "alpha" or "seal" in their name or promise
    python -m bench.mutants --random 60         so many random ones alone, drawn anew; --seed 7 draws the same again
    python -m bench.mutants client --random 40  so many of some rooms
    python -m bench.mutants --constants betting every constant of some modules, 5 % less and 5 % more
    python -m bench.mutants --write             and write each room's score into bench/results.md

A mutant is one change.  The named ones are in :mod:`bench.named_mutants`, each with the promise that it breaks and the
tests that are to notice: all of them must be killed.  The others are drawn at random (:mod:`bench.random_mutants`), and
judged by the tests that reach the line, of those where one would look for its module's and of its room
(:mod:`bench.switched_mutants`).  A mutant is killed if a test fails, or runs for ever.  One that survives is a sentence
that no test checks, or a change that means the same.  Each runs in a process that is forked from one with the libraries
loaded, on a copy of the source.
"""

import argparse
import compileall
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Literal

from bench.lines import Line
from bench.named_mutants import NAMED, ROOT, NamedMutant, Place, killers_of, places_of
from bench.random_mutants import ROOMS, Mutant, constants, drawn, nearest, whole_room
from bench.results import Record, measured, read_results, write_results
from bench.switched_mutants import Switchboard

# A named mutant whose tests take longer than this is taken to run for ever.
LONGEST = 180.0
RANDOM = 300

# What is loaded once, before forking.  Nothing of fairgauge is: a child loads its own copy.
LIBRARIES = (
    "pytest",
    "hypothesis",
    "numpy",
    "scipy.special",
    "scipy.stats",
    "httpx",
    "starlette.applications",
    "msgspec",
)


@dataclass(frozen=True)
class Verdict:
    """What the tests said of the source: ``how`` is the test that failed first, or why nothing can be said.

    ``test`` is that test as pytest names it, where there is one.
    """

    outcome: Literal["passed", "failed", "unclear"]
    how: str
    test: str = ""


class Copy:
    """A copy of the source and its tests, in which one module at a time is a mutant; editing goes on meanwhile."""

    def __init__(self, folder: Path, of: Path = ROOT) -> None:
        self.folder = folder
        for name in ("bench", "deploy", "docs", "examples", "src", "tests"):
            shutil.copytree(of / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        for name in ("CHANGELOG.md", "README.md", "pyproject.toml"):
            shutil.copy(of / name, folder)
        compileall.compile_dir(folder / "src", quiet=2)

    def run(self, tests: Sequence[str], *, seconds: float) -> Verdict:
        """Run tests on the copy, in a child, and tell what they say in time."""
        child = os.fork()
        if child == 0:
            self._test(tests)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return self._verdict(os.waitstatus_to_exitcode(status))
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return Verdict("failed", f"what takes more than {seconds:.0f} s")

    def _verdict(self, status: int) -> Verdict:
        last = self.output.strip().rpartition("\n")[2]
        if status == 0 and "passed" in last:
            return Verdict("passed", last)
        if status in (1, 2):  # a test failed, or could not be loaded
            found = re.search(r"^(?:FAILED|ERROR) (\S*?([^/\s]+\.py(?:::[\w.]+)*))", self.output, re.MULTILINE)
            return Verdict("failed", found[2], found[1]) if found else Verdict("failed", last)
        return Verdict("unclear", f"pytest ended with {status}: {last}")

    def _test(self, tests: Sequence[str]) -> None:
        """Be the child: test the copy, and leave."""
        os.setpgrp()
        try:
            null = os.open(self.folder / "output", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            sys.dont_write_bytecode = True
            source = str(self.folder / "src")
            sys.path[:] = [source, *(path for path in sys.path if Path(path).resolve() not in (ROOT, ROOT / "src"))]
            os.environ |= {"PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            os.chdir(self.folder)
            # The copy's own tests, and not those that told where a module's are: they read scripts beside themselves.
            for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
                del sys.modules[name]
            import pytest

            # Libraries that are loaded before pytest starts are not looked into by its assertions, which is fine.
            plain = [
                "-W",
                "ignore:Module already imported:pytest.PytestAssertRewriteWarning",
                "-x",
                "-q",
                "-p",
                "_hypothesis_pytestplugin",
                "-p",
                "no:cacheprovider",
                f"--basetemp={self.folder}/temporary",
            ]
            status = int(pytest.main([*plain, *tests]))
            sys.stdout.flush()
            os._exit(status)
        finally:
            os._exit(70)

    @property
    def output(self) -> str:
        """What the last child printed."""
        return (self.folder / "output").read_text(encoding="utf-8")

    @contextmanager
    def changed(self, module: str, source: str) -> Iterator[None]:
        """Put a mutant in the place of its module, for a while."""
        file = self.folder / "src" / "fairgauge" / module
        before = file.read_bytes()
        for old in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            old.unlink()
        file.write_text(source, encoding="utf-8")
        try:
            yield
        finally:
            file.write_bytes(before)


def judge(rooms: Sequence[str], *, count: int, seed: int, jobs: int, near: bool) -> list[Line]:
    """Try so many mutants over some rooms, print what became of each, and return the score of each room.

    Args:
        rooms: The rooms, each with an equal part of the mutants.
        count: How many mutants.
        seed: Which ones.
        jobs: How many at a time.
        near: Leave it at the nearest tests, without those of the room.
    """
    rng = Random(seed)
    chosen = {room: drawn(room, max(1, count // len(rooms)), rng) for room in rooms}
    found = judge_drawn(chosen, jobs=jobs, near=near)
    print(f"random, seed {seed}")
    return found


def judge_drawn(chosen: Mapping[str, Sequence[Mutant]], *, jobs: int, near: bool) -> list[Line]:
    """Try the mutants of some rooms, print what became of each, and return the score of each room."""
    start, tried, killed = time.monotonic(), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        # What was there when mutants were drawn is what is judged, whatever is edited meanwhile.
        source = Copy(Path(folder)).folder
        for room, mutants in chosen.items():
            for one, verdict in _verdicts(room, mutants, source, jobs=jobs, near=near):
                told = "killed by" if verdict.outcome == "failed" else "SURVIVED"
                tried[room] += 1
                killed[room] += verdict.outcome == "failed"
                print(f"{one.module}:{one.line}  {one.change}  {told} {verdict.how}", flush=True)
            print(f"{room}: {killed[room]} of {tried[room]} killed", flush=True)
    print(f"{killed.total()} of {tried.total()} in {time.monotonic() - start:.0f} s")
    return _lines("random", tried, killed, AIMS)


# How many random mutants are to be killed.  The others mean the same, or change no promise.
AIMS = dict.fromkeys(("estimation", "client", "privacy"), "0.95 or more") | {"collector": "0.85 or more"}


def _lines(kind: str, tried: Counter[str], killed: Counter[str], aims: Mapping[str, str]) -> list[Line]:
    """Return the score of each room, as a line of the bench."""
    return [
        Line(f"{kind}: {room}", f"{killed[room]} killed", f"{count} tried", killed[room] / count, aims.get(room, ""))
        for room, count in sorted(tried.items())
    ]


def _verdicts(
    room: str, chosen: Sequence[Mutant], source: Path, *, jobs: int, near: bool
) -> Iterator[tuple[Mutant, Verdict]]:
    """Yield what becomes of each mutant of a room: with switches where they can be, else in a copy of its own."""
    tests = {one.module: _tests_of(room, one.module, near=near) for one in chosen}
    slow: list[tuple[Mutant, list[str]]] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        board = Switchboard(Copy(Path(folder), source).folder, chosen)
        seen: set[int] = set()
        for judged in board.judge(sorted({test for some in tests.values() for test in some}), jobs=jobs):
            seen.add(id(judged.mutant))
            if judged.killer:
                yield judged.mutant, Verdict("failed", judged.killer.rpartition("/")[2], judged.killer)
            elif judged.early or not judged.files:
                slow.append((judged.mutant, judged.files))
            else:
                yield judged.mutant, Verdict("passed", f"{len(judged.files)} files of tests that reach it")
    slow += [(one, []) for one in chosen if id(one) not in seen]
    killers: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(Path(folder) / str(number), source) for number in range(jobs if slow else 0)]
        free = SimpleQueue[Copy]()
        for copy in copies:
            free.put(copy)

        def work(task: tuple[Mutant, list[str]]) -> tuple[Mutant, Verdict]:
            (one, files), copy = task, free.get()
            try:
                with copy.changed(one.module, one.source):
                    own = nearest(room, one.module)
                    verdict = copy.run(sorted({*own, *files}), seconds=LONGEST)
                    rest = [test for test in whole_room(one.module) if test not in own]
                    if verdict.outcome == "passed" and not near:
                        verdict = copy.run(rest, seconds=2 * LONGEST)
            finally:
                free.put(copy)
            return one, verdict

        with ThreadPoolExecutor(jobs) as pool:
            for one, verdict in pool.map(work, slow):
                killers |= {verdict.test} - {""}
                yield one, verdict
        if killers:
            _passing(copies[0], sorted(killers))  # what fails without any mutant has killed none


def _tests_of(room: str, module: str, *, near: bool) -> list[str]:
    if module.endswith(".js"):
        return []
    return nearest(room, module) if near else [*nearest(room, module), *whole_room(module)]


def judge_named(chosen: Sequence[NamedMutant], *, jobs: int) -> list[Line]:
    """Try named mutants, print what became of each, and return how many were killed in each room of the source."""
    tried, killed = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(Path(folder) / str(number)) for number in range(jobs)]
        # What a copy has is what is judged, whatever is edited meanwhile.
        places = {one.name: _found(one, copies[0].folder) for one in chosen}
        _passing(copies[0], sorted({test for _, tests in places.values() for test in tests}))
        free = SimpleQueue[Copy]()
        for copy in copies:
            free.put(copy)

        def work(one: NamedMutant) -> tuple[NamedMutant, Verdict, float]:
            (place, tests), copy, start = places[one.name], free.get(), time.monotonic()
            try:
                if place is None or not tests:
                    verdict = Verdict("unclear", "its source or its test is not there exactly once")
                else:
                    with copy.changed(place.module, place.source):
                        verdict = copy.run(tests, seconds=LONGEST)
            finally:
                free.put(copy)
            return one, verdict, time.monotonic() - start

        with ThreadPoolExecutor(jobs) as pool:
            for one, verdict, seconds in pool.map(work, chosen):
                told = {"failed": "killed by", "passed": "SURVIVED", "unclear": "DOES NOT APPLY"}[verdict.outcome]
                print(f"{one.name:<72} {seconds:5.1f} s  {told} {verdict.how}", flush=True)
                place, _ = places[one.name]
                room = "nowhere" if place is None else Path(place.module).parts[0].removesuffix(".py")
                tried[room] += 1
                killed[room] += verdict.outcome == "failed"
    print(f"named: {killed.total()} of {len(chosen)} killed", flush=True)
    return _lines("named", tried, killed, dict.fromkeys(tried, "all"))


def _found(one: NamedMutant, root: Path) -> tuple[Place | None, list[str]]:
    """Return where a named mutant is and the tests that are to kill it, as far as they are there."""
    places, tests = places_of(one, root / "src" / "fairgauge"), killers_of(one, root)
    return (places[0] if len(places) == 1 else None), tests


def _passing(copy: Copy, tests: Sequence[str]) -> float:
    """Return how long the tests take without any mutant, or end here if they fail."""
    start = time.monotonic()
    verdict = copy.run(tests, seconds=1800)
    if verdict.outcome != "passed":
        raise SystemExit(f"the tests fail without any mutant: {verdict.how}\n{copy.output}")
    return time.monotonic() - start


def main(arguments: Sequence[str] | None = None) -> int:
    """Try mutants, and print the score and those that survive; 1 if a named one is not killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rooms", nargs="*", help=f"random ones of some of {', '.join(ROOMS)} alone")
    parser.add_argument("--named", nargs="*", metavar="TEXT", help="named mutants alone: all, or those with a text")
    parser.add_argument("--random", type=int, metavar="N", help="random mutants alone: so many over all rooms")
    parser.add_argument("--seed", type=int, help="draw the random ones as before; else they are others each time")
    parser.add_argument("--constants", nargs="+", metavar="TEXT", help="constants of modules with such a text alone")
    parser.add_argument("--near", action="store_true", help="random ones: the nearest tests alone, not the room's")
    parser.add_argument("--write", action="store_true", help="write the scores of all rooms into bench/results.md")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many to try at once")
    options = parser.parse_args(arguments)
    for room in options.rooms:
        if room not in ROOMS:
            parser.error(f"there is no room {room}: choose from {', '.join(ROOMS)}")
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for library in LIBRARIES:
        __import__(library)
    if options.write and (options.rooms or options.named or options.constants):
        parser.error("--write wants all rooms: a part of them is no score")
    if options.constants:
        by_room: dict[str, list[Mutant]] = {}
        for room, one in constants(options.constants):
            by_room.setdefault(room, []).append(one)
        judge_drawn(by_room, jobs=options.jobs, near=options.near)
        return 0
    found: dict[str, Record] = {}
    if not options.rooms and options.random is None:
        chosen = [one for one in NAMED if one.has(options.named or ())]
        if not chosen:
            raise SystemExit("no named mutant has that text")
        work = partial(judge_named, chosen, jobs=min(options.jobs, len(chosen)))
        found["named mutants"] = measured(work, 0.0, timed=False)
    if options.named is None:
        seed = int.from_bytes(os.urandom(4)) if options.seed is None else options.seed
        rooms, count = options.rooms or list(ROOMS), options.random or RANDOM
        work = partial(judge, rooms, count=count, seed=seed, jobs=options.jobs, near=options.near)
        found["random mutants"] = measured(work, 0.0, timed=False)
    if options.write:
        write_results(read_results() | found)
    named = found.get("named mutants")
    return int(named is not None and any(line.ratio < 1 for line in named.lines))


if __name__ == "__main__":
    sys.exit(main())
