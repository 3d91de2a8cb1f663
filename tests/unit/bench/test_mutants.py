"""Mutants: what is changed, what is left alone, and which are tried."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from bench.named_mutants import ROOT
from bench.random_mutants import ROOMS, drawn, mutants, nearest, script_mutants, whole_room
from bench.switched_mutants import switched
from tests import kept_designs
from tests.programs import programs

EXAMPLE = ROOT / "examples" / "first-study"


def changes(source: str) -> list[str]:
    return [mutant.change for mutant in mutants("m.py", source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("0 <= a < b", ["0 <= a < b -> 0 < a < b", "0 <= a < b -> 0 <= a <= b", "0 -> 1"]),
        ("a and not b", ["a and (not b) -> a or not b", "not b -> b"]),
        ("x = a / -b", ["a / -b -> a * -b", "-b -> b"]),
        ("x = f(loud=True)", ["True -> False"]),
        ("x = [0.5, 0.0]", ["0.5 -> 1.0", "0.0 -> 1.0"]),
        ("x += a", ["x += a -> x -= a", "x += a -> pass"]),
        ("if ready: go()", ["if ready: go() -> if not ready: go()", "go() -> pass"]),
        ("raise Wrong", ["raise Wrong -> pass"]),
        ("for a in b: continue", ["continue -> break"]),
        ("x = np.floor(min(a))", ["np.floor(min(a)) -> np.ceil(min(a))", "min(a) -> max(a)"]),
    ],
)
def test_one_thing_is_changed_at_a_time(source: str, expected: list[str]):
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""It is 1 < 2."""',
        "def f(a: int | 1) -> 2: ...",
        "@cache(1)\ndef f(): ...",
        "x: Literal[1]",
        'f"{a + 1}"',
        "x = zip(a, strict=True)",
    ],
)
def test_what_only_a_reader_notices_is_left_alone(source: str):
    assert changes(source) == []


def test_a_mutant_is_the_whole_module_with_its_change():
    [mutant] = mutants("m.py", "a = b\nc = d is e")
    assert (mutant.line, mutant.source) == (2, "a = b\nc = d is not e")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a === b;", ["x = a !== b;"]),
        ("if (!a && b <= 10n) c();", ["if (a && b <= 10n) c();", "if (!a || b <= 10n) c();"]),
        ('f("a < 1", `b + ${c}`); // d < 1', []),
        ("/* 1 + 2 */ x = (y) => y++;", []),
    ],
)
def test_scripts_are_changed_in_one_token(source: str, expected: list[str]):
    found = [one.source for one in script_mutants("m.js", source)]
    assert found[: len(expected)] == expected
    assert bool(found) == bool(expected)


def test_a_number_of_a_script_becomes_the_next_one():
    assert [one.source for one in script_mutants("m.js", "x = 53n; y = 0.5; z1 = 7;")] == [
        "x = 54n; y = 0.5; z1 = 7;",
        "x = 53n; y = 0.5; z1 = 8;",
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_drawn_from_anew_and_its_tests_are_there(room: str):
    some = drawn(room, 5, Random(1))
    assert some == drawn(room, 5, Random(1)) != drawn(room, 5, Random(2))
    assert len({(one.module, one.line, one.change, one.source) for one in some}) == 5
    for one in some:
        assert [test for test in nearest(room, one.module) if not (ROOT / test).exists()] == []
        assert [test for test in whole_room(one.module) if not (ROOT / test).exists()] == []


def test_a_switch_stands_in_the_place_of_what_it_changes():
    source = "def f(a):\n    if a < 2:\n        raise ValueError\n    return a"
    text, there = switched(source, {0: 3, 1: 4, 2: 5})
    assert there == {3, 4, 5}
    for on, told in ((None, "wrong"), (3, "wrong"), (4, 1), (5, "wrong")):
        assert _f(text, on, 1) == told
    assert [_f(text, on, 2) for on in (None, 3, 4, 5)] == [2, "wrong", 2, "wrong"]


def _f(text: str, on: int | None, argument: int) -> object:
    """Return what a module's ``f`` gives with one switch on."""
    space: dict[str, Any] = {"mutant": lambda number: number == on}
    exec(text.replace("from mutant_switch import mutant", ""), space)
    try:
        return space["f"](argument)
    except ValueError:
        return "wrong"


@pytest.mark.parametrize(
    "source",
    ["x = 1", "def f(a=1): ...", "class A:\n    x = 1", "def f(a):\n    match a:\n        case 1:\n            pass"],
)
def test_what_is_decided_early_has_no_switch(source: str):
    assert len(changes(source)) == 1
    assert switched(source, {0: 0})[1] == set()


def test_a_constant_that_something_is_computed_with_is_a_little_less_and_a_little_more():
    source = "a = [x + 2.0, f(3), True, 1e-9]\nb = c[4] / 0"
    first = len(changes(source))
    assert [one.change for one in mutants("m.py", source, range(first, first + 9))] == ["2.0 -> 1.9", "2.0 -> 2.1"]


ESTIMATED = """
import sys
from fairgauge import Study, Tally, estimate
study, counts = Study.load("study.json"), (4126, 5754, 4086, int(sys.argv[1]))
print(estimate(study, Tally(study.digest, counts, sum(counts))))
"""


def test_a_program_finds_what_another_has_estimated_of_the_same_answers_and_a_mutant_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kept, mutants = tmp_path / "kept", tmp_path / "mutants"
    kept.mkdir()
    monkeypatch.setenv(kept_designs.PLACE, str(kept))

    def estimated(count: int) -> str:
        with (tmp_path / "said").open("w+b") as said:
            file = said.fileno()
            assert programs().start(ESTIMATED, str(count), folder=EXAMPLE, out=file, err=file).wait() == 0
            said.seek(0)
            return said.read().decode()

    first = estimated(6000)
    (only,) = kept.iterdir()
    written = only.stat().st_mtime_ns
    assert estimated(6000) == first
    assert [(one, one.stat().st_mtime_ns) for one in kept.iterdir()] == [(only, written)]
    assert estimated(7000) != first
    assert len([*kept.iterdir()]) == 2
    (kept / "a design").touch()
    kept_designs.copy(kept, mutants)
    assert [one.name for one in mutants.iterdir()] == ["a design"]
