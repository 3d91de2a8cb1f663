"""What the parts of a study must be together."""

from fractions import Fraction
from typing import TYPE_CHECKING

from fairgauge.errors import BadStudy
from fairgauge.study.checks import check_integer, check_is, check_language, check_moment, check_prose, check_text
from fairgauge.study.noisy_counts import NoisyCounts
from fairgauge.study.question import Question, answered_together, counted
from fairgauge.study.terms import ADMISSIONS, Issuer, Model, Release, Stratum, check_key

if TYPE_CHECKING:
    from fairgauge.study.document import Study

MOST_QUESTIONS = 64
MOST_PLANNED = 10**15
WAVES = "waves"
INTEGERS = {
    "retention": (0, 36525),  # days: a hundred years
    "planned": (1, MOST_PLANNED),
    "epoch": (60, 31 * 86400),  # seconds: a minute to a month
    "hourly": (1, 10**9),
}


def check_questions(study: "Study") -> None:
    """Refuse no questions, too many, the same twice, and those whose table answers others that are not there."""
    for index, question in enumerate(study.questions):
        check_is(f"questions[{index}]", question, Question)
        if not question.designed:
            name = f"{question.metric.name} by {question.attribute.name}"
            raise BadStudy(f"questions[{index}]", name, "must be designed: fairgauge.design gives it a mechanism")
    if not 1 <= len(study.questions) <= MOST_QUESTIONS:
        raise BadStudy("questions", f"{len(study.questions)} questions", f"must be from 1 to {MOST_QUESTIONS}")
    if len(study.tables) > 1 and any(question.mechanism.counts_people for question in study.questions):
        raise BadStudy("questions", f"{len(study.tables)} tables", "must be one, where it has noisy counts")
    asked = [(question.metric.name, question.attribute.name) for question in study.questions]
    for index, pair in enumerate(asked):
        if pair in asked[:index]:
            raise BadStudy(f"questions[{index}]", " by ".join(pair), "must be asked once")
    index = 0
    for table in study.tables:
        together = table[0].mechanism.questions
        for question in table:
            if len(table) != together or _shared(question) != _shared(table[0]):
                rule = f"must stand beside the others of the {together} that its mechanism answers at once"
                raise BadStudy(f"questions[{index}]", " by ".join(asked[index]), rule)
            index += 1
    for table in study.tables:
        mechanism = table[0].mechanism
        if isinstance(mechanism, NoisyCounts) and answered_together(table) != answered_together(counted(mechanism)):
            raise BadStudy("questions", table[0].metric.name, "must be those that the noisy counts answer")


def _shared(question: Question) -> tuple[object, ...]:
    """Return what questions that one table answers have in common."""
    return question.attribute, question.design, question.epsilon, question.mechanism


def check_moments(study: "Study") -> None:
    """Refuse moments that are none, and a study that closes before it opens."""
    for field, moment in (("opens", study.opens), ("closes", study.closes)):
        if moment is not None:
            check_moment(field, moment)
    if study.opens is not None and study.closes is not None and study.opens >= study.closes:
        raise BadStudy("closes", study.closes, f"must be after opens, which is {study.opens}")


def check_terms(study: "Study") -> None:
    """Refuse terms that are no terms."""
    for field in ("contact", "operator"):
        if getattr(study, field) is not None:
            check_text(field, getattr(study, field))
    if study.language is not None:
        check_language("language", study.language)
    if study.purpose is not None:
        check_prose("purpose", study.purpose)
    for field, (least, most) in INTEGERS.items():
        if getattr(study, field) is not None:
            check_integer(field, getattr(study, field), least=least, most=most)
    if study.aim is not None and not 0 < Fraction(study.aim) < 1:
        raise BadStudy("aim", study.aim, "must be above 0 and below 1")
    for field, kind in (("model", Model), ("stratum", Stratum), ("issuer", Issuer), ("release", Release)):
        if getattr(study, field) is not None:
            check_is(field, getattr(study, field), kind)
    if study.order is not None and study.order != WAVES:
        raise BadStudy("order", study.order, f"must be {WAVES}, or left out")
    _check_admission(study)
    if study.mechanism.contributors_known:
        _check_known(study)


def _check_known(study: "Study") -> None:
    """Refuse terms that would be kept by nobody where it is no secret who contributes."""
    if study.admission not in (None, "tickets"):
        rule = "must be tickets where sites answer, or left out: one table that is made up outweighs all others"
        raise BadStudy("admission", study.admission, rule)
    for field in ("gateway", "epoch", "release"):
        if getattr(study, field) is not None:
            rule = "must not be given where sites answer: that a site takes part is not hidden"
            raise BadStudy(field, "something", rule)


def _check_admission(study: "Study") -> None:
    if study.admission is not None and study.admission not in ADMISSIONS:
        raise BadStudy("admission", study.admission, "must be open, tickets or blind")
    if study.admission == "blind" and study.issuer is None:
        raise BadStudy("issuer", "nothing", "must be given where admission is blind")
    if study.admission != "blind" and study.issuer is not None:
        raise BadStudy("issuer", study.issuer.name, "must not be given unless admission is blind")
    if study.gateway is not None:
        check_key("gateway", study.gateway)


def check_names(study: "Study") -> None:
    """Refuse two metrics or two attributes of one name: a document lists each once, by its name."""
    for index, question in enumerate(study.questions):
        if question.named and question.metric not in study.metrics:
            rule = "must be the same metric wherever it has this name"
            raise BadStudy(f"questions[{index}].metric", question.metric.name, rule)
        if question.attribute not in study.attributes:
            rule = "must be the same attribute wherever it has this name"
            raise BadStudy(f"questions[{index}].attribute", question.attribute.name, rule)
