"""Kinds of intervals: what each is about, and what it promises.

Everything that names, offers or explains an interval asks here.  This module is light: what computes is in
``fairgauge.estimation.interval_readers``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

from fairgauge.errors import InvalidInput


@dataclass(frozen=True)
class IntervalKind:
    """A kind of interval.

    Args:
        name: What users call it.
        about: What the interval is about, to stand in a sentence after "is about".
        guarantee: What it promises, as a sentence without its first capital and its full stop.
        rough_below: With fewer answers than this it is only roughly right; 0 if it holds for any number.
        random_order: Whether it holds only if clients answer in random order.
        text: By which name languages have sentences about it, if not by its own.
    """

    name: str
    about: str
    guarantee: str
    rough_below: int = 0
    random_order: bool = False
    text: str | None = None


_DRAWN = "the population that clients are drawn from"

KINDS: dict[str, IntervalKind] = {
    kind.name: kind
    for kind in (
        IntervalKind(
            "population",
            _DRAWN,
            f"holds for {_DRAWN}, however many answered, at one look",
        ),
        IntervalKind(
            "anytime",
            _DRAWN,
            f"holds for {_DRAWN}, at every look together",
            random_order=True,
        ),
        IntervalKind(
            "normal",
            _DRAWN,
            f"approximate: for {_DRAWN}, close to its confidence from about 10,000 answers on if no group is rare, at "
            "one look",
            rough_below=10_000,
        ),
    )
}
DEFAULT = "population"
# For studies of sites that hold many people.
SITE_KINDS: dict[str, IntervalKind] = {
    kind.name: kind
    for kind in (
        IntervalKind(
            "population",
            "the people that these sites see",
            "holds for the people that these sites see, who come to them independently of each other, at one look",
            text="people",
        ),
        IntervalKind(
            "records",
            "the records that these sites counted",
            "holds for the records that these sites counted, where only the noise is at random, at one look",
        ),
        IntervalKind(
            "sites",
            "the sites that these were drawn from",
            "approximate: for the sites that these were drawn from, close to its confidence from about 20 sites on, at "
            "one look",
        ),
    )
}
# What a page uses that people look at whenever they like, and as often as they like.
LIVE = "anytime"
# About exactly the clients who answered, as the source paper assumes: only what redoes it measures by these.
_PAPERS = ("chebyshev", "finite", "fixed")


def kind_of(name: str, kinds: Mapping[str, IntervalKind] = KINDS) -> IntervalKind:
    """Return the kind of that name, of those by which a mechanism's sums are read: a device's unless given.

    Raises:
        InvalidInput: If there is none.
    """
    if name in kinds:
        return kinds[name]
    rule = f"must be one of {', '.join(kinds)}{'' if kinds is KINDS else ' in a study for sites'}"
    if name in _PAPERS:
        rule += "; the source paper's kinds, about exactly the clients who answered, are under `fairgauge paper`"
    raise InvalidInput("interval", name, rule)


def check_confidence(confidence: float) -> float:
    """Return alpha = 1 - confidence.

    Raises:
        InvalidInput: If the confidence is not between 0.5 and 1.
    """
    if not (is_number(confidence) and 0.5 <= confidence < 1):
        raise InvalidInput("confidence", confidence, "must be from 0.5 to below 1, such as 0.99")
    return 1 - confidence


def is_number(value: object) -> bool:
    """Whether a value can be compared with numbers; text cannot."""
    return isinstance(value, Real)
