"""When an answer is sent: at a uniform moment of the epoch after the one in which it was drawn.

Relays do not mix: who sees when a device did something, and when an answer arrives, could tie the two together.  Epochs
are the same for everyone, counted from the first second of 1970.  All answers that are drawn in one epoch arrive in the
next, in an order that is uniform among all orders, since each device draws its moment on its own.
"""

import math
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fairgauge.errors import CannotAnswer

if TYPE_CHECKING:
    from fairgauge.study import Study

# With fewer others in an epoch than this, its order hides little, and whoever designs a study is told so.
ENOUGH_TOGETHER = 20


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


def sharing(study: "Study") -> tuple[float, float] | None:
    """Return how many others share an epoch with an answer on average, and how often none does, if answers come evenly.

    None if the study does not say how many are planned, or from when to when.
    """
    if study.epoch is None or study.planned is None or study.opens is None or study.closes is None:
        return None
    begins, ends = (datetime.fromisoformat(moment).timestamp() for moment in (study.opens, study.closes))
    others = (study.planned - 1) * min(1.0, study.epoch / (ends - begins))
    return others, math.exp(-others)


def shown(second: int) -> str:
    """Return a moment as studies write it.

    >>> shown(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
