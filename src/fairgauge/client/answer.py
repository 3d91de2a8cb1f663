"""Answer a study: the only code that sees a person's group and value; one symbol is all that leaves it."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from fairgauge.canonical import decode, encode, members, read_file, write_file
from fairgauge.client.entries import entry_of, is_mapping, plain_text
from fairgauge.client.limits import Limits
from fairgauge.errors import CannotAnswer, InvalidInput
from fairgauge.study import Attribute, Question, Study
from fairgauge.study.checks import check_arguments

if TYPE_CHECKING:
    from fairgauge.client.site import SiteAnswer

ID_BYTES = 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What a device sends: the study's digest, a random id, and a symbol in the study's numbering."""

    study: str
    id: str
    symbol: int

    def __post_init__(self) -> None:
        check_digest(self.study)
        check_id(self.id)
        if type(self.symbol) is not int or self.symbol < 0:
            raise InvalidInput("symbol", self.symbol, "must be an integer from 0 up")

    @classmethod
    def from_bytes(cls, data: bytes) -> "Answer":
        """Read an answer.

        Raises:
            InvalidInput: If it breaks the format.
        """
        return cls(*members(decode(data, error=InvalidInput), "study", "id", "symbol", error=InvalidInput))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Answer":
        """Read an answer from a file."""
        return cls.from_bytes(read_file(path, field="answer"))

    def to_bytes(self) -> bytes:
        """Return the canonical bytes (RFC 8785)."""
        return encode({"study": self.study, "id": self.id, "symbol": self.symbol})

    def save(self, path: str | PathLike[str]) -> None:
        """Write the canonical bytes to a file, whole or not at all."""
        write_file(path, self.to_bytes(), field="answer")


@overload
def answer(  # type: ignore[overload-overlap]  # a profile is no data frame
    study: Study, profile: Mapping[str, Any], *, limit: Limits | None = None, ticket: str | None = None
) -> Answer: ...


@overload
def answer(
    study: Study, profile: object, *, limit: Limits | None = None, ticket: str | None = None
) -> "SiteAnswer": ...


def answer(
    study: Study, profile: Any, *, limit: Limits | None = None, ticket: str | None = None
) -> "Answer | SiteAnswer":
    """Answer one table of a study, picked by a secure coin, with one randomised symbol.

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
            lacks.  For a study of sites: the site's records, as a data frame or the path of a file.
        limit: What the device is willing to spend; epsilon 4 for one study unless it says otherwise.
        ticket: Proof that the device may answer; it becomes the answer's id, which is random without one.

    Raises:
        InvalidInput: If the study or the ticket is not one.
        NotPrivate: If a table spends more than the study declares, or than one study may.
        CannotAnswer: If the study is not open by this device's clock, or asks for what it cannot do, or the profile has
            not the two parts of one; the text never holds the group or a value.
    """
    check_arguments(study=(study, Study))
    if study.site is not None:
        if isinstance(profile, Mapping) and set(profile) == {"group", "values"}:
            raise CannotAnswer("the study is for sites that hold many people, and this is a device of one person")
        from fairgauge.client.records import records_of
        from fairgauge.client.site import answer_for_site

        return answer_for_site(study, records_of(study.site, profile), limit=limit, ticket=ticket)
    if ticket is not None:
        check_ticket(ticket)
    check_able(study, ticket)
    check_time(study)
    study.check_privacy()
    (limit or Limits()).check_study(study)
    check_profile(profile)
    groups = groups_by_attribute(study, profile["group"])
    inputs = [_channel_input(table, groups, profile["values"]) for table in study.tables]
    picked = secrets.randbelow(len(inputs))
    symbol = study.tables[picked][0].mechanism.draw(*inputs[picked])
    name = secrets.token_hex(ID_BYTES) if ticket is None else ticket
    return Answer(study.digest, name, study.offsets[picked] + symbol)


def check_profile(profile: object) -> None:
    """Refuse what has not the two parts of a profile, whatever is in them: that is a mistake of the program."""
    if not isinstance(profile, Mapping) or set(profile) != {"group", "values"}:
        raise CannotAnswer('a profile has two parts, "group" and "values"')
    if not is_mapping(profile["values"]):
        raise CannotAnswer('"values" must give a value for each metric\'s name')


def check_digest(study: str) -> None:
    """Refuse what cannot be the digest of a study."""
    if not _is_hexadecimal(study, digits=64):
        raise InvalidInput("study", study, "must be 64 lower-case hexadecimal digits")


def check_id(name: str) -> None:
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


def check_time(study: Study) -> None:
    """Refuse a study before it opens and from when it closes: nobody would count what it costs to answer."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # as studies write moments, so that text compares as time
    if study.opens is not None and now < study.opens:
        raise CannotAnswer(f"the study opens at {study.opens}, and this device's clock says {now}")
    if study.closes is not None and now >= study.closes:
        raise CannotAnswer(f"the study closed at {study.closes}, and this device's clock says {now}")


def groups_by_attribute(study: Study, group: Any) -> Mapping[str, Any]:
    """Return the group for each attribute's name; one without a name is of the only attribute, or of none."""
    if is_mapping(group):
        return group
    names = {factor.name for attribute in study.attributes for factor in attribute.factors}
    return dict.fromkeys(names, group) if len(names) == 1 else {}


def _channel_input(
    table: tuple[Question, ...], groups: Mapping[str, Any], values: Mapping[str, Any]
) -> tuple[int | None, *tuple[Fraction | None, ...]]:
    """Return what the channel of a table takes; None for what is missing, not listed or no number."""
    attribute = table[0].attribute
    places = [group_index(factor, entry_of(groups, factor.name)) for factor in attribute.factors]
    metrics = (question.metric for question in table)
    return _cell(attribute, places), *(metric.nearest(entry_of(values, metric.name)) for metric in metrics)


def group_index(attribute: Attribute, group: object) -> int | None:
    """Return the place of a group in an attribute's list; None for one that is not there."""
    text = plain_text(group)
    return attribute.groups.index(text) if text is not None and text in attribute.groups else None


def _cell(attribute: Attribute, places: list[int | None]) -> int | None:
    """Return the index of the cell of groups that are crossed, the last attribute fastest; None if one is missing."""
    cell = 0
    for factor, place in zip(attribute.factors, places, strict=True):
        cell = cell * len(factor.groups) + (place or 0)
    return (cell, None)[None in places]


def _is_hexadecimal(value: object, *, digits: int) -> bool:
    return isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value) is not None
