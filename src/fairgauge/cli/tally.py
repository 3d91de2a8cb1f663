"""``fairgauge tally``: count the answers in files, by an engine that scales."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import err, out
from fairgauge.cli._files import read_study, write_bytes
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._mechanisms import own
from fairgauge.cli._progress import waiting
from fairgauge.study import Study
from fairgauge.tallies.files import count_files


@in_forms
def tally(
    study: _options.StudyFile,
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
    wanted = TallyRequest(answers, output, engine, deduplicate, symbol_column, id_column)
    own(document.mechanism, _tally)(document, wanted, form)


@dataclass(frozen=True)
class TallyRequest:
    """What was typed."""

    answers: list[str]
    output: Path
    engine: str | None
    deduplicate: bool
    symbol_column: str | None
    id_column: str | None


def _tally(document: Study, wanted: TallyRequest, form: Form) -> None:
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
