"""The web application: routes from the table of operations, and one place where every error becomes a problem.

Web pages of other origins may do what a device needs, and nothing else (CORS): fetch a study and send an answer.
Neither takes a token or a cookie, so pages of any origin may do both.  Browsers keep them away from everything else.
"""

import contextlib
import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import cached_property

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairgauge.collector.answer_endpoint import AnswersEndpoint
from fairgauge.collector.pages.html import problem_page, wants_html
from fairgauge.collector.pages.study_pages import Pages
from fairgauge.collector.result_endpoints import Trees
from fairgauge.collector.routes import TABLE, Operation, openapi
from fairgauge.collector.service import Collector
from fairgauge.server.logs import log_fault
from fairgauge.server.problems import MEDIA_TYPE, Problem, problem_of
from fairgauge.server.slow_clients import GONE
from fairgauge.unlinkable.oblivious_http import WELL_KNOWN

_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]
_FAULTY = frozenset({400, 401, 403, 404, 405, 413, 415})  # the sender's own fault, and no use to try again
_FAULTY_SECONDS = 1.0
# With every response, also to a request that names no origin: then a cache needs one copy for everyone.  And with
# problems too, or a page could not tell an answer that is refused for good from a network that is down.
_ALLOWED = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Fairgauge-Admission, Fairgauge-Key, Fairgauge-Signature, Retry-After"),
]
_TO_ANY_ORIGIN = [*_HEADERS, *_ALLOWED]


def make_app(collector: Collector) -> "CollectorApp":
    """Return the application; it starts and stops the collector."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        await collector.start()
        try:
            yield
        finally:
            pages.live.stop()
            await collector.stop()

    pages = Pages(collector)
    # A router without Starlette's application around it: its error pages are not ours, and each layer costs.
    return CollectorApp(Router(list(_routes_of(TABLE)), redirect_slashes=False, lifespan=lifespan), collector, pages)


def _routes_of(table: Iterable[Operation]) -> Iterable[Route]:
    """Return the routes of a table: one for each path, and those for browsers that ask first (CORS)."""
    by_path: defaultdict[str, list[Operation]] = defaultdict(list)
    for one in table:
        if isinstance(one.handler, AnswersEndpoint):
            yield Route(one.path, one.handler, methods=[one.method])
        else:
            by_path[one.path].append(one)
    for path, operations in by_path.items():
        yield Route(path, _endpoint(operations), methods=[one.method for one in operations])
    for one in table:
        if one.shared:
            yield Route(one.path, _preflight(one.method), methods=["OPTIONS"])


def _endpoint(operations: list[Operation]) -> Callable[[Request], Awaitable[Response]]:
    by_method = {one.method: one for one in operations}

    async def answer(request: Request) -> Response:
        return await by_method["GET" if request.method == "HEAD" else request.method].answer(request)

    return answer


def _as_problem(error: Exception) -> Problem:
    if isinstance(error, HTTPException):
        kind = "bad-method" if error.status_code == 405 else "not-found"
        return Problem(kind, "See /openapi.json for what there is.", error.headers or {})
    return problem_of(error)


def _pattern_of(operations: Iterable[tuple[str, str]]) -> re.Pattern[str]:
    """Return what matches the requests that pages of other origins may make, as ``METHOD path``.

    >>> found = _pattern_of([("POST", "/studies/{digest}/answers")])
    >>> [found.fullmatch(text) is not None for text in ("POST /studies/1f0c/answers", "POST /studies")]
    [True, False]
    """
    paths = [f"({method}|OPTIONS) " + re.sub(r"\{[a-z]+\}", "[^/]+", path) for method, path in operations]
    return re.compile("|".join(paths))


def _preflight(method: str) -> Response:
    """Answer a browser that asks, before a page makes a request, whether it may."""
    headers = {
        "Access-Control-Allow-Methods": method,
        "Access-Control-Allow-Headers": "Authorization, Content-Type",
        "Access-Control-Max-Age": "86400",
    }
    return Response(None, 204, headers)


_SHARED = _pattern_of((one.method, one.path) for one in TABLE if one.shared)
_ANSWERS, _TAKE = next(
    (re.compile(one.path.replace("{digest}", "([^/]+)")), one.handler)
    for one in TABLE
    if isinstance(one.handler, AnswersEndpoint)
)


class CollectorApp:
    """Around everything: counts requests, adds headers, and lets no exception out."""

    def __init__(self, router: Router, collector: Collector, pages: Pages) -> None:
        self.collector = collector
        self.pages = pages
        self.trees = Trees(collector)
        self.router = router
        self._metrics = collector.metrics

    @cached_property
    def described(self) -> bytes:
        """The interface as an OpenAPI document, written once."""
        return json.dumps(openapi(TABLE), ensure_ascii=False, separators=(",", ":")).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.router(scope, receive, send)
            return
        scope["app"] = self
        started = False
        method, path = scope["method"], scope["path"]
        answers = _ANSWERS.fullmatch(path) if method == "POST" else None
        run: ASGIApp = self.router
        headers = _TO_ANY_ORIGIN
        if answers is not None:  # which come a million times, and go past the router
            scope["path_params"], run = {"digest": answers[1]}, _TAKE
        else:
            if not (method == "POST" and path == WELL_KNOWN):
                await self.collector.lane.begin()
                if GONE in scope:  # nobody is there to read what would be said
                    return
            if not _SHARED.fullmatch(f"{method} {path}"):
                headers = _HEADERS

        async def watched(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._metrics.request(message["status"])
                own = message.get("headers", [])
                given = dict(own)  # a page has a policy of its own
                message["headers"] = own + [pair for pair in headers if pair[0] not in given]
            await send(message)

        try:
            await run(scope, receive, watched)
        except Exception as error:
            problem = await self._charged(error)
            if started:
                raise  # the response is broken off, so that nobody takes a part for the whole
            await _response_to(Request(scope), problem)(scope, receive, watched)

    async def _charged(self, error: Exception) -> Problem:
        """Return what to say of an error, late if it is the sender's own fault."""
        problem = _as_problem(error)
        if problem.kind == "broken":
            self._metrics.faults.inc()
            log_fault(error)
        if problem.status in _FAULTY:
            # Whoever sends nonsense without end sends the next when this is answered: so that is not at once.
            await self.collector.turnstile.slow("faulty", _FAULTY_SECONDS)
        return problem


def _response_to(request: Request, problem: Problem) -> Response:
    if wants_html(request):
        return problem_page(request, problem)
    return Response(problem.to_bytes(), problem.status, problem.headers, MEDIA_TYPE)
