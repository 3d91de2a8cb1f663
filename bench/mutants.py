"""Break the code that carries the promises, in one small way at a time, and see whether its tests notice.

    python -m bench.mutants                 all modules, a bounded sample of mutants of each
    python -m bench.mutants channel ledger  some of them
    python -m bench.mutants --most 1000     every mutant

A mutant is one change: ``<`` becomes ``<=``, ``and`` becomes ``or``, a number is another one, a check is left out.  It
is killed if a test fails, or runs for ever.  One that survives is a sentence that no test checks, or a change that
means the same.  Each runs in a process that is forked from one with the libraries loaded, on a copy of the source.
"""

import argparse
import ast
import compileall
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
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

INTERVALS = ("spread", "intervals", "population", "anytime", "fixed", "betting", "prawitz", "edgeworth")

# Each name: the modules, and the tests that are to notice.
TARGETS = {
    "channel": (["channel.py"], ["tests/unit/test_channel.py", "tests/property/test_channel.py"]),
    "study": (
        [
            "study/attribute.py",
            "study/checks.py",
            "study/document.py",
            "study/format1.py",
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
    "scores": (
        ["goals/decoder.py", "goals/inputs.py"],
        ["tests/unit/goals", "tests/unit/estimation/test_estimands.py"],
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


class Copy:
    """A copy of the source and its tests, in which one module at a time is a mutant; editing goes on meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bench", "examples", "src", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        compileall.compile_dir(folder / "src", quiet=2)

    def run(self, tests: Sequence[str], *, seconds: float) -> bool:
        """Run tests on the copy, in a child; tell whether they pass in time."""
        child = os.fork()
        if child == 0:
            self._test(tests)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status) == 0
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return False

    def _test(self, tests: Sequence[str]) -> None:
        """Be the child: test the copy, and leave."""
        os.setpgrp()
        try:
            null = os.open(self.folder / "output", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            sys.dont_write_bytecode = True
            sys.path[:] = [str(self.folder / "src"), *(path for path in sys.path if Path(path).resolve() != ROOT)]
            os.chdir(self.folder)
            import pytest

            # Libraries that are loaded before pytest starts are not looked into by its assertions, which is fine.
            plain = [
                "-W",
                "ignore:Module already imported:pytest.PytestAssertRewriteWarning",
                "-x",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:xdist",
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

    def survives(self, mutant: Mutant, tests: Sequence[str], *, seconds: float) -> bool:
        """Put a mutant in the place of its module, and run the tests."""
        file = self.folder / "src" / "fairgauge" / mutant.module
        before = file.read_bytes()
        cached = list((file.parent / "__pycache__").glob(f"{file.stem}.*"))
        for old in cached:
            old.unlink()
        file.write_text(mutant.source, encoding="utf-8")
        try:
            return self.run(tests, seconds=seconds)
        finally:
            file.write_bytes(before)


def judge(name: str, *, most: int, jobs: int) -> tuple[int, list[Mutant]]:
    """Return how many mutants of a target were tried, and those that survive."""
    modules, tests = TARGETS[name]
    there = [module for module in modules if (ROOT / "src" / "fairgauge" / module).exists()]
    chosen: list[Mutant] = []
    for module in there:
        found = list(mutants(module, (ROOT / "src" / "fairgauge" / module).read_text(encoding="utf-8")))
        chosen += sample(found, max(1, most // len(there)))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(Path(folder) / str(number)) for number in range(jobs)]
        start = time.monotonic()
        if not copies[0].run(tests, seconds=600):
            raise SystemExit(f"{name}: the tests fail without any mutant:\n{copies[0].output}")
        seconds = 10 + 5 * (time.monotonic() - start)

        def work(number: int) -> list[Mutant]:
            mine = chosen[number::jobs]
            return [one for one in mine if copies[number].survives(one, tests, seconds=seconds)]

        with ThreadPoolExecutor(jobs) as pool:
            alive = [one for part in pool.map(work, range(jobs)) for one in part]
    return len(chosen), sorted(alive, key=lambda one: (one.module, one.line))


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the mutants of some targets, and print the score and those that survive."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("targets", nargs="*", default=list(TARGETS), help=f"some of {', '.join(TARGETS)}")
    parser.add_argument("--most", type=int, default=100, help="how many mutants of each target to try")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many to try at once")
    options = parser.parse_args(arguments)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for library in LIBRARIES:
        __import__(library)
    tried, survived = 0, 0
    for name in options.targets:
        start = time.monotonic()
        count, alive = judge(name, most=options.most, jobs=options.jobs)
        tried, survived = tried + count, survived + len(alive)
        print(f"{name}: {count - len(alive)} of {count} killed, in {time.monotonic() - start:.0f} s", flush=True)
        for one in alive:
            print(f"    {one.module}:{one.line}  {one.change}", flush=True)
    print(f"all: {tried - survived} of {tried} killed ({1 - survived / tried:.0%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
