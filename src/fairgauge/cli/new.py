"""``fairgauge new``: the draft of a study from somebody's own table."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli._console import err, out
from fairgauge.cli._files import naming, write_bytes
from fairgauge.cli._progress import waiting
from fairgauge.errors import InvalidInput
from fairgauge.planning.table_draft import Wish, draft_text
from fairgauge.planning.table_summary import Column, TableSummary, look
from fairgauge.study.numbers import as_count, as_epsilon


def new(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="People, as CSV or Parquet: a row for each.", show_default=False)
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the file; it is printed unless given.")
    ] = None,
    group_column: Annotated[
        list[str] | None, typer.Option(help="The column with each person's group; several cross.")
    ] = None,
    metric_column: Annotated[
        list[str] | None, typer.Option(help="The column with each person's value; several are several metrics.")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="A label that is to be a group, once for each; those that are common unless given."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="What the study is about, for the people who are asked.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Privacy loss of one answer; 1 unless given.")] = None,
    clients: Annotated[str | None, typer.Option(help="How many will answer, if that is known.")] = None,
) -> None:
    """Look at a table of people, and write a study's own file from it, with comments."""
    if output is not None and output.exists():
        raise InvalidInput("output", output, "must not be there yet: a file that somebody wrote is not written over")
    with waiting(f"Reading {table}") as bar, naming(table):
        found = look(table, progress=bar.reach)
    wish = Wish(group_column or (), metric_column or (), group or (), title, epsilon or "1", clients)
    if sys.stdin.isatty() and sys.stdout.isatty():
        wish = _asked(found, wish, epsilon is None)
    as_epsilon(wish.epsilon)
    with naming(table):
        text = draft_text(found, wish)
    if output is None:
        out.print(text, end="")
        return
    write_bytes("output", output, text.encode())
    out.print(f"{output}: {text.splitlines()[1].partition(' = ')[2].strip(chr(34))}")
    made = f"fairgauge design {output} -o {output.with_suffix('.json')}"
    # Who plans for another number than the file says gets another table from design.
    planned = "" if wish.clients else "   (planned = 200000 in it says how many will answer)"
    err.print(f"Read it, change what you like, and go on:\n  fairgauge plan {output}{planned}\n  {made}")


def _asked(found: TableSummary, wish: Wish, ask_epsilon: bool) -> Wish:
    """Ask what nobody typed: five questions at most, each with an answer that Return takes; a slip is asked again."""
    if not wish.groups:
        wish = replace(wish, groups=_pick("Which column has the groups?", found.groups, found, "group-column"))
    if not wish.metrics:
        others = [one for one in found.metrics if one.name not in wish.groups]
        wish = replace(wish, metrics=_pick("Which column is measured?", others, found, "metric-column"))
    if wish.title is None:
        usual = f"{' and '.join(wish.metrics)} by {' and '.join(wish.groups)}"
        wish = replace(wish, title=typer.prompt("What is the study about?", default=usual[0].upper() + usual[1:]))
    if ask_epsilon:
        asked = "Privacy loss of one answer (epsilon)?"
        wish = replace(wish, epsilon=typer.prompt(asked, default="1", value_proc=_checked(as_epsilon)))
    if wish.clients is None:
        asked = "How many people will answer? (Return if you do not know)"
        count = _checked(lambda text: as_count("clients", text) if text else None)
        wish = replace(wish, clients=typer.prompt(asked, default="", show_default=False, value_proc=count) or None)
    return wish


def _pick(question: str, likely: list[Column], found: TableSummary, field: str) -> list[str]:
    """Ask for a column, or several with commas between them."""

    def columns(text: str) -> list[str]:
        there = {one.name for one in found.columns}
        names = [text] if text in there else [name.strip() for name in text.split(",")]
        return [found.column(name, field=field).name for name in names]

    names = [one.name for one in likely or found.columns]
    several = f"{question} ({', '.join(names)}; several with commas)"
    return columns(typer.prompt(several, default=names[0] if likely else None, value_proc=_checked(columns)))


def _checked(check: Callable[[str], object]) -> Callable[[str], str]:
    """Return what a prompt does with an answer: where it is refused, the prompt says why and asks again."""

    def answer(text: str) -> str:
        try:
            check(text)
        except InvalidInput as problem:
            raise typer.BadParameter(f"{problem.value}: {problem.rule}") from None
        return text

    return answer
