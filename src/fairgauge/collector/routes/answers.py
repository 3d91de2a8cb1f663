"""``POST /studies/{digest}/answers``: one answer as JSON, or a batch as NDJSON."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from fairgauge.client import Answer
from fairgauge.collector.limits import read_body
from fairgauge.collector.problems import KINDS, URN, Problem, problem_of, wait
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.stores.base import CLOSED, FRESH, Row
from fairgauge.errors import InvalidInput

# The canonical bytes of an answer, which is what our clients send.  A full match leaves no room for duplicate keys,
# floats or unknown fields; whatever does not match is read by the strict parser, which knows every spelling.
_ANSWER = rb'\{"id":"([0-9a-f]{32})","study":"([0-9a-f]{64})","symbol":(0|[1-9][0-9]{0,8})\}'
_ONE = re.compile(_ANSWER)
_LINES = re.compile(rb"^" + _ANSWER + rb"$", re.MULTILINE)
_JSON = "application/json"
_NDJSON = "application/x-ndjson"
_HEADERS = [(b"content-type", b"application/json")]
_LARGEST_SYMBOL = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer that is not counted, and why."""

    kind: str
    detail: str

    def problem(self) -> Problem:
        """Return the reason as a problem."""
        return wait(self.kind, self.detail, 60) if self.kind == "too-early" else Problem(self.kind, self.detail)


class AnswersEndpoint:
    """Takes answers.  Plain ASGI, because this is the request that comes a million times."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["query_string"]:
            raise problem_of(InvalidInput("query", "parameters", "are not taken here"))
        collector = self._collector
        limits = collector.config.limits
        kind = _media_type(scope)
        entry = await collector.entry(scope["path_params"]["digest"])
        if kind == _JSON:
            row = _read(await read_body(scope, receive, limits.answer_bytes), entry)
            (result,) = await self._count(entry, [row])
            if isinstance(result, Refused):
                raise result.problem()
            body = b'{"status":"accepted"}' if result == FRESH else b'{"status":"duplicate"}'
        else:
            body = await self._batch(entry, await read_body(scope, receive, limits.batch_bytes))
        headers = [*_HEADERS, (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _batch(self, entry: Entry, body: bytes) -> bytes:
        count = body.count(b"\n") + (not body.endswith(b"\n"))
        most = self._collector.config.limits.batch_lines
        if not body or count > most:
            raise Problem("bad-request", f"A batch has from 1 to {most} lines; this has {count if body else 0}.")
        errors: dict[int, Refused] = {}
        rows = _read_canonical(body, count, entry)
        numbers: Sequence[int] = range(1, count + 1)
        if rows is None:
            good: dict[int, Row] = {}
            for number, line in enumerate(body.removesuffix(b"\n").split(b"\n"), start=1):
                try:
                    good[number] = _read(line, entry)
                except Problem as problem:
                    errors[number] = Refused(problem.kind, problem.detail)
            rows, numbers = list(good.values()), list(good)
        results = await self._count(entry, rows) if rows else []
        accepted = results.count(FRESH)
        errors.update((n, r) for n, r in zip(numbers, results, strict=True) if isinstance(r, Refused))
        duplicates = count - accepted - len(errors)
        told = [
            {"line": number, "type": URN + e.kind, "status": KINDS[e.kind][0], "detail": e.detail}
            for number, e in sorted(errors.items())
        ]
        return json.dumps({"accepted": accepted, "duplicates": duplicates, "errors": told}).encode()

    async def _count(self, entry: Entry, rows: list[Row]) -> list[int | Refused]:
        """Store answers durably; return for each ``FRESH``, its symbol if it was there, or why it was refused."""
        collector = self._collector
        now = collector.clock()
        if entry.opens is not None and now < entry.opens:
            return [Refused("too-early", "The study is not open yet.")] * len(rows)
        good: list[Row] = rows
        bad: set[bytes] = set()
        if entry.admission == "tickets":
            bad = {row[1] for row in rows if not collector.tickets.good(entry.digest, row[1])}
            good = [row for row in rows if row[1] not in bad] if bad else rows
        stored: list[int] = []
        if good:
            collector.turnstile.enter("answers", len(good))
            collector.turnstile.enter("tickets" if entry.admission == "tickets" else "open", len(good))
            if entry.closed or (entry.closes is not None and now >= entry.closes):
                stored = await collector.store.find(good)
            else:
                stored = await collector.intake.submit(good)
        outcomes = [FRESH if s == FRESH else _outcome(row, s) for row, s in zip(good, stored, strict=True)]
        collector.metrics.count(_words(outcomes))
        if not bad:
            return outcomes
        found = iter(outcomes)
        refused = Refused("bad-ticket", "The id is not a ticket for this study.")
        return [refused if row[1] in bad else next(found) for row in rows]


def _outcome(row: Row, stored: int) -> int | Refused:
    if stored == row[2]:
        return stored
    if stored == CLOSED:
        return Refused("closed", "The study takes no more answers.")
    return Refused("conflict", "An answer with this id and another symbol was counted before.")


def _words(outcomes: list[int | Refused]) -> Iterator[tuple[str, int]]:
    accepted = outcomes.count(FRESH)
    yield "accepted", accepted
    if accepted < len(outcomes):
        refused = Counter(outcome.kind for outcome in outcomes if isinstance(outcome, Refused))
        yield from refused.items()
        yield "duplicate", len(outcomes) - accepted - refused.total()


def _media_type(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind: str = value.decode("latin-1").partition(";")[0].strip().lower()
            if kind in (_JSON, _NDJSON):
                return kind
    raise Problem("bad-media-type", f"Send one answer as {_JSON}, or one a line as {_NDJSON}.")


def _read(data: bytes, entry: Entry) -> Row:
    """Read an answer to this study, or say what is wrong with it."""
    match = _ONE.fullmatch(data)
    if match is not None:
        id_, study, symbol = match[1].decode(), match[2].decode(), int(match[3])
    else:
        try:
            answer = Answer.from_bytes(data)
        except InvalidInput as error:
            raise problem_of(error, kind="bad-answer") from None
        id_, study, symbol = answer.id, answer.study, answer.symbol
    if study != entry.digest:
        raise problem_of(InvalidInput("study", study, "must be the study that it is sent to"), kind="bad-answer")
    if symbol >= min(entry.symbols, _LARGEST_SYMBOL):
        rule = f"must be from 0 to {entry.symbols - 1}"
        raise problem_of(InvalidInput("symbol", symbol, rule), kind="bad-answer")
    return entry.number, bytes.fromhex(id_), symbol


def _read_canonical(body: bytes, count: int, entry: Entry) -> list[Row] | None:
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
