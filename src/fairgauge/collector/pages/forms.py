"""Forms that a browser sends: read strictly, and only from our own pages."""

import hmac
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request

from fairgauge.collector.access import collector_of, session_of
from fairgauge.collector.service import Collector
from fairgauge.errors import InvalidInput
from fairgauge.server.request_body import media_type, read_body
from fairgauge.server.server_errors import BadMediaType, NotAllowed, NoToken

MOST_FIELDS = 40


async def read_form(request: Request, names: Iterable[str], most: int) -> dict[str, str]:
    """Read a form of so many bytes whose fields have these names, each at most once; those that are missing are empty.

    Raises:
        NotAllowed: If another site's page sent it.
        BadMediaType, TooLarge: If it is no form, or too large.
        InvalidInput: If it has a field that it should not have.
    """
    _check_site(request)
    if media_type(request.scope) != "application/x-www-form-urlencoded":
        raise BadMediaType("Send the form as application/x-www-form-urlencoded.")
    body = await read_body(request.scope, request.receive, most)
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except (ValueError, UnicodeDecodeError):
        raise InvalidInput("form", f"{len(body)} bytes", "must be an encoded form") from None
    found = dict.fromkeys(names, "")
    for name, value in pairs:
        if name not in found:
            raise InvalidInput("form", name, "is not a field of this form")
        if found[name]:
            raise InvalidInput("form", name, "must be given once")
        # Browsers send line ends as CR LF.
        found[name] = value.replace("\r\n", "\n").strip()
    return found


def require_operator(request: Request, proof: str) -> Collector:
    """Let a form pass that a signed-in operator sent from one of our pages.

    Raises:
        NoToken: Without a session.
        NotAllowed: For a reader, or without the page's proof.
        TooMany: If there are too many.
    """
    collector, session = collector_of(request), session_of(request)
    if session is None:
        collector.turnstile.enter("refused")
        raise NoToken("Sign in with the token of an operator.")
    if session.role != "operator":
        raise NotAllowed("This needs the token of an operator.")
    if not hmac.compare_digest(session.proof.encode(), proof.encode()):
        raise NotAllowed("The form is not from this session: load the page again.")
    collector.turnstile.enter("operators")
    return collector


def _check_site(request: Request) -> None:
    """Refuse a form of another site.  A browser says where a form is from, and a page cannot make it lie."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
    if site != "same-origin" or (origin is not None and _host_of(origin) != request.headers.get("host", "")):
        raise NotAllowed("The form was sent by another site.")


def _host_of(origin: str) -> str | None:
    """Return the host of an origin, or None if it is no address.

    >>> _host_of("https://collector.example:8642"), _host_of("http://[")
    ('collector.example:8642', None)
    """
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
