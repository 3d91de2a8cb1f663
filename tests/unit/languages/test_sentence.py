"""Sentences that know what they say: English as they are, and the same again in other languages."""

import copy
import pickle

from fairgauge.languages import Label, Numeral, Sentence, Voice

GAP = Sentence.of("shares.gap-between", first="women", second="men")
MOVED = Sentence.of("shares.forged", part=Sentence.of("number.percent", number=Numeral("1")), gap=GAP,
                far=Sentence.of("shares.up-to", size=Sentence.of("unit.point", count="2.5")))  # fmt: skip


def test_it_is_its_english_text():
    assert MOVED == "Forging 1 % of the answers could move the gap between women and men by up to 2.5 points."
    assert f"{MOVED}" == MOVED
    assert MOVED.by(Voice()) == MOVED


def test_its_parts_are_told_too():
    german = Voice("de").calling({"women": "Frauen", "men": "Männer"})
    assert german.tell(MOVED) == (
        "Wären 1 % der Antworten gefälscht, könnte das den Unterschied zwischen „Frauen“ und „Männer“ um bis "
        "zu 2,5 Prozentpunkte verschieben."
    )


def test_texts_follow_each_other_and_others_stay():
    said = Sentence.together([Sentence.of("verdict.none"), "As it came."])
    assert said == "There are no answers yet. As it came."
    assert Voice("de").tell(said) == "Es gibt noch keine Antworten. As it came."
    assert Voice("de").tell("no text of ours") == "no text of ours"


def test_a_heading_starts_like_a_sentence():
    title = Sentence.as_title("question.title", metric="recall", attribute="sex")
    assert title == "Recall by sex"
    assert Sentence.as_title("question.title", metric="iPad use", attribute="sex") == "iPad use by sex"
    assert (
        Voice("de").calling({"recall": "verstanden", "sex": "Geschlecht"}).tell(title) == "Verstanden nach Geschlecht"
    )


def test_it_survives_copies():
    for again in (copy.deepcopy(MOVED), pickle.loads(pickle.dumps(MOVED))):
        assert again == MOVED
        assert Voice("de").tell(again) == Voice("de").tell(MOVED)


def test_a_name_that_was_made_for_code_has_a_label_in_every_language():
    told = Sentence.of("question.title", metric=Label("FPR"), attribute=Label("age_band"))
    assert told == "false positive rate by age band"
    assert Voice("de").tell(told).startswith("Falsch-positiv-Rate")
    own = Voice("de").calling({"FPR": "Fehlalarme", "age_band": "Alter_in_Jahren"})
    assert own.tell(Label("FPR")) == "Fehlalarme"
    assert own.tell(Label("age_band")) == "Alter in Jahren"
    assert Label("_") == "_"
