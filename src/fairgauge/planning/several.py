"""Plans of several questions: what each gets of the answers, with a table of its own or together with another."""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from fairgauge.channel import Channel
from fairgauge.errors import Impossible
from fairgauge.goals.goal import CENTRED, Goal
from fairgauge.goals.wish import Wish
from fairgauge.planning.result import Plan
from fairgauge.planning.search import TOGETHER, Beside, plan_for
from fairgauge.planning.tables import goal_on, served_together, together


def plan_several(wishes: Sequence[Wish], **asked: Any) -> list[Plan]:
    """Return a plan for each wish of one study, in which all share the answers.

    Args:
        wishes: What is asked for.
        asked: Two of ``epsilon``, ``clients`` and ``error``, and whatever else a plan takes.

    Raises:
        InvalidInput: If not exactly two of the three are given, or one is out of range.
    """
    return [
        plan_for(Goal.of(wish), wish.metric, beside=_beside(wishes, n), attribute=wish.attribute, **asked)
        for n, wish in enumerate(wishes)
    ]


def share_sentence(wishes: Sequence[Wish], plans: Sequence[Plan]) -> str:
    """Return how several questions share the answers.

    >>> from fairgauge.study import Attribute, Metric
    >>> sex = Attribute("sex", {"female": 0.5, "male": 0.5})
    >>> share_sentence([Wish(Metric(name, 0, 1), sex) for name in ("recall", "fpr")], [])
    '2 questions: a device answers one table, so with a table each every question gets about 1/2 of the answers.'
    """
    n = len(wishes)
    said = f"{n} questions: a device answers one table, so with a table each every question gets about 1/{n} of the "
    said += "answers"
    rows = [row for plan in plans for row in plan.rows if row.design == TOGETHER]
    return f"{said}; {TOGETHER} is one table for two questions." if rows else f"{said}."


def _beside(wishes: Sequence[Wish], place: int) -> Beside:
    # Every two wishes in order may share a table, as in the study.
    first = place - place % 2
    pair = tuple(wishes[first : first + 2])
    if not served_together(pair):
        return Beside(len(wishes))
    fewer = len(wishes) - sum(served_together(tuple(wishes[n : n + 2])) for n in range(0, len(wishes), 2))
    return Beside(
        tables=len(wishes),
        together=lambda epsilon: _table(pair, epsilon),
        goal=goal_on(list(map(Goal.of, pair)), CENTRED, place - first),
        fewer=fewer,
    )


@lru_cache(maxsize=64)
def _table(pair: tuple[Wish, ...], epsilon: Decimal) -> Channel:
    found = together(pair, epsilon)
    if found is None:  # pragma: no cover - who asks knows that there is one
        raise Impossible("no table answers these questions at once")
    return found.channel
