"""The catalogue: no language leaves out a text, every text is used, and no text is anywhere else."""

import re
from collections.abc import Iterator

import pytest

from fairgauge.collector.pages import take_part
from fairgauge.languages import FOLDER, OWN, Voice, accepted, catalogue, lookup, names
from fairgauge.languages.language import _OTHER
from fairgauge.languages.language_choice import region_of
from fairgauge.server.problems import KINDS

SOURCES = FOLDER.parent
PAGES = SOURCES / "collector" / "pages"
SCRIPTS = sorted(path.name for path in PAGES.glob("*.js"))
# For operators, or one document for everyone.
ENGLISH_PAGES = {"notebook.html"}
TEMPLATES = sorted(
    path
    for folder in (PAGES, SOURCES / "reports")
    for path in (folder / "templates").iterdir()
    if path.name not in ENGLISH_PAGES
)
OTHERS = [tag for tag in catalogue() if tag != OWN]
# What a collector calls a study's states: part of its API, and no text for people.
NO_TEXT = {"not open yet"}


# The same word in both languages.
SAME = {
    "de": {
        "desk.epsilon",
        "desk.tickets",
        "study.offline",
        "memory.symbol",
        "date.month-4",
        "date.month-8",
        "date.month-9",
        "date.month-11",
        "picture.told-pair",
    }
}
ABOUT = {"language.plurals", "language.numbers", "language.regions"}


def forms(text: object) -> list[str]:
    return list(text.values()) if isinstance(text, dict) else [str(text)]


def parts(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def missing(tag: str) -> Iterator[str]:
    """Find what is wrong with a language."""
    texts, own = catalogue()[tag], catalogue()[OWN]
    yield from (f"{key} is missing" for key in own.keys() - texts.keys())
    yield from (f"{key} is unknown" for key in texts.keys() - own.keys())
    for key in sorted(own.keys() & texts.keys() - ABOUT):
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
    assert {Voice(tag).direction for tag in catalogue()} == {"ltr", "rtl"}


@pytest.mark.parametrize("tag", OTHERS)
def test_a_language_is_complete(tag: str) -> None:
    same = {f"{key} is not translated" for key in SAME.get(tag, ())} | {"language.direction is not translated"}
    assert set(missing(tag)) - same == set()
    rules = catalogue()[tag]["language.plurals"]
    for key, text in catalogue()[tag].items():
        if isinstance(text, dict) and key not in ABOUT:
            assert set(text) == {*rules, _OTHER}, key
    assert set(catalogue()[tag]["language.numbers"]) == {"digits", "decimal", "group", "minus", "percent"}


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


def words_in(template: str) -> set[str]:
    """Return the words of a template that are no names, no markup and no commands."""
    left = re.sub(r"\{#.*?#\}|<code.*?</code>|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", " ", template, flags=re.DOTALL)
    return set(re.findall(r"[^\W\d_]{2,}", left)) - {"fairgauge"}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_text_is_in_a_template(path) -> None:
    assert words_in(path.read_text(encoding="utf-8")) == set()


def test_a_text_in_a_template_is_found() -> None:
    assert words_in('<p title="{{ x }}">Results</p>{% if a %} of {{ b }}{% endif %}') == {"Results", "of"}


def used() -> set[str]:
    """Return the texts that are asked for; a name that is put together stands for all that it could be."""
    sources = [path.read_text(encoding="utf-8") for path in (*SOURCES.rglob("*.py"), *TEMPLATES)]
    scripts = [(PAGES / name).read_text(encoding="utf-8") for name in SCRIPTS]
    client = (PAGES.parent / "static" / "fairgauge-client.js").read_text(encoding="utf-8")
    refusals = re.findall(r"^  (\d{3}): \"", client, re.MULTILINE)
    said = ["refused", *re.findall(r'\["([a-z-]+)", (?:\{|")', client), *refusals]
    errors = {f"error.refused-{name}" if name.isdigit() else f"error.{name}" for name in said}
    own = catalogue()[OWN].keys()
    kinds = {key.partition(".")[0] for key in own}
    quoted = {found for source in (*sources, *scripts) for found in re.findall(r'"([a-z]+\.[a-z0-9-]+)"', source)}
    whole = {key for key in quoted if key.partition(".")[0] in kinds} - FILES
    begun = {"".join(found) for source in (*sources, *scripts) for found in BEGUN.findall(source)} - {"error."}
    built = {key for key in own if key.startswith(tuple(begun))}
    return whole | built | (errors & own)  # the client's code has other lists too


# How names begin that are put together: `a.${b}` in scripts, f"a.b{c}" in Python, "a." ~ b in templates.
BEGUN = re.compile(r"`([a-z]+\.)\$\{|f\"([a-z]+\.[a-z-]*)\{|\"([a-z]+\.)\" ~")
FILES = {
    "index.html",
    "problem.html",
    "report.html",
    "report.txt",
    "results.json",
    "signing.key",
    "plan.right",  # a field of a study's file
    "site.person",
    "study.html",
    "study.json",
    "take-part.css",
}


def test_every_text_is_used_and_every_text_that_is_used_is_there() -> None:
    assert used() == set(catalogue()[OWN])


def test_scripts_have_the_words_that_they_use() -> None:
    given = take_part._for_scripts()
    for name in SCRIPTS:
        source = (PAGES / name).read_text(encoding="utf-8")
        asked = set(re.findall(r'(?:say|rich)\("([a-z]+\.[a-z-]+)"', source))
        assert asked <= given[OWN].keys(), name
    assert {key for key in catalogue()[OWN] if key.startswith("error.")} <= given[OWN].keys()
    assert not [key for key in given[OWN] if key.startswith(("verdict.", "study.", "problem."))]


def test_problems_are_called_the_same_in_english() -> None:
    assert {kind: catalogue()[OWN][f"problem.{kind}"] for kind in KINDS} == {
        k: title for k, (_, title) in KINDS.items()
    }


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


def test_the_region_decides_how_numbers_are_written() -> None:
    assert region_of("ar", ["en-US", "ar-Arab-MA"]) == "MA"
    assert Voice.of(["ar-MA"]) != Voice.of(["ar-EG"])
    assert Voice.of(["ar-XX"]) == Voice.of(["ar"])  # so that an address cannot make up voices without end
