"""The web application: routes, and one place where every error becomes a problem document."""

import contextlib
from collections.abc import AsyncIterator

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from fairgauge.collector.logs import log_fault
from fairgauge.collector.origins import SHARED, is_shared, preflight
from fairgauge.collector.pages import take_part
from fairgauge.collector.pages.html import live_script, problem_page, style_sheet, wants_html
from fairgauge.collector.pages.studies import Pages
from fairgauge.collector.problems import Problem, problem_of
from fairgauge.collector.routes import health, results, studies
from fairgauge.collector.routes.answers import AnswersEndpoint
from fairgauge.collector.service import Collector
from fairgauge.errors import FairgaugeError

_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]


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
    one = "/studies/{digest}"
    routes = [
        Route(f"{one}/answers", AnswersEndpoint(collector), methods=["POST"]),
        Route("/studies", studies.publish_or_list, methods=["GET", "POST"]),
        Route(one, studies.show, methods=["GET"]),
        Route(f"{one}/answers", preflight("POST"), methods=["OPTIONS"]),
        Route(one, preflight("GET"), methods=["OPTIONS"]),
        Route(f"{one}/close", studies.close, methods=["POST"]),
        Route(f"{one}/sealed", studies.sealed, methods=["GET"]),
        Route(f"{one}/tally", results.tally, methods=["GET"]),
        Route(f"{one}/arrivals", results.arrivals, methods=["GET"]),
        Route(f"{one}/estimate", results.estimate, methods=["GET"]),
        Route(f"{one}/export", results.export, methods=["GET"]),
        Route(f"{one}/take-part", take_part.show, methods=["GET"]),
        *(Route(f"/static/{name}", take_part.asset, methods=["GET"]) for name in take_part.ASSETS),
        Route("/key", studies.key, methods=["GET"]),
        Route("/healthz", health.alive, methods=["GET"]),
        Route("/readyz", health.ready, methods=["GET"]),
        Route("/metrics", health.metrics, methods=["GET"]),
        Route("/openapi.json", health.describe, methods=["GET"]),
        Route("/", pages.index, methods=["GET"]),
        Route(f"{one}/events", pages.events, methods=["GET"]),
        Route(f"{one}/report", pages.report, methods=["GET"]),
        Route("/sign-in", pages.operator.sign_in, methods=["GET", "POST"]),
        Route("/sign-out", pages.operator.sign_out, methods=["POST"]),
        Route("/operator", pages.operator.desk, methods=["GET"]),
        Route("/operator/publish", pages.operator.publish, methods=["POST"]),
        Route("/operator/close", pages.operator.close, methods=["POST"]),
        Route("/operator/tokens", pages.operator.tokens, methods=["POST"]),
        Route("/operator/tickets", pages.operator.tickets, methods=["POST"]),
        Route("/style.css", style_sheet, methods=["GET"]),
        Route("/live.js", live_script, methods=["GET"]),
    ]
    # A router without Starlette's application around it: its error pages are not ours, and each layer costs.
    return Guard(Router(routes, redirect_slashes=False, lifespan=lifespan), collector, pages)


def _as_problem(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, FairgaugeError):
        return problem_of(error)
    if isinstance(error, HTTPException):
        kind = "bad-method" if error.status_code == 405 else "not-found"
        return Problem(kind, "See /openapi.json for what there is.", headers=error.headers)
    return Problem("broken", "It is logged.")


class Guard:
    """Around everything: counts requests, adds headers, and lets no exception out."""

    def __init__(self, router: Router, collector: Collector, pages: Pages) -> None:
        self.collector = collector
        self.pages = pages
        self.router = router
        self._metrics = collector.metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.router(scope, receive, send)
            return
        scope["app"] = self
        started = False
        headers = [*_HEADERS, *SHARED] if is_shared(scope["method"], scope["path"]) else _HEADERS

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
            if started:
                raise  # the response is broken off, so that nobody takes a part for the whole
            request = Request(scope)
            shown = problem_page(request, problem) if wants_html(request) else problem.to_response()
            await shown(scope, receive, watched)
