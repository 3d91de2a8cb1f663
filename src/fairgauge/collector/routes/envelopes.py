"""``/.well-known/ohttp-gateway`` (RFC 9540): the gateway's key, and requests in envelopes."""

import json

from starlette.requests import Request
from starlette.responses import Response

from fairgauge.collector.access import collector_of
from fairgauge.collector.gateway import Caught, inner_scope
from fairgauge.errors import InvalidInput
from fairgauge.server.problems import MEDIA_TYPE, OTHER_KEY, Problem
from fairgauge.server.request_body import media_type, read_body
from fairgauge.server.server_errors import BadMediaType
from fairgauge.unlinkable.oblivious import KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE, SEALED_REQUEST

_OTHER_KEY = json.dumps(
    {
        "type": OTHER_KEY,
        "title": "key identifier unknown",
        "status": 400,
        "detail": "Take the key that the study names; /.well-known/ohttp-gateway shows all that are taken.",
    }
).encode()
_HEADERS = {"Cache-Control": "private, no-store"}


async def keys(request: Request) -> Response:
    """Show the gateway's key configuration; a device takes it from the study, and compares nothing else."""
    return Response(collector_of(request).gateway.keys(), 200, {"Cache-Control": "public, max-age=3600"}, KEYS_TYPE)


async def take(request: Request) -> Response:
    """Open an envelope, do what it asks, and seal the response."""
    collector = collector_of(request)
    if media_type(request.scope) != REQUEST_TYPE:
        raise BadMediaType(f"Send {REQUEST_TYPE}.")
    body = await read_body(request.scope, request.receive, SEALED_REQUEST)
    try:
        opened = collector.gateway.open(body)
    except InvalidInput as error:
        if error.field != "key":
            raise
        return Response(_OTHER_KEY, 400, _HEADERS, MEDIA_TYPE)
    # From here on whatever is said is said in an envelope, also what is wrong: a relay must not learn it.
    found = inner_scope(opened, request.scope)
    if isinstance(found, Problem):
        caught = Caught.of(found)
    else:
        scope, content = found
        caught = Caught(content)
        await request.scope["app"](scope, caught.receive, caught.send)
    return Response(opened.seal_response(caught.to_bytes()), 200, _HEADERS, RESPONSE_TYPE)
