"""The second promise: towards everyone who reads counts with secret draws in them, and never sees a symbol."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal

from fairgauge.channel import Channel
from fairgauge.crowd.certificate import Blanket
from fairgauge.crowd.search import smallest_epsilon
from fairgauge.errors import InvalidInput
from fairgauge.study import Study

LARGEST_DELTA = Decimal("1e-8")
MOST_DRAWS = 10**12


@dataclass(frozen=True, slots=True)
class Crowd:
    """What released counts promise each person in them, towards those who see the counts and no symbol.

    Args:
        draws: How many secret draws are added to each batch.
        delta: The small probability beside the factor.
        epsilon: The certified bound, rounded up.
    """

    draws: int
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


def crowd_of(study: Study, draws: int, *, delta: Decimal = LARGEST_DELTA) -> Crowd:
    r"""Return what counts of a study with so many secret draws promise a person, certified from its integers.

    .. math:: \Pr[\text{conclusion} \mid x] \le e^\epsilon \Pr[\text{conclusion} \mid y] + \delta

    Guarantee: exact; for every two inputs x and y, towards whoever sees the counts, even if they know every answer but
    the person's.  It is about one answer.  Never above the local epsilon.

    Args:
        study: The study; its device answers one table, picked by its own fair coin.
        draws: How many symbols of the tables' blanket the collector adds to the batch that the answer is in.
        delta: 1e-8 unless given.

    Raises:
        InvalidInput: If a number is out of range, or sites answer, who have no crowd.
        NotPrivate: If a symbol excludes an input.
    """
    return crowd_of_channels(study.channels, draws, delta=delta)


def promised(study: Study) -> Crowd | None:
    """Return what a study that is released in batches promises towards its readers; None for others.

    Guarantee: as for :func:`crowd_of`, for every release of a collector that draws as the study's ``release`` says.
    """
    release = study.release
    return None if release is None else crowd_of(study, release.draws, delta=Decimal(release.delta))


def crowd_of_channels(channels: Sequence[Channel], draws: int, *, delta: Decimal = LARGEST_DELTA) -> Crowd:
    """Return the same for channels of which a fair coin picks one; see :func:`crowd_of`."""
    if type(draws) is not int or not 1 <= draws <= MOST_DRAWS:
        raise InvalidInput("draws", draws, f"must be an integer from 1 to {MOST_DRAWS}")
    if not (delta.is_finite() and 0 < delta < 1):
        raise InvalidInput("delta", delta, "must be above 0 and below 1")
    blankets = [Blanket.of(channel.table) for channel in channels]
    local = max(channel.epsilon_bound for channel in channels)
    epsilon = smallest_epsilon(blankets, draws, delta, local) if local else local
    return Crowd(draws, delta, epsilon)


def default_delta(batch: int) -> Decimal:
    """Return the smaller of 1e-8 and a tenth of one in ``batch``.

    >>> default_delta(10_000), default_delta(10**9)
    (Decimal('1E-8'), Decimal('1E-10'))
    """
    return min(LARGEST_DELTA, Context(prec=5, rounding=ROUND_FLOOR).divide(Decimal(1), Decimal(10 * batch)))
