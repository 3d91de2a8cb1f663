"""Several collectors on one PostgreSQL behind one port, and what they export counted by an engine."""

import asyncio
import json
import secrets
from pathlib import Path

import pytest

from fairgauge.collector.config import Config
from fairgauge.errors import InvalidInput
from fairgauge.tallies import Tally, from_files
from tests.collecting.kills import publish
from tests.collecting.servers import ServerProcess, new_database
from tests.collecting.wire import Wire, answer_bytes
from tests.samples import sample_study

STUDY = sample_study()
SHARED = "reuse_port = true\n"


async def send(port: int, ids: list[bytes]) -> list[str]:
    """Send each answer on a connection of its own, so that both collectors get some."""
    told = []
    for name in ids:
        async with Wire(port) as wire:
            body = answer_bytes(STUDY.digest, name, name[0] % 4)
            _, heard = await wire.request("POST", f"/studies/{STUDY.digest}/answers", body)
            told.append(json.loads(heard)["status"])
    return told


async def export(server: ServerProcess, kind: str) -> bytes:
    async with Wire(server.port) as wire:
        path = f"/studies/{STUDY.digest}/export?format={kind}"
        return (await wire.request("GET", path, token=server.token))[1]


def test_two_collectors_share_a_port_and_count_once(tmp_path: Path):
    store = new_database()
    with (
        ServerProcess(tmp_path, store, settings=SHARED) as first,
        ServerProcess(tmp_path, store, settings=SHARED, port=first.port, token=first.token) as second,
    ):
        publish(first, STUDY)
        ids = [secrets.token_bytes(16) for _ in range(60)]
        assert asyncio.run(send(first.port, ids)) == ["accepted"] * 60
        assert asyncio.run(send(first.port, ids)) == ["duplicate"] * 60
        for kind in ("parquet", "ndjson"):
            (tmp_path / f"answers.{kind}").write_bytes(asyncio.run(export(first, kind)))
        # One goes, and the other has the port to itself.
        assert first.stop() == 0
        assert asyncio.run(send(second.port, [secrets.token_bytes(16)])) == ["accepted"]
    counts = [sum(name[0] % 4 == symbol for name in ids) for symbol in range(STUDY.symbols)]
    for kind in ("parquet", "ndjson"):
        found = from_files(STUDY, [tmp_path / f"answers.{kind}"], engine="polars", deduplicate=True)
        assert found == Tally(STUDY.digest, tuple(counts))


@pytest.mark.parametrize("given", [{"store": "sqlite:///gauge.db"}, {"store": "postgresql://db/gauge", "port": 0}])
def test_a_port_is_shared_only_where_that_makes_sense(given: dict[str, object]):
    with pytest.raises(InvalidInput, match="reuse_port=True: needs a port of your choice, and PostgreSQL"):
        Config(reuse_port=True, **given)  # type: ignore[arg-type]
