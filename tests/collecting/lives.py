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
from collections import Counter
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path

import asyncpg

from fairgauge.collector.seal import PURPOSE, read_sealed
from fairgauge.collector.seal_record import FILE, read_record
from fairgauge.collector.signatures import signature_is_good
from fairgauge.collector.stores import backup
from fairgauge.study import Study
from tests.collecting.servers import ServerProcess, new_database
from tests.collecting.wire import Wire, answer_bytes

_FILE = "sqlite:///"
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
    document = await client.ask("GET", f"{one}/sealed")
    sealed, seal = read_sealed(document), json.loads(document)["seal"]
    assert signature_is_good(sealed.key, PURPOSE, sealed.seal.to_bytes(), sealed.signature)
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
    done.faults += asyncio.run(backup.check(store, secrets=folder / "secrets")).faults
    done.faults += second_seals(folder, done.studies)
    return done


def second_seals(folder: Path, studies: int) -> list[str]:
    """Return what is wrong with the record of seals: one good line for each study that was sealed, and no other."""
    lines = [json.loads(line) for line in (folder / "secrets" / FILE).read_bytes().splitlines()]
    sealed = Counter(line["study"] for line in lines if line["did"] == "sealed")
    found = [f"study {study} was sealed {times} times" for study, times in sealed.items() if times > 1]
    if read_record(folder / "secrets").lines != len(lines) or len(sealed) != studies:
        found.append(f"the record has {len(sealed)} seals of {studies} studies")
    return found


def kill_restores(folder: Path, store: str, *, kills: int) -> Lives:
    """Kill ``fairgauge store restore`` at random moments, then ``forget`` in what was restored: whole, or not there."""
    chance, done, copy = random.Random(8), Lives(0, 0, 0, 0, []), folder / "copy"
    asyncio.run(backup.back_up(store, copy))
    (digest, *_) = read_record(folder / "secrets").seals
    for number in count():
        target = f"sqlite:///{folder / f'restored-{number}'}" if store.startswith(_FILE) else new_database()
        for words in (
            ["restore", str(copy), "--secrets", str(folder / "secrets")],
            ["forget", "--study", digest, "--what", "answers"],
        ):
            if done.kills >= kills:
                return done
            done.kills += _killed([*words, "--store", target], chance.uniform(0.3, 2.0))
            if not _is_there(target):
                break
            done.studies += 1
            done.faults += asyncio.run(backup.check(target, secrets=folder / "secrets")).faults
    raise AssertionError("it counts without an end")


def kill_backups(folder: Path, store: str, *, kills: int) -> Lives:
    """Kill ``fairgauge store backup`` at random moments: a file of the copy's name is a whole copy, or is not there."""
    chance, done, number = random.Random(7), Lives(0, 0, 0, 0, []), 0
    while done.kills < kills:
        number += 1
        target = folder / f"copy-{number}"
        done.kills += _killed(["backup", "--store", store, "-o", str(target)], chance.uniform(0.3, 2.5))
        if target.exists():
            done.studies += 1
            if store.startswith(_FILE):
                done.faults += asyncio.run(backup.check(f"{_FILE}{target}")).faults
            elif subprocess.run(["pg_restore", "--file=/dev/null", str(target)], check=False).returncode:
                done.faults.append("a dump that is no whole one has the copy's name")
            target.unlink()
    return done


def _killed(words: list[str], seconds: float) -> bool:
    """Run ``fairgauge store``, and kill it after so many seconds; tell whether it had not ended by itself."""
    with subprocess.Popen([*COMMAND, "store", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        ends = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < ends:
            time.sleep(0.005)
        process.kill()
    return process.returncode == -signal.SIGKILL


def _is_there(store: str) -> bool:
    """Tell whether anything was restored, once programs that outlive a killed command are done."""
    if store.startswith(_FILE):
        return Path(store.removeprefix(_FILE)).exists()
    return asyncio.run(_tables(store)) > 0


async def _tables(address: str) -> int:
    connection = await asyncpg.connect(address)
    try:
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        while await connection.fetchval(others):
            await asyncio.sleep(0.01)
        return int(await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"))
    finally:
        await connection.close()
