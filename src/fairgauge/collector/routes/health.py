"""Is it alive, is it ready, how is it doing, and what can it do."""

from starlette.requests import Request
from starlette.responses import Response

from fairgauge.collector.access import collector_of
from fairgauge.collector.shapes import Status
from fairgauge.server.server_errors import Stopping


async def alive(_request: Request) -> Response:
    """Say that the process lives."""
    return Response(Status("alive").to_bytes(), media_type="application/json")


async def ready(request: Request) -> Response:
    """Say whether answers can be taken: not if the store cannot be read or cannot commit, nor while stopping."""
    collector = collector_of(request)
    if not collector.ready:
        raise Stopping("The collector is stopping.", 2)
    await collector.store.check()
    await collector.check_commits()
    return Response(Status("ready").to_bytes(), media_type="application/json")


async def metrics(request: Request) -> Response:
    """Show numbers for Prometheus."""
    return Response(collector_of(request).metrics.to_bytes(), media_type="text/plain; version=0.0.4")


async def describe(request: Request) -> Response:
    """Show this interface as an OpenAPI document."""
    return Response(request.scope["app"].described, media_type="application/json")
