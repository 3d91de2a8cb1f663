"""Randomise and count: what one client costs, against other libraries and against the random bytes alone.

All of them run randomized response on four symbols at epsilon 1, in one thread.  Peers are called as their
documentation does.  Two of them draw from generators that are not secure, and none lets the client check the table.
"""

import os
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np

from bench.lines import Line
from fairgauge.channel import Channel
from fairgauge.designs import make_channel
from fairgauge.simulation.answers import draw
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

BATCH, FEW = 2_000_000, 20_000
GROUP, SYMBOLS, EPSILON = 1, 4, 1.0


def randomise() -> Iterator[Line]:
    """CPU time for each client, as a ratio to ours."""
    channel = make_channel(Scores(Target((0.5, 0.5))), Decimal(1), design="randomized-response")[1]
    position = Fraction(5)

    def ours() -> None:
        np.bincount(draw(channel, (GROUP, position), BATCH), minlength=channel.symbols)

    turns = [(_cpu(lambda: os.urandom(16 * BATCH), BATCH), _cpu(ours, BATCH)) for _ in range(5)]
    bare, batch = (min(times) for times in zip(*turns, strict=True))
    one = _cpu(lambda: _one_by_one(channel, position), FEW)
    yield Line(
        "randomise and count in blocks, 16 secure bytes a client", f"{batch * 1e9:.0f} ns",
        f"os.urandom of these bytes, {bare * 1e9:.0f} ns", batch / bare, "at most 2",
    )  # fmt: skip
    insecure = _cpu(_insecure, BATCH)
    against = f"ours in blocks, {batch * 1e9:.0f} ns"
    yield Line("the same with an insecure generator (NumPy)", f"{insecure * 1e9:.0f} ns", against, insecure / batch)
    yield Line("ours one client at a time, as a device does", f"{one * 1e9:,.0f} ns", against, one / batch)
    for name, make in PEERS.items():
        try:
            work, clients = make()
        except ImportError:
            print(f"{name} is not installed: pip install 'fairgauge[bench]'", file=sys.stderr)
            continue
        taken = _cpu(work, clients)
        yield Line(f"{name}, randomise and count", f"{taken * 1e9:,.0f} ns", against, taken / batch)


def _cpu(work: Callable[[], object], clients: int) -> float:
    """Return the least CPU time for each client of three runs, after one that warms up."""
    work()
    times = []
    for _ in range(3):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times) / clients


def _one_by_one(channel: Channel, position: Fraction) -> list[int]:
    counts = [0] * channel.symbols
    for _ in range(FEW):
        counts[channel.draw(GROUP, position)] += 1
    return counts


def _insecure() -> None:
    rng = np.random.default_rng(1)
    keep = rng.random(BATCH) < np.exp(EPSILON) / (np.exp(EPSILON) + SYMBOLS - 1)
    others = (1 + rng.integers(1, SYMBOLS, BATCH)) % SYMBOLS
    np.bincount(np.where(keep, 1, others), minlength=SYMBOLS)


def _pure_ldp() -> tuple[Callable[[], object], int]:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer

    options: dict[str, Any] = {"epsilon": EPSILON, "d": SYMBOLS, "index_mapper": int}
    client = DEClient(**options)

    def work() -> None:
        server = DEServer(**options)
        for _ in range(FEW):
            server.aggregate(client.privatise(GROUP))
        server.estimate(GROUP, suppress_warnings=True)

    return work, FEW


def _multi_freq_ldpy() -> tuple[Callable[[], object], int]:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client

    def work() -> None:
        GRR_Aggregator_MI([GRR_Client(GROUP, SYMBOLS, EPSILON) for _ in range(FEW)], SYMBOLS, EPSILON)

    return work, FEW


def _opendp() -> tuple[Callable[[], object], int]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    respond = dp.m.make_randomized_response(list(range(SYMBOLS)), prob=float(np.exp(1) / (np.exp(1) + SYMBOLS - 1)))

    def work() -> None:
        counts = [0] * SYMBOLS
        for _ in range(FEW // 10):
            counts[respond(GROUP)] += 1

    return work, FEW // 10


def _diffprivlib() -> tuple[Callable[[], object], int]:
    # Its models need an older scikit-learn than we have; its mechanisms, which we measure, do not.
    sys.modules.setdefault("diffprivlib.models", ModuleType("diffprivlib.models"))
    from diffprivlib.mechanisms import Binary

    respond = Binary(epsilon=EPSILON, value0="0", value1="1")  # it has no randomized response on four symbols

    def work() -> None:
        counts = {"0": 0, "1": 0}
        for _ in range(FEW):
            counts[respond.randomise("1")] += 1

    return work, FEW


PEERS: dict[str, Callable[[], tuple[Callable[[], object], int]]] = {
    "pure-ldp": _pure_ldp,
    "multi-freq-ldpy": _multi_freq_ldpy,
    "OpenDP": _opendp,
    "diffprivlib (two symbols)": _diffprivlib,
}
