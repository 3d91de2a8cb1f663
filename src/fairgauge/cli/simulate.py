"""``fairgauge simulate``: what a population would answer."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import err, out
from fairgauge.cli._files import naming, read_study, write_bytes
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._mechanisms import own
from fairgauge.cli._progress import waiting
from fairgauge.cli.truth import compare, show_truth
from fairgauge.errors import BadRecords, InvalidInput
from fairgauge.simulation import (
    Population,
    Reading,
    read_people,
    simulate_exactly,
    true_values,
)
from fairgauge.simulation import simulate as run
from fairgauge.simulation.clients import Clients
from fairgauge.study import Study
from fairgauge.study.numbers import MOST_CLIENTS, as_count
from fairgauge.tallies import Tally

_MOST_ANSWERS = 10**10  # about 160 GB


@in_forms
def simulate(
    study: _options.StudyFile,
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="People, as CSV or Parquet: a row for each, or counted in a column count. Columns have the names of "
            "the study's attributes and metrics, or group and value; in a study of sites also site, truth, prediction.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the tally.")],
    clients: Annotated[
        str | None, typer.Option(help="So many answer, such as 1e9, instead of as many as the table counts.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Makes the simulation repeatable.")] = None,
    exactly: Annotated[
        bool, typer.Option("--exactly", help="Let groups split exactly as in the table, instead of drawing clients.")
    ] = False,
    answers: Annotated[
        Path | None, typer.Option(help="Draw every answer as a device does, and write them as Parquet.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            help="The study's own file (TOML), which says what columns and labels mean and what is done with what is "
            "missing; the one beside the study, with the same name and the ending .toml, unless given."
        ),
    ] = None,
    group_column: Annotated[
        list[str] | None,
        typer.Option(help="The column with each person's group; where attributes cross, one for each."),
    ] = None,
    value_column: Annotated[
        list[str] | None, typer.Option(help="The column with each person's value; of several metrics, one for each.")
    ] = None,
    count_column: Annotated[
        str | None,
        typer.Option(help="The column that says how many people a row stands for; without one a row is a person."),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(help='What becomes of people who lack a group or a value: "leave out", or "abstain".'),
    ] = None,
    sites: Annotated[
        str | None, typer.Option(help="For sites: so many, drawn from those of the table, instead of each once.")
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
    said = _Said(study, document, file)
    how = said.reading(group_column or [], value_column or [], count_column, missing)
    wanted = SimulationRequest(
        table, how, sites, site_column=site_column, truth_column=truth_column, prediction_column=prediction_column,
        clients=clients, answers=answers, seed=seed, exactly=exactly, output=output,
    )  # fmt: skip
    if said.path is not None and form == "people":
        out.print(f"Columns and labels as in {said.path}.")
    try:
        own(document.mechanism, _simulate)(document, wanted, form)
    except BadRecords:
        if said.path is None:
            err.print(f"No study's own file was read: it would be {study.with_suffix('.toml')}, or --file names it.")
        raise


class _Said:
    """What a study's own file says of tables, and what is typed of them."""

    def __init__(self, study: Path, document: Study, file: Path | None) -> None:
        self.document, self.path, self.how = document, file, Reading()
        beside = study.with_suffix(".toml")
        if file is None and beside != study and beside.exists():
            self.path = beside
        if self.path is not None:
            from fairgauge.planning.study_draft import Draft

            with naming(self.path):
                self.how = Draft.load(self.path).table
            self._check(self.path)

    def _check(self, path: Path) -> None:
        """Refuse a file that is about another study."""
        groups = {one.name: one.groups for whole in self.document.attributes for one in (whole, *whole.factors)}
        things = {*groups, *(metric.name for metric in self.document.metrics), "truth", "prediction"}
        meant = {name: set(labels.values()) - {""} for name, labels in self.how.labels.items()}
        wrong = [name for name in (*self.how.columns, *meant) if name not in things]
        wrong += [name for name, those in meant.items() if name in groups and not those <= set(groups[name])]
        if wrong:
            rule = f"is about {wrong[0]} as this study does not have it: design the study anew, or name its --file"
            raise InvalidInput("file", path, rule)

    def reading(self, groups: list[str], values: list[str], count: str | None, missing: str | None) -> Reading:
        """Return how a table is read: what is typed counts."""
        factors = [one.name for attribute in self.document.attributes for one in attribute.factors]
        metrics = [metric.name for metric in self.document.metrics]
        columns = dict(self.how.columns)
        for option, typed, names in (("group-column", groups, factors), ("value-column", values, metrics)):
            if typed and len(typed) != len(names):
                rule = f"must be given once for each of {', '.join(names) or 'none'}, in this order"
                raise InvalidInput(option, ", ".join(typed), rule)
            columns |= dict(zip(names, typed, strict=False))
        return replace(
            self.how, columns=columns, count=count or self.how.count, missing=cast("Any", missing or self.how.missing)
        )


@dataclass(frozen=True)
class SimulationRequest:
    """What was typed: people who answer for themselves, or who come to sites."""

    table: Path
    how: Reading
    sites: str | None
    site_column: str | None
    truth_column: str | None
    prediction_column: str | None
    clients: str | None
    answers: Path | None
    seed: int | None
    exactly: bool
    output: Path


def _simulate(document: Study, wanted: SimulationRequest, form: Form) -> None:
    for name in ("sites", "site_column", "truth_column", "prediction_column"):
        typed = getattr(wanted, name)
        if typed is not None:
            rule = "must not be given: the study is for devices of one person each"
            raise InvalidInput(name.replace("_", "-"), typed, rule)
    answers, table, seed, exactly = wanted.answers, wanted.table, wanted.seed, wanted.exactly
    if seed is not None and answers is not None:
        raise InvalidInput("seed", seed, "must not be given: answers come from the operating system's secure source")
    with waiting(f"Reading {table}") as bar, naming(table):
        people = read_people(document, table, wanted.how, progress=bar.reach)
        if people.population.clients > MOST_CLIENTS:
            raise InvalidInput("count", people.population.clients, "must total at most 10^15")
    count = people.population.clients if wanted.clients is None else as_count("clients", wanted.clients)
    with naming(table):
        if answers is not None:
            tally = _write(document, _clients(document, people.population, count, exactly=exactly), answers)
        else:
            with waiting("Drawing answers"):
                tally = (simulate_exactly if exactly else run)(document, people.population, clients=count, seed=seed)
    write_bytes("output", wanted.output, tally.to_bytes())
    with waiting("Comparing with the table"):
        truths = true_values(document, people.population)
        rows = compare(document, tally, truths)
    if form != "people":
        told = {"study": tally.study, "answers": tally.contributors}
        more = {"people": people.population.clients, "left_out": people.left_out, "abstaining": people.abstaining}
        show_as(form, told | more | {"gaps": rows}, [told])
        return
    out.print(f"{wanted.output}: {tally.contributors:,} answers to {document.title}")
    out.print(f"{table}: {' '.join(people.sentences())}\n")
    show_truth(document, rows, truths)


def _clients(study: Study, people: Population, count: int, *, exactly: bool) -> Clients:
    if count > _MOST_ANSWERS:
        raise InvalidInput("clients", count, f"must be at most {_MOST_ANSWERS:,} for answers in a file")
    return Clients.of(study, people.rescaled(count)) if exactly else Clients.of(study, people).drawn(count)


def _write(study: Study, clients: Clients, path: Path) -> Tally:
    from fairgauge.simulation.answers import write_parquet

    with waiting("Drawing answers", total=clients.total) as bar:
        return write_parquet(study, clients, path, progress=bar.advance)
