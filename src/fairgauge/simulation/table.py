"""Tables as people have them: CSV, Parquet, a data frame or a mapping, row by row, whatever columns are called.

What a row means is not known here; :mod:`fairgauge.simulation.people` knows it from a study, and
:mod:`fairgauge.planning.table_summary` guesses it.
"""

import csv
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from io import TextIOWrapper
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from fairgauge.errors import InvalidInput, MissingExtra

# Called with how much is read and how much there is: bytes of a file, rows of a frame.
Progress = Callable[[int, int], object]
Row = tuple[Any, ...]

# What people write where they know nothing; a study's own group of that name is none of them.
MISSING = frozenset({"", "n/a", "na", "#n/a", "nan", "none", "null", "nil", "-", "--", ".", "?"})
_SUFFIXES = {".csv": None, ".tsv": "\t", ".txt": None}
UNICODE, WINDOWS = "utf-8-sig", "cp1252"
_BLOCK = 2**20
_OFTEN = 2**16  # rows between two reports of progress
_MOST_ABOVE = 20  # lines in which the names of the columns are looked for
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")


@dataclass(frozen=True)
class PeopleTable:
    """A table that is open: the names of its columns, and how to go through its rows.

    Args:
        names: The columns, in order, numbered where several have one name; those without a name are empty text.
        picked: Yields for each row where it stands and its entries in these columns; None for a row that has another
            number of entries than there are names.
        decimal_comma: Whether ``0,85`` is a number, as in files whose columns are parted by semicolons.
        encoding: How a file of text is written: in UTF-8, or as spreadsheets on Windows write it.
    """

    names: tuple[str, ...]
    picked: Callable[[Sequence[str]], Iterator[tuple[int, Row | None]]]
    decimal_comma: bool = False
    encoding: str = UNICODE


def open_table(given: Any, *, progress: Progress | None = None) -> PeopleTable:
    """Open a table.

    Args:
        given: The path of a CSV or Parquet file, a data frame of any library that narwhals knows, or a mapping from
            columns to entries.
        progress: Hears how far reading is.

    Raises:
        InvalidInput: If it is none, or cannot be read.
        MissingExtra: If what reads it is not installed.
    """
    if isinstance(given, str | Path):
        return _file(Path(given), progress)
    if isinstance(given, Mapping):
        return _mapping(given)
    return _frame(given)


def _file(path: Path, progress: Progress | None) -> PeopleTable:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _frame(_parquet(path))
    if suffix in (".xls", ".xlsx", ".ods"):
        raise InvalidInput("table", path, "must be CSV or Parquet: save the sheet as CSV in UTF-8")
    encoding = _encoding(path)
    with _reading(path), path.open(encoding=encoding, newline="") as file:
        top = list(islice(file, _MOST_ABOVE))
    above, mark = _names_line(top, _SUFFIXES.get(suffix))
    if not "".join(top).strip():
        raise InvalidInput("table", path, "must have a line with the names of its columns, and a row for each person")
    with _reading(path), path.open(encoding=encoding, newline="") as file:
        names = _apart([name.strip() for name in next(csv.reader(islice(file, above, None), delimiter=mark))])

    def rows(wanted: Sequence[str]) -> Iterator[tuple[int, Row | None]]:
        places = [names.index(name) for name in wanted]
        pick, whole = _picker(places), len(names)
        with _reading(path), path.open("rb") as binary, TextIOWrapper(binary, encoding, newline="") as file:
            size, reader = path.stat().st_size, csv.reader(islice(file, above, None), delimiter=mark)
            next(reader)
            for number, row in enumerate(reader):
                if len(row) == whole:
                    yield above + reader.line_num, pick(row)
                elif row:  # an empty line is no row
                    yield above + reader.line_num, None
                if progress is not None and number % _OFTEN == 0:
                    progress(binary.tell(), size)

    return PeopleTable(names, rows, decimal_comma=mark == ";", encoding=encoding)


def _names_line(top: Sequence[str], mark: str | None) -> tuple[int, str]:
    """Return how many lines stand above the names of the columns, and what parts columns.

    Above the names there may be a title or ``sep=;``, as spreadsheets write them: lines with one entry, or none.

    >>> _names_line(["sep=;", "Export of March;;", "sex;recall;", "F;0,8;"], None)
    (2, ';')
    >>> _names_line(["recall", "0,8"], None)
    (0, ',')
    """
    for above, line in enumerate(top):
        parted_by = mark or max(",;\t", key=line.count)
        entries = [entry for part in line.split(parted_by) if (entry := part.strip())]
        # Numbers below a single name are that column's, with commas of their own.
        if len(entries) > 1 and (not above or all(number(entry) is None for entry in entries)):
            return above, parted_by
    return 0, mark or ","


def _apart(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of columns, numbered where several have one: which of them is meant must be said.

    >>> _apart(["sex", "recall", "recall", "", ""])
    ('sex', 'recall (1)', 'recall (2)', '', '')
    """
    return tuple(
        f"{name} ({names[: place + 1].count(name)})" if name and names.count(name) > 1 else name
        for place, name in enumerate(names)
    )


def _encoding(path: Path) -> str:
    """Return how a file is written: UTF-8 if all of it is, with a mark of its order UTF-16, and else as on Windows."""
    decoder = getincrementaldecoder(UNICODE)()
    with _reading(path), path.open("rb") as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            return "utf-16"
        file.seek(0)
        try:
            while block := file.read(_BLOCK):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return WINDOWS
    return UNICODE


class _reading:  # noqa: N801 - a context, used like a function
    """Say which file cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, problem: BaseException | None, __: object) -> None:
        if isinstance(problem, UnicodeDecodeError | csv.Error):
            rule = f"must be CSV in UTF-8 ({problem}); spreadsheets save it as CSV UTF-8"
            raise InvalidInput("table", self.path, rule) from None
        if isinstance(problem, OSError):
            raise InvalidInput("table", self.path, f"cannot be read: {problem.strerror or problem}") from None


def _picker(places: Sequence[int]) -> Callable[[Sequence[Any]], Row]:
    if len(places) == 1:
        (place,) = places
        return lambda row: (row[place],)
    return itemgetter(*places) if places else lambda _: ()


def _parquet(path: Path) -> Any:
    try:
        import polars
    except ImportError:
        raise MissingExtra("reading Parquet needs Polars", "polars") from None
    try:
        return polars.read_parquet(path)
    except OSError as problem:
        raise InvalidInput("table", path, f"cannot be read: {problem.strerror or problem}") from None
    except Exception as problem:  # noqa: BLE001 - an engine's own
        raise InvalidInput("table", path, f"cannot be read as Parquet: {problem}") from None


def _mapping(given: Mapping[Any, Any]) -> PeopleTable:
    columns = {str(name): list(entries) for name, entries in given.items()}
    if len({len(entries) for entries in columns.values()}) > 1:
        raise InvalidInput("table", "columns of different lengths", "must have an entry of each column in every row")

    def rows(wanted: Sequence[str]) -> Iterator[tuple[int, Row | None]]:
        return enumerate(zip(*(columns[name] for name in wanted), strict=True))

    return PeopleTable(tuple(columns), rows)


def _frame(given: Any) -> PeopleTable:
    try:
        import narwhals as nw
    except ImportError:
        raise MissingExtra("reading data frames needs narwhals", "lab") from None
    try:
        frame: Any = nw.from_native(given).lazy().collect()
    except TypeError:
        rule = "must be the path of a CSV or Parquet file, or a data frame, such as one of pandas, Polars or Arrow"
        raise InvalidInput("table", f"a {type(given).__name__}", rule) from None
    except nw.exceptions.DuplicateError as problem:
        raise InvalidInput(
            "table", f"a {type(given).__name__}", f"must have columns of different names: {problem}"
        ) from None

    def rows(wanted: Sequence[str]) -> Iterator[tuple[int, Row | None]]:
        return enumerate(frame.select(list(wanted)).iter_rows())

    return PeopleTable(tuple(map(str, frame.columns)), rows)


def label(entry: Any) -> str:
    """Return an entry as people would write it; empty text where there is none.

    >>> label(" F "), label(2.0), label(float("nan")), label(None)
    ('F', '2', '', '')
    """
    if isinstance(entry, str):
        return entry.strip()
    try:
        if entry is None or entry != entry:  # noqa: PLR0124 - what is missing does not equal itself
            return ""
    except TypeError:
        return ""  # pandas.NA is neither equal nor unequal
    return str(int(entry)) if isinstance(entry, float) and entry.is_integer() else str(entry).strip()


def number(entry: Any, *, decimal_comma: bool = False, hundred: bool = False) -> Decimal | None:
    """Return an entry as a number; None for what is none.

    A percent sign divides by a hundred, unless values run to a hundred (``hundred``) as they stand.  A comma that can
    part no thousands is a decimal comma; with ``decimal_comma`` every comma is one.

    >>> number("76.5%"), number("76.5 %", hundred=True), number("0,85", decimal_comma=True), number("x")
    (Decimal('0.765'), Decimal('76.5'), Decimal('0.85'), None)
    >>> number("89,9 %"), number("0,850"), number("1,234"), number("1,234", decimal_comma=True)
    (Decimal('0.899'), Decimal('0.850'), Decimal('1234'), Decimal('1.234'))
    """
    if isinstance(entry, bool):
        return Decimal(int(entry))
    if not isinstance(entry, str):
        entry = str(entry) if type(entry).__module__ == "numpy" else entry
        try:
            exact = Decimal(entry)
        except (InvalidOperation, TypeError, ValueError):
            return None
        return exact if exact.is_finite() else None
    text = entry.strip()
    percent = text.endswith("%")
    text = text[:-1].rstrip() if percent else text
    if _COMMA.fullmatch(text) and (decimal_comma or not _THOUSANDS.fullmatch(text)):
        text = text.replace(",", ".")
    elif _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    if not exact.is_finite():
        return None
    return exact / 100 if percent and not hundred else exact
