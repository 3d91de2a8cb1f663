"""Kill a collector at any moment of studies' lives: publishing, answering, closing, sealing, exporting; and programs
that copy its store."""

import asyncio
import json
import random
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from fairgauge.collector.keeping import addresses
from fairgauge.study import Study
from tests.collecting.servers import ServerProcess
from tests.collecting.wire import Wire, answer_bytes

COMMAND = [sys.executable, "-c", "from fairgauge.cli import main; main()"]


@dataclass
class Lives:
    """What came of it."""

    kills: int
    studies: int
    acknowledged: int
    lost: int
    faults: list[str]


class _Persistent:
    """Asks until it gets an answer, as every client of a collector must."""

    def __init__(self, server: ServerProcess, wire: Wire) -> None:
        self._server = server
        self._wire = wire

    async def ask(self, method: str, path: str, body: bytes = b"", *, fine: tuple[int, ...] = (200,)) -> bytes:
        while True:
            try:
                async with asyncio.timeout(30):
                    status, found = await self._wire.request(method, path, body, token=self._server.token)
            except (OSError, EOFError, TimeoutError):
                status, found = 0, b""
            if status in fine:
                return found
            assert status in (0, 404, 503), (status, found)  # 404: a seal that is not there yet
            await asyncio.sleep(0.02)


async def _live(server: ServerProcess, study: Study, answers: int) -> tuple[int, int]:
    async with Wire(server.port) as wire:
        return await _lead(_Persistent(server, wire), study, answers)


async def _lead(client: _Persistent, study: Study, answers: int) -> tuple[int, int]:
    """Lead one study from its publication to its export; return how many were acknowledged, how many are missing."""
    one = f"/studies/{study.digest}"
    await client.ask("POST", "/studies", study.to_bytes(), fine=(200, 201))
    sent = {secrets.token_bytes(16): number % study.symbols for number in range(answers)}
    for id_, symbol in sent.items():
        await client.ask("POST", f"{one}/answers", answer_bytes(study.digest, id_, symbol))
    await client.ask("POST", f"{one}/close")
    seal = json.loads(await client.ask("GET", f"{one}/sealed"))["seal"]
    lines = await client.ask("GET", f"{one}/export")
    while sha256(lines).hexdigest() != seal["answers_sha256"]:  # a kill cut the export short
        lines = await client.ask("GET", f"{one}/export")
    found = {bytes.fromhex(line["id"]): line["symbol"] for line in map(json.loads, lines.splitlines())}
    return len(sent), sum(found.get(id_) != symbol for id_, symbol in sent.items()) + len(found) - len(sent)


def kill_lives(folder: Path, store: str, study: Study, *, kills: int, answers: int = 30) -> Lives:
    """Kill a collector again and again while studies are published, answered, closed, sealed and exported."""
    chance = random.Random(kills)
    server = ServerProcess(folder, store).start().wait_until_ready()
    done = Lives(0, 0, 0, 0, [])

    async def play() -> None:
        while done.kills < kills:
            name = f"{study.title} {secrets.token_hex(4)}"
            living = asyncio.create_task(_live(server, replace(study, title=name), answers))
            while not living.done() and done.kills < kills:
                await asyncio.sleep(chance.uniform(0.02, 0.6))
                if not living.done():
                    server.kill()
                    done.kills += 1
                    await asyncio.to_thread(lambda: server.start().wait_until_ready())
            acknowledged, lost = await living
            done.studies += 1
            done.acknowledged += acknowledged
            done.lost += lost

    try:
        asyncio.run(play())
        assert server.stop() == 0
    finally:
        if server.process is not None:
            server.kill()
    done.faults += asyncio.run(addresses.check(store)).faults
    return done


def kill_backups(folder: Path, store: str, *, kills: int) -> Lives:
    """Kill ``fairgauge store backup`` at random moments: a file of the copy's name is a whole copy, or is not there."""
    chance, done, number = random.Random(7), Lives(0, 0, 0, 0, []), 0
    while done.kills < kills:
        number += 1
        target = folder / f"copy-{number}"
        with subprocess.Popen(
            [*COMMAND, "store", "backup", "--store", store, "-o", str(target)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            started = time.monotonic()
            ends = chance.uniform(0.3, 2.5)
            while process.poll() is None and time.monotonic() - started < ends:
                time.sleep(0.005)
            process.kill()
        done.kills += process.returncode == -signal.SIGKILL
        if target.exists():
            done.studies += 1
            if store.startswith("sqlite"):
                done.faults += asyncio.run(addresses.check(f"sqlite:///{target}")).faults
            target.unlink()
    return done
