"""Kill a collector, its database, or clients, at random moments under load, and count what is left."""

import asyncio
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairgauge.channel import Channel
from fairgauge.client import Answer, Ledger
from fairgauge.collector.stores import open_store
from fairgauge.collector.stores.released_sums import payload_of, summed
from fairgauge.crowd.secret_draws import blanket_weights, misfit
from fairgauge.server.tickets import Tickets
from fairgauge.study import Study
from tests.collecting.servers import PATIENCE, SERVE, SERVE_MANY, ServerProcess, workers_of
from tests.collecting.wire import Wire, answer_bytes

ACCEPTED, DUPLICATE = b'{"status":"accepted"}', b'{"status":"duplicate"}'


# An answer to be sent: its id, what it says, and its bytes.
Drawn = tuple[bytes, Any, bytes]
Draw = Callable[[random.Random], Drawn]


@dataclass
class Sent:
    """What the senders know: every answer they sent, and those that were acknowledged."""

    answers: dict[bytes, Any] = field(default_factory=dict)
    acknowledged: set[bytes] = field(default_factory=set)
    accepted: int = 0
    retried: int = 0


@dataclass
class Count:
    """What is left in the store."""

    lost: int
    altered: int
    unknown: int
    rows: int
    tally: int
    tally_is_rows: bool


def of_devices(study: Study) -> Draw:
    """Make answers as devices do."""

    def draw(chance: random.Random) -> Drawn:
        id_, symbol = secrets.token_bytes(16), chance.randrange(study.symbols)
        return id_, (symbol,), answer_bytes(study.digest, id_, symbol)

    return draw


def of_sites(study: Study, folder: Path) -> Draw:
    """Make answers as sites do that have tickets of the collector with this folder."""
    tickets = Tickets.in_folder(folder / "secrets")

    def draw(chance: random.Random) -> Drawn:
        ticket = tickets.new(study.digest)
        counts = tuple(chance.randint(-5, 300) for _ in range(study.symbols))
        return bytes.fromhex(ticket), counts, Answer(study.digest, ticket, counts).to_bytes()

    return draw


async def _send(port: int, path: str, sent: Sent, stop: asyncio.Event, draw: Callable[[], Drawn]) -> None:
    chance = random.Random(port)
    async with Wire(port) as wire:
        while not stop.is_set():
            id_, what, data = draw()
            sent.answers[id_] = what
            while not stop.is_set():
                try:
                    async with asyncio.timeout(10):
                        status, body = await wire.request("POST", path, data)
                except (OSError, EOFError, TimeoutError):
                    status, body = 0, b""
                if status == 200:
                    assert body in (ACCEPTED, DUPLICATE), body
                    sent.acknowledged.add(id_)
                    sent.accepted += body == ACCEPTED
                    await asyncio.sleep(chance.uniform(0, 0.02))  # as devices do: the load is many, not each one
                    break
                assert status in (0, 503), (status, body)
                sent.retried += 1
                await asyncio.sleep(chance.uniform(0.01, 0.05))


async def storm(
    servers: list[ServerProcess],
    study: Study,
    kills: int,
    kill: Callable[[int], None],
    *,
    senders: int,
    draw: Draw | None = None,
) -> Sent:
    """Send answers to collectors while they are killed; return what was sent."""
    sent, stop, chance = Sent(), asyncio.Event(), random.Random(1)
    make, path = draw or of_devices(study), f"/studies/{study.digest}/answers"
    tasks = [
        asyncio.create_task(_send(servers[n % len(servers)].port, path, sent, stop, lambda: make(chance)))
        for n in range(senders)
    ]

    async def under_load() -> None:
        before = len(sent.acknowledged)
        async with asyncio.timeout(PATIENCE):
            while len(sent.acknowledged) < before + senders:
                await asyncio.sleep(0.01)
                for task in tasks:
                    if task.done():
                        task.result()

    try:
        for number in range(kills):
            await under_load()
            await asyncio.sleep(chance.uniform(0, 0.2))
            await asyncio.to_thread(kill, number)
        await under_load()
    finally:
        stop.set()
        await asyncio.gather(*tasks)
    return sent


async def count_left(store: str, study: Study, sent: Sent) -> Count:
    """Compare what is in a store with what was sent."""
    opened = await open_store(store)
    try:
        kept = await opened.study(study.digest)
        assert kept is not None
        rows: dict[bytes, str] = {}
        pages = 0
        async for page in opened.answers(kept.number):
            rows.update(page)
            pages += len(page)
        tally = await opened.counts(kept.number)
        came = sum((await opened.arrivals(kept.number)).values())
    finally:
        await opened.close()
    left = Counter(tally)
    left.subtract({place: count for (_, place), count in summed(("", payload) for payload in rows.values()).items()})
    return Count(
        lost=len(sent.acknowledged - rows.keys()),
        altered=sum(sent.answers.get(id_) not in (payload_of(payload), None) for id_, payload in rows.items()),
        unknown=len(rows.keys() - sent.answers.keys()),
        rows=pages,
        tally=came,
        tally_is_rows=_are_draws(study, pages, left) and came == pages,
    )


def _are_draws(study: Study, answers: int, left: Counter[int]) -> bool:
    """Whether counts less answers are the secret draws that so many leave with; without a crowd there are none."""
    if study.release is None:
        return not any(left.values())
    wanted = study.release.draws * study.release.batches(answers)
    found = [left[symbol] for symbol in range(study.symbols)]
    return sum(found) == wanted and misfit(blanket_weights(study.channels), study.release.draws, found) is None


def publish(server: ServerProcess, study: Study) -> None:
    """Publish a study on a running collector."""

    async def run() -> None:
        async with Wire(server.port) as wire:
            status, body = await wire.request("POST", "/studies", study.to_bytes(), token=server.token)
            assert status in (200, 201), body

    asyncio.run(run())


def kill_collectors(
    folder: Path, store: str, study: Study, *, kills: int, processes: int = 1, senders: int = 16, code: str = SERVE
) -> tuple[Sent, Count]:
    """Kill one of some collectors again and again while answers arrive; return what was sent and what is left."""
    first = ServerProcess(folder, store, code=code)
    servers = [first] + [ServerProcess(folder, store, token=first.token, code=code) for _ in range(processes - 1)]

    def kill(number: int) -> None:
        victim = servers[number % processes]
        victim.kill()
        victim.start().wait_until_ready()

    try:
        for server in servers:
            server.start().wait_until_ready()
        publish(first, study)
        draw = None if isinstance(study.mechanism, Channel) else of_sites(study, folder)
        sent = asyncio.run(storm(servers, study, kills, kill, senders=senders, draw=draw))
        statuses = [server.stop() for server in servers]
        assert statuses == [0] * processes
    finally:
        for server in servers:
            if server.process is not None:
                server.kill()
    return sent, asyncio.run(count_left(store, study, sent))


def kill_workers(folder: Path, store: str, study: Study, *, kills: int, senders: int = 16) -> tuple[Sent, Count]:
    """Kill one of two workers of a collector again and again; the parent replaces it, and lives."""
    chance = random.Random(3)

    def kill(_number: int) -> None:
        assert server.process is not None
        while not (found := workers_of(server.process.pid)):
            time.sleep(0.01)
        os.kill(chance.choice(found), signal.SIGKILL)

    with ServerProcess(folder, store, code=SERVE_MANY) as server:
        publish(server, study)
        sent = asyncio.run(storm([server], study, kills, kill, senders=senders))
        assert server.stop() == 0
    return sent, asyncio.run(count_left(store, study, sent))


def kill_database(
    folder: Path,
    store: str,
    study: Study,
    *,
    kills: int,
    restart: Callable[[int], None],
    senders: int = 16,
) -> tuple[Sent, Count]:
    """Kill the database under a collector that goes on; ``restart`` kills it and starts it again."""
    with ServerProcess(folder, store) as server:
        publish(server, study)
        sent = asyncio.run(storm([server], study, kills, restart, senders=senders))
        assert server.stop() == 0
    return sent, asyncio.run(count_left(store, study, sent))


def kill_clients(
    folder: Path, store: str, study: Study, *, kills: int, clients: int = 4
) -> tuple[list[Answer], Count, int]:
    """Kill clients while they answer, and run each again to its end, until so many were killed in time.

    Returns:
        Every client's answer as its ledger has it, what is left in the store, and how many were killed.
    """
    document = folder / "study.json"
    document.write_bytes(study.to_bytes())
    chance, killed = random.Random(2), 0
    answers: list[Answer] = []
    with ServerProcess(folder, store) as server, ThreadPoolExecutor(clients) as pool:
        publish(server, study)

        def live(number: int, moment: float) -> tuple[bool, Answer]:
            """Run a client that is killed some moments after it begins to use its ledger; then run it again."""
            ledger = folder / f"ledger-{number}"
            command = [sys.executable, "-m", "fairgauge.client", str(document), "--group", "female"]
            command += ["--value", "recall=1", "--ledger", str(ledger), "--send", f"http://127.0.0.1:{server.port}"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
                while not ledger.exists() and process.poll() is None:
                    time.sleep(0.0005)
                time.sleep(moment)
                process.kill()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            found = Ledger(ledger).answer(study, {"group": None, "values": {}})  # it has one, so nothing is drawn
            return process.returncode == -signal.SIGKILL, found

        while killed < kills:
            numbers = range(len(answers), len(answers) + clients)
            for in_time, found in pool.map(live, numbers, [chance.uniform(0, 0.15) for _ in numbers]):
                killed += in_time
                answers.append(found)
        assert server.stop() == 0
    sent = Sent({bytes.fromhex(a.id): a.payload for a in answers}, {bytes.fromhex(a.id) for a in answers})
    return answers, asyncio.run(count_left(store, study, sent)), killed
