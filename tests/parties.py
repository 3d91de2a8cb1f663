"""Three parties in this process, each on a port of its own: a collector, an issuer and a relay, and all they hear.

What a party receives is written down as it comes in: address, method, path, headers and body.  What it keeps is in its
folder.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import uvicorn

from fairgauge.collector.admission import PublishingTerms
from fairgauge.collector.app import make_app
from fairgauge.collector.config import read_config
from fairgauge.collector.gateway import Gateway
from fairgauge.collector.service import Collector
from fairgauge.collector.stores import open_store
from fairgauge.parties.blind_signing import make_key
from fairgauge.parties.issuer_server import IssuerServer
from fairgauge.parties.relay_server import RelayServer
from fairgauge.study import Issuer as Named
from fairgauge.study import Study
from fairgauge.unlinkable.pass_token import write_key
from tests.collecting.servers import free_port
from tests.samples import sample_study

NAME = "issuer.example"


@dataclass
class Party:
    """An application that writes down what it hears, and may be made to lose replies."""

    app: Any
    heard: list[bytes] = field(default_factory=list)
    said: list[bytes] = field(default_factory=list)
    lose: int = 0  # so many posts are done, and their replies are lost
    drop: int = 0  # so many posts are lost before anything is done

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        host, port = scope["client"] or ("", 0)
        head = f"{host}:{port} {scope['method']} {scope['path']}".encode()
        self.heard.append(b"\n".join([head, *(name + b": " + value for name, value in scope["headers"])]))
        post = scope["method"] == "POST"
        lost, self.lose = post and self.lose > 0, max(0, self.lose - post)
        dropped, self.drop = post and self.drop > 0, max(0, self.drop - post)

        async def listen() -> Any:
            message = await receive()
            self.heard.append(message.get("body", b""))
            return message

        async def speak(message: Any) -> None:
            if lost:
                raise ConnectionAbortedError
            self.said.append(message.get("body", b""))
            await send(message)

        if dropped:
            raise ConnectionAbortedError
        await self.app(scope, listen, speak)


@dataclass
class Parties:
    """Where the three are, and the study that they serve."""

    folder: Path
    study: Study
    plain: Study
    ports: dict[str, int]
    parties: dict[str, Party]
    issuer: IssuerServer
    collector: Collector
    loop: asyncio.AbstractEventLoop

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.ports[name]}"

    def counts(self, study: Study) -> int:
        """Return how many answers to a study are counted."""

        async def ask() -> int:
            return sum((await self.collector.tally(await self.collector.entry(study.digest))).counts)

        return asyncio.run_coroutine_threadsafe(ask(), self.loop).result(20)


@contextmanager
def three_parties(folder: Path, **terms: Any) -> Iterator[Parties]:
    """Run the three for a study with blind tickets and a gateway, and for one with ordinary tickets and neither."""
    for name in ("collector", "issuer"):
        (folder / name).mkdir()
    key = write_key(make_key(folder / "issuer").public)
    gateway = Gateway.in_folder(folder / "collector").config.to_text()
    study = replace(sample_study(), admission="blind", issuer=Named(NAME, key), gateway=gateway, **terms)
    plain = replace(sample_study(), admission="tickets")
    issuer = IssuerServer(folder / "issuer", study)
    ports = {name: free_port() for name in ("collector", "issuer", "relay")}
    started: list[Parties] = []
    ready, over = threading.Event(), threading.Event()

    async def run() -> None:
        store = f"sqlite:///{folder / 'collector' / 'gauge.db'}"
        config = read_config(None, store=store, secrets=str(folder / "collector"), commit_milliseconds=0)
        collector = Collector(config, await open_store(store))
        await collector.start()
        for one in (study, plain):
            await collector.publish(one.to_bytes(), PublishingTerms(admission="tickets", results="public"))
        relay = RelayServer(f"http://127.0.0.1:{ports['collector']}")
        apps = {"collector": make_app(collector), "issuer": issuer, "relay": relay}
        parties = {name: Party(app) for name, app in apps.items()}
        servers = [
            uvicorn.Server(uvicorn.Config(party, port=ports[name], log_config=None, lifespan="off"))
            for name, party in parties.items()
        ]
        tasks = [asyncio.create_task(server._serve()) for server in servers]
        while not all(server.started for server in servers):
            await asyncio.sleep(0.01)
        loop = asyncio.get_running_loop()
        started.append(Parties(folder, study, plain, ports, parties, issuer, collector, loop))
        ready.set()
        await asyncio.to_thread(over.wait)
        for server in servers:
            server.should_exit = server.force_exit = True
        await asyncio.gather(*tasks)
        relay.close()
        await collector.stop()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert ready.wait(120)
        yield started[0]
    finally:
        over.set()
        thread.join(30)
        issuer.book.close()
