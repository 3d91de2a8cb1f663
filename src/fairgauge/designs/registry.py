"""The designs that there are: ours, and those of other packages.

A package offers a design under the entry point group ``fairgauge.designs``; in a notebook, :func:`register` does.
Either way it is a :class:`Design`, and ``plan``, its picture, ``design`` and ``auto`` have it from then on.  What
makes the channel is not trusted: the exact epsilon of its table is checked whoever made it.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from fairgauge.channel import Channel
from fairgauge.designs.centred import centred, serves
from fairgauge.designs.laplace import laplace
from fairgauge.designs.randomized_response import randomized_response
from fairgauge.designs.uncentred import uncentred
from fairgauge.errors import InvalidInput
from fairgauge.goals.goal import Goal

AUTO = "auto"
GROUP = "fairgauge.designs"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Design:
    """A way of making a channel, and how its line is drawn in a plan's picture.

    Args:
        name: What people type after ``--design``: small letters, digits and hyphens.
        make: Makes the channel for a goal and an epsilon.
        colour: The colour of its line, as matplotlib takes it.
        marker: The marker on its line, for readers of grey prints.
        serves: Whether it can make a channel for a goal; unless given, for every goal.
        instead_of: Designs that ``auto`` need not try where this one serves.
        by_name_only: Whether ``auto`` never tries it: it is there for those who ask for it, and to compare with.
    """

    name: str
    make: Callable[[Goal, Decimal], Channel]
    colour: str = "#666666"
    marker: str = "x"
    serves: Callable[[Goal], bool] = lambda _: True
    instead_of: tuple[str, ...] = ()
    by_name_only: bool = False


# Okabe and Ito's colours, told apart by colour-blind readers.
_FOUND = {
    design.name: design
    for design in (
        Design("randomized-response", randomized_response, "#D55E00", "s"),
        # The paper's; another one is always better.
        Design("laplace", laplace, "#E69F00", "^", by_name_only=True),
        Design("uncentred", uncentred, "#0072B2", "o"),
        Design("centred", centred, "#009E73", "D", serves=serves, instead_of=("uncentred",)),
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


def designs_for(goal: Goal) -> list[str]:
    """Return the names of the designs that serve a goal."""
    return [name for name, design in known_designs().items() if design.serves(goal)]


def tried_by_auto(goal: Goal) -> list[str]:
    """Return the names of those designs of which ``auto`` takes the best."""
    return [name for name in designs_for(goal) if not known_designs()[name].by_name_only]


@cache
def _load_offered() -> None:
    """Register what installed packages offer; one that is broken is left out, with a warning that names it."""
    for offered in entry_points(group=GROUP):
        try:
            found = offered.load()
            if not isinstance(found, Design):
                raise TypeError(f"{offered.value} is no fairgauge.designs.Design")
            register(found)
        except Exception as problem:  # noqa: BLE001 - whatever another package raises must not stop our commands
            warnings.warn(f"design {offered.name} of another package is left out: {problem}", stacklevel=2)
