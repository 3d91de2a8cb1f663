"""No code asks which kind a study is: what differs is behind the protocol, or in a room's one registry.

Numbers here may only fall.  Whoever needs a branch gives the protocol a method, or the objects of a room's registry.

Covers: fairgauge.cli.mechanisms.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from fairgauge.cli.mechanisms import SITES
from fairgauge.study.mechanism import Registry

ROOT = Path(__file__).parents[2] / "src" / "fairgauge"
# The protocol, its two implementations, and the document that they are parts of.
OWN = {"channel.py", *(f"study/{name}.py" for name in ("mechanism", "noisy_counts", "question", "document"))}

KIND = re.compile(
    r"counts_mechanism|counts_people|\bof_sites\b|told\.sites|isinstance\([^)]*\b(NoisyCounts|Channel)\b"
    r"|type\([^)]*mechanism\)|\.mechanism\.metric is|[=!]= ?\{?COUNTED\b|whom [=!]="
)
# What somebody types or writes says who answers, and is read in few places, before there is a mechanism to ask.
TYPED = re.compile(r"\boutcome\)? (is( not)? None|[=!]= \"(confusion|levels)\")|\bif outcome\b")
MOST_TYPED = 17
# What a mechanism says of itself as true or false, or as a number that is compared with one: each is a promise of the
# protocol with a meaning of its own, and a question in disguise where it is asked for another reason.
SAID = re.compile(
    r"\b(if|and|or|not|else)\b[^#]*\b(contributors_known|numbers (==|>|<) 1|fewest is( not)? None)\b"
    r"|\.numbers > 1|\.by_records\(|\bplans\.at_once\b"
)
MOST_SAID = 21
# What goes by the mechanism's type: a registry, and once a protocol, for questions that have no mechanism yet.
BY_TYPE = re.compile(r"= Registry\($|= Registry\(\{|\bclass Planner\(Protocol\)")
CONTRIBUTING = ROOT.parents[1] / "CONTRIBUTING.md"


def asked(pattern: re.Pattern[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in sorted((*ROOT.rglob("*.py"), *ROOT.rglob("*.html"))):
        name = path.relative_to(ROOT).as_posix()
        if name not in OWN:
            found[name] += sum(bool(pattern.search(line)) for line in path.read_text(encoding="utf-8").splitlines())
    return +found


def test_nothing_asks_which_kind_a_study_is():
    assert not asked(KIND)


def test_what_a_mechanism_says_of_itself_is_asked_seldom():
    found = asked(SAID)
    assert found.total() == MOST_SAID, f"the number may only fall, and then falls here: {found}"


def test_what_is_typed_is_asked_for_an_outcome_seldom():
    found = asked(TYPED)
    assert found.total() == MOST_TYPED, f"the number may only fall, and then falls here: {found}"


def test_a_room_has_one_place_for_what_goes_by_a_mechanism_and_the_page_on_the_house_names_it():
    text = CONTRIBUTING.read_text(encoding="utf-8").partition("### What goes by the mechanism")[2].partition("\n## ")[0]
    by_type = asked(BY_TYPE)
    rooms = Counter(name.partition("/")[0] for name in by_type.elements())
    assert rooms == Counter(["cli", "client", "estimation", "planning", "reports", "simulation", "study"])
    assert set(re.findall(r"`([a-z_/]+\.py)`", text)) == {*by_type, "planning/counted_questions.py"}
    assert not asked(re.compile(r"singledispatch"))


def test_what_a_mechanism_has_in_place_of_a_commands_function_is_asked_for():
    """A method that stands in for nothing would never run, and an asking by another name would find none."""
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "cli").glob("*.py"))
    asked_for = {name.lstrip("_") for name in re.findall(r"\bown\([^()]+, (\w+)\)\(", sources)}
    assert asked_for == {name for name in vars(type(SITES)) if not name.startswith("_")}


def test_a_mechanism_that_nobody_registered_is_refused():
    class Other:
        """No mechanism of any room."""

    with pytest.raises(TypeError, match="Other is not registered here"):
        Registry({int: "a number"})[Other()]
    known = Registry({int: "a number"})
    known.register(Other, "another")
    assert known[Other()] == "another"


def test_the_patterns_find_what_was_there():
    for line in (
        "if study.counts_mechanism is not None:",
        "if not question.mechanism.counts_people:",
        "{% if told.sites %}",
        "if entry.of_sites and not entry.kept.sealed:",
        "if isinstance(study.mechanism, NoisyCounts):",
        "if designs != {COUNTED}:",
    ):
        assert KIND.search(line)
    assert SAID.search("    if entry.contributors_known:")
    assert SAID.search("answers = contributor_of(study).by_records(_run_for_site) or _run_for_person")
