"""``POST /studies/{digest}/answers``: one answer as JSON, or a batch as NDJSON."""

from starlette.types import Receive, Scope, Send

from fairgauge.collector.blind_admission import OTHER_ID, token_in
from fairgauge.collector.routes.batches import BYTES, take_batch
from fairgauge.collector.routes.counting import NO_TICKET, check_open, count, read_answer
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.shapes import Receipt
from fairgauge.collector.stores.base import FRESH, Row
from fairgauge.errors import InvalidInput, Refused
from fairgauge.server.request_body import media_type, read_body
from fairgauge.server.server_errors import BadMediaType

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
        take = _take_one if kind == _JSON else take_batch
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
    check_open(collector, entry)
    if entry.gate is not None:
        if entry.gate.id_of(token_in(scope)) != row[1]:
            raise OTHER_ID.with_traceback(None)
    elif with_tickets and not collector.tickets.good(entry.digest, row[1]):
        raise NO_TICKET.with_traceback(None)  # the same one for all: it must not grow
    (result,) = await count(collector, entry, [row])
    if isinstance(result, Refused):
        raise result.with_traceback(None)
    return _ACCEPTED if result == FRESH else _DUPLICATE


async def _read_one(collector: Collector, entry: Entry, scope: Scope, receive: Receive) -> Row:
    """Read an answer; what is longer than one of few numbers is held and charged by its bytes as they come in."""
    free, kind = collector.config.limits.answer_bytes, "tickets" if entry.kept.admission == "tickets" else "open"
    with collector.bodies.guest() as guest:

        def meter(part: bytes) -> None:
            nonlocal free
            free -= len(part)
            if free < 0:
                guest.hold(-free)
                collector.turnstile.owe(kind, -free / BYTES)
                free = 0

        return read_answer(await read_body(scope, receive, entry.most_bytes(free), meter), entry)
