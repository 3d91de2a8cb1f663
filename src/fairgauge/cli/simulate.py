"""``fairgauge simulate``: what a population would answer."""

from dataclasses import dataclass
from functools import singledispatch
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.channel import Channel
from fairgauge.cli import options
from fairgauge.cli.console import out
from fairgauge.cli.formats import Form, in_forms, show_as
from fairgauge.cli.progress import waiting
from fairgauge.cli.read import naming, read_population, read_study, write_bytes
from fairgauge.client.records import Columns as RecordColumns
from fairgauge.errors import InvalidInput
from fairgauge.simulation import (
    Population,
    SitePopulation,
    simulate_exactly,
    simulate_sites,
    simulate_sites_exactly,
)
from fairgauge.simulation import simulate as run
from fairgauge.simulation.clients import Clients
from fairgauge.simulation.columns import Columns
from fairgauge.study import Mechanism, NoisyCounts, Study
from fairgauge.study.numbers import as_count
from fairgauge.tallies import Tally

_MOST_ANSWERS = 10**10  # about 160 GB


@in_forms
def simulate(
    study: options.StudyFile,
    population: Annotated[
        Path,
        typer.Option(
            help="CSV with the columns group,value,count, or a column for each attribute and each metric, and count. "
            "In a study of sites also site, and truth and prediction; without count a row is a person."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the tally.")],
    clients: Annotated[
        str | None, typer.Option(help="So many answer, such as 1e9, instead of as many as the file counts.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Makes the simulation repeatable.")] = None,
    exactly: Annotated[
        bool, typer.Option("--exactly", help="Let groups split exactly as in the file, instead of drawing clients.")
    ] = False,
    answers: Annotated[
        Path | None, typer.Option(help="Draw every answer as a device does, and write them as Parquet.")
    ] = None,
    group_column: Annotated[str | None, typer.Option(help="The column with each person's group.")] = None,
    value_column: Annotated[str | None, typer.Option(help="The column with each person's value.")] = None,
    count_column: Annotated[
        str | None,
        typer.Option(help="The column that says how many people a row stands for; without one a row is a person."),
    ] = None,
    sites: Annotated[
        str | None, typer.Option(help="For sites: so many, drawn from those of the file, instead of each once.")
    ] = None,
    site_column: Annotated[str | None, typer.Option(help="For sites: the column of the site's name.")] = None,
    truth_column: Annotated[str | None, typer.Option(help="For sites: the column that says what was right.")] = None,
    prediction_column: Annotated[
        str | None, typer.Option(help="For sites: the column that says what the model said.")
    ] = None,
    *,
    form: Form,
) -> None:
    """Draw clients from a population and simulate their answers, exactly in distribution, at any size."""
    document = read_study(study)
    if seed is not None and seed < 0:
        raise InvalidInput("seed", seed, "must be 0 or above")
    wanted = _Wanted(
        population, sites, site_column=site_column, truth_column=truth_column, prediction_column=prediction_column,
        group_column=group_column, value_column=value_column, count_column=count_column, clients=clients,
        answers=answers, seed=seed, exactly=exactly, output=output,
    )  # fmt: skip
    _simulate(document.mechanism, document, wanted, form)


@dataclass(frozen=True)
class _Wanted:
    """What was typed: people who answer for themselves, or who come to sites."""

    population: Path
    sites: str | None
    site_column: str | None
    truth_column: str | None
    prediction_column: str | None
    group_column: str | None
    value_column: str | None
    count_column: str | None
    clients: str | None
    answers: Path | None
    seed: int | None
    exactly: bool
    output: Path


@singledispatch
def _simulate(mechanism: Mechanism, document: Study, wanted: _Wanted, form: Form) -> None:
    raise NotImplementedError


@_simulate.register
def _(mechanism: NoisyCounts, document: Study, wanted: _Wanted, form: Form) -> None:
    for name, typed in (("clients", wanted.clients), ("answers", wanted.answers)):
        if typed is not None:
            raise InvalidInput(name, typed, "must not be given in a study of sites; --sites says how many answer")
    _check_outcome(mechanism, wanted)
    people = _read_sites(mechanism, wanted)
    sites = None if wanted.sites is None else as_count("sites", wanted.sites)
    if wanted.exactly and sites is not None:
        raise InvalidInput("sites", sites, "must not be given with --exactly: then sites are those of the file")
    with waiting("Sites answer", total=len(people.names) if sites is None else sites) as bar:
        if wanted.exactly:
            tally = simulate_sites_exactly(document, people, seed=wanted.seed, progress=bar.advance)
        else:
            tally = simulate_sites(document, people, sites=sites, seed=wanted.seed, progress=bar.advance)
    _show(document, tally, wanted.output, form, whom="sites answered")


def _check_outcome(site: NoisyCounts, wanted: _Wanted) -> None:
    """Refuse columns of the other outcome."""
    truth, said = ("truth-column", wanted.truth_column), ("prediction-column", wanted.prediction_column)
    others = (("value-column", wanted.value_column),) if site.metric is None else (truth, said)
    rule = "counts truth and prediction" if site.metric is None else f"counts {site.metric.name}"
    for name, typed in others:
        if typed is not None:
            raise InvalidInput(name, typed, f"must not be given: the study {rule}")


def _read_sites(site: NoisyCounts, wanted: _Wanted) -> SitePopulation:
    """Read who comes to which site."""
    factors = site.attribute.factors
    if wanted.group_column is not None and len(factors) > 1:
        raise InvalidInput("group-column", wanted.group_column, "must not be given where attributes cross")
    groups = {} if wanted.group_column is None else {factors[0].name: wanted.group_column}
    columns = RecordColumns(
        groups, wanted.truth_column or "truth", wanted.prediction_column or "prediction", wanted.value_column
    )
    where, count = wanted.site_column or "site", wanted.count_column or "count"
    with naming(wanted.population):
        return SitePopulation.read(site, wanted.population, columns, where=where, count=count)


@_simulate.register
def _(_: Channel, document: Study, wanted: _Wanted, form: Form) -> None:
    for name in ("sites", "site_column", "truth_column", "prediction_column"):
        typed = getattr(wanted, name)
        if typed is not None:
            rule = "must not be given: the study is for devices of one person each"
            raise InvalidInput(name.replace("_", "-"), typed, rule)
    answers, population, seed, exactly = wanted.answers, wanted.population, wanted.seed, wanted.exactly
    if seed is not None and answers is not None:
        raise InvalidInput("seed", seed, "must not be given: answers come from the operating system's secure source")
    people = read_population(population, Columns(wanted.group_column, wanted.value_column, wanted.count_column))
    count = people.clients if wanted.clients is None else as_count("clients", wanted.clients)
    with naming(population):
        if answers is not None:
            tally = _write(document, _clients(document, people, count, exactly=exactly), answers)
        else:
            with waiting("Drawing answers"):
                tally = (simulate_exactly if exactly else run)(document, people, clients=count, seed=seed)
    _show(document, tally, wanted.output, form, whom="answers to")


def _show(study: Study, tally: Tally, output: Path, form: Form, *, whom: str) -> None:
    write_bytes("output", output, tally.to_bytes())
    if form != "people":
        told = {"study": tally.study, "answers": tally.contributors}
        show_as(form, told, [told])
    else:
        out.print(f"{output}: {tally.contributors:,} {whom} {study.title}")


def _clients(study: Study, people: Population, count: int, *, exactly: bool) -> Clients:
    if count > _MOST_ANSWERS:
        raise InvalidInput("clients", count, f"must be at most {_MOST_ANSWERS:,} for answers in a file")
    return Clients.of(study, people.rescaled(count)) if exactly else Clients.of(study, people).drawn(count)


def _write(study: Study, clients: Clients, path: Path) -> Tally:
    from fairgauge.simulation.answers import write_parquet

    with waiting("Drawing answers", total=clients.total) as bar:
        return write_parquet(study, clients, path, progress=bar.advance)
