"""``POST /studies/{digest}/answers``: one answer as JSON, or a batch as NDJSON, read strictly and stored durably.

A single answer is charged, read, checked and handed to ``intake``, in this order.  A batch is charged as it comes in,
read in slices, and given up when too much of it is wrong.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from starlette.types import Receive, Scope, Send

from fairgauge.client import Answer
from fairgauge.collector.admission import ONE_AT_A_TIME, OTHER_ID, token_in
from fairgauge.collector.documents import BatchReceipt, Receipt, RefusedLine
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.stores.released_sums import payload_text
from fairgauge.collector.stores.store import CLOSED, FRESH, Row, Ticket
from fairgauge.errors import FairgaugeError, InvalidInput, Refused
from fairgauge.server.problems import URN, problem_of
from fairgauge.server.request_body import media_type, read_body
from fairgauge.server.server_errors import BadAnswer, BadMediaType, BadTicket, Closed, Conflict, TooEarly
from fairgauge.study.mechanism import check_payload, fits

# The canonical bytes of an answer, which is what our clients send.  A full match leaves no room for duplicate keys,
# floats or unknown fields; whatever does not match is read by the strict parser, which knows every spelling.
_ANSWER = rb'\{"id":"([0-9a-f]{32})","study":"([0-9a-f]{64})","symbol":(0|[1-9][0-9]{0,8})\}'
_ONE = re.compile(_ANSWER)
_PART = 250  # answers that are looked up together, so that others are not kept waiting
# One of each is enough for all the lines of a batch.
_NO_TICKET = BadTicket("The id is not a ticket for this study.")
_OVER = Closed("The study takes no more answers.")
_OTHER = Conflict("Another answer with this id was counted before.")
_WORDS = {_OVER: "closed", _OTHER: "conflict"}


def _read_answer(data: bytes, entry: Entry) -> Row:
    """Read an answer to a study.

    Raises:
        BadAnswer: Naming what is wrong with it.
    """
    match = _ONE.fullmatch(data)
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
        named = error.field in ("study", "id")  # what somebody drew or counted is not repeated
        raise BadAnswer(error.field, error.value if named else "not shown", error.rule) from None
    return entry.number, bytes.fromhex(id_), payload_text(payload)


def _takes(collector: Collector, entry: Entry) -> bool:
    """Tell whether a study takes answers now, or is over.

    Raises:
        TooEarly: If it is not open yet.
    """
    state = entry.kept.state(collector.clock())
    if state == "not open yet":
        raise TooEarly("The study is not open yet.", 60)
    return state == "open"


async def _count(collector: Collector, entry: Entry, rows: list[Row], *, takes: bool) -> list[str | Refused]:
    """Store answers durably; return for each ``FRESH``, what it holds if it was there, or why it was refused."""
    if takes:
        stored = await _submit(collector, entry, rows)
    else:
        parts = [rows[at : at + _PART] for at in range(0, len(rows), _PART)]
        stored = [one for part in parts for one in await collector.store.find(part)]
    outcomes = [FRESH if s == FRESH else _outcome(row, s) for row, s in zip(rows, stored, strict=True)]
    if entry.contributors_known:
        for row, outcome in zip(rows, outcomes, strict=True):
            late, other = outcome is _OVER, outcome is _OTHER
            await collector.store.remember(entry.number, Ticket(row[1], "", "late" if late else "answered", other))
    # Most come one by one, for which counting words is dear.
    words = Counter(map(_word, outcomes)).items() if len(outcomes) > 1 else [(_word(outcomes[0]), 1)]
    collector.metrics.count(words)
    return outcomes


async def _submit(collector: Collector, entry: Entry, rows: list[Row]) -> list[str]:
    if entry.kept.hourly is None:
        return await collector.intake.submit(rows)
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


def _word(what: str | Refused) -> str:
    if isinstance(what, Refused):
        return _WORDS[what]
    return "accepted" if what == FRESH else "duplicate"


_JSON = "application/json"
_NDJSON = "application/x-ndjson"
_HEADERS = [(b"content-type", b"application/json")]
_ACCEPTED, _DUPLICATE = Receipt("accepted").to_bytes(), Receipt("duplicate").to_bytes()


class AnswersEndpoint:
    """Takes answers.  Plain ASGI, because this is the request that comes a million times."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["query_string"]:
            raise InvalidInput("query", "parameters", "are not taken here")
        collector: Collector = scope["app"].collector
        kind = media_type(scope)
        if kind not in (_JSON, _NDJSON):
            raise BadMediaType(f"Send one answer as {_JSON}, or one a line as {_NDJSON}.")
        entry = await collector.entry(scope["path_params"]["digest"])
        take = _take_one if kind == _JSON else _take_batch
        body = await take(collector, entry, scope, receive)
        headers = [*_HEADERS, (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _take_one(collector: Collector, entry: Entry, scope: Scope, receive: Receive) -> bytes:
    collector.lane.answering()
    with_tickets = entry.kept.admission == "tickets"
    collector.turnstile.enter("answers")
    collector.turnstile.enter("tickets" if with_tickets else "open")
    row = await _read_one(collector, entry, scope, receive)
    takes = _takes(collector, entry)
    if entry.gate is not None:
        if entry.gate.id_of(token_in(scope)) != row[1]:
            raise OTHER_ID.with_traceback(None)
    elif with_tickets and not collector.tickets.good(entry.digest, row[1]):
        raise _NO_TICKET.with_traceback(None)  # the same one for all: it must not grow
    (result,) = await _count(collector, entry, [row], takes=takes)
    if isinstance(result, Refused):
        raise result.with_traceback(None)
    return _ACCEPTED if result == FRESH else _DUPLICATE


async def _read_one(collector: Collector, entry: Entry, scope: Scope, receive: Receive) -> Row:
    """Read an answer; what is longer than one of few numbers is held and charged by its bytes as they come in."""
    free, kind = collector.config.limits.answer_bytes, "tickets" if entry.kept.admission == "tickets" else "open"
    if (most := entry.most_bytes(free)) <= free:
        return _read_answer(await read_body(scope, receive, most), entry)
    with collector.bodies.guest() as guest:

        def meter(part: bytes) -> None:
            nonlocal free
            free -= len(part)
            if free < 0:
                guest.hold(-free)
                collector.turnstile.owe(kind, -free / _BYTES)
                free = 0

        return _read_answer(await read_body(scope, receive, most, meter), entry)


_PATIENCE = 2.0  # seconds that a batch waits for its turn
_SLICE = 2**15  # bytes that are read at a time, some 250 answers: a millisecond or so
_LONGEST = 4096  # bytes of a line that is looked at
_BYTES = 128  # as many bytes _count as an answer, if there are fewer lines than that
_LINES = re.compile(rb"^" + _ANSWER + rb"$", re.MULTILINE)


async def _take_batch(collector: Collector, entry: Entry, scope: Scope, receive: Receive) -> bytes:
    """Take a batch, and return what to tell its sender.

    Raises:
        TooMany: If its turn does not come.
        Busy: If too much is being received already.
        BadAnswer, BadTicket: If more lines than allowed are no answers, or have no tickets: nothing of it is counted.
        TooEarly: If the study is not open yet.
    """
    if entry.gate is not None:
        raise ONE_AT_A_TIME.with_traceback(None)
    limits, turnstile = collector.config.limits, collector.turnstile
    kinds = ("answers in batches", f"{'tickets' if entry.kept.admission == 'tickets' else 'open'} in batches")
    for kind in kinds:
        await turnstile.turn(kind, _PATIENCE)
    _takes(collector, entry)
    with collector.bodies.guest() as guest:

        def meter(part: bytes) -> None:
            guest.hold(len(part))
            for kind in kinds:
                turnstile.owe(kind, max(part.count(b"\n"), len(part) / _BYTES))

        body = await read_body(scope, receive, limits.batch_bytes, meter)
        lines = body.count(b"\n") + (not body.endswith(b"\n"))
        if not body or lines > limits.batch_lines:
            raise InvalidInput("lines", lines if body else 0, f"must be from 1 to {limits.batch_lines}")
        return await _counted(collector, entry, body)


async def _counted(collector: Collector, entry: Entry, body: bytes) -> bytes:
    good: list[Row] = []
    numbers: list[int] = []
    errors: dict[int, FairgaugeError] = {}
    first = 1
    for part in _slices(body):
        async with collector.lane.slice():
            for number, one in enumerate(_checked(_read_lines(part, entry), collector, entry), start=first):
                if isinstance(one, FairgaugeError):
                    errors[number] = one
                    if len(errors) > collector.config.limits.faulty_lines:
                        raise _given_up(errors)
                else:
                    good.append(one)
                    numbers.append(number)
            first += part.count(b"\n") + 1
    results = await _count(collector, entry, good, takes=_takes(collector, entry)) if good else []
    async with collector.lane.slice():
        refused = {n: r for n, r in zip(numbers, results, strict=True) if isinstance(r, Refused)}
        accepted = results.count(FRESH)
        told = [_line(number, error) for number, error in sorted({**errors, **refused}.items())]
        return BatchReceipt(accepted, len(good) - accepted - len(refused), told).to_bytes()


def _slices(body: bytes) -> Iterator[bytes]:
    r"""Cut a body at line ends, into parts that are read in a moment.

    >>> [len(part) for part in _slices(b"x" * 30_000 + b"\n" + b"y" * 10_000 + b"\nz\n")]
    [30000, 10002]
    """
    at, end = 0, len(body.removesuffix(b"\n"))
    while at <= end:
        cut = end if end - at <= _SLICE else body.rfind(b"\n", at, at + _SLICE)
        if cut < 0:  # a line that is longer than a slice
            cut = body.find(b"\n", at, end)
        cut = end if cut < 0 else cut
        yield body[at:cut]
        at = cut + 1


def _read_lines(part: bytes, entry: Entry) -> Iterable[Row | FairgaugeError]:
    """Read lines; all at once if all are canonical answers to this study, which is several times as fast."""
    lines = part.count(b"\n") + 1
    found = _LINES.findall(part) if len(part) <= _SLICE else []
    if len(found) == lines:
        ids, studies, written = zip(*found, strict=True)
        symbols = b"\n".join(written).decode().split("\n")
        if set(studies) == {entry.digest.encode()} and fits((max(map(int, symbols)),), entry.numbers, entry.symbols):
            joined = bytes.fromhex(b"".join(ids).decode())
            return [(entry.number, joined[16 * n : 16 * n + 16], symbol) for n, symbol in enumerate(symbols)]
    return (_read(line, entry) for line in part.split(b"\n"))


def _read(line: bytes, entry: Entry) -> Row | FairgaugeError:
    if len(line) > (longest := entry.most_bytes(_LONGEST)):
        return BadAnswer("line", f"{len(line)} bytes", f"must be at most {longest} bytes")
    try:
        return _read_answer(line, entry)
    except BadAnswer as error:
        return error


def _checked(
    read: Iterable[Row | FairgaugeError], collector: Collector, entry: Entry
) -> Iterable[Row | FairgaugeError]:
    if entry.kept.admission != "tickets":
        return read
    good = collector.tickets.good
    return (one if isinstance(one, FairgaugeError) or good(entry.digest, one[1]) else _NO_TICKET for one in read)


def _given_up(errors: dict[int, FairgaugeError]) -> FairgaugeError:
    """Return why a batch is refused as a whole."""
    number, error = min(errors.items())
    many = f"{len(errors)} lines of this batch are refused, so all of it is; line {number}"
    if isinstance(error, InvalidInput):
        return BadAnswer(f"{many}: {error.field}", error.value, error.rule)
    return type(error)(f"{many}: {error}")


def _line(number: int, error: Exception) -> RefusedLine:
    problem = problem_of(error)
    return RefusedLine(number, URN + problem.kind, problem.status, problem.detail)
