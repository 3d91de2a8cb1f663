"""A site that holds many people: its own file, and its one answer to each study that the file allows.

The file says where the records are and how they are read, what may be counted, and how far the site goes.  Where a
framework asks a site, it is all that says so: neither a server nor the code that a server ships has a say in it.

First comes all that depends on the study and on these settings; a refusal there may be told.  Then there is an answer,
from what was made of the records when the site was set up: what cannot be counted is left out.  Only a site that was
not set up, or whose ledger cannot be used, has none.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairgauge.canonical_json import decode, read_file
from fairgauge.client.answer import Answer, contributor_of
from fairgauge.client.budget import LIFETIME_LIMIT, STUDY_LIMIT, Limits, read_limit
from fairgauge.client.durable_files import make_folder
from fairgauge.client.ledger import Ledger
from fairgauge.client.policy import FIELDS, Policy
from fairgauge.client.refusals import UNTOLD, Refusal, check_whoever
from fairgauge.client.site_records import CountedRecords, RecordColumns, Records
from fairgauge.errors import CannotAnswer, FairgaugeError, InvalidInput
from fairgauge.study import Study

_logger = logging.getLogger(__name__)
_FIELDS = ("records", "prepared", "columns", "ledger", "limit", "study_limit", "empty", *FIELDS)
_COLUMNS = ("groups", "truth", "prediction", "value", "person")


@dataclass(frozen=True)
class SiteSettings:
    """What a site counts and how far it goes.

    Args:
        records: The table with its records, CSV or Parquet; read when the site is set up, and not for a study.
        prepared: The file that holds what was read from it, and from which studies are answered.
        ledger: The file that remembers what was answered.
        columns: Where things stand in the records.
        limits: The most that it spends for each person.
        policy: What may be counted.
        empty: Whether it answers though there is no record, with noise alone.
    """

    records: Path
    prepared: Path
    ledger: Path
    columns: RecordColumns = field(default_factory=RecordColumns)
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=Policy)
    empty: bool = False

    @classmethod
    def load(cls, path: str | Path) -> "SiteSettings":
        """Read the settings; relative paths in them begin at the file's own folder.

        What may be counted must be among them: the records are read before a study is known, and one that named
        columns of its own choice would learn from a refusal which the records have.

        ``{"records": "patients.csv", "attributes": {"sex": ["female", "male"]}, "confusion": true,
        "columns": {"groups": {"sex": "gender"}, "person": "patient"}, "limit": "8"}``

        Raises:
            InvalidInput: Naming the field.
        """
        document = decode(read_file(path, field="settings"), error=InvalidInput)
        _known("", document, _FIELDS)
        home = Path(path).absolute().parent
        policy = Policy.read(document)
        if policy.counted is None:
            rule = 'must say what may be counted, as {"sex": ["female", "male"]} with "metrics" or "confusion": true'
            raise InvalidInput("attributes", document.get("attributes"), rule)
        empty = document.get("empty", False)
        if not isinstance(empty, bool):
            raise InvalidInput("empty", empty, "must be true or false")
        ledger = home / _text(document, "ledger", "ledger.sqlite3")
        return cls(
            records=home / _text(document, "records"),
            prepared=home / _text(document, "prepared", str(ledger.with_suffix(".records"))),
            ledger=ledger,
            columns=_columns(document.get("columns", {})),
            limits=Limits(
                read_limit("limit", _text(document, "limit", str(LIFETIME_LIMIT))),
                read_limit("study_limit", _text(document, "study_limit", str(STUDY_LIMIT))),
            ),
            policy=policy,
            empty=empty,
        )

    @property
    def counted(self) -> CountedRecords:
        """What of the records may be counted, and where that stands."""
        attributes, metrics, confusion = self.policy.counted or ((), (), False)
        return CountedRecords(attributes, metrics, confusion, self.columns)

    def load_records(self) -> Records:
        """Return what was prepared.

        Raises:
            InvalidInput: If nothing was, or for other settings; never for what a record holds.
        """
        return Records.load(self.prepared, self.counted)

    def prepare(self) -> Records:
        """Read the table before any study is known, and write what every study is answered from.

        What was prepared before stays if that fails.

        Raises:
            InvalidInput: If it cannot be read or written.
            CannotAnswer: If there is no record, and the settings do not say that this is meant.
        """
        found = Records.read(self.records, self.counted)
        if not found.rows and not self.empty:
            otherwise = 'If the site really has nobody to count, its settings say "empty": true'
            raise CannotAnswer(f"there is no record, so every answer would be noise alone. {otherwise}")
        try:
            make_folder(self.prepared)
        except OSError as problem:
            raise InvalidInput("prepared", self.prepared, f"cannot be written: {problem.strerror}") from None
        found.save(self.prepared)
        return found


def _columns(given: Any) -> RecordColumns:
    if not isinstance(given, Mapping):
        raise InvalidInput("columns", given, 'must be an object, such as {"truth": "sick"}')
    _known("columns.", given, _COLUMNS)
    groups = given.get("groups", {})
    if not isinstance(groups, Mapping) or not all(isinstance(one, str) and one for one in groups.values()):
        raise InvalidInput("columns.groups", groups, 'must give a column for each attribute, such as {"sex": "gender"}')
    named = {name: _text(given, name) for name in _COLUMNS[1:] if given.get(name) is not None}
    return RecordColumns(dict(groups), **named)


def _known(where: str, document: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in document:
        if name not in names:
            raise InvalidInput(f"{where}{name}", document[name], f"must be one of {', '.join(names)}")


def _text(document: Mapping[str, Any], name: str, default: str | None = None) -> str:
    found = document.get(name, default)
    if not isinstance(found, str) or not found:
        raise InvalidInput(name, found, "must be text")
    return found


def answer_asked(settings: str | Path, study: Study) -> Answer | Refusal:
    """Answer a study for sites as the site's own file says, or repeat the answer that it got.

    Guarantee: exact; the counts are epsilon-differentially private for each person, over the ledger's lifetime each
    study gets noise once, and no entry of a record decides whether there is an answer.

    Args:
        settings: The site's own file (:class:`~fairgauge.client.site_settings.SiteSettings`).
        study: The study.
    """
    try:
        own = SiteSettings.load(settings)
    except FairgaugeError as problem:
        return Refusal("settings", str(problem))
    return refused_by(own, study) or answer_by(own, study)


def refused_by(own: SiteSettings, study: Study) -> Refusal | None:
    """Return why a site refuses a study whatever its records are; None if it would answer, or has."""
    for_devices = Refusal("unable", "the study is for devices of one person, and this is a site that holds many")
    unable: Refusal | None = contributor_of(study).choose(profile=for_devices, records=None)
    refused = unable or own.policy.refused(study)
    if refused is not None:
        return refused
    try:
        make_folder(own.ledger)
        ledger = Ledger(own.ledger)
        known = ledger.state(study.digest) is not None
    except (FairgaugeError, OSError) as problem:
        return Refusal("ledger", str(problem))
    return None if known else check_whoever(study, ledger, own.limits)


def answer_by(own: SiteSettings, study: Study) -> Answer | Refusal:
    """Answer a study that the site does not refuse, or repeat its answer."""
    try:
        ledger = Ledger(own.ledger)
        known = ledger.find(study.digest) is not None
        # What was answered before is repeated, and no record is read for it.
        records = None if known else own.load_records()
        found = ledger.answer(study, records, limit=own.limits)
    except FairgaugeError as problem:
        return Refusal(UNTOLD, str(problem))
    _logger.info("study %s: answered by this site", study.digest)
    return found
