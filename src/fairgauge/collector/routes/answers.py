"""``POST /studies/{digest}/answers``: one answer as JSON, or a batch as NDJSON."""

from starlette.types import Receive, Scope, Send

from fairgauge.collector.bodies import media_type, read_body
from fairgauge.collector.gates import OTHER_ID, token_in
from fairgauge.collector.refusals import BadMediaType
from fairgauge.collector.routes.batches import take_batch
from fairgauge.collector.routes.counting import NO_TICKET, check_open, count, read_answer
from fairgauge.collector.routes.sites import take_site
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.shapes import Receipt
from fairgauge.collector.stores.base import FRESH
from fairgauge.errors import InvalidInput, Refused

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
        if entry.of_sites:
            body = _ACCEPTED if await take_site(collector, entry, scope, receive) else _DUPLICATE
        else:
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
    row = read_answer(await read_body(scope, receive, collector.config.limits.answer_bytes), entry)
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
