"""``fairgauge simulate``: what a population would answer."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fairgauge.cli import options
from fairgauge.cli.read import read_population, read_study, write_bytes
from fairgauge.cli.show import err, out, show_json
from fairgauge.errors import InvalidInput
from fairgauge.plan.typed import read_count
from fairgauge.simulate import simulate as run


def simulate(
    study: options.StudyFile,
    population: Annotated[Path, typer.Option(help="CSV with the columns group,value,count.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the tally.")],
    clients: Annotated[str | None, typer.Option(help="Rescale the population to so many, such as 1e9.")] = None,
    seed: Annotated[int | None, typer.Option(help="Makes the simulation repeatable.")] = None,
    json: options.Json = False,
) -> None:
    """Simulate the answers of a population, exactly, at any size."""
    document = read_study(study)
    if seed is not None and seed < 0:
        raise InvalidInput("seed", seed, "must be 0 or above")
    people = read_population(population)
    if clients is not None:
        people = people.rescaled(read_count("clients", clients))
    with err.status("Drawing answers ..."):
        tally = run(document, people, np.random.default_rng(seed))
    write_bytes("output", output, tally.to_bytes())
    if json:
        show_json({"study": tally.study, "answers": tally.total})
    else:
        out.print(f"{output}: {tally.total:,} answers to {document.title}")
