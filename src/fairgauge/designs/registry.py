"""The designs that there are, ours and those of other packages, and making a channel by the name of one.

A package offers a design under the entry point group ``fairgauge.designs``; in a notebook, :func:`register` does.
Either way it is a :class:`Design`, and ``plan``, its picture, ``design`` and ``auto`` have it from then on.  What
makes the channel is not trusted: the exact epsilon of its table is checked whoever made it.
"""

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from importlib.metadata import entry_points
from itertools import chain, groupby, permutations, product
from types import MappingProxyType

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.classical_designs import Budgets, laplace, randomized_response
from fairgauge.designs.optimal import centred, serves, total_measures, uncentred
from fairgauge.errors import Impossible, InvalidInput, NotPrivate
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.scores import CENTRED, ESTIMATED, ESTIMATED_CENTRED, UNCENTRED, Scores
from fairgauge.targets.target import FEW, Target

AUTO = "auto"
_GROUP = "fairgauge.designs"
SIMPLEST = "randomized-response"
# Beyond these a table of 2^53 draws cannot express the channel, or privacy means nothing.
LEAST_EPSILON, _MOST_EPSILON = Decimal("0.001"), Decimal(12)
# Where a simpler design is as good as the best, it is the better choice: fewer symbols, easier to check.
_AS_GOOD = 1.001
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# What the source paper calls two of them.
_IN_THE_PAPER = {"M_R": SIMPLEST, "M_L": "laplace"}


@dataclass(frozen=True)
class Design:
    """A way of making a channel, and how its line is drawn in a plan's picture.

    Args:
        name: What people type after ``--design``: small letters, digits and hyphens.
        make: Makes the channel from the scores that will read it, which have target and assumed values, and an epsilon.
        colour: The colour of its line, as matplotlib takes it.
        marker: The marker on its line, for readers of grey prints.
        serves: Whether it can make a channel for such scores; unless given, for all.
        instead_of: Designs that ``auto`` need not try where this one serves.
        by_name_only: Whether ``auto`` never tries it: it is there for those who ask for it, and to compare with.
    """

    name: str
    make: Callable[[Scores, Decimal], Channel]
    colour: str = "#666666"
    marker: str = "x"
    serves: Callable[[Scores], bool] = lambda _: True
    instead_of: tuple[str, ...] = ()
    by_name_only: bool = False


def _may_estimate(scores: Scores) -> bool:
    """Return whether the split may be estimated although something is known of it: for the gap of two groups.

    Where groups answer equally often that is of use only if no mean is expected, and shares are exact.
    """
    known = scores.target.most_ratio < math.inf and (
        scores.target.most_ratio > 1 or (scores.values.expect is None and not scores.target.share_error)
    )
    return known and scores.target.groups == 2 and scores.target.kind == "gap"


def _as(design: str, scores: Scores, epsilon: Decimal) -> Channel:
    return _made(replace(scores, design=design), epsilon)


# Okabe and Ito's colours, told apart by colour-blind readers.
_FOUND = {
    design.name: design
    for design in (
        Design(SIMPLEST, randomized_response, "#D55E00", "s"),
        # The paper's; another one is always better.
        Design("laplace", laplace, "#E69F00", "^", by_name_only=True),
        Design(UNCENTRED, uncentred, "#0072B2", "o"),
        Design(CENTRED, centred, "#009E73", "D", serves=serves, instead_of=(UNCENTRED,)),
        Design(ESTIMATED, lambda *asked: _as(UNCENTRED, *asked), "#56B4E9", "v", serves=_may_estimate),
        Design(
            ESTIMATED_CENTRED,
            lambda *asked: _as(CENTRED, *asked),
            "#CC79A7",
            "P",
            serves=lambda scores: _may_estimate(scores) and serves(scores),
        ),
    )
}


def register(design: Design) -> None:
    """Add a design under its own name.

    Raises:
        InvalidInput: If the name is taken, or is none that can be typed.
    """
    if not _NAME.fullmatch(design.name):
        raise InvalidInput("name", design.name, "must be small letters, digits and single hyphens")
    if design.name in (AUTO, *_FOUND):
        raise InvalidInput("name", design.name, "is taken: a design has one maker")
    _FOUND[design.name] = design


def known_designs() -> Mapping[str, Design]:
    """Return every design by its name, the simplest first; those of other packages come last."""
    _load_offered()
    return MappingProxyType(_FOUND)


def designs_for(scores: Scores) -> list[str]:
    """Return the names of the designs that can make a table for such scores."""
    return [name for name, design in known_designs().items() if design.serves(scores.by(name))]


def tried_by_auto(scores: Scores) -> list[str]:
    """Return the names of those designs of which ``auto`` takes the best."""
    return [name for name in designs_for(scores) if not known_designs()[name].by_name_only]


@cache
def _load_offered() -> None:
    """Register what installed packages offer; one that is broken is left out, with a warning that names it."""
    for offered in entry_points(group=_GROUP):
        try:
            found = offered.load()
            if not isinstance(found, Design):
                raise TypeError(f"{offered.value} is no fairgauge.designs.Design")
            register(found)
        except Exception as problem:  # noqa: BLE001 - whatever another package raises must not stop our commands
            warnings.warn(f"design {offered.name} of another package is left out: {problem}", stacklevel=2)


def make_channel(scores: Scores, epsilon: Decimal, *, design: str = AUTO) -> tuple[str, Channel]:
    """Make a channel, and return the name of the design that made it beside it.

    Guarantee: the channel's exact epsilon, computed from its integers, is at most the epsilon asked for.

    Raises:
        InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
        Impossible: If no table reaches what was asked.
        NotPrivate: If a design of another package breaks its promise.
    """
    check_design(design)
    # A table is made for the shares as they are stated; one that is made already need not be made again.
    scores = scores.asking(share_error=0.0, ratio=scores.target.most_ratio)
    if not LEAST_EPSILON <= epsilon <= _MOST_EPSILON:
        raise InvalidInput("epsilon", epsilon, f"must be from {LEAST_EPSILON} to {_MOST_EPSILON}")
    if (budgets := Budgets.read(design)) is not None:
        return budgets.name, budgets.make(scores, epsilon)
    if design != AUTO:
        if not known_designs()[design].serves(scores.by(design)):
            rule = f"does not serve this question; {', '.join(designs_for(scores))} do"
            raise InvalidInput("design", design, rule)
        return design, _make(scores, epsilon, design)
    tried = tried_by_auto(scores)
    # Where something is known of the split, what estimates it is compared by its interval (``choose_design``).
    spared = {other for name in tried for other in known_designs()[name].instead_of} | {ESTIMATED, ESTIMATED_CENTRED}
    if scores.target.balanced:
        spared = set()  # of several gaps a design may serve some better and others worse
    channels: dict[str, Channel] = {}
    for name in tried:
        if name in spared:
            continue
        try:
            channels[name] = _make(scores, epsilon, name)
        except Impossible:
            continue
    if not channels:
        raise Impossible(f"no design makes a channel for epsilon={epsilon}")
    merits = _merits(scores, epsilon, channels)
    least = min(merits.values())
    best = next(name for name, merit in merits.items() if merit <= least * _AS_GOOD)
    return best, channels[best]


def _merits(scores: Scores, epsilon: Decimal, channels: dict[str, Channel]) -> dict[str, float]:
    """Return what each design is judged by, the less the better: its total, or the largest of its gaps' ratios.

    Of several gaps none shall be worse than with randomized response.
    """
    if not scores.target.balanced:
        return {name: scores.by(name).variance(channel) for name, channel in channels.items()}
    simple = np.array(scores.by(SIMPLEST).totals(randomized_response(scores, epsilon)))
    measures, found = total_measures(scores, epsilon), {}
    for name, channel in channels.items():
        totals = np.array(scores.by(name).totals(channel))
        weights = [wanted.weight for wanted in scores.wanted(scores.decoder(channel).inputs)]
        fair = bool(np.all(totals <= simple * (1 + 1e-9)))
        found[name] = float((totals * weights / measures).max()) if fair else math.inf
    return found


def check_design(design: str) -> None:
    """Refuse a name that no design has.

    Raises:
        InvalidInput: If the design is not known.
    """
    if design in _IN_THE_PAPER:
        raise InvalidInput("design", design, f"is called {_IN_THE_PAPER[design]} here (docs/paper.md)")
    names = [AUTO, *known_designs()]
    if design not in names and Budgets.read(design) is None:
        raise InvalidInput("design", design, f"must be one of {', '.join(names)}")


def _make(scores: Scores, epsilon: Decimal, design: str) -> Channel:
    # No table is made for how often groups answer, so one that is made already need not be made again.
    scores = scores.by(design).asking(ratio=None)
    order = own_order(scores.target)
    return in_order(_made(scores.in_order(order), epsilon), np.argsort(order).tolist())


def own_order(target: Target) -> list[int]:
    """Return groups in the order that tables are made in: by their shares, then by what they are compared with.

    Guarantee: up to ``FEW`` groups, which one is named first decides nothing.

    >>> [own_order(Target((0.5, 0.25, 0.25), comparisons=(Contrast((0,), (rare,)),))) for rare in (1, 2)]
    [[1, 2, 0], [2, 1, 0]]
    """
    return list(_own_order(target.shares, target.comparisons))


@lru_cache(maxsize=256)
def _own_order(shares: tuple[float, ...], comparisons: tuple[Contrast, ...]) -> tuple[int, ...]:
    first = sorted(range(len(shares)), key=shares.__getitem__)
    alike = [list(group) for _, group in groupby(first, key=shares.__getitem__)]
    if not comparisons or len(first) > FEW or len(alike) == len(first):
        return tuple(first)
    orders = (tuple(chain(*parts)) for parts in product(*map(permutations, alike)))
    return min(orders, key=lambda order: sorted(contrast.in_order(order) for contrast in comparisons))


def in_order(channel: Channel, order: Sequence[int]) -> Channel:
    """Return the same table for its groups in another order."""
    if list(order) == sorted(order):
        return channel
    rows, each = channel.table, (len(channel.table) - channel.abstain) // channel.groups
    blocks = [rows[each * group : each * (group + 1)] for group in order]
    return replace(channel, table=(*chain(*blocks), *rows[each * channel.groups :]))


@lru_cache(maxsize=256)
def _made(scores: Scores, epsilon: Decimal) -> Channel:
    design = scores.design
    channel = known_designs()[design].make(scores, epsilon)
    if not channel.within(epsilon):
        raise NotPrivate(f"design {design} made a table with epsilon {channel.epsilon!r}, above {epsilon}")
    if (channel.groups, channel.abstain) != (scores.target.groups, scores.target.abstain):
        raise InvalidInput("design", design, "made a table for other groups than those asked for")
    return channel
