"""What people see: tables and sentences for them, JSON for programs."""

import json
import math
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from fairgauge.estimate import Estimate, QuestionEstimate
from fairgauge.plan import Plan
from fairgauge.study import Question

_WIDEST = 10_000
# Without markup: what people call a group or a study is printed as it is, [brackets] and all.
out = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


def show_json(document: dict[str, Any]) -> None:
    """Print a document for programs."""
    out.print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def show_table(*columns: str, rows: Sequence[Sequence[str | Text]]) -> None:
    """Print a table whose first column is text and whose others are numbers, as wide as it needs to be."""
    found = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    for number, column in enumerate(columns):
        found.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        found.add_row(*row)
    found.width = Measurement.get(out, out.options.update(max_width=_WIDEST), found).maximum
    out.print(found, crop=False)


def show_plan(plan: Plan) -> None:
    """Print a plan for people."""
    columns = ["design", "epsilon", "clients", "error ±", "K·Var", "symbols", "levels"]
    power = any(row.power is not None for row in plan.rows)
    rows: list[list[str | Text]] = [
        [
            Text(row.design, "bold" if row.design == plan.best else ""),
            _number(row.epsilon),
            "impossible" if row.clients is None else f"{row.clients:,}",
            _number(row.error),
            _number(row.variance),
            _number(row.symbols),
            _number(row.levels),
            *([f"{row.power:.1%}" if row.power is not None else "-"] if power else []),
        ]
        for row in plan.rows
    ]
    if plan.solved_for == "epsilon":
        for row, found in zip(plan.rows, rows, strict=True):
            found[1] = "impossible" if row.epsilon is None else found[1]
    show_table(*columns, *(["power"] if power else []), rows=rows)
    what = "the gap" if plan.target == "gap" else "the worst group's mean"
    if plan.best is None:
        out.print("\nNo design reaches this error: allow a larger error, or find more clients.")
        return
    best = plan.row(plan.best)
    out.print(
        Text.assemble(
            "\nWith ",
            (best.design, "bold"),
            f", {best.clients:,} clients at epsilon {best.epsilon:.4g} give {what} to ±{best.error:.4g} "
            f"({plan.confidence:.4g} confidence, {plan.interval} interval).",
        )
    )


def show_estimate(estimate: Estimate) -> None:
    """Print an estimate for people."""
    for question in estimate.questions:
        about = f" by {question.attribute}: {question.answers:,} answers"
        out.print(Text.assemble((question.metric, "bold"), about))
        rows = [[name, f"{i.estimate:.4f}", f"{i.low:.4f}", f"{i.high:.4f}"] for name, i in question.rows()]
        if rows:
            show_table("", "estimate", "low", "high", rows=rows)
        for sentence in sentences(question, estimate):
            out.print(sentence)
        for warning in question.warnings:
            out.print(Text.assemble(("note", "yellow"), f" {warning}"))
    out.print(f"Intervals: {estimate.guarantee}.")


def sentences(question: QuestionEstimate, estimate: Estimate) -> list[str]:
    """Return what the estimate means, in words."""
    gap = question.gap
    if gap is None:
        return []
    first, second = gap.groups
    low, high = gap.interval.low, gap.interval.high
    if low > 0 or high < 0:
        near, far = sorted((abs(low), abs(high)))
        word = "higher" if low > 0 else "lower"
        said = [f"{question.metric} is between {near:.4f} and {far:.4f} {word} for {first} than for {second}."]
    else:
        said = [f"The answers do not tell for whom {question.metric} is higher: {first} or {second}."]
    if gap.p_value is not None and estimate.tolerance is not None:
        said.append(f"That the gap is within ±{estimate.tolerance:g} has p-value {gap.p_value:.2g}.")
    if question.sensitivity is not None:
        moves = question.sensitivity
        if moves.share_error is not None:
            most = "up to " if moves.share_error_is_bound else ""
            said.append(f"A share that is wrong by 0.01 would move the gap by {most}{moves.share_error:.4f}.")
        limit = "without limit" if moves.forged is None else f"by up to {moves.forged:.4f}"
        said.append(f"Forging 1 % of the answers could move it {limit}.")
    return said


def privacy_sentence(question: Question) -> str:
    """Return what a question's privacy means to a person."""
    epsilon = question.channel.epsilon
    if math.isinf(epsilon):
        return "an answer can rule out some groups or values for certain: there is no privacy in it"
    factor = math.exp(epsilon)
    group = question.attribute.name
    return (
        f"whoever sees your answer can change their odds about your {group} and your {question.metric.name} "
        f"by at most a factor {math.ceil(factor * 100) / 100:.2f}"
    )


def _number(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
