"""Seals of before 0.2.0, which verify for ever: how their estimates were laid out, and what they were about.

Such an estimate has ``gap`` where there is a ``headline`` now, its intervals have no ``shown``, and the interval that
it names is ``finite``.  Its numbers are compared; its sentences are not, because they are said in other words now.
"""

from typing import Any

_TERMS = ("study", "confidence", "interval", "tolerance")
_NUMBERS = ("metric", "attribute", "answers", "gap", "gaps", "means", "overall", "shares", "answered")


def of_before(document: dict[str, Any]) -> bool:
    """Tell whether an estimate is laid out as before."""
    questions = document.get("questions")
    return isinstance(questions, list) and all(isinstance(q, dict) and "gap" in q for q in questions)


def numbers_of_before(document: dict[str, Any]) -> dict[str, Any]:
    """Return the terms and the numbers of an estimate of before."""
    asked = document.get("questions")
    questions = [
        {name: question.get(name) for name in _NUMBERS} if isinstance(question, dict) else question
        for question in (asked if isinstance(asked, list) else [asked])
    ]
    return {name: document.get(name) for name in _TERMS} | {"questions": questions}


def estimate_of_before(found: dict[str, Any]) -> dict[str, Any]:
    """Return the terms and the numbers that an estimate of today would have had before."""
    document = _without_shown(found)
    for question in document["questions"]:
        question["gap"] = max(question["gaps"], key=lambda gap: abs(gap["estimate"]), default=None)
    return numbers_of_before(document)


def numbers_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return the terms and the numbers of an estimate that another version may have put into other words."""
    return numbers_of_before(_without_shown(document))


def _without_shown(document: Any) -> Any:
    if isinstance(document, dict):
        return {name: _without_shown(value) for name, value in document.items() if name != "shown"}
    return [_without_shown(value) for value in document] if isinstance(document, list) else document
