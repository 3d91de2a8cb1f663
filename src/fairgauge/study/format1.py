"""Study documents of format 1: frozen; what they mean, and their bytes, never change."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairgauge.canonical import members
from fairgauge.channel import Channel
from fairgauge.errors import BadStudy
from fairgauge.study.attribute import ALIKE, ANY, Attribute
from fairgauge.study.checks import at, check_decimal, check_text, read_array, read_object
from fairgauge.study.metric import Metric
from fairgauge.study.question import Question

if TYPE_CHECKING:
    from fairgauge.study.document import Study

FORMAT = 1


def read(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a study."""
    names = ("format", "title", "questions", "opens", "closes", "contact")
    _, title, questions, opens, closes, contact = members(document, *names, error=BadStudy)
    parsed = []
    for index, question in enumerate(read_array("questions", questions)):
        with at(f"questions[{index}]"):
            parsed.append(_read_question(question))
    return {"title": title, "questions": parsed, "opens": opens, "closes": closes, "contact": contact}


def _read_question(document: object) -> Question:
    names = ("metric", "attribute", "target", "design", "epsilon", "levels", "abstain", "table")
    metric, attribute, target, design, epsilon, levels, abstain, table = read_object(document, *names)
    with at("metric"):
        name, low, high = read_object(metric, "name", "low", "high")
        check_text("name", name)
        check_decimal("low", low)
        check_decimal("high", high)
        asked = Metric(name, low, high)
    with at("attribute"):
        name, groups, shares = read_object(attribute, "name", "groups", "shares")
        known = None if shares is None else read_array("shares", shares)
        for index, share in enumerate(known or ()):
            check_decimal(f"shares[{index}]", share)
        # Shares in this format are those of who answers.
        grouped = Attribute(name, read_array("groups", groups), known, answering=ANY if known is None else ALIKE)
    rows = tuple(read_array(f"table[{i}]", row) for i, row in enumerate(read_array("table", table)))
    channel = Channel(rows, read_array("levels", levels), len(grouped.groups), abstain)
    check_decimal("epsilon", epsilon)
    return Question(asked, grouped, target, design, epsilon, channel)


def write(study: "Study") -> dict[str, object]:
    """Return the document of a study that needs nothing beyond this format."""
    return {
        "format": FORMAT,
        "title": study.title,
        "questions": [_write_question(question) for question in study.questions],
        "opens": study.opens,
        "closes": study.closes,
        "contact": study.contact,
    }


def _write_question(question: Question) -> dict[str, object]:
    metric, attribute, channel = question.metric, question.attribute, question.channel
    return {
        "metric": {"name": metric.name, "low": metric.low, "high": metric.high},
        "attribute": {"name": attribute.name, "groups": attribute.groups, "shares": attribute.shares},
        "target": question.target,
        "design": question.design,
        "epsilon": question.epsilon,
        "levels": channel.levels,
        "abstain": channel.abstain,
        "table": channel.table,
    }
