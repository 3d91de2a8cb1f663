"""Answer for a site that holds many people: count its records by group and outcome, and add noise to every count.

This is the only code that sees the records; noisy counts are all that leaves it.  A site's answer protects each of its
people from everyone outside; the site itself sees its own data, as before.  That the site takes part, and how large it
is to within the noise, is not hidden.
"""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike

from fairgauge.canonical import decode, encode, members, read_file, write_file
from fairgauge.client.answer import (
    ID_BYTES,
    check_able,
    check_digest,
    check_id,
    check_ticket,
    check_time,
    group_index,
)
from fairgauge.client.entries import entry_text
from fairgauge.client.limits import Limits
from fairgauge.client.noise import draw_noise
from fairgauge.errors import CannotAnswer, InvalidInput
from fairgauge.study import Attribute, Metric, Site, Study

_ZERO_OR_ONE = re.compile(r"[01]\.0+")
MOST_IN_CELL = 2**26 - 1  # so that the product of two counts is an exact integer for every JSON reader, too

# A person, the groups by attribute, and the outcome: truth and prediction, or a value.
Record = tuple[object, tuple[object, ...], tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """What a site sends: the study's digest, a random id, and one noisy count for each cell, which may be negative."""

    study: str
    id: str
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        check_digest(self.study)
        check_id(self.id)
        for cell, count in enumerate(self.counts):
            if type(count) is not int or abs(count) > MOST_IN_CELL:
                raise InvalidInput(f"counts[{cell}]", count, "must be an integer from -(2^26 - 1) to 2^26 - 1")

    @classmethod
    def from_bytes(cls, data: bytes) -> "SiteAnswer":
        """Read a site's answer.

        Raises:
            InvalidInput: If it breaks the format.
        """
        study, name, counts = members(decode(data, error=InvalidInput), "study", "id", "counts", error=InvalidInput)
        if not isinstance(counts, list):
            raise InvalidInput("counts", counts, "must be an array")
        return cls(study, name, tuple(counts))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "SiteAnswer":
        """Read a site's answer from a file."""
        return cls.from_bytes(read_file(path, field="answer"))

    def to_bytes(self) -> bytes:
        """Return the canonical bytes (RFC 8785)."""
        return encode({"study": self.study, "id": self.id, "counts": self.counts})

    def save(self, path: str | PathLike[str]) -> None:
        """Write the canonical bytes to a file, whole or not at all."""
        write_file(path, self.to_bytes(), field="answer")


def answer_for_site(
    study: Study, records: Iterable[Record], *, limit: Limits | None = None, ticket: str | None = None
) -> SiteAnswer:
    r"""Count a site's records, and add discrete Laplace noise to every count.

    Neighbouring sites differ in the records of one person, replaced by others.  With at most r records a person that
    moves counts by 2 r in sum, so the noise has the decay :math:`e^{-\varepsilon / 2r}` in every cell.

    It remembers nothing: whoever calls it twice for one site spends twice.  A
    :class:`~fairgauge.client.ledger.Ledger` answers each study once.

    Guarantee: exact; the counts are epsilon-differentially private for each person, with the epsilon of the study.

    Args:
        study: A study for sites.
        records: For each record the person, the groups and the outcome.  A record without a group or an outcome, and
            one whose group the study does not list or whose outcome is none, is left out of the counts.
        limit: What the site is willing to spend for each person; epsilon 4 for one study unless it says otherwise.
        ticket: Proof that the site may answer; it becomes the answer's id, which is random without one.

    Raises:
        NotPrivate: If the study spends more than the limit.
        CannotAnswer: If the study is for devices or not open; never for what a record holds.
    """
    site = study.site
    if site is None:
        raise CannotAnswer("the study is for devices of one person each, and this is a site that holds many people")
    if ticket is not None:
        check_ticket(ticket)
    if study.admission == "blind" or study.gateway is not None or study.epoch is not None:
        raise CannotAnswer("the study hides which device answers, and a site's answer is known to be the site's")
    check_able(study, ticket)
    check_time(study)
    (limit or Limits()).check_study(study)
    decay = site.decay
    noisy = [count + draw_noise(decay.numerator, decay.denominator) for count in count_records(site, records)]
    # Cut off when they are noisy already, which tells no more; to refuse would be free, and tell something.
    counts = [max(-MOST_IN_CELL, min(MOST_IN_CELL, count)) for count in noisy]
    name = secrets.token_hex(ID_BYTES) if ticket is None else ticket
    return SiteAnswer(study.digest, name, tuple(counts))


def count_records(site: Site, records: Iterable[Record]) -> list[int]:
    """Return how many records are in each cell, with at most as many of one person as the study says.

    Which of a person's records are kept is picked at random, each with the same chance.
    """
    kept: dict[object, list[int]] = {}
    met: dict[object, int] = {}
    counts = [0] * site.cells
    for person, groups, outcome in records:
        cell = _cell(site, groups, outcome)
        if cell is None:
            continue
        if person is None:  # each record is a person of its own
            counts[cell] += 1
            continue
        met[person] = met.get(person, 0) + 1
        own = kept.setdefault(person, [])
        if len(own) < site.records:
            own.append(cell)
        elif (place := secrets.randbelow(met[person])) < site.records:
            own[place] = cell
    for own in kept.values():
        for cell in own:
            counts[cell] += 1
    return counts


def law_of(site: Site, groups: Sequence[object], outcome: Sequence[object]) -> tuple[tuple[int, Fraction], ...]:
    """Return the cells that a record may be counted in, each with its chance; none if it cannot be counted.

    A value between two levels is rounded to one of them at random, so that the mean stays; one outside of the metric's
    range counts as its nearest end.
    """
    group = _group(site.attribute, groups)
    if site.metric is None or site.levels is None:
        truth, prediction = map(_binary, outcome)
        if group is None or truth is None or prediction is None:
            return ()
        return ((4 * group + 2 * truth + prediction, Fraction(1)),)
    place = _place(site.metric, site.levels, outcome[0])
    if group is None or place is None:
        return ()
    above, part = len(site.levels) * group + place[0], place[1]
    return ((above, part),) if part == 1 else ((above, part), (above - 1, 1 - part))


def check_record(site: Site, groups: Sequence[object], outcome: Sequence[object]) -> None:
    """Refuse an entry that is there and cannot be counted: for records that are no secret, and for nobody else's.

    Raises:
        CannotAnswer: Naming what it must be; the text does not hold the entry.
    """
    for factor, entry in zip(site.attribute.factors, groups, strict=True):
        if entry_text(entry) is not None and group_index(factor, entry_text(entry)) is None:
            raise CannotAnswer(f"{factor.name} must be one of {', '.join(factor.groups)} in every record, or empty")
    if site.metric is not None:
        if entry_text(outcome[0]) is not None:
            site.metric.position(outcome[0])  # type: ignore[arg-type]  # whatever it is, it is refused if it is no number
        return
    for name, entry in zip(("truth", "prediction"), outcome, strict=True):
        if entry_text(entry) is not None and _binary(entry) is None:
            raise CannotAnswer(f"{name} must be 0 or 1 in every record, or empty")


def _cell(site: Site, groups: Sequence[object], outcome: Sequence[object]) -> int | None:
    """Return the cell of a record; None if it cannot be counted."""
    law = law_of(site, groups, outcome)
    if not law:
        return None
    above, part = law[0]
    return above if secrets.randbelow(part.denominator) < part.numerator else law[1][0]


def _group(attribute: Attribute, entries: Sequence[object]) -> int | None:
    cell = 0
    for factor, entry in zip(attribute.factors, entries, strict=True):
        place = group_index(factor, entry_text(entry))
        if place is None:
            return None
        cell = cell * len(factor.groups) + place
    return cell


_BINARY: Mapping[object, int] = {"0": 0, "1": 1, "false": 0, "true": 1}


def _binary(entry: object) -> int | None:
    text = entry_text(entry) or ""
    found = _BINARY.get(text.lower())
    return int(text[0]) if found is None and _ZERO_OR_ONE.fullmatch(text) else found  # 1.0, as floats have it


def _place(metric: Metric, levels: Sequence[int], entry: object) -> tuple[int, Fraction] | None:
    """Return the level at or above a value, and how much of the way to it from the level below the value is."""
    position = metric.nearest(entry)
    if position is None:
        return None
    above = next(index for index, level in enumerate(levels) if level >= position)
    if levels[above] == position:
        return above, Fraction(1)
    return above, Fraction(position - levels[above - 1], levels[above] - levels[above - 1])
