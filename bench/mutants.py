"""Break the code that carries the promises, in one small way at a time, and see whether its tests notice.

    python -m bench.mutants                    all named mutants, then a bounded sample of others in each target
    python -m bench.mutants --named            the named ones alone
    python -m bench.mutants --named alpha seal those of them with "alpha" or "seal" in their name or promise
    python -m bench.mutants channel ledger     no named ones, and others in some targets
    python -m bench.mutants --most 1000        every mutant

A mutant is one change.  The named ones are in :mod:`bench.named_mutants`, each with the promise that it breaks and the
tests that are to notice: all of them must be killed.  The others are made here: ``<`` becomes ``<=``, ``and`` becomes
``or``, a number is another one, a check is left out.  A mutant is killed if a test fails, or runs for ever.  One that
survives is a sentence that no test checks, or a change that means the same.  Each runs in a process that is forked from
one with the libraries loaded, on a copy of the source.
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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

from bench.named_mutants import NAMED, ROOT, NamedMutant, Place, killers_of, places_of

SOURCE = ROOT / "src" / "fairgauge"
# A named mutant whose tests take longer than this is taken to run for ever.
LONGEST = 180.0

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

INTERVALS = ("normal", "population", "anytime", "betting", "edgeworth")

# Each name: the modules, and the tests that are to notice.
TARGETS = {
    "channel": (["channel.py"], ["tests/unit/test_channel.py", "tests/property/test_channel.py"]),
    "study": (
        [
            "study/attribute.py",
            "study/checks.py",
            "study/document.py",
            "study/document_format.py",
            "study/metric.py",
            "study/numbers.py",
            "study/question.py",
        ],
        ["tests/unit/study", "tests/property/test_study.py", "tests/golden"],
    ),
    "ledger": (["client/ledger.py"], ["tests/unit/client/test_ledger.py", "tests/unit/client/test_limits.py"]),
    "intake": (["collector/intake.py", "collector/queueing.py"], ["tests/unit/collector/test_intake.py"]),
    "intervals": (
        [f"estimation/{name}.py" for name in INTERVALS],
        [f"tests/unit/estimation/test_{name}.py" for name in (*INTERVALS, "crossing", "laws")],
    ),
    "decoder": (
        ["targets/decoder.py", "targets/inputs.py"],
        ["tests/unit/targets", "tests/unit/estimation/test_estimands.py"],
    ),
}

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


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Yield the module with each change, one at a time.

    >>> [mutant.change for mutant in mutants("m.py", "assert max(a) < 2")]
    ['max(a) < 2 -> max(a) <= 2', 'max(a) -> min(a)', '2 -> 3']
    """
    tree = ast.parse(source)
    silent = {id(node) for part in _silent(tree) for node in ast.walk(part)}
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            for place, old in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(old, ast.expr | ast.stmt) or id(old) in silent:
                    continue
                for new in changes(old):
                    ast.fix_missing_locations(ast.copy_location(new, old))
                    _put(parent, name, place, new)
                    yield Mutant(module, old.lineno, f"{_short(old)} -> {_short(new)}", ast.unparse(tree))
                    _put(parent, name, place, old)


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


def sample(found: Sequence[Mutant], most: int) -> list[Mutant]:
    """Return at most so many mutants, evenly spread and the same every time."""
    step = max(1.0, len(found) / most)
    return [found[int(i * step)] for i in range(min(most, len(found)))]


@dataclass(frozen=True)
class Verdict:
    """What the tests said of the source: ``how`` is the test that failed first, or why nothing can be said."""

    outcome: Literal["passed", "failed", "unclear"]
    how: str


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
            found = re.search(r"^(?:FAILED|ERROR) \S*?([^/\s]+\.py(?:::\w+)*)", self.output, re.MULTILINE)
            return Verdict("failed", found[1] if found else last)
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


def judge(name: str, *, most: int, jobs: int) -> tuple[int, list[Mutant]]:
    """Return how many mutants of a target were tried, and those that survive."""
    modules, tests = TARGETS[name]
    chosen: list[Mutant] = []
    for module in modules:
        found = list(mutants(module, (SOURCE / module).read_text(encoding="utf-8")))
        chosen += sample(found, max(1, most // len(modules)))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(Path(folder) / str(number)) for number in range(jobs)]
        seconds = 10 + 5 * _passing(copies[0], tests)

        def survives(copy: Copy, one: Mutant) -> bool:
            with copy.changed(one.module, one.source):
                return copy.run(tests, seconds=seconds).outcome != "failed"

        def work(number: int) -> list[Mutant]:
            return [one for one in chosen[number::jobs] if survives(copies[number], one)]

        with ThreadPoolExecutor(jobs) as pool:
            alive = [one for part in pool.map(work, range(jobs)) for one in part]
    return len(chosen), sorted(alive, key=lambda one: (one.module, one.line))


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
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(TARGETS)}, and no named mutants")
    parser.add_argument("--named", nargs="*", metavar="TEXT", help="named mutants alone: all, or those with a text")
    parser.add_argument("--most", type=int, default=100, help="how many mutants of each target to try")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many to try at once")
    options = parser.parse_args(arguments)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for library in LIBRARIES:
        __import__(library)
    left = 0
    if options.named is not None or not options.targets:
        chosen = [one for one in NAMED if one.has(options.named or ())]
        if not chosen:
            raise SystemExit("no named mutant has that text")
        left = judge_named(chosen, jobs=min(options.jobs, len(chosen)))
    if options.named is None:
        _judge_all(options.targets or list(TARGETS), most=options.most, jobs=options.jobs)
    return 1 if left else 0


def _judge_all(targets: Sequence[str], *, most: int, jobs: int) -> None:
    tried, survived = 0, 0
    for name in targets:
        start = time.monotonic()
        count, alive = judge(name, most=most, jobs=jobs)
        tried, survived = tried + count, survived + len(alive)
        print(f"{name}: {count - len(alive)} of {count} killed, in {time.monotonic() - start:.0f} s", flush=True)
        for one in alive:
            print(f"    {one.module}:{one.line}  {one.change}", flush=True)
    print(f"all: {tried - survived} of {tried} killed ({1 - survived / tried:.0%})")


if __name__ == "__main__":
    sys.exit(main())
