"""Seals of before 0.2.0, which verify for ever: how their estimates were laid out, and what they were about.

Such an estimate has ``gap`` where there is a ``headline`` now, its intervals have no ``shown``, and the interval that
it names is ``finite``.  Its numbers are compared; its sentences are not, because they are said in other words now.
"""

from typing import Any

from fairgauge import estimation
from fairgauge.estimation.kinds import sealed_kind
from fairgauge.study import Study
from fairgauge.tallies import Tally

_TERMS = ("study", "confidence", "interval", "tolerance")
_NUMBERS = ("metric", "attribute", "answers", "gap", "gaps", "means", "overall", "shares", "answered")


def of_before(document: dict[str, Any]) -> bool:
    """Tell whether an estimate is laid out as before."""
    questions = document.get("questions")
    return isinstance(questions, list) and all(isinstance(q, dict) and "gap" in q for q in questions)


def numbers_of_before(document: dict[str, Any]) -> dict[str, Any]:
    """Return the terms and the numbers of an estimate of before."""
    questions = [{name: question.get(name) for name in _NUMBERS} for question in document["questions"]]
    return {name: document.get(name) for name in _TERMS} | {"questions": questions}


def estimate_of_before(study: Study, tally: Tally, named: dict[str, Any]) -> dict[str, Any]:
    """Return the terms and the numbers that an estimate of before has for a tally, by the terms that it names."""
    terms = {"confidence": named.get("confidence", 0.0), "interval": sealed_kind(named.get("interval", ""))}
    document = _without_shown(estimation.estimate(study, tally, **terms).to_dict())
    for question in document["questions"]:
        question["gap"] = max(question["gaps"], key=lambda gap: abs(gap["estimate"]), default=None)
    return numbers_of_before(document)


def _without_shown(document: Any) -> Any:
    if isinstance(document, dict):
        return {name: _without_shown(value) for name, value in document.items() if name != "shown"}
    return [_without_shown(value) for value in document] if isinstance(document, list) else document
