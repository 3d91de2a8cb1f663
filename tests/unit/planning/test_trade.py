"""What more privacy costs."""

from decimal import Decimal

from fairgauge.goals.goal import Goal
from fairgauge.planning.trade import errors_for
from tests.samples import RECALL


def test_more_privacy_costs_precision():
    found = errors_for(Goal((0.5, 0.5)), RECALL, [Decimal("0.5"), Decimal(1)], clients=10**6)
    (small, large), (more, less) = found
    assert (small, more) == (0.5, 1.0)
    assert large > 1.5 * less > 0
