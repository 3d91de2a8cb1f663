"""What a comparison of two models says in words: one study about their difference on the same device.

If every client answers about *new minus old*, the gap between two groups of that difference is the gap of the new model
less the gap of the old, and so is its interval.  Whether that is wider, narrower or the other way round depends on the
gap before, which the study does not tell: whoever asks has to know it, from an earlier study.
"""

from fairgauge.errors import InvalidInput
from fairgauge.estimation import Interval

_DIGITS = 3


def describe_change(change: Interval, pair: tuple[str, str], *, before: Interval | float) -> str:
    """Return what a new model does to the gap between two groups, as far as the intervals tell.

    >>> describe_change(Interval(-0.09, -0.14, -0.04), ("female", "male"), before=-0.02)
    'The new model widens the gap: female falls behind male by between 0.040 and 0.140 more than before.'
    >>> describe_change(Interval(-0.09, -0.14, -0.04), ("female", "male"), before=0.2)
    'The new model narrows the gap: male falls behind female by between 0.040 and 0.140 less than before.'
    >>> describe_change(Interval(0.2, 0.15, 0.25), ("female", "male"), before=-0.02)
    'The new model reverses the gap: female was behind male, and is now ahead by between 0.130 and 0.230.'

    Guarantee: it is true where both intervals hold their truths.

    Args:
        change: The gap, first group less second, of the difference new minus old.
        pair: The two groups, in the gap's order.
        before: The old model's gap, in the same order: an interval of an earlier study, or a number that is known.

    Raises:
        InvalidInput: If it is not known who was behind: the old gap's interval holds 0.
    """
    old = before if isinstance(before, Interval) else Interval(before, before, before)
    if old.low <= 0 <= old.high:
        rule = f"must tell whether {pair[0]} or {pair[1]} was behind: above 0 or below"
        raise InvalidInput("before", f"{old.low:.4g} to {old.high:.4g}", rule)
    behind, ahead = pair if old.high < 0 else pair[::-1]
    # How far behind before, and how much further: what the group behind lost against the other.
    near, far = sorted((abs(old.low), abs(old.high)))
    low, high = (-change.high, -change.low) if behind == pair[0] else (change.low, change.high)
    less = f"between {_number(-high)} and {_number(-low)} less than before."
    if low > 0:
        more = f"between {_number(low)} and {_number(high)} more than before."
        return f"The new model widens the gap: {behind} falls behind {ahead} by {more}"
    if high < 0 and far + high < 0:
        now = f"between {_number(-far - high)} and {_number(-near - low)}"
        return f"The new model reverses the gap: {behind} was behind {ahead}, and is now ahead by {now}."
    if high < 0 and near + low < 0:
        return f"The new model narrows the gap or reverses it: {behind} falls behind {ahead} by {less}"
    if high < 0:
        return f"The new model narrows the gap: {behind} falls behind {ahead} by {less}"
    return (
        f"The answers do not tell whether the new model widens the gap: {behind} falls behind {ahead} by something "
        f"between {_number(-low)} less and {_number(high)} more than before."
    )


def _number(value: float) -> str:
    return f"{max(value, 0.0):.{_DIGITS}f}"
