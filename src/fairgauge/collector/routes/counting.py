"""Answers: read strictly, stored durably, and what each of them came to."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from fairgauge.client import Answer
from fairgauge.collector.refusals import BadAnswer, BadTicket, Closed, Conflict, TooEarly
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.stores.base import CLOSED, FRESH, Row
from fairgauge.errors import InvalidInput, Refused

# The canonical bytes of an answer, which is what our clients send.  A full match leaves no room for duplicate keys,
# floats or unknown fields; whatever does not match is read by the strict parser, which knows every spelling.
ANSWER = rb'\{"id":"([0-9a-f]{32})","study":"([0-9a-f]{64})","symbol":(0|[1-9][0-9]{0,8})\}'
ONE = re.compile(ANSWER)
PART = 250  # answers that are looked up together, so that others are not kept waiting
_LARGEST_SYMBOL = 2**31 - 1
# One of each is enough for all the lines of a batch.
NO_TICKET = BadTicket("The id is not a ticket for this study.")
_OVER = Closed("The study takes no more answers.")
_OTHER = Conflict("An answer with this id and another symbol was counted before.")
_WORDS = {_OVER: "closed", _OTHER: "conflict"}


def read_answer(data: bytes, entry: Entry) -> Row:
    """Read an answer to a study.

    Raises:
        BadAnswer: Naming what is wrong with it.
    """
    match = ONE.fullmatch(data)
    if match is not None:
        id_, study, symbol = match[1].decode(), match[2].decode(), int(match[3])
    else:
        try:
            answer = Answer.from_bytes(data)
        except InvalidInput as error:
            raise BadAnswer(error.field, error.value, error.rule) from None
        if len(answer.payload) != 1:
            raise BadAnswer("symbol", "nothing", "must be given")
        id_, study, symbol = answer.id, answer.study, answer.payload[0]
    if study != entry.digest:
        raise BadAnswer("study", study, "must be the study that it is sent to")
    if symbol >= min(entry.symbols, _LARGEST_SYMBOL):
        raise BadAnswer("symbol", symbol, f"must be from 0 to {entry.symbols - 1}")
    return entry.number, bytes.fromhex(id_), symbol


def check_open(collector: Collector, entry: Entry) -> None:
    """Refuse answers to a study that is not open yet.

    Raises:
        TooEarly: If so.
    """
    if entry.kept.state(collector.clock()) == "not open yet":
        raise TooEarly("The study is not open yet.", 60)


async def count(collector: Collector, entry: Entry, rows: list[Row]) -> list[int | Refused]:
    """Store answers durably; return for each ``FRESH``, its symbol if it was there, or why it was refused."""
    if entry.kept.state(collector.clock()) == "open":
        stored = await _submit(collector, entry, rows)
    else:
        parts = [rows[at : at + PART] for at in range(0, len(rows), PART)]
        stored = [one for part in parts for one in await collector.store.find(part)]
    outcomes = [FRESH if s == FRESH else _outcome(row, s) for row, s in zip(rows, stored, strict=True)]
    collector.metrics.count(_words(outcomes))
    return outcomes


async def _submit(collector: Collector, entry: Entry, rows: list[Row]) -> list[int]:
    await collector.hourly.take(entry.kept, len(rows))
    fresh = 0
    try:
        stored = await collector.intake.submit(rows)
        fresh = stored.count(FRESH)
    finally:
        collector.hourly.settle(entry.kept, len(rows), fresh)
    return stored


def _outcome(row: Row, stored: int) -> int | Refused:
    if stored == row[2]:
        return stored
    return _OVER if stored == CLOSED else _OTHER


def _words(outcomes: Sequence[int | Refused]) -> Iterator[tuple[str, int]]:
    refused = Counter(_WORDS[outcome] for outcome in outcomes if isinstance(outcome, Refused))
    accepted = sum(outcome == FRESH for outcome in outcomes)
    yield "accepted", accepted
    yield from refused.items()
    yield "duplicate", len(outcomes) - accepted - refused.total()
