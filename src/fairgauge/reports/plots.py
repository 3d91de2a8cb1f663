"""Pictures with matplotlib, for notebooks and papers: each draws on axes that are given, or on new ones."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairgauge.errors import MissingExtra
from fairgauge.estimation.values import Interval
from fairgauge.reports.units import unit_of
from fairgauge.reports.words import odds_after

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairgauge.estimation import Estimate
    from fairgauge.estimation.metric_frame import PrivateMetricFrame
    from fairgauge.planning import Plan, Plans
    from fairgauge.study import Study
    from fairgauge.tallies import Tally

_COLOUR, _LINE = "#14527a", "#1b2230"


def plot_estimate(estimate: "Estimate", ax: "Axes | None" = None) -> "Axes":
    """Draw every gap with its interval, against zero."""
    axes, rows = _axes(ax), list[tuple[str, Interval]]()
    for question, found in zip(estimate.asked, estimate.questions, strict=False):
        unit, several = unit_of(question.metric), len(estimate.questions) > 1
        for (a, b), gap in found.gaps.items():
            name = f"{found.metric}: {a} − {b}" if several else f"{a} − {b}"
            rows.append((f"{name} ({unit.word}s)" if unit.word else name, gap.shown.scaled(unit.factor)))
    _intervals(axes, rows)
    axes.axvline(0, color=_LINE, linewidth=1)
    axes.set_xlabel("gap")
    return axes


def plot_frame(frame: "PrivateMetricFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw every group's mean with its interval; where a study tells gaps alone, the gaps."""
    rows = [
        (f"{found.metric}: {group}" if len(frame.result.questions) > 1 else group, mean.shown)
        for found in frame.result.questions
        for group, mean in found.means.items()
    ]
    if not rows:
        return plot_estimate(frame.result, ax)
    axes = _axes(ax)
    _intervals(axes, rows)
    axes.set_xlabel("mean")
    return axes


def plot_plan(plan: "Plan", ax: "Axes | None" = None) -> "Axes":
    """Draw what each design needs or reaches."""
    return _plans([("", plan)], _axes(ax))


def plot_plans(plans: "Plans", ax: "Axes | None" = None) -> "Axes":
    """Draw what each design needs or reaches, for each metric."""
    several = len(plans) > 1
    named = zip(plans.metrics, plans, strict=True)
    return _plans([(f"{name}: " if several else "", plan) for name, plan in named], _axes(ax))


def _plans(plans: Sequence[tuple[str, "Plan"]], axes: "Axes") -> "Axes":
    what = plans[0][1].solved_for
    bars = [(f"{name}{row.design}", getattr(row, what)) for name, plan in plans for row in plan.rows]
    known = [(label, size) for label, size in bars if size is not None]
    axes.barh([label for label, _ in known], [size for _, size in known], color=_COLOUR)
    axes.invert_yaxis()
    axes.set_xlabel("error (±)" if what == "error" else what)
    return axes


def plot_tally(tally: "Tally", ax: "Axes | None" = None) -> "Axes":
    """Draw how often each symbol was sent."""
    axes = _axes(ax)
    axes.bar(range(len(tally.counts)), tally.counts, color=_COLOUR)
    axes.set(xlabel="symbol", ylabel="answers")
    return axes


def plot_study(study: "Study", ax: "Axes | None" = None) -> "Axes":
    """Draw what somebody can believe after an answer, for what they believed before."""
    axes = _axes(ax)
    before = [n / 100 for n in range(1, 100)]
    for question in study.questions:
        low, high = zip(*(odds_after(question.channel.loss, belief) for belief in before), strict=True)
        axes.fill_between(before, low, high, alpha=0.3, label=f"{question.metric.name} by {question.attribute.name}")
    axes.plot(before, before, color=_LINE, linewidth=1)
    axes.set(xlabel="belief before seeing an answer", ylabel="belief after, at least and at most")
    axes.legend(frameon=False)
    return axes


def _axes(ax: "Axes | None") -> "Axes":
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("drawing plots needs matplotlib", "lab") from None
    axes: Axes = plt.subplots(figsize=(7, 3), layout="constrained")[1]
    return axes


def _intervals(axes: "Axes", rows: list[tuple[str, Interval]]) -> None:
    for place, (_, interval) in enumerate(rows):
        axes.plot([interval.low, interval.high], [place, place], color="#cfe0ec", linewidth=6, solid_capstyle="butt")
        axes.plot(interval.estimate, place, "o", color=_COLOUR)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)
