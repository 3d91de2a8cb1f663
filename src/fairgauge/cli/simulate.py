"""``fairgauge simulate``: what a population would answer."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fairgauge.cli import options
from fairgauge.cli.read import read_population, read_study, write_bytes
from fairgauge.cli.show import err, out, show_json
from fairgauge.errors import InvalidInput
from fairgauge.planning.typed import read_count
from fairgauge.simulation import Population
from fairgauge.simulation import simulate as run
from fairgauge.study import Study
from fairgauge.tallies import Tally

_MOST_ANSWERS = 10**10  # about 160 GB


def simulate(
    study: options.StudyFile,
    population: Annotated[Path, typer.Option(help="CSV with the columns group,value,count.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the tally.")],
    clients: Annotated[str | None, typer.Option(help="Rescale the population to so many, such as 1e9.")] = None,
    seed: Annotated[int | None, typer.Option(help="Makes the simulation repeatable.")] = None,
    answers: Annotated[
        Path | None, typer.Option(help="Draw every answer as a device does, and write them as Parquet.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Simulate the answers of a population, exactly, at any size."""
    document = read_study(study)
    if seed is not None and seed < 0:
        raise InvalidInput("seed", seed, "must be 0 or above")
    if seed is not None and answers is not None:
        raise InvalidInput("seed", seed, "must not be given: answers come from the operating system's secure source")
    people = read_population(population)
    if clients is not None:
        people = people.rescaled(read_count("clients", clients))
    if answers is None:
        with err.status("Drawing answers ..."):
            tally = run(document, people, np.random.default_rng(seed))
    else:
        tally = _write(document, people, answers)
    write_bytes("output", output, tally.to_bytes())
    if json:
        show_json({"study": tally.study, "answers": tally.total})
    else:
        out.print(f"{output}: {tally.total:,} answers to {document.title}")


def _write(study: Study, people: Population, path: Path) -> Tally:
    from rich.progress import Progress

    from fairgauge.simulation.answers import write_parquet

    if people.clients > _MOST_ANSWERS:
        raise InvalidInput("clients", people.clients, f"must be at most {_MOST_ANSWERS:,} for answers in a file")
    with Progress(console=err, transient=True, disable=not err.is_terminal) as progress:
        bar = progress.add_task("Drawing answers", total=people.clients)
        return write_parquet(study, people, path, progress=lambda some: progress.advance(bar, some))
