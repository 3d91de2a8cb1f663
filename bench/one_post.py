"""Where the time of one POST of an answer goes: the same requests through more and more of the collector.

No sockets and no other process: requests are handed to the protocol as the event loop would, 256 at a time, and what
each part adds is the difference to the line before, in microseconds of this process.
"""

import asyncio
import secrets
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from bench.lines import Line
from fairgauge.collector.admission import PublishingTerms
from fairgauge.collector.app import make_app
from fairgauge.collector.config import Config, Rates
from fairgauge.collector.service import Collector
from fairgauge.collector.stores import open_store
from fairgauge.collector.stores.store import FRESH, Row
from fairgauge.collector.workers import look_for_garbage_less
from fairgauge.server.slow_clients import make_protocol
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

STUDY = sample_study()
ROUNDS, REQUESTS, AT_ONCE = 3, 4_096, 256
App = Callable[..., Awaitable[None]]


class _Transport(asyncio.Transport):
    """Takes what is written, as the kernel would at once."""

    def __init__(self) -> None:
        super().__init__()
        self.done = asyncio.Event()

    def write(self, data: Any) -> None:
        if bytes(data).endswith(b"}"):
            self.done.set()

    def get_extra_info(self, _name: str, default: Any = None) -> Any:
        return default

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        """Stay open."""


def one_post() -> Iterator[Line]:
    """Where the time of one POST goes."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as collectors run
        found = runner.run(_measured())
    before, least = 0.0, next(iter(found.values()))
    for name, spent in found.items():
        more = f"more than the line before: {spent - before:.1f} µs"
        yield Line(f"one POST: {name}", f"{spent:.1f} µs", more, spent / least)
        before = spent


async def _measured() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as temporary:
        folder = Path(temporary)
        rates = Rates(answers=1e9, open=1e9)
        config = Config(secrets=str(folder / "secrets"), store=f"sqlite:///{folder / 'gauge.db'}", rates=rates)
        collector = Collector(config, await open_store(config.store))
        await collector.start()
        await collector.publish(STUDY.to_bytes(), PublishingTerms())
        app, submit, add = make_app(collector), collector.intake.submit, collector.store.add
        hurried, _ = make_protocol(config.limits)

        async def at_once(rows: list[Row]) -> list[str]:
            return [FRESH] * len(rows)

        async def unstored(rows: list[Row], _bucket: int) -> list[str]:
            return [FRESH] * len(rows)

        def through(intake: Any, store: Any) -> App:
            async def run(scope: Any, receive: Any, send: Any) -> None:
                collector.intake.submit, collector.store.add = intake, store  # type: ignore[method-assign]
                await app(scope, receive, send)

            return run

        steps: dict[str, tuple[App, type[HttpToolsProtocol]]] = {
            "a bare Starlette application": (_starlette(), HttpToolsProtocol),
            "with deadlines and limits on every connection": (_starlette(), hurried),
            "the collector up to its queue, instead": (through(at_once, unstored), hurried),
            "with the queue": (through(submit, unstored), hurried),
            "with SQLite, durably": (through(submit, add), hurried),
        }
        look_for_garbage_less()  # as collectors do
        spent: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(ROUNDS):
            for name, (one, protocol) in steps.items():
                spent[name].append(await _sent(one, protocol))
        await collector.stop()
    return {name: median(each) for name, each in spent.items()}


def _starlette() -> App:
    seen: dict[str, int] = {}

    async def answer(request: Request) -> JSONResponse:
        sent = msgspec.json.decode(await request.body())
        seen[sent["id"]] = sent["symbol"]
        return JSONResponse({"status": "accepted"})

    return Starlette(routes=[Route("/studies/{digest}/answers", answer, methods=["POST"])])


async def _sent(app: App, protocol: type[HttpToolsProtocol]) -> float:
    """Return the microseconds of this process for one request."""
    quiet: dict[str, Any] = {"lifespan": "off", "access_log": False, "log_config": None, "proxy_headers": False}
    settings = uvicorn.Config(app, http=protocol, interface="asgi3", **quiet)
    settings.load()
    state = ServerState()
    peers = []
    for _ in range(AT_ONCE):
        one, transport = protocol(settings, state, {}), _Transport()
        one.connection_made(transport)
        peers.append((one, transport))
    head = f"POST /studies/{STUDY.digest}/answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()
    bodies = [answer_bytes(STUDY.digest, secrets.token_bytes(16), secrets.randbelow(4)) for _ in range(REQUESTS)]
    requests = [head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies]

    async def send(at: int) -> None:
        one, transport = peers[at]
        for number in range(at, REQUESTS, AT_ONCE):
            transport.done.clear()
            one.data_received(requests[number])
            await transport.done.wait()

    began = time.process_time()
    await asyncio.gather(*map(send, range(AT_ONCE)))
    spent = time.process_time() - began
    for one, _ in peers:
        one.connection_lost(None)
    await asyncio.sleep(0)
    return spent / REQUESTS * 1e6
