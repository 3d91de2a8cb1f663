"""Which design serves best: by its variance, or by the interval that it will give where variances do not tell.

Where shares are estimated, the interval of a gap pays for what is not known of shares and means.  A table of the least
variance may tell these badly, and with few clients another table's interval is narrower.  With ever more clients the
variance decides, so which is best depends on how many there are.

Plans and designs both ask here, and nothing but the question, epsilon and the number of answers decides: so they have
the same table, whichever interval a plan is read with.
"""

import math
from decimal import Decimal

from scipy.special import ndtri

from fairgauge.channel import Channel
from fairgauge.designs import make_channel, tried_by_auto
from fairgauge.errors import Impossible, InvalidInput
from fairgauge.estimation.interval_kinds import DEFAULT, check_confidence, kind_of
from fairgauge.estimation.share_band import Band
from fairgauge.planning.planned_widths import planned_width
from fairgauge.study import Attribute
from fairgauge.study.margins import side_name
from fairgauge.targets.scores import ESTIMATED, Scores
from fairgauge.targets.target import Target

# What is reckoned with where nobody says how many will answer.
_USUAL_CLIENTS = 10_000
# How often the interval that designs are compared by may miss the truth.
_ALPHA = check_confidence(0.99)
# Where a simpler design is as good as the best, it is the better choice.
_AS_GOOD = 1.001
# By how much one width must be above another by a rough reckoning so that it need not be read.
_CLEARLY, _FAR = 1.1, 3.0
# Comparisons whose weights are farther apart than this leave nothing to weigh.
_MOST_WEIGHT = 100


def chosen_by_width(target: Target) -> bool:
    """Tell whether designs are compared by their intervals: for the gap of two groups whose split is open."""
    return target.two_sided and target.most_ratio > 1


def choose_design(scores: Scores, epsilon: Decimal, answers: float | None = None) -> tuple[str, Channel]:
    """Return the design that serves a question best, and its channel.

    Guarantee: where intervals decide, no design has a narrower planned interval, but for one part in a thousand.

    Args:
        scores: What is to be estimated.
        epsilon: The privacy loss of one answer.
        answers: How many answers there will be; 10,000 where nobody said.

    Raises:
        InvalidInput: If epsilon is outside what a table can hold.
        Impossible: If no design reaches it.
    """
    names = tried_by_auto(scores)
    if not chosen_by_width(scores.target):
        best, channel = make_channel(scores, epsilon)
        if ESTIMATED not in names or not _varies_less(scores, epsilon, channel):
            return best, channel
        names = [best, ESTIMATED]
    channels: dict[str, Channel] = {}
    for name in names:
        try:
            channels[name] = make_channel(scores, epsilon, design=name)[1]
        except Impossible:
            continue
    if not channels:
        raise Impossible(f"no design makes a channel for epsilon={epsilon}")
    answers = answers or _USUAL_CLIENTS
    widths = {
        name: _width(scores.by(name), channels[name], answers) for name in _worth_reading(scores, channels, answers)
    }
    best = next(name for name, width in widths.items() if width <= min(widths.values()) * _AS_GOOD)
    return best, channels[best]


def _worth_reading(scores: Scores, channels: dict[str, Channel], answers: float) -> list[str]:
    r"""Return the names of the tables that may have the narrowest interval: reading one takes a while.

    With a band of splits the interval of a score that relies on the stated shares p is about

    .. math:: z \sqrt{V / K} + \max |r| \, (1 + |c|), \qquad r = \frac{q - p}{p (1 - p)} ,

    and one that estimates the split has no less than z sqrt(V / K), but not three times that where many answer.
    """
    known = [name for name in channels if scores.by(name).target.shares_known]
    if not known or len(known) == len(channels) or scores.target.most_ratio == 1:
        return list(channels)
    z, least = -float(ndtri(_ALPHA / 2)), {}
    for name, channel in channels.items():
        by = scores.by(name)
        least[name] = z * math.sqrt(by.variance(channel) / answers)
        if by.target.shares_known:
            least[name] += _share_slope(scores.target) * (1 + abs(by.gap_constant(by.decoder(channel))))
    best, estimated = min(least[name] for name in known), min(v for name, v in least.items() if name not in known)
    if estimated > _CLEARLY * best:
        return known
    if answers >= _USUAL_CLIENTS and best > _FAR * estimated:
        return [name for name in channels if name not in known]
    return list(channels)


def _share_slope(target: Target) -> float:
    """Return the largest r of a band: by how much the gap moves for each unit that a mean is off the score's constant.

    >>> round(_share_slope(Target((0.5, 0.5), ratio=1.1)), 4)
    0.0952
    """
    p, other = target.shares
    ends = Band(target.share_vector, target.most_ratio, target.share_error).of(0)
    return max(abs(q - p) for q in ends) / (p * other)


def _varies_less(scores: Scores, epsilon: Decimal, known: Channel) -> bool:
    """Tell whether a score whose constant is found from the answers varies less than one that has to do for all means.

    So it does from about epsilon 3 on where nothing is expected, although the split is known.
    """
    estimated = scores.by(ESTIMATED)
    varies = estimated.variance(make_channel(estimated, epsilon, design=ESTIMATED)[1])
    return varies < scores.variance(known)


def _width(scores: Scores, channel: Channel, answers: float) -> float:
    return planned_width(scores, channel, answers, kind_of(DEFAULT), _ALPHA)


def check_comparisons(attribute: Attribute) -> None:
    """Refuse comparisons that no table can be made for: one that is there twice, or weights that are too far apart.

    Raises:
        InvalidInput: If there are such.
    """
    planned = attribute.comparisons or ()
    seen = set[frozenset[tuple[str, ...]]]()
    for one in planned:
        sides = frozenset([tuple(one.of), tuple(one.against)])
        if sides in seen:
            name = " and ".join(side_name(attribute, side) for side in (one.of, one.against))
            raise InvalidInput("comparisons", name, "must be there once, in one order")
        seen.add(sides)
    weights = [Decimal(1 if one.weight is None else one.weight) for one in planned]
    if weights and max(weights) > _MOST_WEIGHT * min(weights):
        rule = (
            f"must be at most {_MOST_WEIGHT:,} times the smallest: of what matters less nothing would be left to weigh"
        )
        raise InvalidInput("weigh", max(weights), rule)


def choice_sentence(scores: Scores, design: str, answers: float | None) -> str | None:
    """Return for how many answers a design was chosen; None where that does not matter.

    >>> choice_sentence(Scores(Target((0.5, 0.5), shares_known=False)), "uncentred", None)
    'Of all designs uncentred has the narrowest interval for 10,000 answers, a number that nobody gave: see --planned.'
    """
    if not chosen_by_width(scores.target):
        return None
    said = f"Of all designs {design} has the narrowest interval for {answers or _USUAL_CLIENTS:,.0f} answers"
    return f"{said}." if answers else f"{said}, a number that nobody gave: see --planned."
