"""A site's own file: where its records are and how they are read, its ledger, and how far it goes.

Where a framework asks a site, this file is all that says which records count.  Neither a server nor the code that a
server ships has a say in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairgauge.canonical import decode, read_file
from fairgauge.client.limits import LIFETIME_LIMIT, STUDY_LIMIT, Limits, read_limit
from fairgauge.client.records import Columns
from fairgauge.errors import InvalidInput

_FIELDS = ("records", "columns", "ledger", "limit", "study_limit", "studies", "empty")
_COLUMNS = ("groups", "truth", "prediction", "value", "person")


@dataclass(frozen=True)
class SiteSettings:
    """What a site counts and how far it goes.

    Args:
        records: The file with its records, CSV or Parquet; read when a study is answered, once.
        ledger: The file that remembers what was answered.
        columns: Where things stand in the records.
        limits: The most that it spends for each person.
        studies: Digests of the studies that it answers; None for any within its limits.
        empty: Whether it answers though there is no record, with noise alone.
    """

    records: Path
    ledger: Path
    columns: Columns = field(default_factory=Columns)
    limits: Limits = field(default_factory=Limits)
    studies: frozenset[str] | None = None
    empty: bool = False

    @classmethod
    def load(cls, path: str | Path) -> "SiteSettings":
        """Read the settings; relative paths in them begin at the file's own folder.

        ``{"records": "patients.csv", "columns": {"groups": {"sex": "gender"}, "person": "patient"}, "limit": "8"}``

        Raises:
            InvalidInput: Naming the field.
        """
        document = decode(read_file(path, field="settings"), error=InvalidInput)
        _known("", document, _FIELDS)
        home = Path(path).absolute().parent
        studies = document.get("studies")
        if studies is not None and not (isinstance(studies, list) and all(isinstance(one, str) for one in studies)):
            raise InvalidInput("studies", studies, "must be a list of digests")
        empty = document.get("empty", False)
        if not isinstance(empty, bool):
            raise InvalidInput("empty", empty, "must be true or false")
        return cls(
            records=home / _text(document, "records"),
            ledger=home / _text(document, "ledger", "ledger.sqlite3"),
            columns=_columns(document.get("columns", {})),
            limits=Limits(
                read_limit("limit", _text(document, "limit", str(LIFETIME_LIMIT))),
                read_limit("study_limit", _text(document, "study_limit", str(STUDY_LIMIT))),
            ),
            studies=None if studies is None else frozenset(studies),
            empty=empty,
        )


def _columns(given: Any) -> Columns:
    if not isinstance(given, Mapping):
        raise InvalidInput("columns", given, 'must be an object, such as {"truth": "sick"}')
    _known("columns.", given, _COLUMNS)
    groups = given.get("groups", {})
    if not isinstance(groups, Mapping) or not all(isinstance(one, str) and one for one in groups.values()):
        raise InvalidInput("columns.groups", groups, 'must give a column for each attribute, such as {"sex": "gender"}')
    named = {name: _text(given, name) for name in _COLUMNS[1:] if given.get(name) is not None}
    return Columns(dict(groups), **named)


def _known(where: str, document: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in document:
        if name not in names:
            raise InvalidInput(f"{where}{name}", document[name], f"must be one of {', '.join(names)}")


def _text(document: Mapping[str, Any], name: str, default: str | None = None) -> str:
    found = document.get(name, default)
    if not isinstance(found, str) or not found:
        raise InvalidInput(name, found, "must be text")
    return found
