"""No code asks which kind a study is: what differs is behind the protocol, or in a registry by the mechanism's type.

Numbers here may only fall.  Whoever needs a new branch gives the protocol a method, or registers a function.
"""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src" / "fairgauge"
# The protocol, its two implementations, and the document that they are parts of.
OWN = {"channel.py", *(f"study/{name}.py" for name in ("mechanism", "noisy_counts", "question", "document", "rules"))}

KIND = re.compile(
    r"counts_mechanism|counts_people|\bof_sites\b|told\.sites|isinstance\([^)]*\b(NoisyCounts|Channel)\b"
    r"|type\([^)]*mechanism\)|\.mechanism\.metric is|[=!]= ?\{?COUNTED\b|whom [=!]="
)
# What somebody types or writes says who answers, and is read in few places, before there is a mechanism to ask.
TYPED = re.compile(r"\boutcome\)? (is( not)? None|[=!]= \"(confusion|levels)\")|\bif outcome\b")
MOST_TYPED = 17
# What a mechanism says of itself as true or false, or as a number that is compared with one: each is a promise of the
# protocol with a meaning of its own, and a question in disguise where it is asked for another reason.
SAID = re.compile(r"\b(if|and|or|not|else)\b[^#]*\b(contributors_known|numbers (==|>|<) 1|fewest is( not)? None)\b")
MOST_SAID = 11
# Functions by the mechanism's type.
MOST_BY_TYPE = 35
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


def test_the_page_on_the_house_names_everything_that_goes_by_a_mechanism():
    text = CONTRIBUTING.read_text(encoding="utf-8").partition("### Functions by mechanism")[2].partition("\n## ")[0]
    said = {f"cli/{name}" if "/" not in name else name for name in re.findall(r"`([a-z_/]+\.py)`", text)}
    by_type = asked(re.compile(r"^\s*@singledispatch"))
    assert said == {*by_type, "study/document_format.py", "planning/noisy_counts.py"}
    assert by_type.total() == MOST_BY_TYPE, "the number may only fall, and then falls here"


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
