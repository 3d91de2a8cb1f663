"""From a wish to the question that is published."""

from decimal import Decimal

from fairgauge.designs import AUTO, make_channel
from fairgauge.goals.goal import Goal
from fairgauge.goals.reckoning import USUAL_SPREAD
from fairgauge.goals.wish import Wish
from fairgauge.study import Question


def make_question(wish: Wish, epsilon: Decimal, *, design: str = AUTO) -> Question:
    """Return the question with the channel of a design.

    Guarantee: the question has the goal that the channel was made for, so whoever reads it decodes it for that.

    Raises:
        InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
        Impossible: If no design reaches it.
    """
    name, channel = make_channel(Goal.of(wish), epsilon, design=design)
    # What is usual need not be said, and a study that says nothing new stays in format 1.
    spread = None if wish.spread_in_v == USUAL_SPREAD else wish.spread
    return Question(wish.metric, wish.attribute, wish.aim, name, epsilon, channel, expect=wish.expect, spread=spread)
