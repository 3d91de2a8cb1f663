"""A picture of error against epsilon, with a line for each design."""

from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from fairgauge.designs import designs_for, known_designs, make_channel
from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.estimation.interval_kinds import check_confidence, kind_of
from fairgauge.planning.planned_widths import planned_width
from fairgauge.study import Metric
from fairgauge.targets.scores import Scores

_EPSILONS = [Decimal(e) for e in ("0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2", "3", "4")]
_KINDS = (".svg", ".png", ".pdf")


class Terms(TypedDict):
    """What a plan's error refers to."""

    confidence: float
    interval: str
    metric: Metric


def check_kind(path: Path) -> str:
    """Return the kind of picture that a file's name asks for.

    Raises:
        InvalidInput: If the ending is none that can be drawn.
    """
    if path.suffix not in _KINDS:
        raise InvalidInput("plot", path, f"must end in {', '.join(_KINDS)}")
    return path.suffix.removeprefix(".")


def draw_plan(path: Path, scores: Scores, clients: int, **terms: Unpack[Terms]) -> None:
    """Write the picture to a file; its name's ending says which kind.

    Raises:
        InvalidInput: If the ending is none that can be drawn.
        MissingExtra: If matplotlib is not installed.
    """
    kind = check_kind(path)
    path.write_bytes(picture(kind, scores, clients, **terms))


def picture(kind: str, scores: Scores, clients: int, **terms: Unpack[Terms]) -> bytes:
    """Return the picture as a file of that kind, such as ``"svg"``."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogLocator
    except ImportError:
        raise MissingExtra("drawing plots needs matplotlib", "lab") from None
    read_by, alpha = kind_of(terms["interval"]), check_confidence(terms["confidence"])
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for name in designs_for(scores):
        design = known_designs()[name]
        channels = [make_channel(scores, epsilon, design=name)[1] for epsilon in _EPSILONS]
        widths = [planned_width(scores.by(name), channel, clients, read_by, alpha) for channel in channels]
        errors = terms["metric"].scale * np.array(widths)
        epsilons = np.array(_EPSILONS, dtype=float)
        axes.plot(epsilons, errors, marker=design.marker, color=design.colour, label=name)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="epsilon (privacy loss of one answer)",
        ylabel=f"error of the {'gap' if scores.target.kind == 'gap' else 'worst mean'} (±, metric units)",
        title=f"{clients:,} clients, {terms['confidence']:.4g} confidence, {terms['interval']} interval",
    )
    axes.set_xticks([float(e) for e in _EPSILONS], [str(e) for e in _EPSILONS])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend(frameon=False)
    drawn = BytesIO()
    figure.savefig(drawn, format=kind)
    return drawn.getvalue()
