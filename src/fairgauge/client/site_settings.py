"""A site's own file: where its records are and how they are read, its ledger, and how far it goes.

Where a framework asks a site, this file is all that says which records count.  Neither a server nor the code that a
server ships has a say in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from fairgauge.canonical import decode, read_file
from fairgauge.client.entries import entry_text
from fairgauge.client.limits import LIFETIME_LIMIT, STUDY_LIMIT, Limits, read_limit
from fairgauge.client.policy import FIELDS, Policy, is_inside
from fairgauge.client.records import Columns, read_columns
from fairgauge.client.site import binary, listed_group
from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute

_FIELDS = ("records", "columns", "ledger", "limit", "study_limit", "empty", *FIELDS)
_COLUMNS = ("groups", "truth", "prediction", "value", "person")


@dataclass(frozen=True)
class SiteSettings:
    """What a site counts and how far it goes.

    Args:
        records: The file with its records, CSV or Parquet; read when a study is answered, once.
        ledger: The file that remembers what was answered.
        columns: Where things stand in the records.
        limits: The most that it spends for each person.
        policy: What may be counted.
        empty: Whether it answers though there is no record, with noise alone.
    """

    records: Path
    ledger: Path
    columns: Columns = field(default_factory=Columns)
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=Policy)
    empty: bool = False

    @classmethod
    def load(cls, path: str | Path) -> "SiteSettings":
        """Read the settings; relative paths in them begin at the file's own folder.

        What may be counted must be among them: a study would otherwise name columns of its own choice, and whether
        there is an answer would tell which the records have.

        ``{"records": "patients.csv", "attributes": {"sex": ["female", "male"]}, "confusion": true,
        "columns": {"groups": {"sex": "gender"}, "person": "patient"}, "limit": "8"}``

        Raises:
            InvalidInput: Naming the field.
        """
        document = decode(read_file(path, field="settings"), error=InvalidInput)
        _known("", document, _FIELDS)
        home = Path(path).absolute().parent
        policy = Policy.read(document)
        if not policy.settles:
            rule = 'must say what may be counted, as {"sex": ["female", "male"]} with "metrics" or "confusion": true'
            raise InvalidInput("attributes", document.get("attributes"), rule)
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
            policy=policy,
            empty=empty,
        )

    def check_records(self) -> list[str]:
        """Hold the records against what may be counted, at set-up and before any study is known.

        Returns:
            For each column how many entries are left out, or moved to an end of the range; with no entry in it.  It is
            for the site's own eyes.

        Raises:
            InvalidInput: If the records cannot be read, or lack a column.
        """
        attributes, metrics = self.policy.attributes, self.policy.metrics
        if attributes is None or metrics is None:
            return []  # studies are on a list, and name what they count
        checks: list[tuple[str, str, Callable[[object], bool]]] = [
            (self.columns.groups.get(name, name), f"none of {', '.join(one.groups)}", partial(_is_group, one))
            for name, one in attributes.items()
        ]
        checks += [
            (self.columns.value or name, f"no number from {one.low} to {one.high}", partial(is_inside, one))
            for name, one in metrics.items()
        ]
        if self.policy.confusion:
            checks += [(name, "neither 0 nor 1", _is_binary) for name in (self.columns.truth, self.columns.prediction)]
        if self.columns.person is not None:
            checks.append((self.columns.person, "nobody", lambda _: True))
        table = read_columns(self.records, list(dict.fromkeys(column for column, _, _ in checks)))
        found = []
        for column, what, fits in checks:
            odd = sum(entry_text(entry) is not None and not fits(entry) for entry in table[column])
            if odd:
                found.append(f"{odd:,} of {len(table[column]):,} entries of {column} are {what}")
        return found


def _is_group(attribute: Attribute, entry: object) -> bool:
    return listed_group(attribute, entry) is not None


def _is_binary(entry: object) -> bool:
    return binary(entry) is not None


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
