"""Whoever picks the study must learn nothing from who stays silent: people, studies to tell them apart, the attack.

Each way in (device, ledger, agent, guard, ...) is given as ``Ask``: a fresh device of one person, which is asked
studies, and says of each whether it gave an answer.
"""

from collections.abc import Callable
from typing import Any

from fairgauge.study import Attribute, Metric, Study
from tests.samples import RECALL, SEX, joint_questions, sample_question, sample_study, two_questions

Person = dict[str, Any]
Ask = Callable[[Person], Callable[[Study], bool]]

NOT_LISTED = "platypus"


def person(sex: Any = "female", recall: Any = "0.8125390625") -> Person:
    """Return somebody; an ellipsis leaves a part out."""
    return {
        "group": {} if sex is ... else {"sex": sex},
        "values": {} if recall is ... else {"recall": recall},
    }


# They differ only in group, only in value, or only in whether they have either.
PEOPLE = {
    "female": person(),
    "male": person("male"),
    "another group": person(NOT_LISTED),
    "a group that is no text": person(7),
    "no group": person(None),
    "no attribute": person(...),
    "no value": person(recall=None),
    "no metric": person(recall=...),
    "nothing": person(None, None),
    "above": person(recall=76),
    "below": person(recall="-0.5"),
    "far above": person(recall="1e300"),
    "not a number": person(recall=float("nan")),
    "infinite": person(recall=float("inf")),
    "words": person(recall=NOT_LISTED),
}


def narrowed(low: Any = 0, high: Any = 1, *groups: str, abstain: bool = False) -> Study:
    """Ask for recall in a range of one's own, of groups of one's own."""
    attribute = Attribute("sex", groups) if groups else SEX
    return sample_study(sample_question(Metric("recall", low, high), attribute, abstain=abstain))


def hostile_studies() -> list[Study]:
    """Return studies that some can answer and others cannot, each with and without a row to abstain."""
    one_by_one = [
        narrowed(*asked, abstain=abstain)
        for asked in ((0, 1, "female", "zzz"), (0, "0.5"), ("0.8125", "0.8126"))
        for abstain in (False, True)
    ]
    creed = sample_study(sample_question(RECALL, Attribute("creed", ("one", "another"))))
    weight = sample_study(sample_question(Metric("weight", 0, 200)))
    return [*one_by_one, creed, weight, two_questions(), Study("Joint", joint_questions())]


def silent(ask: Ask) -> list[str]:
    """Return who gave no answer to which study; the rule is that nobody is ever silent."""
    found = []
    for name, who in PEOPLE.items():
        answers = ask(who)
        found += [f"{name}, study {index}" for index, study in enumerate(hostile_studies()) if not answers(study)]
    return found


def groups_read(answers: Callable[[Study], bool]) -> list[str]:
    """The attack: list one true group beside one that nobody has, and see who answers."""
    return [group for group in ("female", "male") if answers(narrowed(0, 1, group, "zzz"))]


def value_read(answers: Callable[[Study], bool], questions: int = 30) -> float:
    """The attack on a value: halve the range, and see who answers."""
    low, high = 0.0, 1.0
    for _ in range(questions):
        middle = (low + high) / 2
        low, high = (low, middle) if answers(narrowed(low, middle)) else (middle, high)
    return (low + high) / 2
