"""Kinds of intervals: what each is about, what it promises, and what reads counts by it.

Everything that names, offers, explains or computes an interval asks here.  This module is light: what computes is
loaded when it is needed.
"""

from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING

from fairgauge.errors import InvalidInput

if TYPE_CHECKING:
    from fairgauge.estimation.reader import Reader


@dataclass(frozen=True)
class IntervalKind:
    """A kind of interval.

    Args:
        name: What users call it.
        about: What the interval is about, to stand in a sentence after "is about".
        guarantee: What it promises, as a sentence without its first capital and its full stop.
        loads: The module and the class, in this room, that read counts by it.
        rough_below: With fewer answers than this it is only roughly right; 0 if it holds for any number.
        random_order: Whether it holds only if clients answer in random order.
    """

    name: str
    about: str
    guarantee: str
    loads: str
    rough_below: int = 0
    random_order: bool = False

    @property
    def drawn(self) -> bool:
        """Whether it is about the population that clients are drawn from, and not about those who came."""
        return self.about == _DRAWN

    @property
    def reader(self) -> type["Reader"]:
        """What reads counts by it."""
        module, name = self.loads.split(":")
        found: type[Reader] = getattr(import_module(f"fairgauge.estimation.{module}"), name)
        return found


_DRAWN = "the population that clients are drawn from"
_THESE = "the clients who answered, split exactly as the shares say"

KINDS: dict[str, IntervalKind] = {
    kind.name: kind
    for kind in (
        IntervalKind(
            "population",
            _DRAWN,
            f"holds for {_DRAWN}, however many answered, at one look",
            "by_inversion:PopulationReader",
        ),
        IntervalKind(
            "fixed",
            _THESE,
            f"holds for {_THESE}, however many, at one look",
            "by_width:FixedReader",
        ),
        IntervalKind(
            "anytime",
            _DRAWN,
            f"holds for {_DRAWN}, at every look together",
            "by_inversion:AnytimeReader",
            random_order=True,
        ),
        IntervalKind(
            "normal",
            _DRAWN,
            f"approximate: for {_DRAWN}, close to its confidence from about 10,000 answers on if no group is rare, at "
            "one look",
            "by_width:NormalReader",
            rough_below=10_000,
        ),
        IntervalKind(
            "chebyshev",
            _THESE,
            f"holds for {_THESE}, however many, at one look; wider than it needs to be",
            "by_width:ChebyshevReader",
        ),
    )
}
DEFAULT = "population"
# For studies of sites that hold many people.
SITE_KINDS: dict[str, IntervalKind] = {
    kind.name: kind
    for kind in (
        IntervalKind(
            "people",
            "the people that these sites see",
            "holds for the people that these sites see, who come to them independently of each other, at one look",
            "sites.reading:Reader",
        ),
        IntervalKind(
            "records",
            "the records that these sites counted",
            "holds for the records that these sites counted, where only the noise is at random, at one look",
            "sites.reading:Reader",
        ),
        IntervalKind(
            "sites",
            "the sites that these were drawn from",
            "approximate: for the sites that these were drawn from, close to its confidence from about 20 sites on, at "
            "one look",
            "sites.reading:Reader",
        ),
    )
}
SITE_DEFAULT = "people"
# What a page uses that people look at whenever they like, and as often as they like.
LIVE = "anytime"


def kind_of(name: str) -> IntervalKind:
    """Return the kind of that name.

    Raises:
        InvalidInput: If there is none.
    """
    if name not in KINDS:
        raise InvalidInput("interval", name, f"must be one of {', '.join(KINDS)}")
    return KINDS[name]


def sealed_kind(name: str) -> IntervalKind:
    """Return the kind that an estimate or a seal names, of devices or of sites.

    Raises:
        InvalidInput: If there is none.
    """
    return SITE_KINDS.get(name) or kind_of(name)


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
