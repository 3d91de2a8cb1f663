"""``fairgauge paper``: redo the source paper, and see beside each result what is true."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Part(StrEnum):
    """A part of the paper."""

    ALL = "all"
    TABLE1 = "table1"
    TABLE2 = "table2"
    COVERAGE = "coverage"
    FIGURES = "figures"
    DATASET = "dataset"
    ERRATA = "errata"


def paper(
    part: Annotated[Part, typer.Argument(help="Which part to redo.")] = Part.ALL,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write into.")] = Path("paper"),
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="Datasets_Healthy_Older_People.zip as UCI publishes it (doi 10.24432/C5GG6B): the dataset needs it.",
        ),
    ] = None,
) -> None:
    """Redo the source paper's tables, figures and dataset, and write what is true beside each.

    Everything takes about five minutes. results.json in the folder holds every redone figure, for programs.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from fairgauge.errors import CannotEstimate
    from fairgauge.paper.publish import STEPS, publish

    columns = (TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    missing: CannotEstimate | None = None
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for name in STEPS if part is Part.ALL else [str(part)]:
            task = progress.add_task(name, total=STEPS[name])
            try:
                files = publish(name, output, data=data, step=lambda task=task: progress.advance(task))  # type: ignore[misc]
            except CannotEstimate as reason:
                # Without the archive everything else can still be redone.
                missing = reason
                continue
            for file in files:
                typer.echo(file)
    if missing is not None:
        raise missing
