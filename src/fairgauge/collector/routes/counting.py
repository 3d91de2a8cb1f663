"""Answers: read strictly, stored durably, and what each of them came to."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from fairgauge.client import Answer
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.stores.base import CLOSED, FRESH, Row, Ticket
from fairgauge.collector.stores.released_sums import payload_text
from fairgauge.errors import InvalidInput, Refused
from fairgauge.server.refusals import BadAnswer, BadTicket, Closed, Conflict, TooEarly
from fairgauge.study.mechanism import check_payload

# The canonical bytes of an answer, which is what our clients send.  A full match leaves no room for duplicate keys,
# floats or unknown fields; whatever does not match is read by the strict parser, which knows every spelling.
ANSWER = rb'\{"id":"([0-9a-f]{32})","study":"([0-9a-f]{64})","symbol":(0|[1-9][0-9]{0,8})\}'
ONE = re.compile(ANSWER)
PART = 250  # answers that are looked up together, so that others are not kept waiting
# One of each is enough for all the lines of a batch.
NO_TICKET = BadTicket("The id is not a ticket for this study.")
_OVER = Closed("The study takes no more answers.")
_OTHER = Conflict("Another answer with this id was counted before.")
_WORDS = {_OVER: "closed", _OTHER: "conflict"}


def read_answer(data: bytes, entry: Entry) -> Row:
    """Read an answer to a study.

    Raises:
        BadAnswer: Naming what is wrong with it.
    """
    match = ONE.fullmatch(data)
    payload: tuple[int, ...]
    try:
        if match is not None:
            id_, study, payload = match[1].decode(), match[2].decode(), (int(match[3]),)
        else:
            answer = Answer.from_bytes(data)
            id_, study, payload = answer.id, answer.study, answer.payload
        if study != entry.digest:
            raise BadAnswer("study", study, "must be the study that it is sent to")
        check_payload(payload, entry.numbers, entry.symbols)
    except InvalidInput as error:
        counted = entry.numbers > 1 and error.field not in ("study", "id")  # what somebody counted is not repeated
        raise BadAnswer(error.field, "not shown" if counted else error.value, error.rule) from None
    return entry.number, bytes.fromhex(id_), payload_text(payload)


def check_open(collector: Collector, entry: Entry) -> None:
    """Refuse answers to a study that is not open yet.

    Raises:
        TooEarly: If so.
    """
    if entry.kept.state(collector.clock()) == "not open yet":
        raise TooEarly("The study is not open yet.", 60)


async def count(collector: Collector, entry: Entry, rows: list[Row]) -> list[str | Refused]:
    """Store answers durably; return for each ``FRESH``, what it holds if it was there, or why it was refused."""
    if entry.kept.state(collector.clock()) == "open":
        stored = await _submit(collector, entry, rows)
    else:
        parts = [rows[at : at + PART] for at in range(0, len(rows), PART)]
        stored = [one for part in parts for one in await collector.store.find(part)]
    outcomes = [FRESH if s == FRESH else _outcome(row, s) for row, s in zip(rows, stored, strict=True)]
    if entry.contributors_known:
        for row, outcome in zip(rows, outcomes, strict=True):
            late, other = outcome is _OVER, outcome is _OTHER
            await collector.store.remember(entry.number, Ticket(row[1], "", "late" if late else "answered", other))
    collector.metrics.count(_words(outcomes))
    return outcomes


async def _submit(collector: Collector, entry: Entry, rows: list[Row]) -> list[str]:
    await collector.hourly.take(entry.kept, len(rows))
    fresh = 0
    try:
        stored = await collector.intake.submit(rows)
        fresh = stored.count(FRESH)
    finally:
        collector.hourly.settle(entry.kept, len(rows), fresh)
    return stored


def _outcome(row: Row, stored: str) -> str | Refused:
    if stored == row[2]:
        return stored
    return _OVER if stored == CLOSED else _OTHER


def _words(outcomes: Sequence[str | Refused]) -> Iterator[tuple[str, int]]:
    refused = Counter(_WORDS[outcome] for outcome in outcomes if isinstance(outcome, Refused))
    accepted = sum(outcome == FRESH for outcome in outcomes)
    yield "accepted", accepted
    yield from refused.items()
    yield "duplicate", len(outcomes) - accepted - refused.total()
