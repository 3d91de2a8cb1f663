"""A site's records: read once, when the site is set up, into numbers of one form that every study is answered from.

A table can hold anything: bytes that are no text, days beyond all calendars, numbers of a thousand digits.  Whether it
can be read, and how fast, depends on that, and whoever picks a study may see both.  So a table is read before a study
is known, against what the site says may be counted.  What comes of it are :class:`Records`: for every row and column
one whole number of four bytes.  Nothing in these can raise or delay, and whatever counts sees nothing else.

CSV needs the standard library alone.  Parquet needs pyarrow, and data frames narwhals and an engine, which are loaded
then.  Whatever goes wrong, no error repeats an entry.
"""

import csv
import os
import re
import secrets
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from fairgauge.canonical_json import decode, encode
from fairgauge.client.profile_entries import entry_text, is_inside, name_text
from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.study import Attribute, Metric, NoisyCounts

_Entries = list[Any]
# What a column of numbers is: ("person", ""), ("group", "sex"), ("one", "truth") or ("value", "recall").
Key = tuple[str, str]

# What stands for no entry: no group of the list, neither 0 nor 1, nobody; and for what is no number.
NONE = -1
NO_VALUE = -(2**31)
PERSON: Key = ("person", "")
TRUTH: Key = ("one", "truth")
PREDICTION: Key = ("one", "prediction")

_STOP = (KeyboardInterrupt, SystemExit)  # Polars panics with what is no Exception; these are somebody's wish
_ZERO_OR_ONE = re.compile(r"[01]\.0+")
_BINARY: Mapping[object, int] = {"0": 0, "1": 1, "false": 0, "true": 1}
_PLAIN = (str, int, float, bool)  # exactly these: a class of somebody's own compares as it likes
_VERSION = 1
_BYTES = 4
_DIGEST = 32
_LONGEST_HEAD = 2**24
_AGAIN = "Prepare the records: fairgauge agent --prepare SETTINGS"


@dataclass(frozen=True)
class RecordColumns:
    """Where things stand in a site's table.

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


@dataclass(frozen=True)
class CountedRecords:
    """What of a site's table is counted, and where that stands.

    Args:
        attributes: The attributes with their groups.
        metrics: The metrics with their ranges.
        confusion: Whether truth by prediction is counted.
        columns: Where things stand; each has the name of what it holds unless this says otherwise.
    """

    attributes: tuple[Attribute, ...]
    metrics: tuple[Metric, ...] = ()
    confusion: bool = False
    columns: RecordColumns = field(default_factory=RecordColumns)

    @property
    def keys(self) -> tuple[Key, ...]:
        """What there is a number of in every row, in the order of a file."""
        ones = (TRUTH, PREDICTION) if self.confusion else ()
        groups, values = (("group", one.name) for one in self.attributes), (("value", one.name) for one in self.metrics)
        return PERSON, *groups, *ones, *values

    def head(self, rows: int) -> bytes:
        """Return the first line of a file of so many rows: what is in it, and where that stood."""
        where = self.columns
        document = {
            "fairgauge-records": _VERSION,
            "attributes": [[one.name, *one.groups] for one in self.attributes],
            "metrics": [[one.name, one.low, one.high] for one in self.metrics],
            "confusion": self.confusion,
            "columns": [dict(where.groups), where.truth, where.prediction, where.value, where.person],
            "rows": rows,
        }
        return encode(document) + b"\n"


@dataclass(frozen=True, eq=False)
class Records:
    """A site's records in their one form: in every row as many numbers, whatever stood in the table.

    Args:
        counted: What they hold.
        rows: How many there are.
        numbers: By key, a number for each row: the place of the group in its attribute's list; 0 or 1; the value, from
            -2^30 for the metric's least to 2^30 for its largest; and the person, counted from 0.
        odd: Of each column how many entries are there and not what they should be, for the site's own eyes.
    """

    counted: CountedRecords
    rows: int
    numbers: Mapping[Key, "array[int]"]
    odd: tuple[str, ...] = ()

    @classmethod
    def read(cls, given: Any, counted: CountedRecords) -> "Records":
        """Read a table, whatever its records hold.

        Args:
            given: The path of a CSV or Parquet file, a data frame, or a mapping from columns to entries.
            counted: What is counted.

        Raises:
            InvalidInput: If it cannot be read, or a column is missing.
            MissingExtra: If what reads it is not installed.
        """
        readers = _readers(counted)
        wanted = [reader.column for reader in readers.values()]
        table = read_columns(given, list(dict.fromkeys(wanted)))
        rows = len(next(iter(table.values())))
        numbers = {PERSON: array("i", range(rows))} if counted.columns.person is None else {}
        odd = []
        for key, reader in readers.items():
            numbers[key], strange = reader.numbers(table[reader.column])
            if strange:
                odd.append(f"{strange:,} of {rows:,} entries of {reader.column} are {reader.strange}")
        return cls(counted, rows, numbers, tuple(odd))

    @classmethod
    def of(cls, mechanism: NoisyCounts, given: Any, columns: RecordColumns | None = None) -> "Records":
        """Read a table for what one study counts, as :meth:`read` does."""
        metric, factors = mechanism.metric, tuple(mechanism.attribute.factors)
        metrics = () if metric is None else (metric,)
        return cls.read(
            given, CountedRecords(factors, metrics, confusion=metric is None, columns=columns or RecordColumns())
        )

    def save(self, path: Path) -> None:
        """Write them to a file that its owner alone may read, whole or not at all.

        Raises:
            InvalidInput: If it cannot be written.
        """
        new = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
        try:
            with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode=0o600), "wb") as file:
                head = self.counted.head(self.rows)
                body = b"".join(_little(self.numbers[key]).tobytes() for key in self.counted.keys)
                for part in (head, _digest(head, body), body):
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except OSError as problem:
            raise InvalidInput("prepared", path, f"cannot be written: {problem.strerror}") from None
        finally:
            new.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path, counted: CountedRecords) -> "Records":
        """Read what :meth:`save` wrote.

        Raises:
            InvalidInput: If there is no such file, or it was written for other settings or is damaged; never for what a
                record holds.
        """
        try:
            with path.open("rb") as file:
                head, digest, body = file.readline(_LONGEST_HEAD), file.read(_DIGEST), file.read()
        except OSError as problem:
            raise InvalidInput("prepared", path, f"cannot be read: {problem.strerror}. {_AGAIN}") from None
        rows, keys = _rows(head), counted.keys
        if head != counted.head(rows) or len(body) != len(keys) * rows * _BYTES:
            raise InvalidInput("prepared", path, f"was not written for these settings. {_AGAIN}")
        # One bit that a disk lost would else be a number without a meaning in some records, and another one in others.
        if digest != _digest(head, body):
            raise InvalidInput("prepared", path, f"is damaged. {_AGAIN}")
        whole = _little(array("i", body))
        return cls(counted, rows, {key: whole[place * rows : (place + 1) * rows] for place, key in enumerate(keys)})


@dataclass(frozen=True)
class _Reader:
    """How a column of a table becomes numbers: where it is, what an entry is as one, and what does not fit."""

    column: str
    number: Callable[[Any], int]
    fits: Callable[[Any], bool]
    strange: str

    def numbers(self, entries: _Entries) -> tuple["array[int]", int]:
        """Return the number of each entry, and how many of them are there and do not fit."""
        found, odd = array("i"), 0
        known: dict[tuple[type, Any], tuple[int, bool]] = {}  # most entries are there many times
        for entry in entries:
            key = (type(entry), entry) if type(entry) in _PLAIN else None
            read = None if key is None else known.get(key)
            if read is None:
                read = self.number(entry), entry_text(entry) is not None and not self.fits(entry)
                if key is not None:
                    known[key] = read
            found.append(read[0])
            odd += read[1]
        return found, odd


def _readers(counted: CountedRecords) -> dict[Key, _Reader]:
    where = counted.columns
    found: dict[Key, _Reader] = {}
    for one in counted.attributes:
        place = partial(_place_of, _places(one))
        column, strange = where.groups.get(one.name, one.name), f"none of {', '.join(one.groups)}"
        found["group", one.name] = _Reader(column, place, partial(_is_there, place), strange)
    for key, column in ((TRUTH, where.truth), (PREDICTION, where.prediction)) if counted.confusion else ():
        found[key] = _Reader(column, binary, partial(_is_there, binary), "neither 0 nor 1")
    for metric in counted.metrics:
        strange = f"no number from {metric.low} to {metric.high}"
        column = where.value or metric.name
        found["value", metric.name] = _Reader(column, partial(position, metric), partial(is_inside, metric), strange)
    if where.person is not None:
        found[PERSON] = _Reader(where.person, partial(_numbered, {}), lambda _: True, "nobody")
    return found


def _is_there(number: Callable[[Any], int], entry: Any) -> bool:
    return number(entry) != NONE


def _places(attribute: Attribute) -> Mapping[str | None, int]:
    """Return the place of each name; of two names that are one number, such as 1 and 1.0, the first has all of it."""
    return {name_text(name): place for place, name in reversed([*enumerate(attribute.groups)])}


def _place_of(places: Mapping[str | None, int], entry: Any) -> int:
    return places.get(name_text(entry), NONE)


def _numbered(known: dict[str, int], entry: Any) -> int:
    name = name_text(entry)
    return NONE if name is None else known.setdefault(name, len(known))


def binary(entry: object) -> int:
    """Return 0 or 1 for an entry that says so, and ``NONE`` for every other."""
    text = (entry_text(entry) or "").lower()
    return int(text[0]) if _ZERO_OR_ONE.fullmatch(text) else _BINARY.get(text, NONE)  # 1.0, as floats have it


def position(metric: Metric, entry: object) -> int:
    """Return a value from -2^30 for the metric's least to 2^30 for its largest, and ``NO_VALUE`` for what is none.

    One outside of the range is its nearest end.  It is off by less than a billionth of the range.
    """
    found = metric.nearest(entry)
    return NO_VALUE if found is None else round(found)


def _digest(head: bytes, body: bytes) -> bytes:
    return sha256(head + body).digest()


def _rows(head: bytes) -> int:
    """Return how many rows the first line of a file says there are; none if it is no such line."""
    try:
        rows = decode(head.rstrip(b"\n"), error=InvalidInput).get("rows")
    except InvalidInput:
        rows = None
    return max(rows, 0) if type(rows) is int else 0


def _little(numbers: "array[int]") -> "array[int]":
    """Return numbers with the least byte first, or back: a file is the same on every machine."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers


def read_columns(given: Any, wanted: Sequence[str]) -> dict[str, _Entries]:
    """Return columns of a file, of a data frame of any engine that narwhals knows, or of a mapping.

    Rows stay together: a lazy frame is collected once, or one that shuffles would give each column another order.  One
    record that is broken does not end it, and takes no other one with it: each line of a CSV file is a record, whatever
    quotes are in it; one with more or fewer entries than names has no entry at all; bytes that are no UTF-8 are no
    group that a study lists and no number; and an entry that an engine cannot turn into one of Python's is missing.

    Args:
        given: The path of a CSV or Parquet file, a data frame, or a mapping from columns to entries.
        wanted: Columns that must be there.

    Raises:
        InvalidInput: If it cannot be read, a column is missing or there twice, or columns differ in length.
        MissingExtra: If what reads it is not installed.
    """
    if isinstance(given, str | Path):
        found = _file(Path(given), wanted)
    elif isinstance(given, Mapping):
        _check(wanted, given)
        found = {name: list(given[name]) for name in wanted}
    else:
        found = _frame(given, wanted)
    if len({len(entries) for entries in found.values()}) > 1:
        raise InvalidInput("records", "columns of different lengths", "must have an entry of each column in every row")
    return found


def _file(path: Path, wanted: Sequence[str]) -> dict[str, _Entries]:
    if path.suffix.lower() == ".csv":
        return _csv(path, wanted)
    if path.suffix.lower() != ".parquet":
        raise InvalidInput("records", path, "must end in .csv or .parquet")
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("reading Parquet needs pyarrow", "polars") from None
    names: Sequence[str] = ()
    table = None
    try:
        # Not by Polars, which reads no entry of a column of which one text is no UTF-8.
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            table = file.read(columns=[name for name in wanted if name in names])
    except _STOP:
        raise
    except BaseException:  # noqa: BLE001 - whatever an engine says, it may say it with an entry
        table = None
    if table is None:
        _unreadable(path)
    _check(wanted, names)
    columns = {name: table[name] for name in wanted}
    return {
        name: _entries(len(column), column.to_pylist, partial(_of_arrow, column)) for name, column in columns.items()
    }


def _of_arrow(column: Any, row: int) -> Any:
    return column[row].as_py()


def _csv(path: Path, wanted: Sequence[str]) -> dict[str, _Entries]:
    try:
        # A line ends with \n or \r\n and with nothing else: what one person wrote must not make several records.
        with path.open(newline="\n", encoding="utf-8-sig", errors="surrogateescape") as file:
            names = next(csv.reader([file.readline()]), [])
            _check(wanted, names)
            places = {name: names.index(name) for name in wanted}
            found: dict[str, _Entries] = {name: [] for name in places}
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


def _frame(given: Any, wanted: Sequence[str]) -> dict[str, _Entries]:
    try:
        import narwhals as nw
    except ImportError:
        raise MissingExtra("reading data frames needs narwhals", "lab") from None
    try:
        frame: Any = nw.from_native(given).lazy()
    except TypeError:
        rule = "must be a data frame of pandas, Polars, Arrow, PySpark, Dask, DuckDB or another engine of narwhals"
        raise InvalidInput("records", type(given).__name__, rule) from None
    except _STOP:
        raise
    except BaseException:  # noqa: BLE001 - two columns of one name, and whatever else a frame can be
        frame = None
    names: Sequence[str] = ()
    found: dict[str, _Entries] | None = None
    try:
        names = frame.collect_schema().names()
        if set(wanted) <= set(names):
            collected = frame.select(wanted).collect()
            columns = {name: collected[name] for name in wanted}
            found = {
                name: _entries(len(column), column.to_list, column.__getitem__) for name, column in columns.items()
            }
    except _STOP:
        raise
    except BaseException:  # noqa: BLE001 - a lazy frame reads its file now, and may complain with an entry
        names, found = (), None
    if found is not None:
        return found
    if not names:
        raise InvalidInput("records", type(given).__name__, "cannot be read")
    _check(wanted, names)
    raise AssertionError("unreachable: what is wanted is there")  # pragma: no cover


def _entries(rows: int, whole: Callable[[], Iterable[Any]], one: Callable[[int], Any]) -> _Entries:
    """Return a column's entries; None for one that cannot be had, such as a text that is no UTF-8, or a day in 5000000.

    Args:
        rows: How many there are.
        whole: Gives all of them.
        one: Gives one of them, where they cannot be had together.
    """
    try:
        return list(whole())
    except _STOP:
        raise
    except BaseException:  # noqa: BLE001 - an engine panics for one entry
        return [_entry(one, row) for row in range(rows)]


def _entry(one: Callable[[int], Any], row: int) -> Any:
    try:
        return one(row)
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
