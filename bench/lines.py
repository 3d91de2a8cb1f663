"""What a benchmark yields: a line of the table."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from rich.console import Console


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


# Where topics say how far they are: the bar of all topics stays below it.
CONSOLE = Console(stderr=True)


def tell(text: str) -> None:
    """Say how far a topic is."""
    CONSOLE.print(f"[dim]{time.strftime('%H:%M:%S')}[/] {text}", highlight=False)


def seconds(work: Callable[[], object], *, repeat: int = 5) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)
