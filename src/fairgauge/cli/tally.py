"""``fairgauge tally``: count the answers in files, by an engine that scales."""

import warnings
from dataclasses import dataclass
from functools import singledispatch
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.channel import Channel
from fairgauge.cli import options
from fairgauge.cli.console import err, out
from fairgauge.cli.formats import Form, in_forms, show_as
from fairgauge.cli.progress import waiting
from fairgauge.cli.read import read_study, write_bytes
from fairgauge.errors import InvalidInput
from fairgauge.study import Mechanism, NoisyCounts, Study
from fairgauge.tallies.files import count_files
from fairgauge.tallies.site_files import from_site_files


@in_forms
def tally(
    study: options.StudyFile,
    answers: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Parquet, NDJSON or CSV: files, folders or patterns.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the tally.")],
    engine: Annotated[str | None, typer.Option(help="One of auto, polars, duckdb, pyspark and dask.")] = None,
    deduplicate: Annotated[bool, typer.Option("--deduplicate", help="Count answers of the same id once.")] = False,
    symbol_column: Annotated[str | None, typer.Option(help="The column with the symbol; symbol unless given.")] = None,
    id_column: Annotated[str | None, typer.Option(help="The column with the answer's id; id unless given.")] = None,
    *,
    form: Form,
) -> None:
    """Count the answers in files; refuse those that are not answers to this study."""
    document = read_study(study)
    wanted = _Wanted(answers, output, engine, deduplicate, symbol_column, id_column)
    _tally(document.mechanism, document, wanted, form)


@dataclass(frozen=True)
class _Wanted:
    """What was typed."""

    answers: list[str]
    output: Path
    engine: str | None
    deduplicate: bool
    symbol_column: str | None
    id_column: str | None


@singledispatch
def _tally(mechanism: Mechanism, document: Study, wanted: _Wanted, form: Form) -> None:
    raise NotImplementedError


@_tally.register
def _(_: NoisyCounts, document: Study, wanted: _Wanted, form: Form) -> None:
    alone = {"engine": wanted.engine, "symbol-column": wanted.symbol_column, "id-column": wanted.id_column}
    for name, typed in alone.items():
        if typed is not None:
            raise InvalidInput(name, typed, "must not be given in a study for sites, which are few")
    if wanted.deduplicate:
        raise InvalidInput("deduplicate", "given", "must not be given in a study for sites: each id counts once there")
    counts = from_site_files(document, wanted.answers)
    write_bytes("output", wanted.output, counts.to_bytes())
    if form != "people":
        told = {"study": counts.study, "answers": counts.contributors, "repeated": 0}
        show_as(form, told, [told])
    else:
        out.print(f"{wanted.output}: {counts.contributors:,} sites answered {document.title}")


@_tally.register
def _(_: Channel, document: Study, wanted: _Wanted, form: Form) -> None:
    output = wanted.output
    with waiting("Counting") as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one engine about another: nothing that a user could act on
        named = {"symbol": wanted.symbol_column, "id": wanted.id_column}
        found = count_files(
            document,
            wanted.answers,
            engine=wanted.engine or "auto",
            deduplicate=wanted.deduplicate,
            progress=bar.reach,
            columns={name: theirs for name, theirs in named.items() if theirs is not None and theirs != name},
        )
    counts = found.tally
    write_bytes("output", output, counts.to_bytes())
    if document.release is not None:
        err.print(
            f"The study promises that counts are shown with secret draws among them, and {output} has none: keep it to "
            "yourself. A collector adds them."
        )
    if form != "people":
        told = {"study": counts.study, "answers": counts.contributors, "repeated": found.again}
        show_as(form, told, [told])
    else:
        out.print(f"{output}: {counts.contributors:,} answers to {document.title}")
        if found.again:
            one = found.again == 1
            said = f"{'has' if one else 'have'} an id that came before, and {'was' if one else 'were'} counted again"
            out.print(f"{found.again:,} of them {said}; --deduplicate counts each id once.")
