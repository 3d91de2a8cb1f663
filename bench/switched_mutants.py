"""Many mutants in one copy of the source, each behind a switch: loaded once, and then one is on in each forked child.

A switch is an expression in the place of what it changes: ``a <= b if mutant(7) else a < b``.  So tests are collected
once, a first child runs all of them with every switch off and notes which switches each test passes, and a mutant is
judged by these tests alone, in a child that is there in milliseconds.  What is decided while a module is loaded
(constants, defaults) or cannot hold a switch (patterns) is left to copies with one change each.
"""

import ast
import json
import mmap
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.random_mutants import Mutant, all_changes, put

# The module that switches ask, in the copy's source beside the package.
ASKED = "mutant_switch"
STATE = "MUTANT_STATE"
_NONE, _HEAD = 65535, 2
_MODULE = f'''"""Which mutant is on, in the first two bytes of a file, and a byte for each that was asked for."""

import mmap
import os
from pathlib import Path


def of(path):
    """Map such a file."""
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0)


state = of(os.environ.get("{STATE}") or Path(__file__).with_name("{STATE}"))


def mutant(number):
    """Tell whether a mutant is on, and note that it was asked for."""
    state[{_HEAD} + number] = 1
    return state[0] + 256 * state[1] == number
'''


def switched(source: str, wanted: Mapping[int, int]) -> tuple[str, set[int]]:
    """Return a module with changes behind switches, and which switches it has.

    >>> print(switched("def f(a): return a < 2", {0: 7})[0].splitlines()[-1].strip())
    return a <= 2 if mutant(7) else a < 2

    Args:
        source: The module.
        wanted: The switch of each change, by the change's number.
    """
    tree = ast.parse(source)
    late = {id(node) for node in _late(tree, late=False)}
    slots: dict[tuple[int, str, int], list[tuple[int, Any]]] = {}
    for number, (parent, name, place, old, new) in enumerate(all_changes(tree)):
        if number in wanted and id(old) in late:
            slots.setdefault((id(parent), name, place), [(0, parent), (0, old)]).append((wanted[number], new))
    for (_, name, place), ((_, parent), (_, new), *mutants) in slots.items():
        for switch, changed in mutants:
            new = _either(switch, changed, new)  # noqa: PLW2901
        put(parent, name, place, ast.fix_missing_locations(new))
    first = next(
        (
            place
            for place, node in enumerate(tree.body)
            if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
            and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        ),
        len(tree.body),
    )
    tree.body.insert(first, ast.ImportFrom(ASKED, [ast.alias("mutant")], 0))
    return ast.unparse(ast.fix_missing_locations(tree)), {s for one in slots.values() for s, _ in one[2:]}


def _either(switch: int, changed: Any, old: Any) -> ast.expr | ast.stmt:
    test = ast.Call(ast.Name("mutant", ast.Load()), [ast.Constant(switch)], [])
    if isinstance(old, ast.expr):
        return ast.IfExp(test, changed, old)
    return ast.If(test, [changed], [old])


def _late(node: ast.AST, *, late: bool) -> Iterator[ast.AST]:
    """Yield the nodes that are reached when a function is called, and not while its module is loaded."""
    if isinstance(node, ast.pattern):
        return
    if late:
        yield node
    for name, value in ast.iter_fields(node):
        body = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and name == "body"
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _late(child, late=late or body)


@dataclass
class Judged:
    """What became of a mutant: the test that killed it, if one did, and which files reach it.

    ``early`` tells that it was asked for while tests were loaded, so that a new Python may see more.
    """

    mutant: Mutant
    killer: str
    files: list[str]
    early: bool
    seconds: float


class Switchboard:
    """A copy of the source in which every mutant has a switch."""

    def __init__(self, folder: Path, mutants: Sequence[Mutant]) -> None:
        self.folder, self._mutants = folder, mutants
        self._source = folder / "src"
        (self._source / f"{ASKED}.py").write_text(_MODULE, encoding="utf-8")
        self._state_file(self._source / STATE)
        self.switches: set[int] = set()
        by_module: dict[str, dict[int, int]] = {}
        for switch, one in enumerate(mutants):
            if one.module.endswith(".py"):
                by_module.setdefault(one.module, {})[one.number] = switch
        for module, wanted in by_module.items():
            path = self._source / "fairgauge" / module
            text, there = switched(path.read_text(encoding="utf-8"), wanted)
            path.write_text(text, encoding="utf-8")
            self.switches |= there

    @staticmethod
    def _state_file(path: Path, active: int = _NONE) -> None:
        path.write_bytes(active.to_bytes(_HEAD, "little") + bytes(_NONE))

    def judge(self, tests: Sequence[str], *, jobs: int) -> Iterator[Judged]:
        """Run tests on every mutant that has a switch, so many at a time, and yield what became of each."""
        told, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(told)
            self._be_the_tests(tests, theirs, jobs)
        os.close(theirs)
        with os.fdopen(told, encoding="utf-8") as lines:
            for line in lines:
                switch, *rest = json.loads(line)
                if switch is None:
                    print(*rest, flush=True)
                else:
                    yield Judged(self._mutants[switch], *rest)
        os.waitpid(child, 0)

    def _be_the_tests(self, tests: Sequence[str], told: int, jobs: int) -> None:
        try:
            out = os.open(self.folder / "output", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            for stream in (0, 1, 2):
                os.dup2(out, stream)
            here = Path(__file__).parents[1]
            sys.path[:] = [
                str(self._source),
                *(path for path in sys.path if Path(path).resolve() not in (here, here / "src")),
            ]
            os.environ |= {"PYTHONPATH": str(self._source), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            os.chdir(self.folder)
            for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
                del sys.modules[name]
            loop = _Loop(self, told, jobs)
            plain = ["-q", "-s", "-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider"]
            ignored = ["-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"]
            status = pytest.main([*plain, *ignored, f"--basetemp={self.folder}/temporary", *tests], plugins=[loop])
            if not loop.went:
                last = (self.folder / "output").read_text(encoding="utf-8")[-3000:]
                os.write(told, (json.dumps([None, f"pytest ended with {int(status)}", last]) + "\n").encode())
        finally:
            os._exit(0)


class _Loop:
    """What pytest does instead of running its tests one after another."""

    def __init__(self, board: Switchboard, told: int, jobs: int) -> None:
        self._board, self._told, self._jobs = board, told, jobs
        self.went = self._noting = False
        self._failed = ""
        self._shared: dict[str, set[int]] = {}

    def pytest_collection(self) -> None:
        """Leave a failing example as it is found."""
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings.default, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails, and what is reached before a test, which others of its file may share."""
        if report.failed:
            self._failed = self._failed or report.nodeid
        if report.when == "setup" and self._noting:
            self._shared.setdefault(report.nodeid.partition("::")[0], set()).update(self._reached())

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Note what each test reaches, then judge the mutants."""
        self.went = True
        early = self._reached()
        for clear in _clears():
            clear()
        found = self._noted(session)
        wrong = [node for node, (_, _, failed) in found.items() if failed]
        if wrong:
            self._say(None, f"left out, as they fail with every switch off: {', '.join(wrong)}")
        running: dict[int, tuple[int, float, float, Path]] = {}
        left = sorted(self._board.switches, reverse=True)
        while left or running:
            while left and len(running) < self._jobs:
                switch = left.pop()
                tests = [item for item in session.items if switch in found.get(item.nodeid, (set(),))[0]]
                tests = [item for item in tests if not found[item.nodeid][2]]
                if not tests:
                    self._say(switch, "", [], switch in early, 0.0)
                    continue
                tests = self._ordered(switch, tests, found)
                limit = 30 + 5 * sum(found[item.nodeid][1] for item in tests)
                place = self._board.folder / f"child-{switch}"
                place.mkdir()
                child = self._fork(session, tests, switch, place)
                running[child] = (switch, time.monotonic(), limit, place)
            self._collect(running, found, early)
        return True

    def _ordered(self, switch: int, tests: list[pytest.Item], found: Mapping[str, Any]) -> list[pytest.Item]:
        """The module's own tests first, then file by file, quick files and quick tests first."""
        own = f"test_{Path(self._board._mutants[switch].module).stem}.py"
        files: dict[str, float] = {}
        for item in tests:
            files[item.path.name] = files.get(item.path.name, 0.0) + found[item.nodeid][1]

        def place(item: pytest.Item) -> tuple[bool, float, str, float]:
            name = item.path.name
            return name != own, files[name], name, found[item.nodeid][1]

        return sorted(tests, key=place)

    def _collect(
        self, running: dict[int, tuple[int, float, float, Path]], found: Mapping[str, Any], early: set[int]
    ) -> None:
        time.sleep(0.01)
        for child, (switch, began, limit, place) in list(running.items()):
            done, status = os.waitpid(child, os.WNOHANG)
            took = time.monotonic() - began
            if not done and took < limit:
                continue
            killer = (place / "killer").read_text(encoding="utf-8") if (place / "killer").is_file() else ""
            if not done:
                killer = f"what takes more than {limit:.0f} s"
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
            elif os.waitstatus_to_exitcode(status) and not killer:
                killer = f"an exit with status {os.waitstatus_to_exitcode(status)}"
            files = sorted({node.partition("::")[0] for node, (reached, _, _) in found.items() if switch in reached})
            self._say(switch, killer, files, switch in early, took)
            shutil.rmtree(place, ignore_errors=True)
            del running[child]

    def _fork(self, session: pytest.Session, tests: Sequence[pytest.Item], switch: int, place: Path) -> int:
        child = os.fork()
        if child:
            return child
        os.setpgrp()
        status = 70
        try:
            self._alone(session, place, switch)
            self._failed = ""
            for item, after in zip(tests, [*tests[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                if self._failed:
                    break
            (place / "killer").write_text(self._failed, encoding="utf-8")
            status = 0
            _stop_programs()
        finally:
            os._exit(status)

    def _noted(self, session: pytest.Session) -> dict[str, tuple[set[int], float, bool]]:
        """Return what each test reaches, how long it takes and whether it fails, with every switch off."""
        place = self._board.folder / "first"
        place.mkdir()
        child = os.fork()
        if child == 0:
            try:
                self._alone(session, place, _NONE)
                found, items, self._noting = {}, session.items, True
                clears, loaded = list[Callable[[], object]](), 0
                for item, after in zip(items, [*items[1:], None], strict=True):
                    if loaded != len(sys.modules):
                        clears, loaded = list(_clears()), len(sys.modules)
                    for clear in clears:
                        clear()
                    began, self._failed = time.monotonic(), ""
                    self._unreach()
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                    reached = self._reached() | self._shared.get(item.nodeid.partition("::")[0], set())
                    found[item.nodeid] = sorted(reached), time.monotonic() - began, bool(self._failed)
                (place / "found").write_text(json.dumps(found), encoding="utf-8")
                _stop_programs()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        found = json.loads((place / "found").read_text(encoding="utf-8"))
        self._designs = place / "designs"
        return {node: (set(reached), seconds, failed) for node, (reached, seconds, failed) in found.items()}

    def _alone(self, session: pytest.Session, place: Path, switch: int) -> None:
        """Be a child with files, designs and a switch of its own."""
        from tests import kept_designs

        state = place / STATE
        Switchboard._state_file(state, switch)
        os.environ[STATE] = str(state)
        asked = sys.modules[ASKED]
        asked.state = asked.of(state)  # type: ignore[attr-defined]
        if hasattr(self, "_designs"):
            kept_designs.copy(self._designs, place / "designs")
        else:
            (place / "designs").mkdir()
        os.environ[kept_designs.PLACE] = str(place / "designs")
        factory: Any = session.config._tmp_path_factory  # type: ignore[attr-defined]
        factory._basetemp, factory._given_basetemp = None, place / "temporary"

    def _say(self, *what: object) -> None:
        os.write(self._told, (json.dumps(what) + "\n").encode())

    @staticmethod
    def _state() -> mmap.mmap:
        found: mmap.mmap = sys.modules[ASKED].state
        return found

    def _reached(self) -> set[int]:
        if ASKED not in sys.modules:
            __import__(ASKED)
        return {switch for switch in self._board.switches if self._state()[_HEAD + switch]}

    def _unreach(self) -> None:
        for switch in self._board.switches:
            self._state()[_HEAD + switch] = 0


def _clears() -> Iterator[Callable[[], object]]:
    """Yield what empties what functions keep of earlier calls: a mutant is to be asked again."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("fairgauge", "tests", "bench"):
            for value in list(vars(module).values()):
                for one in (value, *(vars(value).values() if isinstance(value, type) else ())):
                    function = getattr(one, "__func__", one)
                    if hasattr(function, "cache_clear"):
                        yield function.cache_clear


def _stop_programs() -> None:
    if programs := sys.modules.get("tests.programs"):
        programs.stop_programs()
    if servers := sys.modules.get("tests.collecting.servers"):
        servers.stop_postgres()
