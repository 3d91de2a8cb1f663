"""Plans and estimates as people see them in a terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from fairgauge.cli._console import Lines, out, show_table
from fairgauge.estimation import Estimate, Interval
from fairgauge.reports.non_response import any_sentence
from fairgauge.reports.small_multiples import left_out_sentence, shown_gaps, shown_response
from fairgauge.reports.study_facts import counted
from fairgauge.reports.units import CUT, CUT_NOTE, mark
from fairgauge.reports.verdicts import Meaning
from fairgauge.study import Study

if TYPE_CHECKING:
    # Plans load the designs, and those their solver: whoever shows an estimate need not wait for them.
    from fairgauge.planning import Plan, PlanRow
    from fairgauge.planning.plan_parts import PlanPart
    from fairgauge.planning.plans import AnsweringLine

_MOST_PARTS = 30
# How long numbers get in the lines of designs.
_LONGEST = {"epsilon": len("impossible"), "clients": len("100,000,000"), "error": len("0.0001234")}
_LONG_VARIANCE = len("1,234.5")
# Above the rows of groups' means.
MEAN = "mean of"


def show_plan(plan: "Plan") -> None:
    """Print a plan for people, with what it gives in three ways of answering."""
    show_designs(plan)
    show_best(plan)


def show_designs(plan: "Plan") -> None:
    """Print what each design gives: a plan's first lines, which need no more than itself."""
    lines = DesignLines([row.design for row in plan.rows], plan.solved_for)
    for row in plan.rows:
        lines.show(row)
    show_assumed(plan)


def show_assumed(plan: "Plan") -> None:
    """Print what the variances of a plan's designs assume of values."""
    assumed = next((row.assumes for row in plan.rows if row.assumes is not None), None)
    if assumed is not None:
        out.print(f"K·Var: the variance times the clients, with values from -1 to 1; it assumes {assumed}.")


class DesignLines:
    """What each design of a plan gives, a line for each as soon as it is known.

    Args:
        designs: The names of all that will come.
        solved_for: What the plan looks for.
    """

    def __init__(self, designs: Sequence[str], solved_for: str) -> None:
        self._longest, self._solved_for = max(map(len, designs), default=0), solved_for
        self._lines: Lines | None = None

    def show(self, row: "PlanRow") -> None:
        """Print the line of one design."""
        cells = {
            "design": row.design,
            "epsilon": _number(row.epsilon),
            "clients": "impossible" if row.clients is None else f"{row.clients:,}",
            "error ±": _number(row.error),
            "K·Var": _number(row.variance),
            "symbols": _number(row.symbols),
            "levels": _number(row.levels),
        }
        if self._solved_for == "epsilon" and row.epsilon is None:
            cells["epsilon"] = "impossible"
        if row.power is not None:
            cells["power"] = f"{row.power:.1%}"
        if self._lines is None:
            # Room for what may come below: what is given is as long in every line.
            room = {"design": self._longest, "K·Var": _LONG_VARIANCE, "power": len("100.0%")}
            room["error ±" if self._solved_for == "error" else self._solved_for] = _LONGEST[self._solved_for]
            self._lines = Lines(list(cells), [max(room.get(name, 0), len(cell)) for name, cell in cells.items()])
        self._lines.show(*cells.values())


def show_best(plan: "Plan") -> None:
    """Print what the best design gives, part by part, and in three ways of answering."""
    if plan.best is None:
        return
    _show_answering(plan.answering)
    best = plan.row(plan.best)
    parts = best.pairs if plan.target == "gap" else best.means
    if len(parts) > 1:
        out.print()
        show_parts(parts, what="" if plan.target == "gap" else MEAN)
        if plan.target == "gap" and best.means:
            out.print()
            show_parts(best.means, what=MEAN)
    out.print(
        Text.assemble(
            "\nWith ",
            (best.design, "bold"),
            f", {best.clients:,} clients at epsilon {best.epsilon:.4g} give {_parts_words(plan, best)} "
            f"({plan.confidence:.4g} confidence, {plan.interval} interval)"
            f"{f', {plan.condition}' if plan.condition else ''}.",
        )
    )
    said = plan.about_means()
    if said is not None:
        out.print(said)


def _show_answering(lines: "Sequence[AnsweringLine]") -> None:
    """Print what a plan gives if groups answer as they like, nearly alike, and alike."""
    if not lines:
        return
    rows = [
        [
            line.answering,
            line.design,
            _number(line.error),
            "never" if line.clients is None else f"{line.clients:,}",
        ]
        for line in lines
    ]
    out.print()
    show_table("--answering", "design", "error ±", f"clients for ±{lines[0].wanted:.4g}", rows=rows)
    out.print("Clients are people who answer: where one in three of those who are asked does, ask three times as many.")


def show_parts(
    parts: "Sequence[PlanPart]", by: Mapping[tuple[str, ...], float] | None = None, *, what: str = ""
) -> None:
    """Print what each comparison or mean will be known to, the worst first; of very many the worst and the best.

    Where answers are not counted yet, variances stand beside those of randomized response.
    """
    shown = list(parts) if len(parts) <= _MOST_PARTS else [*parts[: _MOST_PARTS - 2], parts[-1]]
    rows: list[list[str]] = []
    for part in shown:
        first = _number(part.error) if by is None else f"{part.variance / by[part.groups]:.0%}"
        rows.append([part.name, first, _number(part.variance), _number(part.privacy_variance)])
    if len(shown) < len(parts):
        rows.insert(-1, [f"... {len(parts) - len(shown)} more; --json has all", "", "", ""])
    show_table(what, "error ±" if by is None else "of randomized response", "K·Var", "privacy alone", rows=rows)
    if any(part.privacy_variance > part.variance for part in shown):
        out.print(
            "privacy alone: what randomising adds, whatever values clients hold; K·Var is the total for the values "
            "that are reckoned with, and so can be less."
        )


def _parts_words(plan: "Plan", best: "PlanRow") -> str:
    """Return what the best design gives, in words: the worst and the best of several, never only one."""
    parts = best.pairs if plan.target == "gap" else best.means
    if len(parts) < 2:
        return f"{'the gap' if plan.target == 'gap' else 'the mean'} to ±{best.error:.4g}"
    worst, sharpest = parts[0], parts[-1]
    if plan.target == "means":
        return (
            f"each group's mean: {worst.name} to ±{worst.error:.4g} at worst, {sharpest.name} to ±{sharpest.error:.4g}"
        )
    return f"{worst.name} to ±{worst.error:.4g} at worst, {sharpest.name} to ±{sharpest.error:.4g} at best"


def show_estimate(study: Study, estimate: Estimate) -> None:
    """Print an estimate for people."""
    for asked, question in zip(study.questions, estimate.questions, strict=True):
        about = f" by {question.attribute}: {question.answers:,} {counted(study)}"
        out.print(Text.assemble((question.metric, "bold"), about))
        gaps = [(f"{a} - {b}", gap) for (a, b), gap in shown_gaps(question)]
        others = list(question.rows())[len(question.gaps) : -len(question.response) or None]
        answered = [(f"response of {a} / {b}", ratio) for (a, b), ratio in shown_response(question)]
        rows = [[name, *_shown(interval)] for name, interval in (*gaps, *others, *answered)]
        if rows:
            show_table("", "estimate", "low", "high", rows=rows)
        if any(interval.cut for _, interval in question.rows()):
            out.print(CUT_NOTE)
        left_out = left_out_sentence(question)
        if left_out is not None:
            out.print(left_out)
        for sentence in Meaning(asked, question, estimate.confidence, estimate.tolerance).sentences():
            out.print(sentence)
        for warning in question.warnings:
            out.print(Text.assemble(("note", "yellow"), f" {warning}"))
    holds = any_sentence(zip(study.questions, estimate.questions, strict=True))
    if holds is not None:
        out.print(holds)
    out.print(f"Intervals: {estimate.guarantee}.")


def _shown(interval: Interval) -> list[str]:
    """Return the three numbers of an interval, cut to what is possible; a mark says which."""
    pairs = [(getattr(interval.shown, end), getattr(interval, end)) for end in ("estimate", "low", "high")]
    # Where one is marked the others get room for it, so that digits stay below digits.
    room = CUT if interval.cut else ""
    return [f"{shown:.4f}{mark(shown, exact) or ' ' * len(room)}" for shown, exact in pairs]


def _number(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
