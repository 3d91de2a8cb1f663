"""A collector in this process, asked through its web application without a network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from fairgauge.collector.app import make_app
from fairgauge.collector.config import read_config
from fairgauge.collector.service import Collector
from fairgauge.collector.stores import open_store
from fairgauge.server.bearer_tokens import new_token, read_tokens
from fairgauge.study import Study
from tests.collecting.wire import answer_bytes


@dataclass
class Desk:
    """A running collector with the tokens to ask it everything."""

    collector: Collector
    client: httpx.AsyncClient
    operator: str
    reader: str

    async def get(self, path: str, *, token: str | None = None) -> httpx.Response:
        return await self.client.get(path, headers=_bearer(self.reader if token is None else token))

    async def post(
        self, path: str, body: bytes = b"", *, kind: str = "application/json", token: str | None = None
    ) -> httpx.Response:
        headers = {"content-type": kind, **_bearer(self.operator if token is None else token)}
        return await self.client.post(path, content=body, headers=headers)

    async def publish(self, study: Study, *, admission: str = "open") -> httpx.Response:
        return await self.post(f"/studies?admission={admission}", study.to_bytes())

    async def answer(self, study: Study, id_: bytes, symbol: int) -> httpx.Response:
        return await self.post(f"/studies/{study.digest}/answers", answer_bytes(study.digest, id_, symbol), token="")

    async def batch(self, study: Study, lines: list[bytes]) -> httpx.Response:
        path, kind = f"/studies/{study.digest}/answers", "application/x-ndjson"
        return await self.post(path, b"\n".join(lines), kind=kind, token="")

    async def tally(self, study: Study) -> list[int]:
        found = await self.get(f"/studies/{study.digest}/tally")
        counts: list[int] = found.json()["counts"]
        return counts


@asynccontextmanager
async def open_desk(store: str, folder: Path, *, clock: Any = None, **settings: Any) -> AsyncIterator[Desk]:
    """Start a collector, and stop it as a graceful shutdown does."""
    secrets = folder / "secrets"
    if not read_tokens(secrets):
        for role in ("operator", "reader"):
            (folder / role).write_text(new_token(secrets, name=role, role=role))
    config = read_config(None, store=store, secrets=str(secrets), commit_milliseconds=0, **settings)
    collector = Collector(config, await open_store(store), **({} if clock is None else {"clock": clock}))
    transport = httpx.ASGITransport(make_app(collector), raise_app_exceptions=False)
    await collector.start()
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://collector") as client:
            yield Desk(collector, client, (folder / "operator").read_text(), (folder / "reader").read_text())
    finally:
        await collector.stop()


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}
