"""Which token a request shows, and whether that is enough."""

from starlette.requests import Request

from fairgauge.collector.problems import Problem
from fairgauge.collector.service import Collector
from fairgauge.errors import InvalidInput

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="fairgauge"'}


def collector_of(request: Request) -> Collector:
    """Return the collector that a request is for."""
    found: Collector = request.scope["app"].collector
    return found


def require(request: Request, role: str) -> Collector:
    """Let a request pass if its token has this role; an operator may do what a reader may.

    Raises:
        Problem: 401 without a good token, 403 with one of too little power, 429 with too many of either.
    """
    collector = collector_of(request)
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    found = collector.gatekeeper.role_of(token.strip()) if scheme.lower() == "bearer" and token else None
    if found is None:
        collector.turnstile.enter("refused")
        raise Problem("no-token", "Send Authorization: Bearer, with a token that is good here.", headers=_CHALLENGE)
    if role == "operator" and found != "operator":
        raise Problem("not-allowed", "This needs the token of an operator.")
    collector.turnstile.enter("operators" if role == "operator" else "readers")
    return collector


def only(request: Request, *names: str) -> None:
    """Refuse query parameters that are unknown or given twice, rather than ignore them."""
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if name not in names:
            raise InvalidInput("query", name, "is not a parameter of this request")
        if given.count(name) > 1:
            raise InvalidInput("query", name, "must be given once")
