"""Kill collectors while a study in the crowd is answered and watched: what readers see is whole batches, always."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from fairgauge.collector.stores import backup
from fairgauge.study import Study
from tests.collecting.kills import Count, Sent, count_left, publish, storm
from tests.collecting.servers import PATIENCE, SERVE, ServerProcess
from tests.collecting.wire import Wire


@dataclass
class Watched:
    """What readers saw, one tally after the other, through each collector."""

    tallies: list[list[list[int]]] = field(default_factory=list)
    sealed: list[int] = field(default_factory=list)
    export: int = 0
    faults: tuple[str, ...] = ()

    def steps(self) -> Iterator[list[int]]:
        """Yield by how much each count grew from one tally that a reader saw to the next one."""
        for own in self.tallies:
            for before, after in pairwise(own):
                yield [late - early for early, late in zip(before, after, strict=True)]

    async def until(self, states: int) -> None:
        """Wait until each reader has seen so many states: answers may outrun readers on a busy machine."""
        async with asyncio.timeout(PATIENCE):
            while min(map(len, self.tallies)) < states:
                await asyncio.sleep(0.01)

    def broken(self, size: int) -> list[str]:
        """Return what contradicts batches of a size: there must be nothing."""
        while_open = [sum(tally) for own in self.tallies for tally in own]
        found = [f"{total} answers were shown" for total in while_open if total % size]
        found += [f"a step of {sum(step)}" for step in self.steps() if 0 < sum(step) < size or min(step) < 0]
        return found + list(self.faults)


async def _watch(server: ServerProcess, study: Study, seen: list[list[int]]) -> None:
    while True:
        try:
            async with Wire(server.port) as wire:
                while True:
                    path = f"/studies/{study.digest}/tally"
                    async with asyncio.timeout(10):  # not wait_for, which can lose the cancellation that ends this
                        status, body = await wire.request("GET", path, token=server.token)
                    if status == 200 and (counts := json.loads(body)["counts"]) not in seen[-1:]:
                        seen.append(counts)
                    await asyncio.sleep(0.005)
        except (OSError, EOFError, TimeoutError):
            await asyncio.sleep(0.02)


async def _end(server: ServerProcess, study: Study, watched: Watched) -> None:
    """Close the study, and read what is left of it for good."""
    one = f"/studies/{study.digest}"
    async with Wire(server.port) as wire:
        assert (await wire.request("POST", f"{one}/close", token=server.token))[0] == 200
        sealed = json.loads((await wire.request("GET", f"{one}/sealed", token=server.token))[1])
        watched.sealed = sealed["seal"]["tally"]
        watched.export = len((await wire.request("GET", f"{one}/export", token=server.token))[1].splitlines())


def kill_in_batches(
    folder: Path, store: str, study: Study, *, kills: int, processes: int = 1, code: str = SERVE
) -> tuple[Sent, Count, Watched]:
    """Kill one of some collectors again and again while a study in the crowd is answered, and watch its tally."""
    first = ServerProcess(folder, store, code=code)
    servers = [first] + [ServerProcess(folder, store, token=first.token, code=code) for _ in range(processes - 1)]
    watched = Watched([[] for _ in servers])

    def kill(number: int) -> None:
        servers[number % processes].kill()
        servers[number % processes].start().wait_until_ready()

    async def play() -> Sent:
        pairs = zip(servers, watched.tallies, strict=True)
        watching = [asyncio.create_task(_watch(server, study, seen)) for server, seen in pairs]
        try:
            await watched.until(1)
            sent = await storm(servers, study, kills, kill, senders=16)
            await watched.until(2)
            return sent
        finally:
            for task in watching:
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)

    try:
        for server in servers:
            server.start().wait_until_ready()
        publish(first, study)
        sent = asyncio.run(play())
        if code == SERVE:  # one that is broken need not come to an end
            asyncio.run(_end(first, study, watched))
        assert [server.stop() for server in servers] == [0] * processes
    finally:
        for server in servers:
            if server.process is not None:
                server.kill()
    watched.faults = asyncio.run(backup.check(store)).faults
    return sent, asyncio.run(count_left(store, study, sent)), watched
