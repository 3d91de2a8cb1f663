"""A web application of a few routes, as the issuer and the relay are.

Every request is charged before it is looked at, whatever goes wrong becomes a problem document, and nothing about a
request is logged or kept.
"""

from starlette.types import Receive, Scope, Send

from fairgauge.errors import FairgaugeError
from fairgauge.server.logs import log_fault
from fairgauge.server.problems import MEDIA_TYPE, Problem, problem_of
from fairgauge.server.request_body import media_type
from fairgauge.server.server_errors import BadMediaType, TooMany
from fairgauge.server.token_bucket import TokenBucket

_KNOCKS = 2000.0  # requests a second that are looked at
Reply = tuple[int, str, bytes]  # status, media type, body

_SHARED = [(b"access-control-allow-origin", b"*"), (b"cache-control", b"private, no-store")]


class SmallApp:
    """Answers requests by :meth:`answer`, which a subclass has; pages of every origin may call it.

    Args:
        headers: The headers that a page of another origin may send.
    """

    def __init__(self, headers: str) -> None:
        self._preflight = [
            *_SHARED,
            (b"access-control-allow-methods", b"POST"),
            (b"access-control-allow-headers", headers.encode()),
            (b"access-control-max-age", b"86400"),
        ]
        self._knocks = TokenBucket(_KNOCKS)

    async def answer(self, scope: Scope, receive: Receive) -> Reply:
        """Answer one request; what is raised is told as a problem document."""
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one request of the server."""
        if scope["type"] != "http":
            return
        headers = [*_SHARED]
        try:
            take(self._knocks)
            if scope["method"] == "OPTIONS":
                status, kind, body, headers = 204, "", b"", [*self._preflight]
            elif (scope["method"], scope["path"]) == ("GET", "/healthz"):
                status, kind, body = 200, "application/json", b'{"status":"alive"}'
            else:
                status, kind, body = await self.answer(scope, receive)
        except Exception as error:  # noqa: BLE001 - whatever happens, the sender is told, and nothing is said of it
            if not isinstance(error, FairgaugeError):
                log_fault(error)
            problem = problem_of(error)
            status, kind, body = told(problem)
            headers += [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        headers += [(b"content-length", str(len(body)).encode())]
        headers += [(b"content-type", kind.encode())] if kind else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def told(problem: Problem) -> Reply:
    """Return a problem as a reply."""
    return problem.status, MEDIA_TYPE, problem.to_bytes()


def take(rate: TokenBucket) -> None:
    """Charge one request.

    Raises:
        TooMany: With the time to wait.
    """
    if seconds := rate.take():
        raise TooMany("There is a limit on how many requests a second are taken.", seconds)


def check_type(scope: Scope, kind: str) -> None:
    """Refuse a body of another media type.

    Raises:
        BadMediaType: With the one that is taken.
    """
    if media_type(scope) != kind:
        raise BadMediaType(f"Send {kind}.")
