"""Read a site's records from a file or a data frame, without repeating any of them in an error.

CSV needs the standard library alone.  Parquet and lazy frames need narwhals and an engine, which are loaded then.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any, NoReturn

from fairgauge.client.site import Record, entry_text
from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.study import Site


@dataclass(frozen=True)
class Columns:
    """Where things stand in a site's records.

    Args:
        groups: The column of each attribute whose name it has not itself.
        truth: The column that says what was right, 0 or 1.
        prediction: The column that says what the model said, 0 or 1.
        value: The column of the metric, unless it has the metric's name.
        person: The column that tells people apart; without one each record is a person of its own.  With one, a record
            that names nobody is left out: nobody could say how many of one person there are.
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    truth: str = "truth"
    prediction: str = "prediction"
    value: str | None = None
    person: str | None = None

    def of(self, site: Site) -> tuple[list[str], list[str]]:
        """Return the columns of the groups and those of the outcome."""
        factors = [factor.name for factor in site.attribute.factors]
        for name in self.groups:
            if name not in factors:
                raise InvalidInput("group column", name, f"must be for one of {', '.join(factors)}: NAME=COLUMN")
        groups = [self.groups.get(name, name) for name in factors]
        if site.metric is None:
            return groups, [self.truth, self.prediction]
        return groups, [self.value or site.metric.name]


def records_of(site: Site, given: Any, columns: Columns | None = None) -> Iterator[Record]:
    """Return the records of a file, or of a data frame of any engine that narwhals knows.

    Args:
        site: What is counted.
        given: The path of a CSV or Parquet file, a data frame, or a mapping from columns to entries.
        columns: Where things stand; each has the name of what it holds unless this says otherwise.

    Raises:
        InvalidInput: If the file cannot be read, or a column is missing.
    """
    columns = columns or Columns()
    groups, outcome = columns.of(site)
    wanted = [*groups, *outcome, *([columns.person] if columns.person else [])]
    if isinstance(given, str | Path):
        given = _table(Path(given), wanted)
    series = [_column(given, name) for name in wanted]
    people: Iterable[object] = map(entry_text, series.pop()) if columns.person else repeat(None)
    ends = len(groups)
    rows = zip(zip(*series[:ends], strict=True), zip(*series[ends:], strict=True), strict=True)
    found = ((person, *row) for person, row in zip(people, rows, strict=False))
    return (record for record in found if record[0] is not None) if columns.person else found


def _table(path: Path, wanted: Sequence[str]) -> Any:
    if path.suffix.lower() == ".csv":
        return _csv(path, wanted)
    if path.suffix.lower() != ".parquet":
        raise InvalidInput("records", path, "must end in .csv or .parquet")
    try:
        import polars

        return polars.read_parquet(path)
    except ImportError:
        raise MissingExtra("reading Parquet needs Polars", "polars") from None
    except Exception:  # noqa: BLE001, S110 - whatever an engine says, it may say it with an entry
        pass
    return _unreadable(path)


def _csv(path: Path, wanted: Sequence[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in wanted}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file, strict=True)
            names = rows.fieldnames or ()
            if missing := next((name for name in wanted if name not in names), None):
                _missing(missing, names)
            for row in rows:
                for name, entries in found.items():
                    entries.append(row[name])
        return found
    except (OSError, UnicodeDecodeError, csv.Error):
        pass  # its text may hold an entry
    return _unreadable(path)


def _column(given: Any, name: str) -> Iterable[Any]:
    if isinstance(given, Mapping):
        if name not in given:
            _missing(name, given)
        return list(given[name])
    try:
        import narwhals as nw
    except ImportError:
        raise MissingExtra("reading data frames needs narwhals", "lab") from None
    try:
        frame: Any = nw.from_native(given).lazy()
    except TypeError:
        rule = "must be a data frame of pandas, Polars, Arrow, PySpark, Dask, DuckDB or another engine of narwhals"
        raise InvalidInput("records", type(given).__name__, rule) from None
    names: Iterable[str]
    found: list[Any] | None
    try:
        names = frame.collect_schema().names()
        found = list(frame.select(name).collect()[name]) if name in names else None
    except Exception:  # noqa: BLE001 - a lazy frame reads its file now, and may complain with an entry
        names, found = (), None
    if not names:
        raise InvalidInput("records", type(given).__name__, "cannot be read")
    if found is None:
        _missing(name, names)
    return found


def _missing(name: str, names: Iterable[str]) -> NoReturn:
    raise InvalidInput("column", name, f"must be there; the records have {', '.join(map(str, names)) or 'none'}")


def _unreadable(path: Path) -> NoReturn:
    raise InvalidInput("records", path, "cannot be read as a table in UTF-8 with a line of names at its top")
