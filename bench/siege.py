"""A siege: every attack on a collector that is known to us, beside devices that answer, as ratios in one run.

All of it is on this machine's loopback.  Attackers run in processes of their own, on a bounded number of connections
and for seconds.  What an attack does to honest answers is compared with what the same flood does to them when it goes
to a process that only reads and drops it: that much any machine pays.  The two take turns.
"""

import asyncio
import json
import os
import random
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.lines import Line, tell
from bench.load import memory_of
from fairgauge.study import Study
from tests.collecting.attackers import DRAIN, LINES, Order, Seen, run, seen_by, start
from tests.collecting.fuzzing import fuzz
from tests.collecting.servers import ServerProcess, free_port
from tests.collecting.wire import Wire, answer_bytes
from tests.samples import sample_study

OPEN = sample_study()
TICKETED = Study("With tickets", OPEN.questions)
BOUNDED = Study("So many an hour", OPEN.questions)
OTHERS = tuple(Study(f"One of many, {number}", OPEN.questions) for number in range(97))
HOURLY = 20_000
ROUNDS, SECONDS, HONEST = 2, 5.0, 8
FUZZED = int(os.environ.get("FAIRGAUGE_FUZZED", "1000000"))
FLOODS = (
    ("bad-batches", OPEN, "10,000 bad lines"),
    ("bad-tickets", TICKETED, "10,000 bad tickets"),
    ("bad-answers", OPEN, "bad answers one by one"),
)
# Each from a process of its own, beside devices; what devices notice is compared with the seconds before the flood.
STORMS = (
    ("burst", OPEN, 100, "7,000 requests at once, and silence"),
    ("pipelined", OPEN, 20, "2,000 requests at once, again and again"),
    ("leavers", OPEN, 20, "live pages that are left"),
    ("joiners", OPEN, 40, "live pages that are joined, read and left"),
    ("listers", OPEN, 40, "lists of a hundred studies"),
    ("guesses", OPEN, 40, "tokens that nobody has"),
    ("bad-answers", OPEN, 40, "bad answers one by one"),
    ("bad-batches", OPEN, 40, "10,000 bad lines"),
    ("forged", OPEN, 4, "10,000 forged answers"),
    ("exports-unread", OPEN, 700, "exports that are not read"),
    ("bodies-held", OPEN, 300, "bodies of 1.9 MB that are held open"),
    ("visitors", OPEN, 30, "a public page without end"),
    ("reporters", OPEN, 40, "reports without end"),
    ("reckoners", OPEN, 40, "estimates at another confidence each"),
    ("participants", OPEN, 40, "pages for taking part without end"),
    ("preflights", OPEN, 40, "questions of browsers whether they may answer"),
    ("envelopes", OPEN, 40, "envelopes that hold nothing"),
    ("headers-held", OPEN, 1000, "requests that stop within their headers"),
    ("headers-sent", OPEN, 1000, "long addresses with many headers"),
    ("scripts-unread", OPEN, 1000, "documents that everyone may have, not read"),
    ("studies-unread", OPEN, 1000, "a study's document, not read"),
    ("pages-unread", OPEN, 1000, "pages for taking part, not read"),
)
MOST_MEMORY = 384.0  # MiB, as docs/operators.md says
RECOVERY = 2.0  # seconds after a flood until devices are served as before
P50, P90, MEMORY, BACK = "p50 of honest answers", "p90 of honest answers", "memory", "time until devices are served"
AIMS = {P50: "at most 3", P90: "at most 5", MEMORY: "at most 1", BACK: "at most 1"}


@dataclass(frozen=True)
class Castle:
    """A collector under siege, and a process that only reads and drops."""

    server: ServerProcess
    drain: int

    @property
    def pid(self) -> int:
        """The collector's process."""
        assert self.server.process is not None
        return self.server.process.pid

    @property
    def port(self) -> int:
        """Where the collector listens."""
        return self.server.port


def siege() -> Iterator[Line]:
    """Attack a collector in every way that we know, beside devices that answer; then say what was worst."""
    lines: list[Line] = []
    with _castle() as castle:
        for name, study, connections, what in STORMS:
            tell(f"siege: {connections} x {what}")
            lines += _storm(castle, name, Order(castle.port, study.digest, connections, SECONDS), what)
            yield from lines[-len(AIMS) :]
    for what, aim in AIMS.items():
        worst = max((line for line in lines if line.what.startswith(what)), key=lambda line: line.ratio)
        yield Line(f"the worst of these: {what}", worst.value, worst.against, worst.ratio, aim)


def siege_tail() -> Iterator[Line]:
    """Compare the slowest of a hundred honest answers beside floods with the same while the flood goes elsewhere."""
    with _castle() as castle:
        for name, study, what in FLOODS:
            for connections in (4, 40):
                yield _flooded(castle, name, Order(castle.port, study.digest, connections, SECONDS), what)
        yield from _forged(castle)
        yield from _unread(castle)
        yield _bodies(castle)
        yield _listeners(castle)
        yield _visitors(castle)


def bent_requests() -> Iterator[Line]:
    """Send random and bent requests; none may find a fault."""
    with _castle("[rates]\nfaulty = 1e9\n") as castle:  # or a million would take a day
        yield _requests(castle)


@contextmanager
def _castle(settings: str = "") -> Iterator[Castle]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    with tempfile.TemporaryDirectory(prefix="fairgauge-siege-") as name:
        folder, port = Path(name), free_port()
        drain = subprocess.Popen([sys.executable, "-c", DRAIN, str(port)])
        try:
            with ServerProcess(folder, f"sqlite:///{folder / 'gauge.db'}", settings=settings) as server:
                terms = {OPEN: "results=public", TICKETED: "admission=tickets", BOUNDED: f"hourly={HOURLY}"}
                terms |= dict.fromkeys(OTHERS, "results=public")
                for study, query in terms.items():
                    assert asyncio.run(_publish(server, study, query)) == 201
                yield Castle(server, port)
        finally:
            drain.kill()
            drain.wait()


async def _publish(server: ServerProcess, study: Study, query: str) -> int:
    async with Wire(server.port) as wire:
        return (await wire.request("POST", f"/studies?{query}", study.to_bytes(), token=server.token))[0]


def _storm(castle: Castle, flood: str, order: Order, what: str) -> Iterator[Line]:
    """Compare honest answers beside a flood with those of the same minute without one; then see who recovers when."""
    calm, stormy, peak, back = Seen(Counter(), []), Seen(Counter(), []), 0.0, 0.0
    for _ in range(ROUNDS):
        quiet = run("honest", Order(castle.port, OPEN.digest, HONEST, order.seconds))
        calm.seconds += quiet.seconds
        attacker = start(flood, Order(order.port, order.digest, order.connections, order.seconds + 1))
        devices = start("honest", Order(castle.port, OPEN.digest, HONEST, order.seconds))
        until = time.monotonic() + order.seconds
        while time.monotonic() < until:
            peak = max(peak, memory_of(castle.pid))
            time.sleep(0.05)
        found = seen_by(devices)
        stormy.seconds += found.seconds
        stormy.statuses += found.statuses
        seen_by(attacker)
        back = max(back, _recovery(castle, quiet.part(0.9)))
    refused = sum(count for status, count in stormy.statuses.items() if status != 200)
    beside = f"beside {order.connections} x {what}"
    for name, share in ((P50, 0.5), (P90, 0.9)):
        ours, theirs = stormy.part(share), calm.part(share)
        value = f"{ours * 1e3:.1f} ms of {len(stormy.seconds):,} answers, {refused} refused"
        against = f"the same minute without: {theirs * 1e3:.1f} ms"
        ratio = ours / theirs if not refused else float("inf")  # a refusal is quick, and no service
        yield Line(f"{name} {beside}", value, against, ratio, AIMS[name])
    against = f"docs/operators.md: {MOST_MEMORY:.0f} MiB"
    yield Line(f"{MEMORY} {beside}", f"{peak:.0f} MiB", against, peak / MOST_MEMORY, AIMS[MEMORY])
    yield Line(f"{BACK} {beside}", f"{back:.2f} s", f"{RECOVERY:.0f} s", back / RECOVERY, AIMS[BACK])


def _recovery(castle: Castle, usual: float) -> float:
    """Return how long after a flood an answer takes no more than twice what nine of ten took before it."""
    ended = time.monotonic()
    while time.monotonic() - ended < 30:
        began = time.monotonic()
        asyncio.run(_answers(castle.server))
        if time.monotonic() - began <= 2 * usual + 0.05:  # a connection and a loop of its own take a while
            return began - ended
    return 30.0


async def _answers(server: ServerProcess) -> None:
    async with Wire(server.port) as wire:
        body = answer_bytes(OPEN.digest, secrets.token_bytes(16), 0)
        await wire.request("POST", f"/studies/{OPEN.digest}/answers", body)


def _flooded(castle: Castle, name: str, order: Order, what: str) -> Line:
    """Compare the p99 of honest answers under a flood with the same while the flood goes elsewhere."""
    ours, theirs = Seen(Counter(), []), Seen(Counter(), [])
    for _ in range(ROUNDS):
        for port, seen in ((castle.drain, theirs), (castle.port, ours)):
            found = _beside(castle, name, Order(port, order.digest, order.connections, order.seconds + 2))
            seen.seconds += found.seconds
            seen.statuses += found.statuses
    refused = sum(count for status, count in ours.statuses.items() if status != 200)
    value = f"p99 {ours.p99() * 1e3:.0f} ms of {len(ours.seconds):,} answers, {refused} refused"
    against = f"the flood goes elsewhere: p99 {theirs.p99() * 1e3:.0f} ms"
    ratio = ours.p99() / theirs.p99() if not refused else float("inf")
    return Line(f"honest answers beside {order.connections} senders of {what}", value, against, ratio, "at most 3")


def _beside(castle: Castle, name: str, order: Order) -> Seen:
    """Let devices answer while an attacker is at work."""
    attacker = start(name, order)
    try:
        time.sleep(1.0)
        return run("honest", Order(castle.port, OPEN.digest, HONEST, order.seconds - 2))
    finally:
        attacker.kill()
        attacker.communicate()


def _forged(castle: Castle) -> Iterator[Line]:
    """Send answers that nobody gave: a study that says how many it takes in an hour takes no more."""
    attack = run("forged", Order(castle.port, BOUNDED.digest, 4, SECONDS))
    sent = LINES * attack.statuses.total()
    counts = asyncio.run(_tally(castle.server, BOUNDED))
    value, against = f"{counts:,} of {sent:,} counted", f"the study's hour: {HOURLY:,}"
    yield Line("forged answers to an open study", value, against, counts / HOURLY, "at most 1")
    line = _flooded(castle, "forged", Order(castle.port, OPEN.digest, 4, SECONDS), "10,000 forged answers")
    yield line


async def _tally(server: ServerProcess, study: Study) -> int:
    async with Wire(server.port) as wire:
        _, body = await wire.request("GET", f"/studies/{study.digest}/tally", token=server.token)
    return int(sum(json.loads(body)["counts"]))


def _unread(castle: Castle) -> Iterator[Line]:
    """Ask for many exports, and read them or not; ask for little, thousands of times at once, and read nothing."""
    for name, connections, what in (
        ("exports-read", 40, "requests for an export that are read"),
        ("exports-unread", 700, "requests for an export that are not read"),
        ("pipelined", 100, "2,000 requests at once that are not read"),
    ):
        order = Order(castle.port, OPEN.digest, connections, SECONDS)
        before = memory_of(castle.pid)
        yield _flooded(castle, name, order, what)
        peak = _peak(castle, name, order)
        value, against = f"{peak:.0f} MiB", f"before: {before:.0f} MiB"
        yield Line(f"memory beside {connections} senders of {what}", value, against, peak / before, "at most 1.3")


def _peak(castle: Castle, name: str, order: Order) -> float:
    """Return the most memory that the collector takes during an attack."""
    attacker, peak, until = start(name, order), 0.0, time.monotonic() + order.seconds
    while time.monotonic() < until:
        peak = max(peak, memory_of(castle.pid))
        time.sleep(0.05)
    seen_by(attacker)
    return peak


def _bodies(castle: Castle) -> Line:
    """Hold many large bodies open."""
    before = memory_of(castle.pid)
    peak = _peak(castle, "bodies-held", Order(castle.port, OPEN.digest, 300, SECONDS))
    value, against = f"{peak:.0f} MiB", f"before: {before:.0f} MiB"
    return Line("memory beside 300 bodies of 1.9 MB that are held open", value, against, peak / before, "at most 2")


def _listeners(castle: Castle) -> Line:
    """Let strangers listen, as many as will; then let an operator."""
    attacker = start("listeners", Order(castle.port, OPEN.digest, 300, SECONDS))
    time.sleep(2.0)
    wanted, served = 20, 0
    for _ in range(wanted):
        served += asyncio.run(_listens(castle.server)) == 200
    seen = seen_by(attacker)
    value, against = f"{served} of {wanted}", f"{seen.statuses[200]} strangers listen"
    return Line("operators who get to listen", value, against, served / wanted, "1")


async def _listens(server: ServerProcess) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        head = f"GET /studies/{OPEN.digest}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n\r\n"
        writer.write(head.encode())
        return int((await reader.readline())[9:12])
    finally:
        writer.transport.abort()


def _visitors(castle: Castle) -> Line:
    """Let thirty connections load a public page without end; then let one more visitor come."""
    attacker = start("visitors", Order(castle.port, OPEN.digest, 30, 10 * SECONDS))
    time.sleep(2 * SECONDS)  # until the burst is used up
    one = run("visitors", Order(castle.port, OPEN.digest, 1, 4 * SECONDS))
    attacker.kill()
    attacker.communicate()
    good = one.statuses[200] / max(1, one.statuses.total())
    value = f"{one.statuses[200]} of {one.statuses.total()} pages"
    return Line("one visitor beside 30 connections that load a public page", value, "all of them", good, "1")


def _requests(castle: Castle) -> Line:
    """Send requests that should not be, and count responses that say the collector is at fault."""
    chance = random.Random(secrets.randbits(32))
    found = asyncio.run(fuzz(castle.port, OPEN.digest, chance, requests=FUZZED, seconds=2400.0, connections=200))
    faults = sum(count for status, count in found.items() if status >= 500 and status not in (503, 507))
    value = f"{faults} faults in {found.total():,} requests"
    return Line("random and bent requests", value, "none", float(faults), "0")
