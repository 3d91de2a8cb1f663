"""No code asks which kind a study is: what differs is behind the protocol, or in a room's one registry.

Whoever needs a branch gives the protocol a method, or the objects of a room's registry.

Covers: fairgauge.cli._mechanisms.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from fairgauge.cli._mechanisms import SITES
from fairgauge.study.mechanism import Registry

ROOT = Path(__file__).parents[2] / "src" / "fairgauge"
# The protocol, its two implementations, and the document that they are parts of.
OWN = {"channel.py", *(f"study/{name}.py" for name in ("mechanism", "noisy_counts", "question", "document"))}

KIND = re.compile(
    r"counts_mechanism|counts_people|\bof_sites\b|told\.sites|isinstance\([^)]*\b(NoisyCounts|Channel)\b"
    r"|type\([^)]*mechanism\)|\.mechanism\.metric is|[=!]= ?\{?COUNTED\b|whom [=!]="
)
# A refusal is an asking, too: a property that one mechanism has not, read for its error alone.
TRIED = re.compile(r"lambda: \w+\.(channels?|counts)\b|^\s*\w+(\.\w+(\[0\])?)*\.(channels?|counts)\s*(#.*)?$")
# What somebody types or writes says who answers, while there is no mechanism to ask: one line reads it.
TYPED = re.compile(r"\boutcome\)? (is( not)? None|[=!]= \")|\bif (\w+\.)?_?outcome\b|\.get\(outcome\b")
READ_IN = {"planning/contributors.py": 1}
CHECKS = {"bundles/verification.py", "cli/verify.py"}  # whose outcomes are those of checks
# What a mechanism says of itself as true or false, or as a number that is compared with one, is asked by nobody.
SAID = re.compile(
    r"\b(if|and|or|not|else)\b[^#]*\b(numbers (==|>|<) 1|fewest is( not)? None)\b"
    r"|\.numbers > 1|\.by_records\(|\bplans\.at_once\b"
)
# What remains is what the protocol promises of answers and sums, and each line does what the promise is about.  A third
# mechanism says for itself what holds for it, and no line here changes.
PROMISED = re.compile(r"\b(mechanism|own|entry|asked)\.(numbers|fewest|contributors_known|person)\b")
WHERE_PROMISED = {
    # how many integers an answer has: it is checked against that many, stored, limited and read back
    ("numbers", "bundles/seal_check.py"): 1,
    ("numbers", "cli/verify.py"): 1,  # fewer integers than questions: one tells of all
    ("numbers", "collector/admission.py"): 2,
    ("numbers", "collector/answer_endpoint.py"): 2,
    ("numbers", "collector/result_endpoints.py"): 1,
    ("numbers", "collector/service.py"): 1,
    # of how many contributors a sum may be shown: the one line that reads it is what stores and pages go by
    ("fewest", "collector/seal.py"): 1,
    # that it is no secret who contributes: names, a ticket for each of them, and what may be passed on with names in it
    ("contributors_known", "bundles/seal_check.py"): 1,  # a seal lists them
    ("contributors_known", "collector/admission.py"): 1,  # each has a ticket of its own, so a ticket is needed
    ("contributors_known", "collector/answer_endpoint.py"): 1,  # whose ticket was used is remembered
    ("contributors_known", "collector/pages/operator_page.py"): 2,  # tickets are made for names, which are listed
    ("contributors_known", "collector/pages/study_pages.py"): 1,  # pages list them
    ("contributors_known", "collector/result_endpoints.py"): 1,  # why single answers are not in a bundle
    ("contributors_known", "collector/seal.py"): 2,  # a seal lists them
    ("contributors_known", "collector/service.py"): 2,  # names are expected
    # who counts as one person is a text that people read
    ("person", "study/wording.py"): 1,
}
# What goes by the mechanism's type: a registry, and once a protocol, for questions that have no mechanism yet.
BY_TYPE = re.compile(r"= Registry\($|= Registry\(\{|\bclass Planner\(Protocol\)")
CONTRIBUTING = ROOT.parents[1] / "CONTRIBUTING.md"


def asked(pattern: re.Pattern[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in sources():
        found[named(path)] += sum(bool(pattern.search(line)) for line in path.read_text(encoding="utf-8").splitlines())
    return +found


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def sources() -> list[Path]:
    return [path for path in sorted((*ROOT.rglob("*.py"), *ROOT.rglob("*.html"))) if named(path) not in OWN]


def test_nothing_asks_which_kind_a_study_is():
    assert not asked(KIND)


def test_what_a_mechanism_says_of_itself_is_no_question_of_its_kind():
    assert not asked(SAID)
    assert not asked(TRIED)
    found: Counter[tuple[str, str]] = Counter()
    for path in sources():
        for line in path.read_text(encoding="utf-8").splitlines():
            found.update((match[2], named(path)) for match in PROMISED.finditer(line))
    assert found == Counter(WHERE_PROMISED)


def test_what_is_typed_is_asked_for_an_outcome_in_one_place():
    assert {name: often for name, often in asked(TYPED).items() if name not in CHECKS} == READ_IN


def test_a_room_has_one_place_for_what_goes_by_a_mechanism_and_the_page_on_the_house_names_it():
    text = CONTRIBUTING.read_text(encoding="utf-8").partition("### What goes by the mechanism")[2].partition("\n## ")[0]
    by_type = asked(BY_TYPE)
    rooms = Counter(name.partition("/")[0] for name in by_type.elements())
    assert rooms == Counter(["cli", "client", "estimation", "planning", "reports", "simulation", "study"])
    assert set(re.findall(r"`([a-z_/]+\.py)`", text)) == {
        *by_type,
        "planning/counted_questions.py",
        "planning/contributors.py",
    }
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
    assert PROMISED.search("    if entry.contributors_known:")
    for line in (
        "study.questions[0].counts  # noqa: B018 - it refuses a study for devices",
        'return check_whoever(study, ledger, limits, ("unable", lambda: study.channels))',
    ):
        assert TRIED.search(line)
    for line in (
        "    if outcome is not None:",
        "        foreign, rule = (_SITES, _NOT_DEVICES) if self.outcome is None else (_DEVICES, _NOT_SITES)",
        '*(("truth", "prediction") if draft.outcome else ())]',
        "clients=sites if outcome else clients,",
        '    if outcome == "confusion" and metrics:',
        "_PLAN_FOR.get(outcome, {})",
        '    return ["one=0.5"] if (outcome or stated.outcome) is None else ["one", "other"]',
    ):
        assert TYPED.search(line)
    assert SAID.search("    if aim is None and design == AUTO and not plans.at_once:")
    assert SAID.search("        counted = entry.numbers > 1 and error.field")
    assert SAID.search("answers = contributor_of(study).by_records(_run_for_site) or _run_for_person")
