"""The same numbers for programs and for papers: JSON, CSV or Markdown."""

import csv
import inspect
import io
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any, Literal

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import out, show_json
from fairgauge.errors import InvalidInput

Form = Literal["people", "json", "csv", "markdown"]
Rows = Sequence[Mapping[str, Any]]
_CSV = Annotated[bool, typer.Option("--csv", help="Print the table as CSV, unrounded.")]
_MARKDOWN = Annotated[bool, typer.Option("--markdown", help="Print the table in Markdown, for a paper or a card.")]


def _form_of(*, json: bool, csv: bool, markdown: bool) -> Form:
    """Return which form was asked for.

    Raises:
        InvalidInput: If several were.
    """
    forms: dict[Form, bool] = {"json": json, "csv": csv, "markdown": markdown}
    asked: list[Form] = [name for name, given in forms.items() if given]
    if len(asked) > 1:
        raise InvalidInput("output", " and ".join(f"--{name}" for name in asked), "must be one of them")
    return asked[0] if asked else "people"


def in_forms(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--json``, ``--csv`` and ``--markdown``; it is told as ``form`` which was asked for."""
    own = inspect.signature(command)
    kinds = {"json": _options.Json, "csv": _CSV, "markdown": _MARKDOWN}
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in kinds.items()
    ]
    parameters = [*(one for one in own.parameters.values() if one.name != "form"), *more]

    @wraps(command)
    def run(*, json: bool, csv: bool, markdown: bool, **given: Any) -> None:
        command(**given, form=_form_of(json=json, csv=csv, markdown=markdown))

    # What a command line is made from: the options of both.
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": None}
    return run


def show_as(form: Form, document: dict[str, Any], rows: Rows) -> None:
    """Print for programs: JSON has everything, CSV and Markdown have the table."""
    if form == "json":
        show_json(document)
    elif form == "csv":
        out.print(_as_csv(rows), end="")
    else:
        out.print(_as_markdown(rows), end="")


def _as_csv(rows: Rows) -> str:
    """Return rows as CSV (RFC 4180), numbers unrounded, nothing for what is not told.

    >>> print(_as_csv([{"a": 0.25, "b": None}]).replace(chr(13), ""), end="")
    a,b
    0.25,
    """
    written = io.StringIO()
    names = list(rows[0]) if rows else []
    writer = csv.DictWriter(written, names, extrasaction="raise")
    writer.writeheader()
    writer.writerows({name: "" if value is None else value for name, value in row.items()} for row in rows)
    return written.getvalue()


def _as_markdown(rows: Rows) -> str:
    r"""Return rows as a table in Markdown, numbers to four digits.

    >>> print(_as_markdown([{"what": "a|b", "error": 0.123456, "clients": 1000}]), end="")
    | what | error | clients |
    |---|---:|---:|
    | a\|b | 0.1235 | 1,000 |
    """
    if not rows:
        return ""
    names = list(rows[0])
    number = [
        all(isinstance(row[name], int | float | None) and not isinstance(row[name], bool) for row in rows)
        for name in names
    ]
    lines = [names, ["---:" if is_number else "---" for is_number in number]]
    lines += [[_cell(row[name]) for name in names] for row in rows]
    head, rule, *rest = lines
    return "\n".join([_line(head), f"|{'|'.join(rule)}|", *map(_line, rest), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return "".join(f"\\{letter}" if letter in "\\|" else letter for letter in text)
