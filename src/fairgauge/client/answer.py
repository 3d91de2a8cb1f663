"""Answer a study: whether it may be answered, by whom, and the answer; what is in it is drawn by ``randomiser``."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from typing import Any, Protocol, TypeVar

from fairgauge.canonical_json import decode, encode, members, read_file, write_file
from fairgauge.channel import Channel
from fairgauge.client.budget import Limits
from fairgauge.client.profile_entries import entry_of, is_mapping
from fairgauge.client.randomiser import randomise
from fairgauge.errors import CannotAnswer, InvalidInput
from fairgauge.study import Metric, NoisyCounts, Study
from fairgauge.study.field_checks import check_arguments
from fairgauge.study.mechanism import Registry, payload_field
from fairgauge.study.noisy_counts import MOST_IN_CELL

_One = TypeVar("_One")
ID_BYTES = 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What leaves a device or a site: the study's digest, a random id, and what the study's mechanism drew.

    A document has one number as its ``symbol``, and several as its ``counts``.

    Args:
        study: The study's digest.
        id: A random id, or the ticket that lets the answer in.
        payload: One symbol, in the study's numbering; or a noisy count for each cell, which may be negative.
    """

    study: str
    id: str
    payload: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_digest(self.study)
        _check_id(self.id)
        if len(self.payload) == 1:
            if type(self.payload[0]) is not int or self.payload[0] < 0:
                raise InvalidInput("symbol", self.payload[0], "must be an integer from 0 up")
            return
        for cell, count in enumerate(self.payload):
            if type(count) is not int or abs(count) > MOST_IN_CELL:
                raise InvalidInput(f"counts[{cell}]", count, "must be an integer from -(2^26 - 1) to 2^26 - 1")

    @classmethod
    def from_bytes(cls, data: bytes) -> "Answer":
        """Read an answer.

        Raises:
            InvalidInput: If it breaks the format.
        """
        document = decode(data, error=InvalidInput)
        field = "counts" if "counts" in document else "symbol"
        study, name, drawn = members(document, "study", "id", field, error=InvalidInput)
        if field == "symbol":
            return cls(study, name, (drawn,))
        if not isinstance(drawn, list) or len(drawn) < 2:
            raise InvalidInput("counts", drawn, "must be an array of two numbers or more")
        return cls(study, name, tuple(drawn))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Answer":
        """Read an answer from a file."""
        return cls.from_bytes(read_file(path, field="answer"))

    def to_dict(self) -> dict[str, object]:
        """Return the members of the document."""
        drawn = self.payload[0] if len(self.payload) == 1 else list(self.payload)
        return {"study": self.study, "id": self.id, payload_field(len(self.payload)): drawn}

    def to_bytes(self) -> bytes:
        """Return the canonical bytes (RFC 8785)."""
        return encode(self.to_dict())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the canonical bytes to a file, whole or not at all."""
        write_file(path, self.to_bytes(), field="answer")


def answer(study: Study, profile: Any, *, limit: Limits | None = None, ticket: str | None = None) -> Answer:
    """Answer one table of a study, picked by a secure coin, with what its mechanism draws.

    It remembers nothing: whoever calls it twice for one person spends twice, and the limit for one study is all that
    it keeps to.  A :class:`~fairgauge.client.ledger.Ledger` answers each study once, and keeps to the limit for a
    lifetime too.

    Whether the device refuses depends on the study, its clock and its limits, never on the coin, the group or a value:
    a refusal costs nothing, so whoever picks the study could read from refusals what the table hides.  A group that the
    study does not list, a group or a value that is missing, and a value that is no number are answered by the row for
    those who abstain; where there is none, by one of all rows, each as likely as any other.  A value outside of the
    metric's range counts as its nearest end.  It refuses a study that asks for what it cannot do.

    Guarantee: exact; whether there is an answer does not depend on the profile, and the answer is
    epsilon-differentially private for the study's exact epsilon.

    Args:
        study: The study, whose tables are checked again here.
        profile: ``{"group": "female", "values": {"recall": 0.83}}``, with ``{"sex": "female", "age": "old"}``
            for the group where the study has several attributes, or crosses them, and ``None`` for what the device
            lacks.  For a study of sites its :class:`~fairgauge.client.site_records.Records`.
        limit: What the device is willing to spend; epsilon 4 for one study unless it says otherwise.
        ticket: Proof that the device may answer; it becomes the answer's id, which is random without one.

    Raises:
        InvalidInput: If the study or the ticket is not one.
        NotPrivate: If a table spends more than the study declares, or than one study may.
        CannotAnswer: If the study is not open by this device's clock, or asks for what it cannot do, or the profile is
            none; the text never holds the group or a value.
    """
    check_arguments(study=(study, Study))
    if ticket is not None:
        check_ticket(ticket)
    check_able(study, ticket)
    check_time(study)
    study.check_privacy()
    (limit or Limits()).check_study(study)
    check_held(study, profile)
    payload = contributor_of(study).draw(study, profile)
    return Answer(study.digest, secrets.token_hex(ID_BYTES) if ticket is None else ticket, payload)


def check_held(study: Study, held: object) -> None:
    """Refuse what cannot be what a study asks for, whatever is in it: that is a mistake of the program."""
    contributor_of(study).check_held(held)


class Contributor(Protocol):
    """Who answers, by the mechanism: a person by a profile, or a site by the records of many."""

    def check_held(self, held: Any) -> None:
        """Refuse what cannot be what is held."""

    def draw(self, study: Study, held: Any) -> tuple[int, ...]:
        """Draw what leaves the contributor, as the study's mechanism does."""

    def metrics(self, study: Study) -> Sequence[Metric] | None:
        """Return what must be held for each person, with its range; None where that is truth and prediction."""

    def is_unnamed(self, held: Any) -> bool:
        """Tell whether a person's group comes without its attribute's name, or not at all: then the study names it."""

    def choose(self, *, profile: _One, records: _One) -> _One:
        """Return which of two answers: the one that has a person's profile, or the one that has a site's records."""


class _Person:
    """A device answers for its owner."""

    def check_held(self, held: Any) -> None:
        check_profile(held)

    def draw(self, study: Study, held: Any) -> tuple[int, ...]:
        return (randomise(study, held),)

    def metrics(self, study: Study) -> Sequence[Metric]:
        return [question.metric for question in study.questions]

    def is_unnamed(self, held: Any) -> bool:
        return not is_mapping(entry_of(held, "group"))

    def choose(self, *, profile: _One, records: _One) -> _One:
        del records
        return profile


class _Site:
    """A site answers for the people whose records it holds."""

    def check_held(self, held: Any) -> None:
        from fairgauge.client.site_records import Records

        if isinstance(held, Mapping) and set(held) == {"group", "values"}:
            raise CannotAnswer("the study is for sites that hold many people, and this is a device of one person")
        # A table is none yet: whether it can be read, and how fast, would be seen by whoever picked the study.
        if not isinstance(held, Records):
            raise CannotAnswer("a site answers from Records that were read before the study was known")

    def draw(self, study: Study, held: Any) -> tuple[int, ...]:
        from fairgauge.client.site_counts import draw_counts

        return draw_counts(study.questions[0].counts, held)

    def metrics(self, study: Study) -> Sequence[Metric] | None:
        own = study.questions[0].counts.metric
        return None if own is None else [own]

    def is_unnamed(self, held: Any) -> bool:
        del held
        return False

    def choose(self, *, profile: _One, records: _One) -> _One:
        del profile
        return records


_CONTRIBUTORS: Registry[Contributor] = Registry({Channel: _Person(), NoisyCounts: _Site()})


def contributor_of(study: Study) -> Contributor:
    """Return who answers a study: what differs by its mechanism, for device, site, agent and frameworks."""
    return _CONTRIBUTORS[study.mechanism]


def is_unnamed(study: Study, held: Any) -> bool:
    """Tell whether a person's group comes without its attribute's name, or not at all: then the study names it."""
    return contributor_of(study).is_unnamed(held)


def check_profile(profile: object) -> None:
    """Refuse what is no profile, or has other parts than its two: that is a mistake of the program.

    A part that is left out, or None, is what the person lacks.
    """
    if not isinstance(profile, Mapping) or not set(profile) <= {"group", "values"}:
        raise CannotAnswer('a profile has two parts, "group" and "values"')
    if not (profile.get("values") is None or is_mapping(profile["values"])):
        raise CannotAnswer('"values" must give a value for each metric\'s name')


def _check_digest(study: str) -> None:
    """Refuse what cannot be the digest of a study."""
    if not _is_hexadecimal(study, digits=64):
        raise InvalidInput("study", study, "must be 64 lower-case hexadecimal digits")


def _check_id(name: str) -> None:
    """Refuse what cannot be the id of an answer."""
    if not _is_hexadecimal(name, digits=2 * ID_BYTES):
        raise InvalidInput("id", name, "must be 32 lower-case hexadecimal digits")


def check_ticket(ticket: str) -> None:
    """Refuse what cannot be a ticket, without showing it: a ticket is worth an answer to whoever reads it."""
    if not _is_hexadecimal(ticket, digits=2 * ID_BYTES):
        raise InvalidInput("ticket", "not shown", "must be 32 lower-case hexadecimal digits")


def check_able(study: Study, ticket: str | None) -> None:
    """Refuse a study that asks for what this device cannot do: it must not answer and leave that out."""
    if study.admission in ("tickets", "blind") and ticket is None:
        raise CannotAnswer("the study takes answers with a ticket only")
    if study.release is not None and study.admission != "blind" and ticket is not None:
        # A ticket is the answer's id, and a proof of inclusion is a digest of id and symbol, which anyone may fetch:
        # the id salts it, and must be known to nobody but this device and the collector.
        raise CannotAnswer("the study hides answers in a crowd, and who gave out this ticket could read the answer")


def check_time(study: Study) -> None:
    """Refuse a study before it opens and from when it closes: nobody would count what it costs to answer."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # as studies write moments, so that text compares as time
    if study.opens is not None and now < study.opens:
        raise CannotAnswer(f"the study opens at {study.opens}, and this device's clock says {now}")
    if study.closes is not None and now >= study.closes:
        raise CannotAnswer(f"the study closed at {study.closes}, and this device's clock says {now}")


def _is_hexadecimal(value: object, *, digits: int) -> bool:
    return isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value) is not None
