"""When an answer is sent: at a uniform moment of the epoch after the one in which it was drawn.

Relays do not mix: who sees when a device did something, and when an answer arrives, could tie the two together.  Epochs
are the same for everyone, counted from the first second of 1970.  All answers that are drawn in one epoch arrive in the
next, in an order that is uniform among all orders, since each device draws its moment on its own.
"""

import secrets
from datetime import UTC, datetime

from fairgauge.errors import CannotAnswer


def next_moment(now: float, epoch: int, closes: str | None = None) -> int:
    """Return a uniform second of the next epoch, before the study closes.

    Guarantee: exact; uniform, and independent of when in its epoch ``now`` is.

    >>> 7200 <= next_moment(3700.0, 3600) < 10800
    True

    Raises:
        CannotAnswer: If the study closes before the next epoch begins.
    """
    begins = (int(now) // epoch + 1) * epoch
    ends = begins + epoch
    if closes is not None:
        ends = min(ends, int(datetime.fromisoformat(closes).timestamp()))
    if ends <= begins:
        raise CannotAnswer(
            f"answers to this study are sent in the epoch after the one in which they are drawn, and it closes at "
            f"{closes}, before {shown(begins)}, when that begins; nothing was drawn"
        )
    return begins + secrets.randbelow(ends - begins)


def shown(second: int) -> str:
    """Return a moment as studies write it.

    >>> shown(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
