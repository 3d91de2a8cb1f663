"""Every term that users meet is in the glossary: of commands, options, public names, help texts and pages."""

import importlib
import pkgutil
import re
from pathlib import Path

import fairgauge
from docs.refresh import ROOT
from fairgauge.cli.entry import HELP_TEXTS
from tests.contract.test_commands_documented import COMMANDS, GROUPS, options_of

PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ENTRIES = [
    line
    for block in re.findall(r"^```\{glossary\}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line and not line.startswith(" ")
]
# What is said otherwise: words of the same thing.
FORMS = {
    "abstaining": "abstain", "asked": "answer", "assumed": "expectation", "compare": "comparison",
    "counted": "tally", "counter": "tally", "draw": "secret draws", "estimation": "estimate",
    "expect": "expectation", "grouping": "group", "included": "root", "known": "share", "order": "waves",
    "people": "population", "planned": "plan", "planning": "plan", "promised": "crowd", "readers": "operator",
    "reading": "estimate", "simulate": "simulation", "tallies": "tally",
    "verification": "bundle", "verify": "bundle", "weigh": "stratum",
}  # fmt: skip
# Words of everyday, and of computers; a term of this project is never added here.
PLAIN = {*Path(__file__).with_name("plain_words.txt").read_text(encoding="utf-8").split()}
# Terms that stand in sentences and in no name.
SAID = [
    "differential privacy", "randomized response", "Laplace noise", "p-value", "Bonferroni", "Holm", "tipping factor",
    "response ratio", "impact ratio", "operator", "waves", "sensitivity", "K·Var", "equalized odds",
]  # fmt: skip


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name) if len(word) > 1}


def public_names() -> set[str]:
    """Return the names of rooms and what they export; frameworks that need an environment of their own are left out."""
    rooms = [room.name for room in pkgutil.iter_modules(fairgauge.__path__) if room.name not in ("flower", "nvflare")]
    exported = [getattr(importlib.import_module(f"fairgauge.{room}"), "__all__", ()) for room in rooms]
    return {*fairgauge.__all__, *rooms, *(name for names in exported for name in names)}


def met() -> set[str]:
    """Return the words that commands, options and public names are made of."""
    named = {*COMMANDS, *(inner for group in GROUPS.values() for inner in group), *public_names()}
    named |= {option for command in COMMANDS for option in options_of(command)}
    return {word for name in named for word in words(name)}


def explained() -> set[str]:
    found = {word for entry in ENTRIES for word in words(entry)}
    return found | {f"{word}s" for word in found}


def test_every_word_of_a_name_is_a_term_or_an_everyday_word():
    assert sorted(met() - explained() - PLAIN - {*FORMS}) == []


def test_no_word_is_listed_in_vain():
    assert sorted(PLAIN - met()) == []
    assert sorted({*FORMS} - met()) == []
    assert sorted({*FORMS} & explained()) == []
    assert {form: entry for form, entry in FORMS.items() if entry not in ENTRIES} == {}
    assert sorted(PLAIN & explained() - {"noisy"}) == []


def test_what_only_sentences_say_is_there_too_and_is_said():
    texts = [HELP_TEXTS, *(ROOT / "src/fairgauge/languages").glob("en*.json"), *(ROOT / "docs").glob("*.md")]
    said = "\n".join(path.read_text(encoding="utf-8") for path in texts if path.name != "glossary.md")
    for term in SAID:
        assert term in ENTRIES
        assert term.lower() in said.lower()


def test_every_entry_is_used_somewhere_and_stands_once():
    places = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), HELP_TEXTS]
    said = "\n".join(path.read_text(encoding="utf-8") for path in places if path.name != "glossary.md").lower()
    assert [entry for entry in ENTRIES if entry.lower() not in said] == []
    assert len({*ENTRIES}) == len(ENTRIES)


def test_a_new_term_would_be_noticed():
    assert words("--quasi-identifier") | words("QuasiIdentifier") == {"quasi", "identifier"}
    assert not {"quasi", "identifier"} & (explained() | PLAIN | {*FORMS})
