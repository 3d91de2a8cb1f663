"""Read a site's records from a file or a data frame; whatever goes wrong, no entry is repeated.

CSV needs the standard library alone.  Parquet and data frames need narwhals and an engine, which are loaded then.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from fairgauge.client.entries import name_text
from fairgauge.client.site import Record
from fairgauge.errors import CannotAnswer, InvalidInput, MissingExtra
from fairgauge.study import NoisyCounts

Entries = list[Any]

_STOP = (KeyboardInterrupt, SystemExit)  # Polars panics with what is no Exception; these are somebody's wish


@dataclass(frozen=True)
class Columns:
    """Where things stand in a site's records.

    Args:
        groups: The column of each attribute whose name it has not itself.
        truth: The column that says what was right, 0 or 1.
        prediction: The column that says what the model said, 0 or 1.
        value: The column of the metric, unless it has the metric's name.
        person: The column that tells people apart; without one each record is a person of its own.  With one, a record
            that names nobody is left out of the counts: nobody could say how many of one person there are.
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    truth: str = "truth"
    prediction: str = "prediction"
    value: str | None = None
    person: str | None = None

    def of(self, site: NoisyCounts) -> tuple[list[str], list[str]]:
        """Return the columns of the groups and those of the outcome."""
        groups = [self.groups.get(factor.name, factor.name) for factor in site.attribute.factors]
        if site.metric is None:
            return groups, [self.truth, self.prediction]
        return groups, [self.value or site.metric.name]


def records_of(site: NoisyCounts, given: Any, columns: Columns | None = None) -> Iterator[Record]:
    """Return the records of a file, or of a data frame of any engine that narwhals knows.

    Args:
        site: What is counted.
        given: The path of a CSV or Parquet file, a data frame, or a mapping from columns to entries; a list or an
            iterator holds records already, and they are passed on.
        columns: Where things stand; each has the name of what it holds unless this says otherwise.

    Raises:
        InvalidInput: If the file cannot be read, or a column is missing; never for what a record holds.
    """
    if isinstance(given, list | Iterator):
        return iter(given)
    columns = columns or Columns()
    groups, outcome = columns.of(site)
    wanted = [*groups, *outcome, *([columns.person] if columns.person else [])]
    table = read_columns(given, list(dict.fromkeys(wanted)))
    rows = zip(*(zip(*(table[name] for name in names), strict=True) for names in (groups, outcome)), strict=True)
    if columns.person is None:
        return ((None, *row) for row in rows)
    people = map(name_text, table[columns.person])
    # Without a person it has no group either: it is left out where records without one are, and not before.
    nobody = (None,) * len(groups)
    return (
        (who, nobody if who is None else of_groups, of_outcome)
        for who, (of_groups, of_outcome) in zip(people, rows, strict=True)
    )


def some_of(records: Iterable[Record], counts: Callable[[Record], bool], otherwise: str) -> Iterator[Record]:
    """Pass records on, and refuse at their end if none of them counts: the answer would be noise, and cost as much.

    Args:
        records: The records.
        counts: Whether a record counts; not asked any more once one does.  Where others see whether there is an answer,
            every record must count here: two sites that differ in one person's records have as many of them.
        otherwise: What to do if that is meant.

    Raises:
        CannotAnswer: If none counts.
    """
    found, any_row = False, False
    for record in records:
        any_row = True
        found = found or counts(record)
        yield record
    if not found:
        why = "every record lacks a group or an outcome" if any_row else "there is no record"
        raise CannotAnswer(f"{why}, so the answer would be noise alone; nothing was drawn or spent. {otherwise}")


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
