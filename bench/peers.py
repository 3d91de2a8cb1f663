"""The same gap by other libraries: how exact, how quick to randomise and how quick to estimate, in one run.

Two groups whose split nobody states: in every study ``PEOPLE`` clients are drawn anew and answer at the same epsilon.
They hold a yes or no, or a rate.  A library of frequencies randomises which of the four cells (group, yes or no) a
client is in and estimates the cells; a rate becomes a yes so often.  diffprivlib has no randomized response on four
symbols, so it randomises each of the two bits with half of epsilon.  OpenDP and diffprivlib estimate nothing from many
clients: there the textbook's inverse is ours.  Peers are called as their documentation does, in one thread.  Most of
them draw from generators that are not secure, and none lets a client check the table.  With so many studies, a ratio of
people is right to a tenth.

The code that was published with "Estimating Group Means Under Local Differential Privacy" (PETS 2025) is on no
registry: its lines are there if ``FAIRGAUGE_PEERS`` names a folder with clones of mad-lab-fau's ldp-group-mean and
sok-ldp-data-analysis.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib import import_module
from itertools import product
from math import exp
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.lines import Line
from fairgauge import Attribute, Metric, Population, Study, design, estimate, simulate
from fairgauge.client.randomiser import draw_symbol
from fairgauge.errors import CannotEstimate
from fairgauge.simulation import Cell
from fairgauge.simulation.answers import draw
from fairgauge.tallies import Tally

PEOPLE, STUDIES, BATCH = 2000, 400, 2_000_000
EPSILONS = (1.0, 4.0)
SEX = Attribute("sex", ("female", "male"))
# What a study may say beforehand, and peers have no use for.
STATED: dict[str, dict[str, Any]] = {
    "a mean of 0.8 expected": {"expect": 0.8},
    "shares stated, groups answer alike": {
        "attribute": Attribute("sex", SEX.groups, ("0.5", "0.5"), answering="alike")
    },
}
# What peers and we estimate is the difference of the two groups' means.
MEANS = (0.9, 0.7)
GAP = MEANS[0] - MEANS[1]
# Who there is: group, value, and how often among those of the group.
POPULATIONS: dict[str, list[tuple[int, float, float]]] = {
    "yes or no": [(group, value, MEANS[group] if value else 1 - MEANS[group]) for group in (0, 1) for value in (0, 1)],
    "a rate": [(group, MEANS[group] + off, 0.5) for group in (0, 1) for off in (-0.05, 0.05)],
}

Cells = NDArray[np.int64]


@dataclass(frozen=True)
class People:
    """Clients who were drawn: the group and the value of each."""

    groups: Cells
    values: NDArray[np.float64]

    @classmethod
    def drawn(cls, held: str, rng: np.random.Generator) -> "People":
        """Draw clients who hold such values."""
        rows = np.array(POPULATIONS[held])
        some = rng.choice(len(rows), PEOPLE, p=rows[:, 2] / 2)
        return cls(rows[some, 0].astype(int), rows[some, 1])

    def cells(self, rng: np.random.Generator) -> Cells:
        """Return twice the group plus a yes or no of each."""
        return np.asarray(2 * self.groups + (rng.random(PEOPLE) < self.values))


@dataclass(frozen=True)
class Peer:
    """A library: what it makes of the clients' cells, and what it estimates the gap to be from that."""

    randomise: Callable[[Cells], Any]
    gap: Callable[[Any], float]
    takes_values: bool = False

    def sent(self, people: People, rng: np.random.Generator) -> Any:
        """Return what clients send."""
        return self.randomise(people if self.takes_values else people.cells(rng))  # type: ignore[arg-type]


def gap_of(cells: Sequence[float]) -> float:
    """Return the gap between two groups of which the four cells are so large."""
    return cells[1] / (cells[0] + cells[1]) - cells[3] / (cells[2] + cells[3])


def _inverted(symbols: Cells, kept: float, sizes: int = 4) -> NDArray[np.float64]:
    """Return unbiased counts of symbols that were each kept so often, and else became one of the others."""
    other = (1 - kept) / (sizes - 1)
    counts = np.bincount(symbols, minlength=sizes)
    return np.asarray((counts - len(symbols) * other) / (kept - other))


def pure_ldp(epsilon: float) -> Iterator[tuple[str, Peer]]:
    """Yield its direct and its unary encoding; its local hashing does not run beside today's xxhash."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    terms: dict[str, Any] = {"epsilon": epsilon, "d": 4, "index_mapper": int}
    kinds: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "direct encoding": (DEClient, DEServer, {}),
        "optimal unary encoding": (UEClient, UEServer, {"use_oue": True}),
    }
    for name, (client, server, more) in kinds.items():
        device = client(**terms, **more)

        def gap(sent: Any, server: Any = server, more: Any = more) -> float:
            counter = server(**terms, **more)
            for each in sent:
                counter.aggregate(each)
            return gap_of([counter.estimate(cell, suppress_warnings=True) for cell in range(4)])

        yield (
            f"pure-ldp, {name}",
            Peer(lambda cells, device=device: [device.privatise(int(cell)) for cell in cells], gap),  # type: ignore[misc]
        )


def multi_freq_ldpy(epsilon: float) -> Iterator[tuple[str, Peer]]:
    """Yield its generalized randomized response and its optimal unary encoding."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    yield (
        "multi-freq-ldpy, randomized response",
        Peer(
            lambda cells: [GRR_Client(int(cell), 4, epsilon) for cell in cells],
            lambda sent: gap_of(GRR_Aggregator_MI(sent, 4, epsilon)),
        ),
    )
    yield (
        "multi-freq-ldpy, optimal unary encoding",
        Peer(
            lambda cells: [UE_Client(int(cell), 4, epsilon, optimal=True) for cell in cells],
            lambda sent: gap_of(UE_Aggregator_MI(sent, epsilon, optimal=True)),
        ),
    )


def opendp(epsilon: float) -> Iterator[tuple[str, Peer]]:
    """Yield its randomized response."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    kept = exp(epsilon) / (exp(epsilon) + 3)
    respond = dp.m.make_randomized_response(list(range(4)), prob=kept)
    yield (
        "OpenDP, randomized response",
        Peer(
            lambda cells: np.array([respond(int(cell)) for cell in cells]),
            lambda sent: gap_of(list(_inverted(sent, kept))),
        ),
    )


def diffprivlib(epsilon: float) -> Iterator[tuple[str, Peer]]:
    """Yield its randomized response of one bit, twice."""
    # Its models need an older scikit-learn than we have; its mechanisms, which we measure, do not.
    sys.modules.setdefault("diffprivlib.models", ModuleType("diffprivlib.models"))
    from diffprivlib.mechanisms import Binary

    respond = Binary(epsilon=epsilon / 2, value0="0", value1="1")
    kept = exp(epsilon / 2) / (exp(epsilon / 2) + 1)

    def randomise(cells: Cells) -> Cells:
        return np.array([2 * int(respond.randomise(str(c // 2))) + int(respond.randomise(str(c % 2))) for c in cells])

    def gap(sent: Cells) -> float:
        counts = np.bincount(sent, minlength=4).reshape(2, 2)
        back = np.linalg.inv(np.array([[kept, 1 - kept], [1 - kept, kept]]))
        return gap_of((back @ counts @ back).ravel().tolist())

    yield "diffprivlib, two bits", Peer(randomise, gap)


def _mechanism(made: Any, people: Any) -> Any:
    return made.mechanism(2, np.column_stack((people.groups, people.values)))


def published(epsilon: float) -> Iterator[tuple[str, Peer]]:
    """Yield the mechanisms of the published code."""
    folder = Path(os.environ.get("FAIRGAUGE_PEERS", ""))
    for clone in ("ldp-group-mean", "sok-ldp-data-analysis"):
        path = str(folder / clone)
        sys.path += [] if path in sys.path else [path]
    for name, module, kind in (
        ("one bit", "bernoulli", "GroupMeanBernoulli"),
        ("Laplace", "laplace", "GroupMeanLaplace"),
        ("piecewise", "piecewise", "GroupMeanPiecewise"),
        ("NPRR", "waudby", "GroupMeanWaudbySmith"),
    ):
        theirs = getattr(import_module(f"ldp_group_mean.ldp_group_mean.group_mean_{module}"), kind)
        made = theirs(epsilon, np.array([0, 1]), np.random.default_rng(1))

        def gap(sent: Any, made: Any = made) -> float:
            means = made.mean(2, sent)[1]
            return float(means[0] - means[1])

        yield (
            f"the published code, group mean over {name}",
            Peer(partial(_mechanism, made), gap, takes_values=True),
        )


PEERS = {
    "pure-ldp": pure_ldp,
    "multi-freq-ldpy": multi_freq_ldpy,
    "OpenDP": opendp,
    "diffprivlib": diffprivlib,
    "ldp-group-mean": published,
}


def peers() -> Iterator[Line]:
    """Yield, for each epsilon, how exact each is, then what one client and one estimate cost."""
    for epsilon, held in product(EPSILONS, POPULATIONS):
        rng, title = np.random.default_rng(1), f"people for the same error, epsilon {epsilon:g}, {held}:"
        study = _study(epsilon)
        ours = _spread([_gap(study, simulate(study, _population(held), seed=rng)) for _ in range(STUDIES)])
        against = f"ours ({study.questions[0].design}), {ours:.4f}"
        for name, peer in _installed(epsilon):
            theirs = _spread([peer.gap(peer.sent(People.drawn(held, rng), rng)) for _ in range(STUDIES)])
            yield Line(f"{title} {name}", f"standard error {theirs:.4f}", against, (theirs / ours) ** 2)
        for name, told in STATED.items():
            stated = _study(epsilon, **told)
            theirs = _spread([_gap(stated, simulate(stated, _population(held), seed=rng)) for _ in range(STUDIES)])
            what = f"{title} ours, {name} ({stated.questions[0].design})"
            yield Line(what, f"standard error {theirs:.4f}", against, (theirs / ours) ** 2)
    yield from _speed()


def _speed() -> Iterator[Line]:
    epsilon = EPSILONS[0]
    study = _study(epsilon)
    channel = study.questions[0].channel
    place = Fraction(channel.levels[-1], 10**6)

    def blocks() -> None:
        np.bincount(draw(channel, (1, place), BATCH), minlength=channel.symbols)

    turns = [(_cpu(lambda: os.urandom(16 * BATCH), BATCH), _cpu(blocks, BATCH)) for _ in range(3)]
    bare, batch = (min(times) for times in zip(*turns, strict=True))
    yield Line(
        "randomise and count in blocks, 16 secure bytes a client", f"{batch * 1e9:.0f} ns",
        f"os.urandom of these bytes, {bare * 1e9:.0f} ns", batch / bare, "at most 2",
    )  # fmt: skip
    one = _cpu(lambda: [draw_symbol(channel, 1, place) for _ in range(PEOPLE)], PEOPLE)
    rng = np.random.default_rng(1)
    people = People.drawn("yes or no", rng)
    tally = simulate(study, _population("yes or no"), seed=rng)
    whole = _cpu(lambda: estimate(study, tally), 1)
    point = _cpu(lambda: estimate(study, tally, interval="normal"), 1)
    against = f"ours on a device, {one * 1e6:.1f} µs"
    yield Line("randomise for one client: ours in blocks", f"{batch * 1e6:.3f} µs", against, batch / one)
    beside = f"ours from a tally, with a normal interval, {point * 1e3:.1f} ms"
    yield Line("estimate: ours, whose interval always holds", f"{whole * 1e3:.1f} ms", beside, whole / point)
    for name, peer in _installed(epsilon):
        taken = _cpu(lambda peer=peer: peer.sent(people, rng), PEOPLE)  # type: ignore[misc]
        yield Line(f"randomise for one client: {name}", f"{taken * 1e6:.3f} µs", against, taken / one)
        sent = peer.sent(people, rng)
        taken = _cpu(lambda peer=peer, sent=sent: peer.gap(sent), 1)  # type: ignore[misc]
        what = f"estimate from {PEOPLE:,} answers, without any interval: {name}"
        yield Line(what, f"{taken * 1e3:.2f} ms", beside, taken / point)


def _study(epsilon: float, *, attribute: Attribute = SEX, expect: float | None = None) -> Study:
    return Study("peers", design(Metric("yes", 0, 1), attribute, epsilon=str(epsilon), expect=expect))


def _population(held: str) -> Population:
    return Population(
        tuple(
            Cell(SEX.groups[group], Decimal(str(value)), round(PEOPLE / 2 * part))
            for group, value, part in POPULATIONS[held]
        )
    )


def _gap(study: Study, tally: Tally) -> float:
    try:
        return estimate(study, tally, interval="normal").questions[0].gap().estimate
    except CannotEstimate:
        return float("nan")


def _spread(found: list[float]) -> float:
    """Return the root of the mean squared error, of those studies of which a gap was told."""
    errors = np.array(found) - GAP
    return float(np.sqrt(np.mean(errors[np.isfinite(errors)] ** 2)))


def _installed(epsilon: float) -> Iterator[tuple[str, Peer]]:
    for name, make in PEERS.items():
        with suppress(ImportError):
            yield from make(epsilon)
            continue
        print(f"{name} is not there: make bench installs all but ldp-group-mean", file=sys.stderr)


def _cpu(work: Callable[[], object], clients: int) -> float:
    """Return the least CPU time for each client of three runs, after one that warms up."""
    work()
    times = []
    for _ in range(3):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times) / clients
