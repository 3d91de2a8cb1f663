"""Devices that have nothing to say: a plan reckons with how many, and the estimate then has that width.

Covers: fairgauge.targets.target
"""

from dataclasses import replace
from decimal import Decimal

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.estimation import estimate
from fairgauge.planning.planned_widths import answers_needed
from fairgauge.planning.plans import plan_for
from fairgauge.planning.table_pairing import designed
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.scores import Scores
from tests.surveys import expected_tally, people

RECALL, SEX = Metric("recall", 0, 1), Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
DESIGN, CLIENTS = "randomized-response", 10**6


def asked(part: float) -> Question:
    return Question(RECALL, SEX, "gap", abstain=True, expect="0.9", spread="max", abstaining=part)


@pytest.mark.parametrize("part", [0.05, 0.4])
def test_the_plan_has_the_width_that_the_estimate_has(part: float):
    """Recall is 0 or 1, and 0.9 on average, as is reckoned with; the part without positives abstains."""
    found = plan_for(
        Scores.of(asked(part)), RECALL, epsilon=Decimal(2), clients=CLIENTS, interval="normal", designs=[DESIGN]
    )
    study = Study("Recall", designed([asked(part)], Decimal(2), design=DESIGN))
    each = round(CLIENTS * (1 - part) / 2)
    tally = expected_tally(
        study,
        people(
            *((sex, value, round(each * p)) for sex in ("female", "male") for value, p in (("1", 0.9), ("0", 0.1))),
            (None, None, CLIENTS - 2 * each),
        ),
    )
    gap = estimate(study, tally, interval="normal")["recall"].gap("female", "male")
    assert found.rows[0].error == pytest.approx((gap.high - gap.low) / 2, rel=0.02)
    assert f"{100 * part:.4g} % who abstain" in (found.rows[0].assumes or "")


def test_more_who_abstain_need_more_clients():
    few, many = (
        plan_for(Scores.of(asked(part)), RECALL, epsilon=Decimal(2), error=0.01, interval="normal", designs=[DESIGN])
        for part in (0.1, 0.5)
    )
    assert (many.rows[0].clients or 0) > 1.9 * (few.rows[0].clients or 0)


@pytest.mark.parametrize(("part", "said"), [("0.01", "0.01"), ("0.10", None), (None, None)])
def test_the_document_says_with_how_many_it_reckons(part: str | None, said: str | None):
    """So that whoever reads it decodes the table as it was made, and plans with what is expected."""
    (question,) = designed([replace(asked(0.5), abstaining=part)], Decimal(2), design=DESIGN)
    study = Study("Recall", [question])
    (read,) = Study.from_bytes(study.to_bytes()).questions
    assert (read.abstaining, b'"abstaining"' in study.to_bytes()) == (said, said is not None)
    assert Scores.of(read).target.abstaining == float(said or 0.1)
    assert answers_needed(read, 0.01) == answers_needed(question, 0.01)


def test_nobody_is_reckoned_to_abstain_who_may_not():
    with pytest.raises(InvalidInput, match=r"abstaining=0\.3: must not be given where nobody may abstain"):
        Question(RECALL, SEX, abstaining=0.3)
    with pytest.raises(InvalidInput, match="abstaining=1: must be from 0 to below 1"):
        Question(RECALL, SEX, abstain=True, abstaining=1)
