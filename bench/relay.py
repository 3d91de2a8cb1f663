"""What it costs that nobody can tell whose answer it is: CPU of each party, as ratios to a plain answer; and kills.

Everything runs on this machine's loopback.  What parties are sent is made before the clock starts.
"""

import asyncio
import os
import random
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bench.lines import Line
from bench.load import cpu_of
from fairgauge.client import Ledger, Patience, answer
from fairgauge.client.command import main
from fairgauge.collector.gateway import Gateway
from fairgauge.parties.blind_signing import PrivateKey, make_key, sign_blinded
from fairgauge.parties.issuer_server import REQUEST_TYPE as TOKEN_REQUEST
from fairgauge.parties.issuer_server import IssuerServer
from fairgauge.study import Issuer as Named
from fairgauge.study import Study
from fairgauge.unlinkable.binary_http import Message, write_request, write_response
from fairgauge.unlinkable.oblivious_http import (
    REQUEST_TYPE,
    SIZE,
    WELL_KNOWN,
    KeyConfig,
    Opened,
    open_request,
    open_response,
    seal_request,
)
from fairgauge.unlinkable.pass_token import answer_id, begin_pass, challenge_of, read_key, write_key
from tests.collecting.kills import publish
from tests.collecting.servers import ServerProcess, free_port
from tests.collecting.wire import Wire, answer_bytes
from tests.programs import ROOT
from tests.samples import sample_study

PERSON = {"group": "female", "values": {"recall": "0.83"}}
CONNECTIONS, ANSWERS, TOKENS = 32, 3000, 300
KILLS, DEVICES = 30, 40
MOST_SECONDS = 600.0  # for all devices; those that are not done by then are missing in the result
SETTINGS = "[rates]\nanswers = 1e9\nopen = 1e9\ntickets = 1e9\nenvelopes = 1e9\nfaulty = 1e9\n"
AT_ONCE = Patience(tries=3, first=0.05, longest=0.2, timeout=5)


@dataclass
class Place:
    """A study without links, with what all parties hold."""

    folder: Path
    study: Study
    secret: PrivateKey

    @classmethod
    def new(cls, folder: Path) -> "Place":
        """Make the keys and the study."""
        secret = make_key(folder / "issuer")
        config = Gateway.in_folder(folder / "secrets").config.to_text()
        named = Named("issuer.example", write_key(secret.public))
        return cls(folder, replace(sample_study(), admission="blind", issuer=named, gateway=config), secret)

    @property
    def config(self) -> KeyConfig:
        """The gateway's key."""
        return Gateway.in_folder(self.folder / "secrets").config

    def token(self) -> bytes:
        """Return a new token for the study."""
        key = read_key(write_key(self.secret.public))
        challenge, begun = challenge_of("issuer.example", self.study.digest), begin_pass(key)
        return begun.token(key, challenge, sign_blinded(self.secret, begun.request(key, challenge)[3:]))


# ---------------------------------------------------------------------------------------------------------- CPU
def relay() -> Iterator[Line]:
    """CPU of device, relay, gateway and issuer for each answer; durable answers a second; and kills."""
    with tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as name:
        place = Place.new(Path(name))
        yield from _device(place)
        yield from _parties(place)
    yield from _kills()


def _device(place: Place) -> Iterator[Line]:
    study, config = sample_study(), place.config
    key = read_key(write_key(place.secret.public))
    challenge = challenge_of("issuer.example", place.study.digest)
    begun = begin_pass(key)
    signed = sign_blinded(place.secret, begun.request(key, challenge)[3:])
    body = answer_bytes(study.digest, bytes(16), 1)
    envelope = write_request(_message(study.digest, body), size=SIZE)

    def sealed() -> Opened:
        found = seal_request(config, envelope)
        opened = open_request(_secret(place), config, found.data)
        open_response(found, opened.seal_response(write_response(Message((b"200",), (), b"{}"), size=SIZE)))
        return opened

    with tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as folder:
        numbers = iter(range(10**6))
        plain = _cpu(lambda: Ledger(f"{folder}/{next(numbers)}").answer(study, PERSON), repeat=50)
    drawn = _cpu(lambda: answer(study, PERSON).to_bytes(), repeat=1000)
    against = f"an answer, drawn and remembered: {plain * 1e3:.2f} ms ({drawn * 1e3:.2f} ms of it drawing)"
    for what, taken in (
        ("fetching a blind ticket", _cpu(lambda: _fetched(key, challenge, begun, signed), repeat=200)),
        ("an envelope, sealed and its reply opened", _cpu(sealed, repeat=200) / 2),
    ):
        yield Line(f"CPU of the device: {what}", f"{taken * 1e3:.2f} ms", against, taken / plain)


def _cpu(work: Callable[[], object], *, repeat: int) -> float:
    """Return the CPU time of a call."""
    begun = time.process_time()
    for _ in range(repeat):
        work()
    return (time.process_time() - begun) / repeat


def _fetched(key: object, challenge: bytes, begun: object, signed: bytes) -> None:
    new = begin_pass(key)  # type: ignore[arg-type]
    new.request(key, challenge)  # type: ignore[arg-type]
    begun.token(key, challenge, signed)  # type: ignore[attr-defined]


def _parties(place: Place) -> Iterator[Line]:
    folder, open_study = place.folder, sample_study()
    store = f"sqlite:///{folder / 'gauge.db'}"
    with ExitStack() as stack:
        server = stack.enter_context(ServerProcess(folder, store, settings=SETTINGS))
        for study in (open_study, place.study):
            publish(server, study)
        carrier = stack.enter_context(_program("relay", "--to", f"http://127.0.0.1:{server.port}"))
        issuer = stack.enter_context(_program("issuer", "serve", _written(place), "--secrets", str(folder / "issuer")))
        pid = server.process.pid if server.process else 0
        answers = f"/studies/{open_study.digest}/answers"

        def envelopes(count: int, study: Study, tokens: list[bytes]) -> list[bytes]:
            found = []
            for number in range(count):
                name = bytes.fromhex(answer_id(tokens[number])) if tokens else secrets.token_bytes(16)
                body = answer_bytes(study.digest, name, number % 4)
                message = _message(study.digest, body, tokens[number] if tokens else None)
                found.append(seal_request(place.config, write_request(message, size=SIZE)).data)
            return found

        plain_bodies = [answer_bytes(open_study.digest, secrets.token_bytes(16), n % 4) for n in range(ANSWERS)]
        plain = _sent(server.port, pid, answers, plain_bodies, "application/json")
        gateway = _sent(server.port, pid, WELL_KNOWN, envelopes(ANSWERS, open_study, []), REQUEST_TYPE)
        tokens = [place.token() for _ in range(TOKENS)]
        blind = _sent(server.port, pid, WELL_KNOWN, envelopes(TOKENS, place.study, tokens), REQUEST_TYPE)
        carried = _sent(carrier[0], carrier[1], "/", envelopes(ANSWERS, open_study, []), REQUEST_TYPE)
        exchanged = _exchanged(place, issuer)
    against = f"a plain answer: {plain[1]:.0f} µs"
    yield Line(
        "durable answers through the gateway",
        f"{gateway[0]:,.0f}/s",
        f"plain: {plain[0]:,.0f}/s",
        gateway[0] / plain[0],
    )
    for what, taken in (
        ("gateway: an answer in an envelope", gateway[1]),
        ("gateway: the same with a blind ticket", blind[1]),
        ("relay: an envelope carried", carried[1]),
        ("issuer: a ticket exchanged", exchanged),
    ):
        yield Line(f"CPU of the {what}", f"{taken:.0f} µs", against, taken / plain[1])


def _exchanged(place: Place, issuer: tuple[int, int]) -> float:
    """Return the CPU microseconds of the issuer for each ticket."""
    found = IssuerServer(place.folder / "issuer", place.study)
    key, challenge = read_key(write_key(place.secret.public)), challenge_of("issuer.example", place.study.digest)
    requests = [(found.new_ticket(), begin_pass(key).request(key, challenge)) for _ in range(TOKENS)]
    found.book.close()

    async def run() -> None:
        async with Wire(issuer[0]) as wire:
            for ticket, body in requests:
                status, _ = await wire.request("POST", "/token-request", body, kind=TOKEN_REQUEST, token=ticket)
                if status != 200:
                    raise AssertionError(status)

    before = cpu_of(issuer[1])
    asyncio.run(run())
    return (cpu_of(issuer[1]) - before) / TOKENS * 1e6


def _sent(port: int, pid: int, path: str, bodies: list[bytes], kind: str) -> tuple[float, float]:
    """Send everything on some connections; return requests a second, and CPU microseconds of the server for each."""

    async def one(part: list[bytes]) -> None:
        async with Wire(port) as wire:
            for body in part:
                status, told = await wire.request("POST", path, body, kind=kind)
                if status != 200:
                    raise AssertionError((status, told))

    async def run() -> None:
        await asyncio.gather(*(one(bodies[start::CONNECTIONS]) for start in range(CONNECTIONS)))

    before, begun = cpu_of(pid), time.perf_counter()
    asyncio.run(run())
    return len(bodies) / (time.perf_counter() - begun), (cpu_of(pid) - before) / len(bodies) * 1e6


def _message(digest: str, body: bytes, token: bytes | None = None) -> Message:
    headers = [(b"content-type", b"application/json")]
    if token is not None:
        headers.append((b"authorization", b'PrivateToken token="' + urlsafe_b64encode(token) + b'"'))
    start = (b"POST", b"https", b"collector.example", f"/studies/{digest}/answers".encode())
    return Message(start, tuple(headers), body)


def _secret(place: Place) -> bytes:
    return (place.folder / "secrets" / "gateway.key").read_bytes()


def _written(place: Place) -> str:
    path = place.folder / "study.json"
    path.write_bytes(place.study.to_bytes())
    return str(path)


@contextmanager
def _program(*arguments: str, port: int = 0) -> Iterator[tuple[int, int]]:
    """Run a command of ours on a free port; give its port and its process id."""
    process, port = _start(arguments, port or free_port())
    try:
        _await(port)
        yield port, process.pid
    finally:
        process.kill()
        process.wait(20)


def _start(arguments: tuple[str, ...], port: int) -> tuple["subprocess.Popen[bytes]", int]:
    command = [sys.executable, "-c", "from fairgauge.cli import main; main()", *arguments, "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment), port


def _await(port: int) -> None:
    async def alive() -> bool:
        async with Wire(port) as wire:
            return (await wire.request("GET", "/healthz"))[0] == 200

    for _ in range(600):
        with suppress(OSError, EOFError):
            if asyncio.run(alive()):
                return
        time.sleep(0.05)
    raise AssertionError("a program does not start")


# -------------------------------------------------------------------------------------------------------- kills
class _Mortal:
    """A program that is killed and started again on its port."""

    def __init__(self, start: Callable[[], "subprocess.Popen[bytes]"], port: int) -> None:
        self._start, self.port = start, port
        self._process = start()
        _await(port)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(20)
        self._process = self._start()

    def end(self) -> None:
        self._process.kill()
        self._process.wait(20)


def _kills() -> Iterator[Line]:
    """Kill issuer, relay and collector in turns while devices answer: each has one answer in the end."""
    with tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as name:
        place = Place.new(Path(name))
        server = ServerProcess(place.folder, f"sqlite:///{place.folder / 'gauge.db'}", settings=SETTINGS)
        server.start().wait_until_ready()
        publish(server, place.study)
        written, ports = _written(place), {"issuer": free_port(), "relay": free_port()}
        commands = {
            "issuer": ("issuer", "serve", written, "--secrets", str(place.folder / "issuer")),
            "relay": ("relay", "--to", f"http://127.0.0.1:{server.port}"),
        }
        mortals = {
            party: _Mortal(lambda party=party: _start(commands[party], ports[party])[0], ports[party])  # type: ignore[misc]
            for party in commands
        }
        tickets = IssuerServer(place.folder / "issuer", place.study)
        shown = [tickets.new_ticket() for _ in range(DEVICES)]
        options = ["--issuer", f"http://127.0.0.1:{ports['issuer']}", "--relay", f"http://127.0.0.1:{ports['relay']}"]
        options += ["--send", f"http://127.0.0.1:{server.port}", "--group", "female", "--value", "recall=0.5"]
        done: list[str] = []
        until = time.monotonic() + MOST_SECONDS

        def device(number: int) -> None:
            ledger = str(place.folder / f"ledger-{number}")
            arguments = [written, "--ledger", ledger, "--ticket", shown[number], *options]
            while Ledger(ledger).state(place.study.digest) != "delivered":
                if time.monotonic() > until:
                    return
                main(arguments, patience=AT_ONCE)
                time.sleep(random.random() / 2)
            done.append(ledger)

        with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - what devices say about parties that are dead
            out, err, sys.stdout, sys.stderr = sys.stdout, sys.stderr, nowhere, nowhere
            try:
                threads = [threading.Thread(target=device, args=(number,), daemon=True) for number in range(DEVICES)]
                kills = 0
                for thread in threads[: DEVICES // 2]:
                    thread.start()
                while kills < KILLS or not all(thread.is_alive() or thread.ident for thread in threads):
                    if kills < KILLS:
                        victim = kills % 3
                        if victim == 2:
                            server.kill()
                            server.start().wait_until_ready()
                        else:
                            mortals[("issuer", "relay")[victim]].kill()
                        kills += 1
                    for thread in threads:
                        if thread.ident is None:
                            thread.start()
                            break
                    time.sleep(0.5)
                for thread in threads:
                    thread.join(300)
            finally:
                sys.stdout, sys.stderr = out, err
        exchanged = tickets.book.count()
        tickets.book.close()
        counted = asyncio.run(_counted(server, place.study))
        for mortal in mortals.values():
            mortal.end()
        server.stop()
    what = f"devices with one answer and one exchange after {KILLS} kills of issuer, relay and collector"
    good = min(len(done), counted, exchanged)
    value = f"{len(done)} delivered, {counted} counted, {exchanged} exchanged"
    exact = good == DEVICES == max(len(done), counted, exchanged)
    yield Line(what, value, f"{DEVICES} devices", good / DEVICES if exact else 0.0, "at least 1")


async def _counted(server: ServerProcess, study: Study) -> int:
    async with Wire(server.port) as wire:
        _, body = await wire.request("GET", f"/studies/{study.digest}/tally", token=server.token)
    import json

    return sum(json.loads(body)["counts"])
