"""How often the paper's kinds of intervals hold the gap: of the clients who answered, and of whom they were drawn from.

They are about exactly the clients who answered, half of them in each group, as the paper assumes.  Real clients are
drawn, and never split like that: what people read is about the population instead.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np

from fairgauge.paper import frontier
from fairgauge.paper.bounds import CONFIDENCE
from fairgauge.paper.mechanisms import Values
from fairgauge.paper.runs import Clients, channel_gaps

# What members of both groups hold, in turn: so the true gap is 0.
HELD = {"everyone at 1": (1.0,), "half at −1, half at 1": (-1.0, 1.0)}
CLIENTS = (100, 10**4, 10**6)
EPSILONS = ("0.1", "1", "4")
RUNS = 10_000
COUNT = len(HELD) * len(CLIENTS) * len(EPSILONS)

Row = dict[str, Any]


def coverage(rng: np.random.Generator, *, step: Callable[[], object] = lambda: None) -> Row:
    """Return in which part of runs each interval of the optimal design's gap holds 0, the true one, in every cell."""
    rows = []
    for row in _rows(rng):
        rows.append(row)
        step()
    return {"unit": f"part of {RUNS:,} runs whose interval of confidence {CONFIDENCE} holds the true gap", "rows": rows}


def _rows(rng: np.random.Generator) -> Iterator[Row]:
    for (name, held), clients, epsilon in product(HELD.items(), CLIENTS, EPSILONS):
        exact = Decimal(epsilon)
        here = Clients.fixed([held, held], clients // 2, RUNS)
        drawn = Clients.drawn([held, held], clients, RUNS, rng)
        spread, channel = frontier.spread_of(exact), frontier.optimal_channel(exact)
        gaps = {"these": channel_gaps(channel, spread.score, here, rng)}
        gaps["drawn"] = channel_gaps(channel, spread.score, drawn, rng)
        widths = {kind: width(spread, clients, 1 - CONFIDENCE) for kind, width in frontier.WIDTHS.items()}
        held_in = {
            whom: {kind: _holding(found, *width) for kind, width in widths.items()} for whom, found in gaps.items()
        }
        yield {"held": name, "clients": clients, "epsilon": float(exact), **held_in}


def _holding(gaps: Values, below: float, above: float) -> float:
    return float(((gaps - below <= 0) & (gaps + above >= 0)).mean())
