"""How wide intervals will be, for planning; and with what chance they will notice a gap.

Width and power are for the worst values that are reckoned with: see :meth:`~fairgauge.targets.target.Goal.variance`.
"""

import math
from functools import lru_cache

from scipy.special import ndtr

from fairgauge.channel import Channel
from fairgauge.estimation.kinds import IntervalKind
from fairgauge.estimation.readers import reader_of
from fairgauge.planning.expected import expected
from fairgauge.targets.target import Goal

# Of more numbers than this only those that vary most are asked for their width; of fewer where that takes long.
_MANY, _FEW, _WIDEST = 15, 3, 2


def planned_width(goal: Goal, channel: Channel, answers: float, kind: IntervalKind, alpha: float) -> float:
    """Return the half-width of the worst of the wanted numbers, in [-1, 1] units; infinite if the channel cannot tell.

    Guarantee: it is that of the estimate for the answers that are expected.  For more than two groups the gaps'
    intervals hold together, as they do in the estimate.
    """
    return _width(goal.decoded, channel, answers, kind, alpha)


@lru_cache(maxsize=1024)
def _width(goal: Goal, channel: Channel, answers: float, kind: IntervalKind, alpha: float) -> float:
    found = expected(goal, channel, goal.target)
    if not found:
        return math.inf
    different = {float(f"{each.variance:.6g}"): each for each in found}
    # The widest is one of those that vary most.
    order = sorted(different.values(), key=lambda each: -each.variance)
    most = _MANY if reader_of(kind).quick else _FEW
    return max(each.width(kind, answers, alpha) for each in (order if len(order) <= most else order[:_WIDEST]))


def planned_power(goal: Goal, channel: Channel, answers: float, width: float, gap: float) -> float:
    """Return how often an interval of this half-width for a gap will exclude 0 if the gap has this size.

    Guarantee: asymptotic; for the worst values that are reckoned with.
    """
    deviation = math.sqrt(goal.variance(channel) / answers)
    return float(ndtr((abs(gap) - width) / deviation) + ndtr((-abs(gap) - width) / deviation))
