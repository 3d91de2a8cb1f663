"""A voice: texts with their parts, numbers, lists and moments, each in its language's way."""

import re

import pytest

from fairgauge.languages import MINUS, PLAIN, Label, Sentence, Voice, catalogue

EGYPT, MOROCCO = Voice.of(["ar-EG"]), Voice.of(["ar-MA"])


def bare(text: str) -> str:
    """Return a text without marks of direction."""
    return text.translate(dict.fromkeys(map(ord, "\u200e\u061c\u2067\u2068\u2069")))


@pytest.mark.parametrize(
    ("voice", "shown"),
    [
        (PLAIN, f"{MINUS}1,234.50"),
        (Voice("de"), f"{MINUS}1.234,50"),
        (Voice.of(["de-CH"]), f"{MINUS}1’234.50"),
        (EGYPT, "-١٬٢٣٤٫٥٠"),
        (MOROCCO, "-1.234,50"),
    ],
)
def test_numbers_keep_their_digits(voice: Voice, shown: str):
    assert bare(voice.numeral(f"{MINUS}1,234.50")) == shown


def test_percentages_and_digits_of_texts():
    assert PLAIN.percent("99") == "99 %"
    assert bare(EGYPT.percent("99")) == "٩٩٪"
    assert "١٠ أو ٥٠ أو ٩٠ من ١٠٠" in EGYPT.say("odds.text")
    assert "SHA-256" in EGYPT.say("study.check-name")  # a name keeps its digits
    assert "Ed25519" in EGYPT.say("study.check-name")


def test_counts_have_their_form():
    assert [Voice().counted("study.answers", n) for n in (0, 1, 2)] == ["0 answers", "1 answer", "2 answers"]
    said = [bare(MOROCCO.counted("study.answers", n)) for n in (0, 1, 2, 3, 11, 100)]
    assert said == ["لا إجابات", "إجابة واحدة", "إجابتان", "3 إجابات", "11 إجابة", "100 إجابة"]
    assert Voice("de").counted("unit.point", "1.0") == "1,0 Prozentpunkte"  # no whole number


def test_moments():
    assert [Voice(tag).moment("2026-11-05T08:30:00Z") for tag in ("en", "de")] == [
        "5 November 2026, 08:30 UTC",
        "5. November 2026, 08:30 UTC",
    ]
    assert "٥ نوفمبر ٢٠٢٦" in EGYPT.moment("2026-11-05T08:30:00Z")


def test_names_are_kept_apart_where_directions_meet():
    assert "\u2068women\u2069" in EGYPT.say("caution.mean", group="women")
    assert "\u2068نساء\u2069" in Voice().say("caution.mean", group="نساء")
    assert Voice().say("caution.mean", group="women") == "The mean of women"
    assert PLAIN.say("caution.mean", group="نساء") == "The mean of نساء"  # a terminal knows no marks


def test_a_text_that_is_missing_fails(monkeypatch: pytest.MonkeyPatch):
    """The mutant twin: a key that is not there, and a part that nobody gives, are errors and no empty places."""
    monkeypatch.setitem(catalogue(), "xx", {k: t for k, t in catalogue()["de"].items() if k != "study.check"})
    with pytest.raises(KeyError, match=r"study\.check"):
        Voice("xx").say("study.check")
    with pytest.raises(KeyError, match="group"):
        Voice("de").say("caution.mean")


def test_voices_are_few():
    tags = [f"{tag}-{region}" for tag in ("ar", "de", "en", "fr") for region in ("AT", "EG", "MA", "US", "XX", "ZZ")]
    assert len({Voice.of([tag]) for tag in tags}) == 6
    assert Voice.of(["ar-SA"]) == EGYPT


def test_a_formula_keeps_its_order_from_right_to_left() -> None:
    said = Voice("ar").say("sites.noise", decay="1/2", moved="2", loss="1")
    assert re.search("\u2066exp\\(-[^)]*\\)\u2069", said)


@pytest.mark.parametrize(
    ("first", "second", "runs"),
    [("female", "male", "ltr"), ("65+", "18-39", "ltr"), ("نساء", "رجال", "rtl"), ("female", "رجال", "rtl")],
)
def test_a_difference_of_names_keeps_its_order_from_right_to_left(first: str, second: str, runs: str) -> None:
    """Latin names on an Arabic page stand as they are written, first − second; Arabic ones run as the page does."""
    said = Voice.of(["ar"]).say("table.minus", first=first, second=second)
    assert said.startswith("\N{LEFT-TO-RIGHT ISOLATE}") == (runs == "ltr")
    assert said.startswith("\N{RIGHT-TO-LEFT ISOLATE}") == (runs == "rtl")
    assert said.count("\N{POP DIRECTIONAL ISOLATE}") == 3
    assert said.index(first) < said.index(MINUS) < said.rindex(second)
    assert Voice.of(["de"]).say("table.minus", first="Frauen", second="Männer") == f"Frauen {MINUS} Männer"


@pytest.mark.parametrize("tag", ["en", "de", "ar"])
def test_no_line_breaks_inside_a_span_of_numbers(tag: str) -> None:
    voice = Voice(tag)
    assert "18–\N{WORD JOINER}29" in voice.say("caution.mean", group=voice.tell("18–29"))
    assert voice.tell(Label("age_18–29")) == "age 18–\N{WORD JOINER}29"
    assert PLAIN.tell("18–29") == "18–29"  # a terminal, a model card and JSON have the study's own letters


def test_a_list_of_names_in_a_sentence_is_read_as_its_language_is():
    """Between names that are kept apart there are commas alone, which have no direction: theirs must be said."""
    told = Sentence.of("list.within", first=Sentence.of("list.within", first="a", second="b"), second="c")
    said = Sentence.of("verdict.untold", metric=told).by(EGYPT)
    assert "\u2067\u2067\u2068a\u2069، \u2068b\u2069\u2069، \u2068c\u2069\u2069" in said
