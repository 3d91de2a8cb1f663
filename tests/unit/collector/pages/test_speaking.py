"""The catalogue: no language leaves out a text, and no text is anywhere else."""

import re
from collections.abc import Iterator

import pytest

from fairgauge.collector.pages.speaking import FOLDER, OWN, accepted, catalogue, lookup, names, say

PAGES = FOLDER.parent
SCRIPTS = sorted(path.name for path in PAGES.glob("take-part*.js"))
OTHERS = [tag for tag in catalogue() if tag != OWN]
# What a collector calls a study's states: part of its API, and no text for people.
NO_TEXT = {"not open yet"}


def forms(text: object) -> list[str]:
    return list(text.values()) if isinstance(text, dict) else [str(text)]


def parts(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def missing(tag: str) -> Iterator[str]:
    """Find what is wrong with a language."""
    texts, own = catalogue()[tag], catalogue()[OWN]
    yield from (f"{key} is missing" for key in own.keys() - texts.keys())
    yield from (f"{key} is unknown" for key in texts.keys() - own.keys())
    for key in own.keys() & texts.keys():
        if isinstance(own[key], str) != isinstance(texts[key], str):
            yield f"{key} depends on a count in one language only"
        for form in forms(texts[key]):
            counted = {"count"} if isinstance(texts[key], dict) else set()  # "a day" needs no number
            if parts(form) | counted != parts(forms(own[key])[-1]) | counted:
                yield f"{key} has other parts"
            if not form.strip() or form != form.strip():
                yield f"{key} is empty, or has space around it"
            if form == forms(own[key])[-1] and re.search(r"[a-z]{3}", re.sub(r"\{\w+\}", "", form)):
                yield f"{key} is not translated"


def test_there_are_languages_of_both_directions() -> None:
    assert names()[0][0] == OWN
    assert {"ar", "de", "en"} <= set(catalogue())
    assert {say(tag, "language.direction") for tag in catalogue()} == {"ltr", "rtl"}


@pytest.mark.parametrize("tag", OTHERS)
def test_a_language_is_complete(tag: str) -> None:
    same = {"language.direction is not translated", "memory.symbol is not translated"}
    assert set(missing(tag)) - same == set()


def test_what_is_missing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant twin: each mistake that a translator can make is seen."""
    own = catalogue()[OWN]
    broken = {key: text for key, text in own.items() if key != "ready.send"}
    broken |= {"extra": "x", "state.closed-on": "Fini.", "ready.stop": " ", "who.days": "Après {count} jours"}
    monkeypatch.setitem(catalogue(), "fr", broken)
    found = set(missing("fr"))
    assert {"ready.send is missing", "extra is unknown", "state.closed-on has other parts"} <= found
    assert {"who.days depends on a count in one language only", "thanks.title is not translated"} <= found
    assert "ready.stop is empty, or has space around it" in found


# ------------------------------------------------------------------------------------------------ in use
def literals(source: str) -> list[str]:
    """Return the texts in quotes of a script, without those in comments."""
    code = re.sub(r"/\*.*?\*/|(?m:(?<![:\"'`])//.*$)", "", source, flags=re.DOTALL)
    return [found[1:-1] for found in re.findall(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`', code)]


def for_people(literal: str) -> bool:
    text = " ".join(re.sub(r"\$\{[^}]*\}", "", literal).split())
    return text not in NO_TEXT and bool(re.search(r"[A-Za-z]{2,}[,.:;]? [A-Za-z]{2,}|^[A-Z][a-z]+[.!?…]?$", text))


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_text_is_in_a_script(name: str) -> None:
    assert [text for text in literals((PAGES / name).read_text(encoding="utf-8")) if for_people(text)] == []


@pytest.mark.parametrize("text", ['"Send it"', '"Send"', "`Sent ${count} bytes`", '"Nothing was sent."'])
def test_a_text_in_a_script_is_found(text: str) -> None:
    assert [one for one in literals(f"visit.get('x').textContent = {text}; // why") if for_people(one)]


def test_no_text_is_in_the_template() -> None:
    source = (PAGES / "templates" / "take_part.html").read_text(encoding="utf-8")
    left = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", "", source)
    assert set(left.split()) == {"fairgauge", "·"}


def used() -> set[str]:
    """Return the texts that scripts and pages ask for; a name that is put together stands for all that it could be."""
    sources = [(PAGES / name).read_text(encoding="utf-8") for name in SCRIPTS]
    sources.append((PAGES / "templates" / "take_part.html").read_text(encoding="utf-8"))
    sources.append((PAGES / "speaking.py").read_text(encoding="utf-8"))
    client = (PAGES.parent / "static" / "fairgauge-client.js").read_text(encoding="utf-8")
    refusals = re.findall(r"^  (\d{3}): \"", client, re.MULTILINE)
    said = ["refused", *re.findall(r'\["([a-z-]+)", (?:\{|")', client), *refusals]
    errors = {f"error.refused-{name}" if name.isdigit() else f"error.{name}" for name in said}
    whole = {found for source in sources for found in re.findall(r'"([a-z]+\.[a-z-]+)"', source)}
    begun = {found for source in sources for found in re.findall(r"`([a-z]+\.)\$\{", source)} - {"error."}
    built = {key for key in catalogue()[OWN] if key.startswith(tuple(begun))}
    return (whole | built | errors) & (catalogue()[OWN].keys() | whole)


def test_every_text_is_used_and_every_text_that_is_used_is_there() -> None:
    assert used() - {"take-part.css"} == set(catalogue()[OWN])


# --------------------------------------------------------------------------------------------- who gets which
@pytest.mark.parametrize(
    ("wanted", "tag"),
    [
        (["de-AT", "en"], "de"),
        (["DE"], "de"),
        (["fr", "ar-MA"], "ar"),
        (["fr"], "en"),
        ([], "en"),
        (["", "-", "x"], "en"),
    ],
)
def test_who_gets_which_language(wanted: list[str], tag: str) -> None:
    assert lookup(wanted) == tag


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("", []),
        ("de", ["de"]),
        ("en;q=0.3,de;q=0.7", ["de", "en"]),
        ("de;q=0, en", ["en"]),
        ("*;q=0.5, ar", ["ar"]),
        (";;;,q=,de;q=much,ar;q=1", ["ar"]),
    ],
)
def test_a_header_is_read(header: str, tags: list[str]) -> None:
    assert [tag for tag in accepted(header) if tag != "q="] == tags


def test_parts_are_escaped() -> None:
    assert "<b>" not in say("en", "page.source", file="<b>")


def test_files_are_named_after_languages() -> None:
    assert {path.suffix for path in FOLDER.iterdir()} == {".json"}
