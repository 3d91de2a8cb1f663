"""A collector as a process: how it starts, how it stops, and what rude strangers do to it.

Covers: fairgauge.server.slow_clients, fairgauge.collector.workers.
"""

import asyncio
import json
import os
import secrets
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairgauge.collector.stores import open_store
from fairgauge.errors import StoreError
from fairgauge.study import Study
from tests.collecting.kills import publish
from tests.collecting.servers import PATIENCE, ServerProcess, new_database
from tests.collecting.wire import Wire, answer_bytes
from tests.programs import programs
from tests.samples import sample_study

STUDY = sample_study()
# So many at once that a connection can ask for more than the system reads on its behalf.
HASTY = "[limits]\nread_seconds = 1.0\nidle_seconds = 1.0\nconnections = 200\npipelined = 1000\n"


def start(folder: Path, store: str) -> subprocess.CompletedProcess[str]:
    """Start a collector that is expected to refuse."""
    return programs().fairgauge("serve", "--store", store, "--port", "0", "--secrets", folder / "s", folder=folder)


async def send(port: int, study: Study, count: int) -> list[int]:
    """Send new answers one after another; return their statuses."""
    async with Wire(port) as wire:
        path = f"/studies/{study.digest}/answers"
        return [
            (await wire.request("POST", path, answer_bytes(study.digest, secrets.token_bytes(16), 0)))[0]
            for _ in range(count)
        ]


# ---------------------------------------------------------------------------- starting
def test_an_unknown_schema_version_refuses_to_start(tmp_path: Path):
    with ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'gauge.db'}") as server:
        assert server.stop() == 0
    connection = sqlite3.connect(tmp_path / "gauge.db")
    connection.execute("PRAGMA user_version=99")
    connection.close()
    done = start(tmp_path, f"sqlite:///{tmp_path / 'gauge.db'}")
    assert done.returncode == 1
    assert "has schema version 99, and this fairgauge knows versions up to 1" in done.stderr


def test_an_unknown_schema_version_in_postgresql_too(tmp_path: Path):
    import asyncpg

    store = new_database()
    with ServerProcess(tmp_path, store) as server:
        assert server.stop() == 0

    async def bump() -> None:
        connection = await asyncpg.connect(store)
        await connection.execute("INSERT INTO fairgauge_version VALUES (99)")
        await connection.close()

    asyncio.run(bump())
    with pytest.raises(StoreError, match="schema version 99"):
        asyncio.run(open_store(store))


def test_other_databases_and_second_collectors_are_refused(tmp_path: Path):
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE something (x)")
    connection.close()
    with pytest.raises(StoreError, match="a database of another program"):
        asyncio.run(open_store(f"sqlite:///{tmp_path / 'other.db'}"))
    store = f"sqlite:///{tmp_path / 'gauge.db'}"
    with ServerProcess(tmp_path, store), pytest.raises(StoreError, match="is in use by another collector"):
        asyncio.run(open_store(store))


def test_an_address_of_no_store_is_refused_without_its_password(tmp_path: Path):
    done = start(tmp_path, "mysql://me:hunter2@localhost/x")
    assert (done.returncode, "store=mysql: must be" in done.stderr) == (2, True)
    assert "hunter2" not in done.stderr


# ---------------------------------------------------------------------------- stopping
def test_a_graceful_stop_finishes_what_was_taken(tmp_path: Path):
    store = f"sqlite:///{tmp_path / 'gauge.db'}"
    with ServerProcess(tmp_path, store, settings="commit_milliseconds = 1000") as server:
        publish(server, STUDY)

        async def waiting() -> int:
            async with Wire(server.port) as wire:
                text = (await wire.request("GET", "/metrics", token=server.token))[1].decode()
            (line,) = [line for line in text.splitlines() if line.startswith("fairgauge_waiting_answers ")]
            return int(float(line.split()[1]))

        async def race() -> list[list[int]]:
            sent = [asyncio.create_task(send(server.port, STUDY, 1)) for _ in range(50)]
            async with asyncio.timeout(PATIENCE):
                while await waiting() + sum(task.done() for task in sent) < 50:  # until all wait for their commit
                    await asyncio.sleep(0.01)
            assert server.process is not None
            server.process.send_signal(signal.SIGTERM)
            return await asyncio.gather(*sent)

        assert asyncio.run(race()) == [[200]] * 50
        assert server.stop() == 0
    with sqlite3.connect(tmp_path / "gauge.db") as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (50,)
        assert connection.execute("SELECT sum(count) FROM tallies").fetchone() == (50,)
    connection.close()


# ---------------------------------------------------------------------------- rude strangers
@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A collector with short deadlines and few connections, so that the tests are short."""
    folder = tmp_path_factory.mktemp("hasty")
    with ServerProcess(folder, f"sqlite:///{folder / 'gauge.db'}", settings=HASTY) as server:
        publish(server, STUDY)
        yield server


def connect(server: ServerProcess) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    found.settimeout(PATIENCE)
    return found


def serves(server: ServerProcess, count: int = 1) -> bool:
    """Say whether answers are taken; a busy machine may need a second try, as devices do, to be in time."""
    for _ in range(count):
        for left in (2, 1, 0):
            try:
                assert asyncio.run(send(server.port, STUDY, 1)) == [200]
                break
            except (OSError, EOFError):
                if not left:
                    return False
    return True


def read_all(connection: socket.socket) -> bytes:
    parts: list[bytes] = []
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionResetError:
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def is_cut_off(slow: socket.socket, drop: bytes) -> bool:
    """Send a drop from time to time, far more often than the collector's deadline, until it hangs up."""
    end = time.monotonic() + PATIENCE / 4
    try:
        while time.monotonic() < end:
            slow.sendall(drop)
            time.sleep(0.1)
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


@pytest.mark.parametrize(
    "drip",
    [
        b"POST /studies HTTP/1.1\r\nHost: x\r\nX-A: ",
        b"POST /studies/" + STUDY.digest.encode() + b"/answers HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
        b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nX-A: ",
        b"POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: ",
    ],
    ids=["headers", "body", "body-of-nothing", "second-headers", "trailers"],
)
def test_a_slow_request_is_cut_off(hasty: ServerProcess, drip: bytes):
    with connect(hasty) as slow:
        slow.sendall(drip)
        assert is_cut_off(slow, b"a")
    assert serves(hasty)


def test_a_slow_request_is_told_why(hasty: ServerProcess):
    with connect(hasty) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost:")
        head, _, body = read_all(slow).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["type"] == "urn:fairgauge:problem:too-slow"


def test_empty_lines_before_a_request_gain_no_time(hasty: ServerProcess):
    with connect(hasty) as slow:
        assert is_cut_off(slow, b"\r\n")


def test_whoever_does_not_read_is_dropped(hasty: ServerProcess):
    before = files_of(hasty)
    with connect(hasty) as deaf:
        deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)  # some 20 MB, too much to buffer
        deadline = time.monotonic() + PATIENCE
        while files_of(hasty) <= before:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        while files_of(hasty) > before:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert serves(hasty)
    assert "fault" not in hasty.log.read_text()


def test_large_headers_are_refused(hasty: ServerProcess):
    with connect(hasty) as rude:
        rude.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 40_000)
        assert read_all(rude).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_64_mib_is_not_taken(hasty: ServerProcess, chunked: bool):
    size = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % 2**26
    head = b"POST /studies/" + STUDY.digest.encode() + b"/answers HTTP/1.1\r\nHost: x\r\n"
    piece = b"x" * 2**16
    before = memory_of(hasty)
    with connect(hasty) as rude:
        rude.sendall(head + b"Content-Type: application/json\r\n" + size + b"\r\n\r\n")
        sent = 0
        try:
            while sent < 2**26:
                rude.sendall(b"10000\r\n" + piece + b"\r\n" if chunked else piece)
                sent += len(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 2**25
        told = read_all(rude)
    assert told == b"" or told.startswith(b"HTTP/1.1 413 ")  # a reset may overtake the response
    assert memory_of(hasty) - before < 2**24
    assert serves(hasty)


def files_of(server: ServerProcess) -> int:
    assert server.process is not None
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def memory_of(server: ServerProcess) -> int:
    assert server.process is not None
    pages = Path(f"/proc/{server.process.pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_idle_connections_make_room_for_those_who_ask(hasty: ServerProcess):
    idle = []
    try:
        for number in range(600):  # three times as many as there is room for
            idle.append(connect(hasty))
            if number % 2:
                idle[-1].sendall(b"POST /studies HTTP/1.1\r\nHost: x\r\nX: ")
        assert serves(hasty, 20)
        assert files_of(hasty) < 300
    finally:
        for connection in idle:
            connection.close()
    assert serves(hasty, 5)


def test_nothing_about_senders_is_logged_or_stored(hasty: ServerProcess):
    marker = f"marker{secrets.token_hex(8)}"
    with connect(hasty) as sender:
        answer = answer_bytes(STUDY.digest, secrets.token_bytes(16), 0)
        head = (
            f"POST /studies/{STUDY.digest}/answers HTTP/1.1\r\nHost: x\r\nUser-Agent: {marker}\r\nCookie: {marker}\r\n"
        )
        head += f"X-Forwarded-For: 203.0.113.9\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n"
        sender.sendall(head.encode() + b"\r\n" + answer)
        told = b""
        while not told.endswith(b"}"):
            told += sender.recv(65536)
        assert b'"accepted"' in told
        sender.sendall(f"GET /{marker} HTTP/1.1\r\nHost: {marker}\r\n\r\nnonsense\r\n\r\n".encode())
        read_all(sender)
    kept = b"".join(p.read_bytes() for p in hasty.folder.iterdir() if p.is_file() and "toml" not in p.name)
    assert STUDY.digest.encode() in kept
    for secret in (marker, "203.0.113.9", json.loads(answer)["id"]):
        assert secret.encode() not in kept
    allowed = {"event", "level", "hour", "store", "study", "version", "port", "host", "fault", "place", "reason"}
    for line in hasty.log.read_text().splitlines():
        told = json.loads(line)
        assert set(told) <= allowed
        assert told["hour"].endswith(":00:00Z")
