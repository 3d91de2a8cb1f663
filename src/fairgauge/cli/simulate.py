"""``fairgauge simulate``: what a population would answer, beside the table's own gaps, which no study knows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import err, out, show_table
from fairgauge.cli._files import naming, read_study, write_bytes
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._mechanisms import own
from fairgauge.cli._progress import waiting
from fairgauge.errors import BadRecords, CannotEstimate, InvalidInput
from fairgauge.estimation import QuestionEstimate, estimate
from fairgauge.reports.small_multiples import shown_gaps
from fairgauge.simulation import (
    Population,
    Reading,
    read_people,
    simulate_exactly,
    true_values,
)
from fairgauge.simulation import simulate as run
from fairgauge.simulation.clients import Clients
from fairgauge.simulation.truth import Truth
from fairgauge.study import Question, Study
from fairgauge.study.attribute import ALIKE, ANY
from fairgauge.study.numbers import MOST_CLIENTS, as_count
from fairgauge.tallies import Tally

_MOST_ANSWERS = 10**10  # about 160 GB
# Shares that are off by less are those of the table, rounded.
_ROUNDED = 0.01
_ALPHA = "one study in a hundred"


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
        rows = _compare(document, tally, truths)
    if form != "people":
        told = {"study": tally.study, "answers": tally.contributors}
        more = {"people": people.population.clients, "left_out": people.left_out, "abstaining": people.abstaining}
        show_as(form, told | more | {"gaps": rows}, [told])
        return
    out.print(f"{wanted.output}: {tally.contributors:,} answers to {document.title}")
    out.print(f"{table}: {' '.join(people.sentences())}\n")
    _show_truth(document, rows, truths)


def _clients(study: Study, people: Population, count: int, *, exactly: bool) -> Clients:
    if count > _MOST_ANSWERS:
        raise InvalidInput("clients", count, f"must be at most {_MOST_ANSWERS:,} for answers in a file")
    return Clients.of(study, people.rescaled(count)) if exactly else Clients.of(study, people).drawn(count)


def _write(study: Study, clients: Clients, path: Path) -> Tally:
    from fairgauge.simulation.answers import write_parquet

    with waiting("Drawing answers", total=clients.total) as bar:
        return write_parquet(study, clients, path, progress=bar.advance)


def _compare(study: Study, tally: Tally, truths: Sequence[Truth]) -> list[dict[str, Any]]:
    """Return each gap of the table with its estimate and whether the interval holds it; nothing if none can be told."""
    try:
        found = estimate(study, tally)
    except CannotEstimate:
        return []
    return [row for one, truth in zip(found.questions, truths, strict=True) for row in _rows(one, truth)]


def _rows(found: QuestionEstimate, truth: Truth) -> list[dict[str, Any]]:
    rows = []
    for pair, gap in shown_gaps(found):
        if pair in truth.gaps:
            true = truth.gaps[pair]
            rows.append(
                {
                    "metric": found.metric, "first": pair[0], "second": pair[1], "truth": true,
                    "estimate": gap.estimate, "low": gap.low, "high": gap.high, "holds": gap.low <= true <= gap.high,
                }
            )  # fmt: skip
    return rows


def _show_truth(study: Study, rows: Sequence[dict[str, Any]], truths: Sequence[Truth]) -> None:
    """Print the table's own gaps beside the estimates, and what of the study is not so in the table."""
    several = len({row["metric"] for row in rows}) > 1
    if rows:
        shown = [
            [
                f"{row['metric'] + ': ' if several else ''}{row['first']} - {row['second']}",
                *(f"{row[name]:.4f}" for name in ("truth", "estimate", "low", "high")),
                "yes" if row["holds"] else "no",
            ]
            for row in rows
        ]
        show_table("", "in the table", "estimate", "low", "high", "holds it", rows=shown)
    pairs = zip(study.questions, truths, strict=True)
    # All questions are about the same people: what is said of one's shares is said of all.
    off, said = next(((q, text) for q, truth in pairs if (text := _share_sentence(q, truth))), (None, None))
    if rows:
        chance = off is None or off.attribute.answering == ANY
        out.print(_verdict([row["holds"] for row in rows], chance=chance))
        gaps = sum(len(truth.gaps) for truth in truths)
        if len(rows) < gaps:
            out.print(
                f"{gaps - len(rows)} of the table's {gaps} gaps are not in this list: too few answers to tell them, or "
                "others are larger."
            )
    else:
        out.print("So few answers tell no gap.")
    if said is not None:
        out.print(said)


def _verdict(holds: Sequence[bool], *, chance: bool) -> str:
    """Return whether intervals hold the truth; chance is named only where what the study assumes is so."""
    if all(holds):
        return "The interval holds the table's own gap." if len(holds) == 1 else "Every interval holds the table's gap."
    missed = "The interval misses" if len(holds) == 1 else f"{holds.count(False)} of {len(holds)} intervals miss"
    why = f" By chance that happens to at most {_ALPHA}: try another --seed." if chance else ""
    return f"{missed} the table's own gap.{why}"


def _share_sentence(question: Question, truth: Truth) -> str | None:
    """Return that the stated shares are not those of the table, and what follows; None where they are."""
    attribute = question.attribute
    if attribute.shares is None or not truth.shares:
        return None
    stated = dict(zip(attribute.groups, map(float, attribute.shares), strict=True))
    off = {group: truth.shares.get(group, 0.0) - share for group, share in stated.items()}
    worst = max(off, key=lambda group: abs(off[group]))
    allowed = 0.0 if attribute.share_error is None else float(attribute.share_error)
    alike = attribute.answering == ALIKE
    if abs(off[worst]) <= max(allowed, _ROUNDED / 5 if alike else _ROUNDED):
        return None
    there = f"of those who answer in the table {truth.shares.get(worst, 0.0):.1%} are"
    said = f"The study says that {stated[worst]:.1%} are {worst}; {there}."
    if attribute.answering == ANY:
        return f"{said} No gap rests on that; how often groups answered does."
    rests = "Its gaps rest on that, and may be wrong" if alike else "Its gaps rest on that within its ratio"
    shares = ", ".join(f"{truth.shares.get(group, 0.0):.3f}" for group in attribute.groups)
    return f'{said} {rests}: say shares = [{shares}], or answering = "any", which assumes nothing of it.'
