"""The terminal: where people read, tables for them, and JSON for programs."""

import json
from collections.abc import Sequence
from typing import Any, Protocol

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_WIDEST = 10_000


class _Bar(Protocol):
    def start(self) -> None: ...
    def stop(self) -> None: ...


class Output(Console):
    """Standard output; a bar that stands meanwhile on standard error makes room for what is printed."""

    bar: _Bar | None = None

    def print(self, *said: Any, **how: Any) -> None:
        """Print above the bar, if there is one: both may be on one terminal."""
        if self.bar is None:
            super().print(*said, **how)
            return
        self.bar.stop()
        super().print(*said, **how)
        self.bar.start()


# Without markup: what people call a group or a study is printed as it is, [brackets] and all.
out = Output(highlight=False, soft_wrap=True, markup=False, emoji=False)
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


class Lines:
    """A table whose rows are shown as they come; its first column is text and the others are numbers.

    Args:
        columns: Each column's heading.
        widths: What each is wide at least.
    """

    def __init__(self, columns: Sequence[str], widths: Sequence[int]) -> None:
        self._columns = columns
        self._widths = [max(len(column), width) for column, width in zip(columns, widths, strict=True)]
        self._begun = False

    def show(self, *cells: str) -> None:
        """Print a row, and the headings above the first."""
        if not self._begun:
            out.print(Text(self._line(self._columns), "bold"))
            self._begun = True
        out.print(self._line(cells))

    def _line(self, cells: Sequence[str]) -> str:
        sides = ("<", *">" * (len(cells) - 1))
        return "  ".join(f"{cell:{side}{wide}}" for cell, side, wide in zip(cells, sides, self._widths, strict=False))
