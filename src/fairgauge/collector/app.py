"""The web application: routes from the table of operations, and one place where every error becomes a problem."""

import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import cached_property

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from fairgauge.collector.openapi import openapi
from fairgauge.collector.operations import Operation
from fairgauge.collector.origins import SHARED, pattern_of, preflight
from fairgauge.collector.pages.html import problem_page, wants_html
from fairgauge.collector.pages.shelf import Pages
from fairgauge.collector.routes.answers import AnswersEndpoint
from fairgauge.collector.service import Collector
from fairgauge.collector.table import TABLE
from fairgauge.server.logs import log_fault
from fairgauge.server.problems import MEDIA_TYPE, Problem, problem_of
from fairgauge.server.slow_clients import GONE
from fairgauge.unlinkable.oblivious import WELL_KNOWN

_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]
FAULTY = frozenset({400, 401, 403, 404, 405, 413, 415})  # the sender's own fault, and no use to try again
FAULTY_SECONDS = 1.0
_DEVICES = ("/answers", WELL_KNOWN)  # what devices send: answers, and answers in envelopes
_SHARED = pattern_of((one.method, one.path) for one in TABLE if one.shared)


def make_app(collector: Collector) -> "Guard":
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
    return Guard(Router(list(routes_of(TABLE)), redirect_slashes=False, lifespan=lifespan), collector, pages)


def routes_of(table: Iterable[Operation]) -> Iterable[Route]:
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
            yield Route(one.path, preflight(one.method), methods=["OPTIONS"])


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


class Guard:
    """Around everything: counts requests, adds headers, and lets no exception out."""

    def __init__(self, router: Router, collector: Collector, pages: Pages) -> None:
        self.collector = collector
        self.pages = pages
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
        if not (scope["method"] == "POST" and scope["path"].endswith(_DEVICES)):
            await self.collector.lane.begin()
            if GONE in scope:  # nobody is there to read what would be said
                return
        headers = [*_HEADERS, *SHARED] if _SHARED.fullmatch(f"{scope['method']} {scope['path']}") else _HEADERS

        async def watched(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._metrics.request(message["status"])
                own = message.get("headers", [])
                given = {name for name, _ in own}  # a page has a policy of its own
                message["headers"] = [*own, *(pair for pair in headers if pair[0] not in given)]
            await send(message)

        try:
            await self.router(scope, receive, watched)
        except Exception as error:
            problem = _as_problem(error)
            if problem.kind == "broken":
                self._metrics.faults.inc()
                log_fault(error)
            if problem.status in FAULTY:
                # Whoever sends nonsense without end sends the next when this is answered: so that is not at once.
                await self.collector.turnstile.slow("faulty", FAULTY_SECONDS)
            if started:
                raise  # the response is broken off, so that nobody takes a part for the whole
            request = Request(scope)
            if wants_html(request):
                shown = problem_page(request, problem)
            else:
                shown = Response(problem.to_bytes(), problem.status, problem.headers, MEDIA_TYPE)
            await shown(scope, receive, watched)
