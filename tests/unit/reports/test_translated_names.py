"""A study's own words: groups, cells, margins and comparisons are called what the study calls them."""

from fairgauge.languages import Voice
from fairgauge.reports.translated_names import speaking_of, title_in
from fairgauge.study import Attribute, Comparison, Metric, Study
from tests.samples import sample_question

RECALL = Metric("recall", "0", "1")
SEX, AGE = Attribute("sex", ("female", "male")), Attribute("age", ("young", "old"))
CELLS = ("female, young", "female, old", "male, young", "male, old")
CROSSED = Attribute.crossed(SEX, AGE, comparisons=[Comparison(CELLS[:2], CELLS[2:]), Comparison(CELLS[:1], CELLS[3:])])
GERMAN = {
    "title": "Verstanden", "metrics[0].name": "Treffer", "attributes[0].name": "Geschlecht und Alter",
    "attributes[0].cross[0].name": "Geschlecht", "attributes[0].cross[0].groups[0]": "weiblich",
    "attributes[0].cross[0].groups[1]": "männlich", "attributes[0].cross[1].name": "Alter",
    "attributes[0].cross[1].groups[0]": "jung", "attributes[0].cross[1].groups[1]": "alt",
}  # fmt: skip
STUDY = Study("Understood", [sample_question(RECALL, CROSSED)], language="en", translations={"de": GERMAN})


def test_cells_margins_and_sides_have_their_names():
    voice = speaking_of(STUDY, CROSSED, Voice("de"))
    for own, said in {
        "recall": "Treffer",
        "sex": "Geschlecht",
        "female": "weiblich",
        "female, young": "weiblich, jung",
        "male, old": "männlich, alt",
        "old": "alt",
        "everyone": "alle",
        "somebody else": "somebody else",
    }.items():
        assert voice.tell(own) == said


def test_a_study_that_lacks_the_language_speaks_its_own():
    assert title_in(STUDY, Voice("de")) == ("Verstanden", "de")
    assert title_in(STUDY, Voice("ar")) == ("Understood", "en")
    assert speaking_of(STUDY, CROSSED, Voice("ar")).tell("female") == "female"


def test_groups_that_are_taken_together_are_joined_by_the_languages_word():
    three = Attribute("age", ("young", "middle", "old"), comparisons=[Comparison(("young", "middle"), "old")])
    texts = {"title": "T", "metrics[0].name": "M", "attributes[0].name": "Alter"}
    texts |= {f"attributes[0].groups[{n}]": name for n, name in enumerate(("jung", "mittel", "alt"))}
    study = Study("T", [sample_question(RECALL, three)], language="en", translations={"de": texts})
    assert speaking_of(study, three, Voice("de")).tell("young or middle") == "jung oder mittel"
