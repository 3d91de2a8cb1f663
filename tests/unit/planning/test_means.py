"""What a table that is made for comparisons tells of the groups' means."""

from decimal import Decimal

import pytest

from fairgauge.planning.plan_parts import PlanPart, beside_simplest, means_sentence
from fairgauge.planning.plans import plan_questions
from fairgauge.planning.table_pairing import designed
from fairgauge.study import Attribute, Question
from tests.samples import RECALL

GENDERS = Attribute("gender", {"women": "0.49", "men": "0.49", "nonbinary": "0.02"}, answering="alike")


@pytest.mark.parametrize(
    ("times", "told"), [(1.0, None), (1.05, None), (2.6, "takes 2.6 times the clients"), (25.6, "takes 26 times the")]
)
def test_what_means_pay_is_said_where_they_pay(times: float, told: str | None):
    means = [PlanPart(("men",), 10 * times, 1.0, None), PlanPart(("women",), 10, 1.0, None)]
    said = means_sentence(means, {("men",): 10.0, ("women",): 10.0}, target="gap")
    assert (said is None) is (told is None)
    if said is not None and told is not None:
        assert f"for the same error the mean of men {told}" in said
        assert said.endswith(
            "take design --design randomized-response; --target means makes a table for the worst mean."
        )


def test_a_table_for_the_worst_mean_says_so():
    said = means_sentence([PlanPart(("men",), 20, 1.0, None)], {("men",): 10.0}, target="means")
    assert said is not None
    assert said.startswith("It is made for the worst mean: for the same error the mean of men takes 2 times")


def test_a_table_that_tells_no_mean_says_so():
    said = means_sentence([], {("men",): 10.0}, target="gap")
    assert said is not None
    assert said.startswith("It is made for comparisons, and tells no group's mean: --target means")


def test_the_study_and_its_plan_say_the_same():
    (question,) = designed([Question(RECALL, GENDERS)], Decimal(1))
    found, simple = beside_simplest(question, "means")
    said = means_sentence(found, simple, target="gap")
    (plan,) = plan_questions([Question(RECALL, GENDERS)], epsilon=Decimal(1), clients=10**6, interval="normal")
    assert said is not None
    assert said == plan.about_means()
    assert found[0].groups == ("nonbinary",)
    assert max(part.variance / simple[part.groups] for part in found) > 10
