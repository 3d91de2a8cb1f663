"""Is it alive, is it ready, how is it doing, and what can it do."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fairgauge.collector.openapi import openapi
from fairgauge.collector.problems import wait
from fairgauge.collector.routes.access import collector_of, only, require


async def alive(_request: Request) -> Response:
    """Say that the process lives."""
    return JSONResponse({"status": "alive"})


async def ready(request: Request) -> Response:
    """Say whether answers can be taken: 503 if the store does not answer, or the collector is stopping."""
    collector = collector_of(request)
    if not collector.ready:
        raise wait("stopping", "The collector is stopping.", 2)
    await collector.store.check()
    return JSONResponse({"status": "ready"})


async def metrics(request: Request) -> Response:
    """Show numbers for Prometheus (readers)."""
    collector = require(request, "reader")
    only(request)
    return Response(collector.metrics.to_bytes(), media_type="text/plain; version=0.0.4")


async def describe(_request: Request) -> Response:
    """Show this interface as an OpenAPI document."""
    return JSONResponse(openapi())
