"""Which design serves a goal best: by its variance, or by the interval that it will give where variances do not tell.

Where shares are estimated, the interval of a gap pays for what is not known of shares and means.  A table of the least
variance may tell these badly, and with few clients another table's interval is narrower.  With ever more clients the
variance decides, so which is best depends on how many there are.
"""

from dataclasses import dataclass
from decimal import Decimal

from fairgauge.channel import Channel
from fairgauge.designs import make_channel, tried_by_auto
from fairgauge.errors import Impossible
from fairgauge.estimation.kinds import DEFAULT, IntervalKind, kind_of
from fairgauge.goals.goal import CENTRED, Goal
from fairgauge.planning.widths import planned_width

# What is reckoned with where nobody says how many will answer.
USUAL_CLIENTS = 10_000
# Designs whose variance is more than so many times the least are not compared by their intervals, which take a while.
_SCREEN = 1.6
# Where a simpler design is as good as the best, it is the better choice.
_AS_GOOD = 1.001


@dataclass(frozen=True)
class Size:
    """How many answers a design is chosen for, and the interval that will be read from them.

    Args:
        answers: How many answers there will be; None where nobody said.
        kind: Which interval; the usual one unless given.
        alpha: How often it may miss the truth.
    """

    answers: float | None = None
    kind: IntervalKind | None = None
    alpha: float = 0.01


def chosen_by_width(goal: Goal) -> bool:
    """Tell whether designs for a goal are compared by their intervals: for the gap where shares are estimated."""
    return goal.target == "gap" and goal.groups == 2 and not goal.shares_known


def serve(goal: Goal, epsilon: Decimal, size: Size | None = None) -> tuple[str, Channel]:
    """Return the design that serves a goal best, and its channel.

    Guarantee: where intervals decide, no design whose variance is near the least has a narrower planned interval, but
    for one part in a thousand.

    Raises:
        InvalidInput: If epsilon is outside what a table can hold.
        Impossible: If no design reaches it.
    """
    if not chosen_by_width(goal):
        return make_channel(goal, epsilon)
    channels: dict[str, Channel] = {}
    for name in tried_by_auto(goal):
        try:
            channels[name] = make_channel(goal, epsilon, design=name)[1]
        except Impossible:
            continue
    if not channels:
        raise Impossible(f"no design makes a channel for epsilon={epsilon}")
    variances = {name: goal.by(name).variance(channel) for name, channel in channels.items()}
    least = min(variances.values())
    near = [name for name, variance in variances.items() if variance <= _SCREEN * least]
    size = size or Size()
    answers, kind = size.answers or USUAL_CLIENTS, size.kind or kind_of(DEFAULT)
    widths: dict[str, float] = {}
    for name in near:
        # Two designs may end in one table, and reading it takes a while.
        same = (other for other in widths if channels[other] == channels[name] and CENTRED not in (other, name))
        known = next(same, None)
        widths[name] = (
            widths[known] if known else planned_width(goal.by(name), channels[name], answers, kind, size.alpha)
        )
    best = next(name for name, width in widths.items() if width <= min(widths.values()) * _AS_GOOD)
    return best, channels[best]


def choice_sentence(goal: Goal, design: str, answers: float | None) -> str | None:
    """Return for how many answers a design was chosen; None where that does not matter.

    >>> choice_sentence(Goal((0.5, 0.5), shares_known=False), "uncentred", None)
    'Of all designs uncentred has the narrowest interval for 10,000 answers, a number that nobody gave: see --planned.'
    """
    if not chosen_by_width(goal):
        return None
    said = f"Of all designs {design} has the narrowest interval for {answers or USUAL_CLIENTS:,.0f} answers"
    return f"{said}." if answers else f"{said}, a number that nobody gave: see --planned."
