"""Plans of several questions: what each gets."""

from decimal import Decimal

import pytest

from fairgauge.goals.goal import Goal
from fairgauge.goals.wish import Wish
from fairgauge.planning.search import plan_for
from fairgauge.planning.several import plan_several
from fairgauge.study import Attribute, Metric

SEX = Attribute("sex", {"female": 0.5, "male": 0.5})
WISHES = [Wish(Metric(name, 0, 1), SEX, spread="max") for name in ("recall", "fpr")]
DESIGNS = ["randomized-response"]


def test_a_question_of_two_gets_half_of_the_answers():
    both = plan_several(WISHES, epsilon=Decimal(2), clients=10**5, designs=DESIGNS)
    alone = plan_for(Goal.of(WISHES[0]), WISHES[0].metric, epsilon=Decimal(2), clients=10**5 // 2, designs=DESIGNS)
    assert [found.rows[0].error for found in both] == pytest.approx([alone.rows[0].error] * 2)
    assert both["recall"].rows[0].variance == pytest.approx(2 * (alone.rows[0].variance or 0))


def test_together_is_a_row_of_its_own_and_says_so():
    plans = plan_several(WISHES, epsilon=Decimal(2), error=0.01, designs=DESIGNS)
    assert [row.design for row in plans["fpr"].rows] == ["randomized-response", "together"]
    assert plans["recall"].best == "together"
    assert plans.sentences()[0].endswith("of the answers; together is one table for two of them.")


def test_the_least_epsilon_is_found_for_both():
    (found, _) = plan_several(WISHES, clients=10**5, error=0.0145, designs=DESIGNS)
    assert found.rows[-1].epsilon == pytest.approx(1.9, abs=0.15)


def test_questions_that_cannot_share_a_table_have_no_such_row():
    three = Attribute("age", ["a", "b", "c"])
    plans = plan_several([Wish(w.metric, three) for w in WISHES], epsilon=Decimal(2), clients=10**5, designs=DESIGNS)
    assert [row.design for row in plans["recall"].rows] == DESIGNS
