"""``POST /studies/{digest}/answers``: one answer as JSON, or a batch as NDJSON."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from starlette.types import Receive, Scope, Send

from fairgauge.client import Answer
from fairgauge.collector.bodies import media_type, read_body
from fairgauge.collector.problems import URN, problem_of
from fairgauge.collector.refusals import BadAnswer, BadMediaType, BadTicket, Closed, Conflict, TooEarly
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.shapes import BatchReceipt, Receipt, RefusedLine
from fairgauge.collector.stores.base import CLOSED, FRESH, Row
from fairgauge.errors import InvalidInput, Refused

# The canonical bytes of an answer, which is what our clients send.  A full match leaves no room for duplicate keys,
# floats or unknown fields; whatever does not match is read by the strict parser, which knows every spelling.
_ANSWER = rb'\{"id":"([0-9a-f]{32})","study":"([0-9a-f]{64})","symbol":(0|[1-9][0-9]{0,8})\}'
_ONE = re.compile(_ANSWER)
_LINES = re.compile(rb"^" + _ANSWER + rb"$", re.MULTILINE)
_JSON = "application/json"
_NDJSON = "application/x-ndjson"
_HEADERS = [(b"content-type", b"application/json")]
_LARGEST_SYMBOL = 2**31 - 1


_ACCEPTED, _DUPLICATE = Receipt("accepted").to_bytes(), Receipt("duplicate").to_bytes()
# One of each is enough for all the lines of a batch.
_EARLY = TooEarly("The study is not open yet.", 60)
_NO_TICKET = BadTicket("The id is not a ticket for this study.")
_OVER = Closed("The study takes no more answers.")
_OTHER = Conflict("An answer with this id and another symbol was counted before.")
_WORDS = {_OVER: "closed", _OTHER: "conflict"}


class AnswersEndpoint:
    """Takes answers.  Plain ASGI, because this is the request that comes a million times."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["query_string"]:
            raise InvalidInput("query", "parameters", "are not taken here")
        collector: Collector = scope["app"].collector
        limits, kind = collector.config.limits, media_type(scope)
        if kind not in (_JSON, _NDJSON):
            raise BadMediaType(f"Send one answer as {_JSON}, or one a line as {_NDJSON}.")
        entry = await collector.entry(scope["path_params"]["digest"])
        if kind == _JSON:
            row = read_answer(await read_body(scope, receive, limits.answer_bytes), entry)
            (result,) = await _count(collector, entry, [row])
            if isinstance(result, Refused):
                raise result.with_traceback(None)  # the same one for all: it must not grow
            body = _ACCEPTED if result == FRESH else _DUPLICATE
        else:
            body = await _batch(collector, entry, await read_body(scope, receive, limits.batch_bytes))
        headers = [*_HEADERS, (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _batch(collector: Collector, entry: Entry, body: bytes) -> bytes:
    count = body.count(b"\n") + (not body.endswith(b"\n"))
    most = collector.config.limits.batch_lines
    if not body or count > most:
        raise InvalidInput("lines", count if body else 0, f"must be from 1 to {most}")
    errors: dict[int, Exception] = {}
    rows = read_canonical(body, count, entry)
    numbers: Sequence[int] = range(1, count + 1)
    if rows is None:
        good: dict[int, Row] = {}
        for number, line in enumerate(body.removesuffix(b"\n").split(b"\n"), start=1):
            try:
                good[number] = read_answer(line, entry)
            except InvalidInput as error:
                errors[number] = error
        rows, numbers = list(good.values()), list(good)
    results = await _count(collector, entry, rows) if rows else []
    accepted = results.count(FRESH)
    errors.update((n, r) for n, r in zip(numbers, results, strict=True) if isinstance(r, Refused))
    told = [_line(number, error) for number, error in sorted(errors.items())]
    return BatchReceipt(accepted, count - accepted - len(errors), told).to_bytes()


def _line(number: int, error: Exception) -> RefusedLine:
    problem = problem_of(error)
    return RefusedLine(number, URN + problem.kind, problem.status, problem.detail)


async def _count(collector: Collector, entry: Entry, rows: list[Row]) -> list[int | Refused]:
    """Store answers durably; return for each ``FRESH``, its symbol if it was there, or why it was refused."""
    state = entry.kept.state(collector.clock())
    if state == "not open yet":
        return [_EARLY] * len(rows)
    good: list[Row] = rows
    bad: set[bytes] = set()
    if entry.kept.admission == "tickets":
        bad = {row[1] for row in rows if not collector.tickets.good(entry.digest, row[1])}
        good = [row for row in rows if row[1] not in bad] if bad else rows
    stored: list[int] = []
    if good:
        collector.turnstile.enter("answers", len(good))
        collector.turnstile.enter("tickets" if entry.kept.admission == "tickets" else "open", len(good))
        stored = await (collector.intake.submit(good) if state == "open" else collector.store.find(good))
    outcomes = [FRESH if s == FRESH else _outcome(row, s) for row, s in zip(good, stored, strict=True)]
    collector.metrics.count(_words(outcomes))
    if not bad:
        return outcomes
    found = iter(outcomes)
    return [_NO_TICKET if row[1] in bad else next(found) for row in rows]


def _outcome(row: Row, stored: int) -> int | Refused:
    if stored == row[2]:
        return stored
    if stored == CLOSED:
        return _OVER
    return _OTHER


def _words(outcomes: list[int | Refused]) -> Iterator[tuple[str, int]]:
    accepted = outcomes.count(FRESH)
    yield "accepted", accepted
    if accepted < len(outcomes):
        refused = Counter(_WORDS[outcome] for outcome in outcomes if isinstance(outcome, Refused))
        yield from refused.items()
        yield "duplicate", len(outcomes) - accepted - refused.total()


def read_answer(data: bytes, entry: Entry) -> Row:
    """Read an answer to a study.

    Raises:
        BadAnswer: Naming what is wrong with it.
    """
    match = _ONE.fullmatch(data)
    if match is not None:
        id_, study, symbol = match[1].decode(), match[2].decode(), int(match[3])
    else:
        try:
            answer = Answer.from_bytes(data)
        except InvalidInput as error:
            raise BadAnswer(error.field, error.value, error.rule) from None
        id_, study, symbol = answer.id, answer.study, answer.symbol
    if study != entry.digest:
        raise BadAnswer("study", study, "must be the study that it is sent to")
    if symbol >= min(entry.symbols, _LARGEST_SYMBOL):
        raise BadAnswer("symbol", symbol, f"must be from 0 to {entry.symbols - 1}")
    return entry.number, bytes.fromhex(id_), symbol


def read_canonical(body: bytes, count: int, entry: Entry) -> list[Row] | None:
    """Read a batch all of whose lines are canonical answers to this study: several times as fast as line by line."""
    found = _LINES.findall(body)
    if len(found) != count:
        return None
    ids, studies, written = zip(*found, strict=True)
    symbols = list(map(int, written))
    if set(studies) != {entry.digest.encode()} or max(symbols) >= entry.symbols:
        return None
    joined = bytes.fromhex(b"".join(ids).decode())
    return [(entry.number, joined[16 * n : 16 * n + 16], symbol) for n, symbol in enumerate(symbols)]
