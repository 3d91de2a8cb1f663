"""The terminal: where people read, tables for them, and JSON for programs."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_WIDEST = 10_000
# Without markup: what people call a group or a study is printed as it is, [brackets] and all.
out = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


def show_json(document: dict[str, Any]) -> None:
    """Print a document for programs."""
    out.print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def show_table(*columns: str, rows: Sequence[Sequence[str | Text]]) -> None:
    """Print a table whose first column is text and whose others are numbers, as wide as it needs to be."""
    found = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    for number, column in enumerate(columns):
        found.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        found.add_row(*row)
    found.width = Measurement.get(out, out.options.update(max_width=_WIDEST), found).maximum
    out.print(found, crop=False)
