"""What more privacy costs."""

from decimal import Decimal

import pytest

from fairgauge.planning.plan_parts import errors_for
from fairgauge.study import Attribute, Metric, Question
from tests.samples import RECALL

SEX = Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")


def test_more_privacy_costs_precision():
    (found,) = errors_for([Question(RECALL, SEX)], [Decimal("0.5"), Decimal(1)], clients=10**6)
    (small, large), (more, less) = found
    assert (small, more) == (0.5, 1.0)
    assert large > 1.5 * less > 0


def test_questions_of_one_study_share_the_clients():
    both = [Question(Metric(name, 0, 1), SEX, spread="max") for name in ("recall", "fpr")]
    epsilons = [Decimal(1), Decimal(4)]
    (alone,) = errors_for(both[:1], epsilons, clients=10**5)
    (half,) = errors_for(both[:1], epsilons, clients=10**5 // 2)
    first, second = errors_for(both, epsilons, clients=10**5)
    assert first[0][1] == second[0][1] == pytest.approx(half[0][1], rel=1e-3)  # at epsilon 1 a coin picks one
    assert alone[1][1] < first[1][1] < half[1][1]  # at epsilon 4 one table answers both
