"""What a comparison of two models says in words: one study about their difference on the same device.

If every client answers about *new minus old*, the gap between two groups of that difference is the gap of the new model
less the gap of the old, and so is its interval.  Whether that is wider or narrower depends on who was behind before,
which the study does not tell: whoever asks has to know it, from an earlier study.
"""

from fairgauge.errors import InvalidInput
from fairgauge.estimation import Interval

DIGITS = 3


def describe_change(change: Interval, pair: tuple[str, str], *, behind: str) -> str:
    """Return what a new model does to the gap between two groups, as far as the interval tells.

    >>> describe_change(Interval(-0.09, -0.14, -0.04), ("female", "male"), behind="female")
    'The new model widens the gap: female falls behind male by between 0.040 and 0.140 more than before.'
    >>> describe_change(Interval(-0.09, -0.14, -0.04), ("female", "male"), behind="male")
    'The new model narrows the gap: male falls behind female by between 0.040 and 0.140 less than before.'

    Args:
        change: The gap, first group less second, of the difference new minus old.
        pair: The two groups, in the gap's order.
        behind: The group that the old model served worse.

    Raises:
        InvalidInput: If the group that was behind is neither of the two.
    """
    if behind not in pair:
        raise InvalidInput("behind", behind, f"must be {pair[0]} or {pair[1]}")
    ahead = pair[1] if behind == pair[0] else pair[0]
    # How much further behind: what the group behind lost against the other.
    low, high = (-change.high, -change.low) if behind == pair[0] else (change.low, change.high)
    if low > 0:
        told = (
            f"The new model widens the gap: {behind} falls behind {ahead} by between {_number(low)} and {_number(high)}"
        )
        return f"{told} more than before."
    if high < 0:
        told = f"The new model narrows the gap: {behind} falls behind {ahead} by between {_number(-high)} and "
        return f"{told}{_number(-low)} less than before."
    return (
        f"The answers do not tell whether the new model widens the gap: {behind} falls behind {ahead} by something "
        f"between {_number(-low)} less and {_number(high)} more than before."
    )


def _number(value: float) -> str:
    return f"{max(value, 0.0):.{DIGITS}f}"
