"""Break the code that carries the promises, in one small way at a time, and see whether its tests notice.

    python -m bench.mutants                     all named mutants, then 300 random ones over all rooms
    python -m bench.mutants --named             the named ones alone
    python -m bench.mutants --named alpha seal  those of them with "alpha" or "seal" in their name or promise
    python -m bench.mutants --random 60         so many random ones alone, drawn anew; --seed 7 draws the same again
    python -m bench.mutants client --random 40  so many of some rooms

A mutant is one change.  The named ones are in :mod:`bench.named_mutants`, each with the promise that it breaks and the
tests that are to notice: all of them must be killed.  The others are made here: ``<`` becomes ``<=``, ``and`` becomes
``or``, a number is another one, a check is left out; they are drawn at random, so that nobody writes tests for a list.
A mutant is killed if a test fails, or runs for ever: first the tests where one would look for its module's, then those
of its room.  One that survives is a sentence that no test checks, or a change that means the same.  Each runs in a
process that is forked from one with the libraries loaded, on a copy of the source.
"""

import argparse
import ast
import compileall
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any, Literal

from bench.named_mutants import NAMED, ROOT, NamedMutant, Place, killers_of, places_of
from tests.contract.test_layout import covered, mirrored

SOURCE = ROOT / "src" / "fairgauge"
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

# Each room: where its modules are, and what tests them beside their own files.
ROOMS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "estimation": (["estimation/*.py"], ["tests/property/test_estimate.py", "tests/statistical/test_fit.py"]),
    "client": (["client/*.py"], ["tests/property/test_client.py", "tests/statistical/test_ledger.py"]),
    "privacy": (
        ["channel.py", "crowd/*.py", "passes/*.py", "envelopes/*.py"],
        ["tests/property/test_channel.py", "tests/property/test_crowd.py"],
    ),
    "study": (["study/*.py"], ["tests/property/test_study.py", "tests/golden"]),
    "targets": (["targets/*.py"], ["tests/unit/estimation/test_estimands.py"]),
    "tallies": (["tallies/*.py"], []),
    "collector": (["collector/*.py", "collector/*/*.py"], ["tests/property/test_collector_model.py"]),
    "parties": (["server/*.py", "issuer/*.py", "relay/*.py"], []),
    "javascript": (["collector/static/*.js"], ["tests/vectors/test_javascript.py"]),
}
# Browsers read JavaScript as people do, and take their time.
BROWSERS = ("tests/browser/test_client.py", "tests/browser/test_refusals.py", "tests/browser/test_unlinked.py")

_SWAPPED: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}  # fmt: skip
_OPPOSITES = {"min": "max", "any": "all", "floor": "ceil", "minimum": "maximum", "argmin": "argmax"}
_OPPOSITES |= {new: old for old, new in _OPPOSITES.items()}


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str
    line: int
    change: str
    source: str


def mutants(module: str, source: str, wanted: Container[int] = range(sys.maxsize)) -> Iterator[Mutant]:
    """Yield the module with each change, one at a time; or with those of them that have these numbers.

    >>> [mutant.change for mutant in mutants("m.py", "assert max(a) < 2")]
    ['max(a) < 2 -> max(a) <= 2', 'max(a) -> min(a)', '2 -> 3']
    """
    tree = ast.parse(source)
    for number, (parent, name, place, old, new) in enumerate(_changes(tree)):
        if number in wanted:
            _put(parent, name, place, new)
            yield Mutant(module, old.lineno, f"{_short(old)} -> {_short(new)}", ast.unparse(tree))
            _put(parent, name, place, old)


def _changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int, ast.expr | ast.stmt, ast.AST]]:
    silent = {id(node) for part in _silent(tree) for node in ast.walk(part)}
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            for place, old in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(old, ast.expr | ast.stmt) or id(old) in silent:
                    continue
                for new in changes(old):
                    yield parent, name, place, old, ast.fix_missing_locations(ast.copy_location(new, old))


def changes(node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    """Yield what a node may be mistaken for."""
    match node:
        case ast.Call(ast.Name(name), arguments, keywords) if name in _OPPOSITES:
            yield ast.Call(ast.Name(_OPPOSITES[name]), arguments, keywords)
        case ast.Call(ast.Attribute(base, name), arguments, keywords) if name in _OPPOSITES:
            yield ast.Call(ast.Attribute(base, _OPPOSITES[name]), arguments, keywords)
        case ast.If(ast.Name() | ast.Call() | ast.Attribute() as test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Raise() | ast.Expr(ast.Call() | ast.Await()):
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(value):
            yield from _other_constants(value)
        case _:
            yield from _other_operators(node)


def _other_constants(value: object) -> Iterator[ast.AST]:
    match value:
        case bool():
            yield ast.Constant(not value)
        case int():
            yield ast.Constant(value + 1)
        case float():
            yield ast.Constant(2 * value if value else 1.0)


def _other_operators(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, ops, comparators):
            for i, op in enumerate(ops):
                yield ast.Compare(left, [*ops[:i], _SWAPPED[type(op)](), *ops[i + 1 :]], comparators)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(_SWAPPED[type(op)](), values)
        case ast.BinOp(left, op, right) if type(op) in _SWAPPED and not _is_text(left):
            yield ast.BinOp(left, _SWAPPED[type(op)](), right)
        case ast.AugAssign(target, op, value) if type(op) in _SWAPPED:
            yield ast.AugAssign(target, _SWAPPED[type(op)](), value)
            yield ast.Pass()


def _silent(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what no test can notice, or only a reader does: annotations, decorators, docstrings and texts of errors."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from (*node.decorator_list, *([node.returns] if node.returns else []))
            case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
                yield annotation
            case ast.ClassDef():
                yield from node.decorator_list
            case ast.JoinedStr():
                yield node
            case ast.If(ast.Name("TYPE_CHECKING")):
                yield node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _put(parent: ast.AST, name: str, place: int, node: ast.AST) -> None:
    value = getattr(parent, name)
    if isinstance(value, list):
        value[place] = node
    else:
        setattr(parent, name, node)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else text[:67] + "..."


# What a token of JavaScript may be mistaken for; comments and texts are left alone.
_TOKENS = {
    "===": "!==", "!==": "===", "<=": "<", ">=": ">", "<": "<=", ">": ">=", "&&": "||", "||": "&&", "+": "-", "-": "+",
    "*": "+", "true": "false", "false": "true", "!": "",
}  # fmt: skip
_JAVASCRIPT = re.compile(
    r"""(?P<silent>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|=>|\+\+|--|\?\?|\?\.|[*+-]=)
    |(?P<token>===|!==|<=|>=|&&|\|\||[<>+*!-]|\b(?:true|false)\b)
    |(?P<number>(?<![\w.])\d+n?\b(?!\.))""",
    re.DOTALL | re.VERBOSE,
)


def script_mutants(module: str, source: str, wanted: Container[int] = range(sys.maxsize)) -> Iterator[Mutant]:
    """Yield a module of JavaScript with each change, one at a time; or with those of them that have these numbers.

    >>> [one.change for one in script_mutants("m.js", "if (a < 2) b(); // 1")]
    ['if (a < 2) b(); // 1: < -> <=', 'if (a < 2) b(); // 1: 2 -> 3']
    """
    told = [found for found in _JAVASCRIPT.finditer(source) if found["silent"] is None]
    for number, found in enumerate(told):
        if number in wanted:
            old = found[0]
            new = _TOKENS[old] if old in _TOKENS else re.sub(r"\d+", lambda digits: str(int(digits[0]) + 1), old)
            line = source.count("\n", 0, found.start())
            about = f"{source.splitlines()[line].strip()[:70]}: {old} -> {new}"
            yield Mutant(module, line + 1, about, source[: found.start()] + new + source[found.end() :])


def drawn(room: str, count: int, rng: Random) -> list[Mutant]:
    """Return so many mutants of a room, each as likely as any other."""
    every = [
        (path, number)
        for pattern in ROOMS[room][0]
        for path in sorted(SOURCE.glob(pattern))
        for number in range(_number(path))
    ]
    wanted: dict[Path, set[int]] = {}
    for path, number in rng.sample(every, min(count, len(every))):
        wanted.setdefault(path, set()).add(number)
    return [
        one
        for path, numbers in wanted.items()
        for one in (script_mutants if path.suffix == ".js" else mutants)(
            str(path.relative_to(SOURCE)), path.read_text(encoding="utf-8"), numbers
        )
    ]


@cache
def _number(path: Path) -> int:
    """Return how many mutants a module has."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return sum(found["silent"] is None for found in _JAVASCRIPT.finditer(source))
    return sum(1 for _ in _changes(ast.parse(source)))


def nearest(room: str, module: str) -> list[str]:
    """Return the tests where one would look for those of a module, and what else tests its room."""
    extra = list(ROOMS[room][1])
    if module.endswith(".js"):
        return extra
    name = ".".join(("fairgauge", *Path(module).with_suffix("").parts))
    own = [str(mirrored(name).relative_to(ROOT))] if mirrored(name).is_file() else []
    return [*own, *covered().get(name, []), *extra]


def whole_room(module: str) -> list[str]:
    """Return the tests of all of a module's room, for what survived the nearest ones."""
    if module.endswith(".js"):
        return list(BROWSERS)
    folder = f"tests/unit/{module.partition('/')[0]}"
    return [folder] if "/" in module else ["tests/unit/study", "tests/unit/client", "tests/statistical/test_answers.py"]


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

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bench", "deploy", "docs", "examples", "src", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        for name in ("CHANGELOG.md", "README.md", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
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
            found = re.search(r"^(?:FAILED|ERROR) (\S*?([^/\s]+\.py(?:::\w+)*))", self.output, re.MULTILINE)
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


def judge(rooms: Sequence[str], *, count: int, seed: int, jobs: int, near: bool) -> None:
    """Try so many mutants over some rooms, and print what became of each and the score of each room.

    Args:
        rooms: The rooms, each with an equal part of the mutants.
        count: How many mutants.
        seed: Which ones.
        jobs: How many at a time.
        near: Leave it at the nearest tests, without those of the room.
    """
    rng, start = Random(seed), time.monotonic()
    chosen = [(room, one) for room in rooms for one in drawn(room, max(1, count // len(rooms)), rng)]
    alive, killers = Counter[str](), set[str]()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(Path(folder) / str(number)) for number in range(jobs)]
        free = SimpleQueue[Copy]()
        for copy in copies:
            free.put(copy)

        def work(task: tuple[str, Mutant]) -> tuple[str, Mutant, Verdict]:
            (room, one), copy = task, free.get()
            try:
                with copy.changed(one.module, one.source):
                    verdict = copy.run(nearest(room, one.module), seconds=LONGEST)
                    if verdict.outcome == "passed" and not near:
                        verdict = copy.run(whole_room(one.module), seconds=2 * LONGEST)
            finally:
                free.put(copy)
            return room, one, verdict

        with ThreadPoolExecutor(jobs) as pool:
            for room, one, verdict in pool.map(work, chosen):
                told = "killed by" if verdict.outcome == "failed" else "SURVIVED"
                alive[room] += verdict.outcome != "failed"
                print(f"{one.module}:{one.line}  {one.change}  {told} {verdict.how}", flush=True)
                killers |= {verdict.test} - {""}
        if killers:
            _passing(copies[0], sorted(killers))  # what fails without any mutant has killed none
    tried = Counter(room for room, _ in chosen)
    for room, number in tried.items():
        print(f"{room}: {number - alive[room]} of {number} killed")
    print(
        f"random, seed {seed}: {tried.total() - alive.total()} of {tried.total()} in {time.monotonic() - start:.0f} s"
    )


def judge_named(chosen: Sequence[NamedMutant], *, jobs: int) -> int:
    """Try named mutants, print what became of each, and return how many were not killed."""
    rooms, left = Counter(one.room for one in chosen), Counter[str]()
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
                left[one.room] += verdict.outcome != "failed"
    print(", ".join(f"{room} {count - left[room]} of {count}" for room, count in rooms.items()))
    print(f"named: {len(chosen) - left.total()} of {len(chosen)} killed", flush=True)
    return left.total()


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
    parser.add_argument("--near", action="store_true", help="random ones: the nearest tests alone, not the room's")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many to try at once")
    options = parser.parse_args(arguments)
    for room in options.rooms:
        if room not in ROOMS:
            parser.error(f"there is no room {room}: choose from {', '.join(ROOMS)}")
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for library in LIBRARIES:
        __import__(library)
    left = 0
    if not options.rooms and options.random is None:
        chosen = [one for one in NAMED if one.has(options.named or ())]
        if not chosen:
            raise SystemExit("no named mutant has that text")
        left = judge_named(chosen, jobs=min(options.jobs, len(chosen)))
    if options.named is None:
        seed = int.from_bytes(os.urandom(4)) if options.seed is None else options.seed
        judge(
            options.rooms or list(ROOMS),
            count=options.random or RANDOM,
            seed=seed,
            jobs=options.jobs,
            near=options.near,
        )
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
