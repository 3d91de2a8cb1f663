"""What a benchmark yields: a line of the table."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Line:
    """One measurement, what it is compared with, the ratio, and what we aim for."""

    what: str
    value: str
    against: str
    ratio: float
    aim: str = ""


# A topic measures things that belong together, side by side.
Topic = Callable[[], Iterator[Line]]


def seconds(work: Callable[[], object], *, repeat: int = 5) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)
