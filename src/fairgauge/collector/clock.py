"""A clock that does not follow a jump at once.

A machine's clock can be wrong for a moment: a time server that answers nonsense, a virtual machine that was paused, a
person at the keyboard.  A study that closes because of that is closed for good, and devices take it for a final no.
So time goes on as the monotonic clock says, and the wall clock is believed again when it has kept to its new time for
a while.
"""

import time
from collections.abc import Callable

TOLERANCE = 60.0  # seconds by which the two may differ: clocks are corrected all the time, by little
PATIENCE = 600.0  # seconds for which a new time must stand before it is believed


class SteadyClock:
    """Tells the time, and takes no notice of jumps that do not last.

    >>> wall, steady = [1000.0], [0.0]
    >>> clock = SteadyClock(lambda: wall[0], lambda: steady[0])
    >>> wall[0], steady[0] = 32_000_000.0, 6.0  # a year ahead, for six seconds
    >>> clock()
    1006.0
    """

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._offset = wall() - monotonic()
        self._jumped: tuple[float, float] | None = None  # the offset since a jump, and when it was first seen

    def __call__(self) -> float:
        """Return the seconds since 1970."""
        wall, steady = self._wall(), self._monotonic()
        offset = wall - steady
        if abs(offset - self._offset) <= TOLERANCE:
            # Small corrections are followed at once, and the jump, if there was one, is over.
            self._offset, self._jumped = offset, None
            return wall
        if self._jumped is None or abs(offset - self._jumped[0]) > TOLERANCE:
            self._jumped = (offset, steady)
        if steady - self._jumped[1] >= PATIENCE:
            self._offset, self._jumped = offset, None
            return wall
        return self._offset + steady
