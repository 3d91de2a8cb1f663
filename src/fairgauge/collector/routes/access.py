"""Which token a request shows, and whether that is enough."""

from starlette.requests import Request

from fairgauge.collector.problems import Problem
from fairgauge.collector.service import Collector, Entry
from fairgauge.collector.sessions import COOKIE, Session
from fairgauge.errors import InvalidInput

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="fairgauge"'}


def collector_of(request: Request) -> Collector:
    """Return the collector that a request is for."""
    found: Collector = request.scope["app"].collector
    return found


def role_of(request: Request) -> str | None:
    """Return the role that a request shows: of its bearer token, or of its session if it changes nothing.

    A browser sends its cookie by itself, so a cookie alone is enough for looking only: see
    :mod:`fairgauge.collector.pages.forms` for what else it takes to change something.
    """
    collector = collector_of(request)
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and text:
        return collector.gatekeeper.role_of(text.strip())
    session = session_of(request) if request.method in ("GET", "HEAD") else None
    return None if session is None else session.role


def session_of(request: Request) -> Session | None:
    """Return the session of the browser that a request comes from, if it is signed in."""
    cookie = request.cookies.get(COOKIE)
    return None if cookie is None else collector_of(request).sessions.find(cookie)


def require(request: Request, role: str) -> Collector:
    """Let a request pass if its token has this role; an operator may do what a reader may.

    Raises:
        Problem: 401 without a good token, 403 with one of too little power, 429 with too many of either.
    """
    collector, found = collector_of(request), role_of(request)
    if found is None:
        collector.turnstile.enter("refused")
        raise Problem("no-token", "Send Authorization: Bearer, with a token that is good here.", headers=_CHALLENGE)
    if role == "operator" and found != "operator":
        raise Problem("not-allowed", "This needs the token of an operator.")
    collector.turnstile.enter("operators" if role == "operator" else "readers")
    return collector


async def require_results(request: Request, *, ids: bool = False) -> tuple[Collector, Entry]:
    """Let a request pass that may see the results of its study: a reader's, or anyone's if results are public.

    Args:
        request: The request.
        ids: Whether it is about answers with their ids.  Ids can be tickets, and who gave those out would see who
            sent what: where a study takes tickets, ids are for readers only.

    Raises:
        Problem: 401 and 403 as in ``require``, 404 if there is no such study, 429 if there are too many.
    """
    collector, digest = collector_of(request), request.path_params["digest"]
    if role_of(request) is None and await may_see(collector, digest, ids=ids):
        collector.turnstile.enter("visitors")
    else:
        require(request, "reader")
    return collector, await collector.entry(digest)


async def may_see(collector: Collector, digest: str, *, ids: bool = False) -> bool:
    """Tell whether everyone may see the results of a study."""
    try:
        entry = await collector.entry(digest)
    except Problem as problem:
        if problem.kind != "no-study":
            raise
        return False
    return entry.public and not (ids and entry.admission == "tickets")


def only(request: Request, *names: str) -> None:
    """Refuse query parameters that are unknown or given twice, rather than ignore them."""
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if name not in names:
            raise InvalidInput("query", name, "is not a parameter of this request")
        if given.count(name) > 1:
            raise InvalidInput("query", name, "must be given once")
