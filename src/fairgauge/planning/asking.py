"""From a wish to the question that is published."""

from collections.abc import Sequence
from decimal import Decimal

from fairgauge.designs import AUTO
from fairgauge.goals.reckoning import USUAL_SPREAD
from fairgauge.goals.wish import Wish
from fairgauge.planning.tables import Answering, answering
from fairgauge.study import Question
from fairgauge.study.question import answered_together


def make_questions(
    wishes: Sequence[Wish], epsilon: Decimal, *, design: str = AUTO, clients: float | None = None
) -> list[Question]:
    """Return the questions of a study, those that one table answers at once next to each other.

    Guarantee: as :func:`make_question`.

    Raises:
        InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
        Impossible: If no design reaches it.
    """
    tables = answering(wishes, epsilon, design=design, clients=clients)
    asked = [[_question(wishes[place], epsilon, table) for place in table.wishes] for table in tables]
    return [question for questions in asked for question in answered_together(questions)]


def _question(wish: Wish, epsilon: Decimal, table: Answering) -> Question:
    # What is usual need not be said.
    return Question(
        wish.metric,
        wish.attribute,
        wish.aim,
        table.design,
        epsilon,
        table.channel,
        expect=wish.expect,
        spread=None if wish.spread_in_v == USUAL_SPREAD else wish.spread,
        weight=wish.weight,
    )


def make_question(wish: Wish, epsilon: Decimal, *, design: str = AUTO) -> Question:
    """Return the question with the channel of a design.

    Guarantee: the question has the goal that the channel was made for, so whoever reads it decodes it for that.

    Raises:
        InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
        Impossible: If no design reaches it.
    """
    return make_questions([wish], epsilon, design=design)[0]
