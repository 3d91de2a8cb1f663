"""The second promise: towards everyone who reads a published tally, and never sees a symbol."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from fairgauge.channel import Channel
from fairgauge.crowd.laws import Blanket
from fairgauge.crowd.search import smallest_epsilon
from fairgauge.errors import InvalidInput
from fairgauge.study import Study

LARGEST_DELTA = Decimal("1e-8")
MOST_PEOPLE = 10**12

# How many answers of a batch the observer knows or made up, where nobody says: half, if anyone may answer.
OBSERVED_IF_OPEN = Decimal("0.5")
OBSERVED_WITH_TICKETS = Decimal(0)


@dataclass(frozen=True, slots=True)
class Crowd:
    """What a released tally promises each person in it, towards those who see the tally and no symbol.

    Args:
        batch: How many answers a release sums up, at least.
        observed: The part of them whose symbols the observer knows or made up.
        delta: The small probability beside the factor.
        epsilon: The certified bound, rounded up.
    """

    batch: int
    observed: Decimal
    delta: Decimal
    epsilon: Decimal

    @property
    def number(self) -> float:
        """The certified bound as a float that is not below it."""
        nearest = float(self.epsilon)
        # Of an epsilon with few digits the nearest float is what was certified; see ``smallest_epsilon``.
        if nearest >= self.epsilon or Decimal(repr(nearest)) == self.epsilon:
            return nearest
        return math.nextafter(nearest, math.inf)

    @property
    def people(self) -> int:
        """Among how many the person is hidden, themselves included."""
        return hidden_among(self.batch, self.observed)


def crowd_of(study: Study, batch: int, *, observed: Decimal = OBSERVED_IF_OPEN, delta: Decimal | None = None) -> Crowd:
    r"""Return what a study's tally promises a person, certified from the integers of its tables.

    .. math:: \Pr[\text{conclusion} \mid x] \le e^\epsilon \Pr[\text{conclusion} \mid y] + \delta

    Guarantee: exact; for every two inputs x and y, whatever the others hold, for every release that sums up at least
    ``batch`` answers of which at most the part ``observed`` is known to the observer.  Never above the local epsilon.

    Args:
        study: The study; its device answers one table, picked by its own fair coin.
        batch: The least number of answers in a release.
        observed: The part of them whose symbols the observer knows or made up.
        delta: At most 1e-8, and at most a tenth of one in ``batch``, unless given.

    Raises:
        InvalidInput: If a number is out of range, or sites answer, who have no crowd.
        NotPrivate: If a symbol excludes an input.
    """
    return crowd_of_channels(study.channels, batch, observed=observed, delta=delta)


def promised(study: Study) -> Crowd | None:
    """Return what a study that is released in batches promises towards its readers; None for others.

    Guarantee: as for :func:`crowd_of`, for every release of a collector that keeps to the study's ``release``.
    """
    release = study.release
    if release is None:
        return None
    return crowd_of(study, release.batch, observed=Decimal(release.observed), delta=Decimal(release.delta))


def usual_observed(study: Study) -> Decimal:
    """Return the part of the answers that a reader may know or have made up, where nobody says: none with tickets."""
    return OBSERVED_IF_OPEN if study.admission in (None, "open") else OBSERVED_WITH_TICKETS


def crowd_of_channels(
    channels: Sequence[Channel], batch: int, *, observed: Decimal = OBSERVED_IF_OPEN, delta: Decimal | None = None
) -> Crowd:
    """Return the same for channels of which a fair coin picks one; see :func:`crowd_of`."""
    people = hidden_among(batch, observed)
    wanted = default_delta(batch) if delta is None else delta
    if not (wanted.is_finite() and 0 < wanted < 1):
        raise InvalidInput("delta", wanted, "must be above 0 and below 1")
    blankets = [Blanket.of(channel.table) for channel in channels]
    local = max(channel.epsilon_bound for channel in channels)
    epsilon = smallest_epsilon(blankets, people, wanted, local) if local else local
    return Crowd(batch, observed, wanted, epsilon)


def default_delta(batch: int) -> Decimal:
    """Return the smaller of 1e-8 and a tenth of one in ``batch``.

    >>> default_delta(10_000), default_delta(10**9)
    (Decimal('1E-8'), Decimal('1E-10'))
    """
    return min(LARGEST_DELTA, Context(prec=5, rounding=ROUND_FLOOR).divide(Decimal(1), Decimal(10 * batch)))


def hidden_among(batch: int, observed: Decimal) -> int:
    """Return how many of a batch's answers the observer does not know: rounded down, and at least the person's own."""
    if type(batch) is not int or not 1 <= batch <= MOST_PEOPLE:
        raise InvalidInput("crowd", batch, f"must be an integer from 1 to {MOST_PEOPLE}")
    if not (observed.is_finite() and 0 <= observed < 1):
        raise InvalidInput("observed", observed, "must be from 0 to below 1")
    return max(1, int(batch * (1 - Fraction(observed))))
