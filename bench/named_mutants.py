"""Small errors that would break a promise, each with its name and the tests that are to notice.

A mutant is found by what it changes and not by where that is: its text stands exactly once somewhere in
``src/fairgauge``, and its tests are the functions of these names, wherever in ``tests`` they are.  So code and tests
may move.  Where the text itself changes, the mutant is written anew or the run fails: a promise does not lose its guard
unnoticed.  Between the words of ``before`` there may be any white space, so that lines may be wrapped in another way.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
_KINDS = (".py", ".js", ".html", ".json")


@dataclass(frozen=True)
class NamedMutant:
    """An error with a name.

    Args:
        name: The room or promise, and what is broken: ``ledger: charges the cheapest question``.
        before: The text that is changed, which is there exactly once.
        after: What it becomes.
        tests: Names of test functions that are to notice; ``file::name`` where several files have one of that name, and
            ``name[case]`` for one case.
    """

    name: str
    before: str
    after: str
    tests: tuple[str, ...]

    def has(self, texts: Sequence[str]) -> bool:
        """Tell whether one of some texts is in the name; every mutant has what nobody asked for."""
        return not texts or any(text in self.name for text in texts)


@dataclass(frozen=True)
class Place:
    """Where a mutant is: a module by its path, and the whole of it with the change."""

    module: str
    source: str


def places_of(mutant: NamedMutant, source: Path) -> list[Place]:
    """Return every place that a mutant could be in: one, if it still fits."""
    pattern = re.compile(r"\s+".join(map(re.escape, mutant.before.split())))
    return [
        Place(module, text[: found.start()] + mutant.after + text[found.end() :])
        for module, text in _texts(source)
        for found in pattern.finditer(text)
    ]


def tests_of(mutant: NamedMutant, root: Path) -> list[str]:
    """Return the tests that are to notice as pytest names them; none if one of them is not there exactly once."""
    found = []
    for name in mutant.tests:
        function, bracket, case = name.partition("[")
        file, _, function = function.rpartition("::")
        there = [test for test in _tests(root).get(function, ()) if not file or f"/{file}.py::" in test]
        if len(there) != 1:
            return []
        found.append(there[0] + bracket + case)
    return found


@cache
def _texts(source: Path) -> list[tuple[str, str]]:
    files = sorted(path for path in source.rglob("*") if path.suffix in _KINDS)
    return [(str(path.relative_to(source)), path.read_text(encoding="utf-8")) for path in files]


@cache
def _tests(root: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        for name, test in _functions(path.read_text(encoding="utf-8")):
            found.setdefault(name, []).append(f"{path.relative_to(root)}::{test}")
    return found


def _functions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each test of a file, and with its class, if it has one."""
    inside = ""
    for kind, name in re.findall(r"^(class|(?: {4})?(?:async )?def) (\w+)", text, re.MULTILINE):
        if kind == "class":
            inside = f"{name}::"
        elif name.startswith("test_"):
            yield name, (inside if kind.startswith(" ") else "") + name


def _mutant(name: str, before: str, after: str, *tests: str) -> NamedMutant:
    return NamedMutant(name, before, after, tests)


NAMED: tuple[NamedMutant, ...] = (
)
