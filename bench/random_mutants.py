"""Mutants that are drawn at random: what a line may be mistaken for, in which rooms, and where its tests are.

``<`` becomes ``<=``, ``and`` becomes ``or``, a number is another one, a check is left out.  They are drawn anew each
time, so that nobody writes tests for a list.
"""

import ast
import re
import sys
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from bench.named_mutants import ROOT
from tests.contract.test_layout import covered, mirrored

SOURCE = ROOT / "src" / "fairgauge"

# Each room: where its modules are, and what tests them beside their own files.
ROOMS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "estimation": (["estimation/*.py"], ["tests/property/test_estimate.py", "tests/statistical/test_fit.py"]),
    "client": (["client/*.py"], ["tests/property/test_client.py", "tests/statistical/test_ledger.py"]),
    "privacy": (
        ["channel.py", "audit.py", "crowd/*.py", "unlinkable/*.py"],
        ["tests/property/test_channel.py", "tests/property/test_crowd.py"],
    ),
    "study": (["study/*.py"], ["tests/property/test_study.py", "tests/golden"]),
    "targets": (["targets/*.py"], ["tests/unit/estimation/test_estimands.py"]),
    "tallies": (["tallies/*.py"], []),
    "collector": (["collector/*.py", "collector/*/*.py"], ["tests/property/test_collector_model.py"]),
    "parties": (["server/*.py", "parties/*.py"], []),
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
    """A module with one change, and which of the module's changes that is."""

    module: str
    line: int
    change: str
    source: str
    number: int


def mutants(module: str, source: str, wanted: Container[int] | None = None) -> Iterator[Mutant]:
    """Yield the module with each change, one at a time; or with those of them that have these numbers.

    >>> [mutant.change for mutant in mutants("m.py", "assert max(a) < 2")]
    ['max(a) < 2 -> max(a) <= 2', 'max(a) -> min(a)', '2 -> 3']
    """
    tree = ast.parse(source)
    wanted = range(sum(1 for _ in changes_of(tree))) if wanted is None else wanted
    for number, (parent, name, place, old, new) in enumerate(all_changes(tree)):
        if number in wanted:
            put(parent, name, place, new)
            yield Mutant(module, old.lineno, f"{_short(old)} -> {_short(new)}", ast.unparse(tree), number)
            put(parent, name, place, old)


Change = tuple[ast.AST, str, int, ast.expr | ast.stmt, ast.AST]


def changes_of(tree: ast.AST) -> Iterator[Change]:
    """Yield each change of a module: the field of a node where it is, what stands there, and what would."""
    for parent, name, place, old in _places(tree):
        for new in changes(old):
            yield parent, name, place, old, ast.fix_missing_locations(ast.copy_location(new, old))


def scaled_of(tree: ast.AST) -> Iterator[Change]:
    """Yield each change of a constant that something is computed with: 5 % less, and 5 % more."""
    for parent, name, place, old in _places(tree):
        match old:
            case ast.Constant(float() | int() as value) if abs(value) > _ROUNDING and not isinstance(value, bool):
                if isinstance(parent, _COMPUTED):
                    for factor in SCALES:
                        yield parent, name, place, old, ast.copy_location(ast.Constant(value * factor), old)


def all_changes(tree: ast.AST) -> Iterator[Change]:
    """Yield the changes that may be drawn, and after them the scaled constants."""
    yield from changes_of(tree)
    yield from scaled_of(tree)


# What a constant of a proof is a part of; an index, a size or a limit of a search is not computed with.
_COMPUTED = (ast.BinOp, ast.UnaryOp, ast.Assign, ast.AnnAssign, ast.Tuple, ast.List)
SCALES = (0.95, 1.05)
# What is smaller keeps rounding, or a division by zero, away: any other as small does.
_ROUNDING = 1e-6


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int, ast.expr | ast.stmt]]:
    silent = {id(node) for part in _silent(tree) for node in ast.walk(part)}
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            for place, old in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(old, ast.expr | ast.stmt) and id(old) not in silent:
                    yield parent, name, place, old


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
    """Yield what no test can notice, or only a reader does: annotations, decorators, docstrings and texts of errors.

    So are a ``zip`` that is strict, which guards against errors that are not there, and how a field prints itself.
    """
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
            case ast.Call(ast.Name("zip")):
                yield from node.keywords
            case ast.Call(ast.Name("field")):
                yield from (word for word in node.keywords if word.arg in ("repr", "compare", "hash"))
            case ast.If(ast.Name("TYPE_CHECKING")):
                yield node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def put(parent: ast.AST, name: str, place: int, node: ast.AST) -> None:
    """Put a node into a field of another, or into its place in a list."""
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
            yield Mutant(module, line + 1, about, source[: found.start()] + new + source[found.end() :], number)


def drawn(room: str, count: int, rng: Random) -> list[Mutant]:
    """Return so many mutants of a room, each as likely as any other."""
    every = [(path, number) for path in _paths(room) for number in range(_number(path))]
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


def constants(texts: Sequence[str]) -> list[tuple[str, Mutant]]:
    """Return the constants of modules with such texts in their path, each scaled, with the room of each."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        module, source = str(path.relative_to(SOURCE)), path.read_text(encoding="utf-8")
        if any(text in module for text in texts):
            first, last = _number(path), sum(1 for _ in all_changes(ast.parse(source)))
            room = next((name for name in ROOMS if path in _paths(name)), "estimation")
            found += [(room, one) for one in mutants(module, source, range(first, last))]
    return found


def _paths(room: str) -> list[Path]:
    return [path for pattern in ROOMS[room][0] for path in sorted(SOURCE.glob(pattern))]


@cache
def _number(path: Path) -> int:
    """Return how many mutants a module has."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return sum(found["silent"] is None for found in _JAVASCRIPT.finditer(source))
    return sum(1 for _ in changes_of(ast.parse(source)))


def nearest(room: str, module: str) -> list[str]:
    """Return the tests where one would look for those of a module, and what else tests its room."""
    extra = list(ROOMS[room][1])
    if module.endswith(".js"):
        return extra
    name = ".".join(("fairgauge", *Path(module).with_suffix("").parts))
    own = [f"src/fairgauge/{module}", *([str(mirrored(name).relative_to(ROOT))] if mirrored(name).is_file() else [])]
    return [*own, *covered().get(name, []), *extra]


def whole_room(module: str) -> list[str]:
    """Return the tests of all of a module's room, for what survived the nearest ones."""
    if module.endswith(".js"):
        return list(BROWSERS)
    folder = f"tests/unit/{module.partition('/')[0]}"
    return [folder] if "/" in module else ["tests/unit/study", "tests/unit/client", "tests/statistical/test_answers.py"]
