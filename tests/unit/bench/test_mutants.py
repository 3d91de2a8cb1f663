"""Mutants: what is changed, what is left alone, and which are tried."""

import pytest

from bench.mutants import TARGETS, mutants, sample
from bench.named_mutants import ROOT


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
    ['"""It is 1 < 2."""', "def f(a: int | 1) -> 2: ...", "@cache(1)\ndef f(): ...", "x: Literal[1]", 'f"{a + 1}"'],
)
def test_what_only_a_reader_notices_is_left_alone(source: str):
    assert changes(source) == []


def test_a_mutant_is_the_whole_module_with_its_change():
    [mutant] = mutants("m.py", "a = b\nc = d is e")
    assert (mutant.line, mutant.source) == (2, "a = b\nc = d is not e")


def test_a_sample_is_spread_evenly_and_never_twice():
    found = list(mutants("m.py", "\n".join(f"a{i} = b + c" for i in range(10))))
    assert sample(found, 100) == found
    assert [mutant.line for mutant in sample(found, 3)] == [1, 4, 7]


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_is_there_with_its_tests(name: str):
    modules, tests = TARGETS[name]
    assert [one for one in modules if not (ROOT / "src" / "fairgauge" / one).is_file()] == []
    assert [one for one in tests if not (ROOT / one).exists()] == []
