"""Every named mutant still fits the source, and its tests are there: a change that loses one fails here.

Whether they are killed is what ``make mutants`` tells.
"""

from pathlib import Path

import pytest

from bench.named_mutants import NAMED, ROOT, NamedMutant, Place, killers_of, places_of

SOURCE = ROOT / "src" / "fairgauge"


@pytest.mark.parametrize("mutant", NAMED, ids=lambda mutant: mutant.name)
def test_its_text_is_there_once_and_so_are_its_tests(mutant: NamedMutant):
    places = places_of(mutant, SOURCE)
    found = [place.module for place in places]
    assert len(found) == 1, f"{mutant.before!r} is in {found or 'no module'}: write the mutant anew, its promise stays"
    assert places[0].source != (SOURCE / found[0]).read_text(encoding="utf-8")
    if found[0].endswith(".py"):
        compile(places[0].source, found[0], "exec", dont_inherit=True)
    assert mutant.tests
    assert killers_of(mutant, ROOT), f"{', '.join(mutant.tests)}: each must be one function below tests"


def test_names_tell_them_apart():
    assert len({mutant.name for mutant in NAMED}) == len(NAMED)
    assert [mutant.name for mutant in NAMED if ": " not in mutant.name] == []


def test_a_text_may_be_wrapped_in_another_way_and_must_be_there_once():
    def places(text: str) -> list[Place]:
        return places_of(NamedMutant("room: it", text, "changed", ()), SOURCE)

    assert places("this is nowhere in the source") == []
    assert len(places("import")) > 100
    assert len(places("class Channel:")) == 1
    assert places("class Channel:") == places("class \n  Channel:")


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("if a: return b", "if a: pass", "if a:\n    pass\nc = (d,\n  d)\n"),
        ("if a: return b c", "if a or e: return b c", "if a or e:\n    return b\nc = (d,\n  d)\n"),
        ("(d, d)", "(d)", "if a:\n    return b\nc = (d)\n"),
        ("if a: return b", "if not a: return b", "if not a:\n    return b\nc = (d,\n  d)\n"),
        ("return b", "return b + e", "if a:\n    return b + e\nc = (d,\n  d)\n"),
        ("return b c", "c", "if a:\n    \nc = (d,\n  d)\n"),
    ],
)
def test_words_that_stay_keep_their_lines(tmp_path: Path, before: str, after: str, found: str):
    (tmp_path / "m.py").write_text("if a:\n    return b\nc = (d,\n  d)\n", encoding="utf-8")
    assert places_of(NamedMutant("room: it", before, after, ()), tmp_path) == [Place("m.py", found)]


def test_a_test_is_found_by_its_name_alone():
    def tests(*names: str) -> list[str]:
        return killers_of(NamedMutant("room: it", "", "", names), ROOT)

    here = "tests/contract/test_named_mutants.py::test_a_test_is_found_by_its_name_alone"
    assert tests("test_a_test_is_found_by_its_name_alone") == [here]
    assert tests("test_named_mutants::test_a_test_is_found_by_its_name_alone[one]") == [f"{here}[one]"]
    assert tests("test_a_test_is_found_by_its_name_alone", "test_that_is_not_there") == []
    assert tests("other::test_a_test_is_found_by_its_name_alone") == []
