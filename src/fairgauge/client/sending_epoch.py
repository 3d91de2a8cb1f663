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
RARELY = 0.005  # which part of answers may be alone in their epoch before it is said


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


def sharing(study: "Study") -> tuple[str, bool]:
    """Say how many share an epoch with an answer, and whether they are enough; nothing if the study does not tell."""
    return sharing_of(study.planned, study.epoch, study.opens, study.closes)


def sharing_of(planned: int | None, epoch: int | None, opens: str | None, closes: str | None) -> tuple[str, bool]:
    """Say the same of so many answers that come evenly from one moment to another.

    >>> sharing_of(3000, 60, "2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z")[0][:71]
    'About 0.149 others share an epoch with an answer, and 86% of answers ar'
    """
    others = others_of(planned, epoch, opens, closes)
    if others is None:
        return "", True
    said = f"About {others:.3g} others share an epoch with an answer"
    if others >= ENOUGH_TOGETHER:
        return f"{said}.", True
    alone = math.exp(-others)
    often = f", and {alone:.0%} of answers are alone in theirs" if alone >= RARELY else ""
    return f"{said}{often}: below {ENOUGH_TOGETHER} the moment tells much. Take a longer epoch.", False


def others_of(planned: int | None, epoch: int | None, opens: str | None, closes: str | None) -> float | None:
    """Return how many others share an epoch with an answer; None if a study does not tell."""
    if planned is None or epoch is None or opens is None or closes is None:
        return None
    begins, ends = (datetime.fromisoformat(moment).timestamp() for moment in (opens, closes))
    return (planned - 1) * min(1.0, epoch / (ends - begins))


def shown(second: int) -> str:
    """Return a moment as studies write it.

    >>> shown(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
