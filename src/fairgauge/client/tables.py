"""Columns of a file or of a data frame, read at once; whatever goes wrong, no entry is repeated.

CSV needs the standard library alone.  Parquet and data frames need narwhals and an engine, which are loaded then.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from fairgauge.errors import InvalidInput, MissingExtra

Entries = list[Any]

_STOP = (KeyboardInterrupt, SystemExit)  # Polars panics with what is no Exception; these are somebody's wish


def read_columns(given: Any, wanted: Sequence[str], perhaps: Sequence[str] = ()) -> dict[str, Entries]:
    """Return columns of a file, of a data frame of any engine that narwhals knows, or of a mapping.

    Rows stay together: a lazy frame is collected once, or one that shuffles would give each column another order.  One
    record that is broken does not end it, and takes no other one with it: each line of a CSV file is a record, whatever
    quotes are in it; one with more or fewer entries than names has no entry at all; bytes that are no UTF-8 are no
    group that a study lists and no number; and an entry that an engine cannot turn into one of Python's is missing.

    Args:
        given: The path of a CSV or Parquet file, a data frame, or a mapping from columns to entries.
        wanted: Columns that must be there.
        perhaps: Columns that are read if they are there.

    Raises:
        InvalidInput: If it cannot be read, a column is missing or there twice, or columns differ in length.
        MissingExtra: If what reads it is not installed.
    """
    if isinstance(given, str | Path):
        found = _file(Path(given), wanted, perhaps)
    elif isinstance(given, Mapping):
        _check(wanted, given)
        found = {name: list(given[name]) for name in (*wanted, *perhaps) if name in given}
    else:
        found = _frame(given, wanted, perhaps)
    if len({len(entries) for entries in found.values()}) > 1:
        raise InvalidInput("records", "columns of different lengths", "must have an entry of each column in every row")
    return found


def _file(path: Path, wanted: Sequence[str], perhaps: Sequence[str]) -> dict[str, Entries]:
    if path.suffix.lower() == ".csv":
        return _csv(path, wanted, perhaps)
    if path.suffix.lower() != ".parquet":
        raise InvalidInput("records", path, "must end in .csv or .parquet")
    try:
        import polars
    except ImportError:
        raise MissingExtra("reading Parquet needs Polars", "polars") from None
    frame = None
    try:
        frame = polars.scan_parquet(path)
        frame.collect_schema()
    except Exception:  # noqa: BLE001 - whatever an engine says, it may say it with an entry
        frame = None
    if frame is None:
        _unreadable(path)
    return _frame(frame, wanted, perhaps, path)


def _csv(path: Path, wanted: Sequence[str], perhaps: Sequence[str]) -> dict[str, Entries]:
    try:
        # A line ends with \n or \r\n and with nothing else: what one person wrote must not make several records.
        with path.open(newline="\n", encoding="utf-8-sig", errors="replace") as file:
            names = next(csv.reader([file.readline()]), [])
            _check(wanted, names)
            places = {name: names.index(name) for name in (*wanted, *perhaps) if name in names}
            found: dict[str, Entries] = {name: [] for name in places}
            for line in file:
                row = _row(line)
                if row == []:
                    continue  # an empty line
                whole = row is not None and len(row) == len(names)
                for name, place in places.items():
                    found[name].append(row[place] if row and whole else None)
    except (OSError, csv.Error):
        found = {}  # its text may hold an entry, so it is not chained
    if not found:
        _unreadable(path)
    return found


def _row(line: str) -> list[str] | None:
    """Return the entries of a line, read by itself, so that a quote that one person left open hides no other record."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return None  # an entry beyond all measure, or the end of a line within one


def _frame(given: Any, wanted: Sequence[str], perhaps: Sequence[str], path: Path | None = None) -> dict[str, Entries]:
    try:
        import narwhals as nw
    except ImportError:
        raise MissingExtra("reading data frames needs narwhals", "lab") from None
    try:
        frame: Any = nw.from_native(given).lazy()
    except TypeError:
        rule = "must be a data frame of pandas, Polars, Arrow, PySpark, Dask, DuckDB or another engine of narwhals"
        raise InvalidInput("records", type(given).__name__, rule) from None
    except Exception:  # noqa: BLE001 - two columns of one name, and whatever else a frame can be
        frame = None
    names: Sequence[str] = ()
    found: dict[str, Entries] | None = None
    try:
        names = frame.collect_schema().names()
        if set(wanted) <= set(names):
            there = list(dict.fromkeys([*wanted, *(name for name in perhaps if name in names)]))
            collected = frame.select(there).collect()
            found = {name: _entries(collected[name]) for name in there}
    except _STOP:
        raise
    except BaseException:  # noqa: BLE001 - a lazy frame reads its file now, and may complain with an entry
        names, found = (), None
    if found is not None:
        return found
    if not names:
        if path is not None:
            _unreadable(path)
        raise InvalidInput("records", type(given).__name__, "cannot be read")
    _check(wanted, names)
    raise AssertionError("unreachable: what is wanted is there")  # pragma: no cover


def _entries(column: Any) -> Entries:
    """Return a column's entries; None for one that cannot be had, such as a day in the year 5,000,000 of Polars."""
    try:
        return list(column.to_list())
    except _STOP:
        raise
    except BaseException:  # noqa: BLE001 - an engine panics for one entry
        return [_entry(column, index) for index in range(len(column))]


def _entry(column: Any, index: int) -> Any:
    try:
        return column[index]
    except _STOP:
        raise
    except BaseException:  # noqa: BLE001 - as above
        return None


def _check(wanted: Sequence[str], names: Iterable[str]) -> None:
    there = list(map(str, names))
    if there and not set(wanted) & set(there):  # perhaps there are no names, and the first line is a record
        asked = ", ".join(wanted)
        rule = f"must be there; the top of the records names none of {asked}, and is not shown: it may be a record"
        raise InvalidInput("column", wanted[0], rule)
    for name in wanted:
        if name not in there:
            raise InvalidInput("column", name, f"must be there; the records have {', '.join(there) or 'none'}")
        if there.count(name) > 1:
            raise InvalidInput("column", name, "must be there once")


def _unreadable(path: Path) -> NoReturn:
    raise InvalidInput("records", path, "cannot be read as a table with a line of names at its top")
