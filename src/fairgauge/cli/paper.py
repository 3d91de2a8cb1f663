"""``fairgauge paper``: redo the source paper, see beside each result what is true, and read a tally as it does."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class _PaperPart(StrEnum):
    """A part of the paper."""

    ALL = "all"
    TABLE1 = "table1"
    TABLE2 = "table2"
    COVERAGE = "coverage"
    FIGURES = "figures"
    DATASET = "dataset"
    ERRATA = "errata"
    ESTIMATE = "estimate"


def paper(
    context: typer.Context,
    part: Annotated[_PaperPart, typer.Argument(help="Which part to redo.")] = _PaperPart.ALL,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="STUDY TALLY", help="For estimate: a study made with --budgets, and its counts."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The folder to write into; paper unless given.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="Datasets_Healthy_Older_People.zip as UCI publishes it (doi 10.24432/C5GG6B): the dataset needs it.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="For estimate: where the lengths of the tails of M_L, which no answer has, come from; 0 unless given."
        ),
    ] = None,
) -> None:
    """Redo the source paper's tables, figures and dataset, and write what is true beside each.

    Everything takes about five minutes. results.json in the folder holds every redone figure, for programs.
    """
    from fairgauge.cli._option_rules import refuse
    from fairgauge.errors import InvalidInput

    estimates = part is _PaperPart.ESTIMATE
    refuse(context, f"is of no use to fairgauge paper {part}", ["output"] if estimates else ["seed"])
    if part not in (_PaperPart.ALL, _PaperPart.DATASET):
        refuse(context, f"is of no use to fairgauge paper {part}: the dataset alone needs it", ["data"])
    two = list(map(str, files or []))
    if estimates != (len(two) == 2) or (two and not estimates):
        raise InvalidInput("files", " ".join(two) or "none", "fairgauge paper estimate takes a study and its tally")
    if files is not None and estimates:
        _estimate(files[0], files[1], seed or 0)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from fairgauge.errors import CannotEstimate
    from fairgauge.paper.pages import STEPS, publish

    folder = Path("paper") if output is None else output
    columns = (TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    missing: CannotEstimate | None = None
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for name in STEPS if part is _PaperPart.ALL else [str(part)]:
            task = progress.add_task(name, total=STEPS[name])
            try:
                files = publish(name, folder, data=data, step=lambda task=task: progress.advance(task))  # type: ignore[misc]
            except CannotEstimate as reason:
                # Without the archive everything else can still be redone.
                missing = reason
                continue
            for file in files:
                typer.echo(file)
    if missing is not None:
        raise missing


def _estimate(study: Path, tally: Path, seed: int) -> None:
    """Show what the paper's estimator makes of a tally, and beside it our own."""
    import numpy as np

    from fairgauge.cli._console import out, show_table
    from fairgauge.cli._files import read_study, read_tally
    from fairgauge.estimation import estimate
    from fairgauge.paper.bounds import CONFIDENCE
    from fairgauge.paper.estimator import published_estimate
    from fairgauge.paper.mechanisms import LaplaceMechanism
    from fairgauge.paper.theorems import claimed_epsilon

    document = read_study(study)
    counts = read_tally(tally, document)
    theirs = published_estimate(document, counts, np.random.default_rng(seed))
    found = estimate(document, counts, confidence=CONFIDENCE)
    (question,), (ours,) = document.questions, found.questions
    made = theirs.mechanism
    out.print(
        f"{question.metric.name} by {question.attribute.name}: {counts.contributors:,} answers to "
        f"{'M_L (k = 2)' if isinstance(made, LaplaceMechanism) else 'M_R'} with ε1 = {made.group_epsilon:g} and "
        f"ε2 = {made.value_epsilon:g}; epsilon {claimed_epsilon(made):g} as claimed, "
        f"{question.mechanism.epsilon:.6g} exactly"
    )
    rows = []
    for pair, (gap, half) in theirs.gaps.items():
        told = ours.gaps.get(pair)
        shown = ["-"] * 3 if told is None else [f"{n:.4f}" for n in (told.estimate, told.low, told.high)]
        rows.append([" - ".join(pair), f"{gap:.4f}", f"{half:.4f}", *shown])
    for group, mean in theirs.means.items():
        told = (ours.means or {}).get(group)
        shown = ["-"] * 3 if told is None else [f"{n:.4f}" for n in (told.estimate, told.low, told.high)]
        rows.append([group, f"{mean:.4f}", "", *shown])
    show_table("", "the paper's", "±", "ours", "low", "high", rows=rows)
    out.print(
        "The paper's: IF the groups' sizes are the stated shares of the answers; ± is Chebyshev's, for the worst "
        f"values, at {CONFIDENCE}. Ours: {found.guarantee}."
    )
