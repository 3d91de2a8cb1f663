"""What operators do with a collector in its real process: workers, TLS, restores, and databases that freeze.

Covers: fairgauge.collector.workers.
"""

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.request import urlopen

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fairgauge.client import Patience
from fairgauge.collector.seal_record import Record
from fairgauge.collector.signatures import Signer
from fairgauge.collector.stores import backup, open_store, postgres
from fairgauge.collector.stores.store import Event
from fairgauge.collector.workers import _EARLY_DEATHS
from fairgauge.server.bearer_tokens import new_token
from fairgauge.study import Study
from tests.collecting.kills import publish
from tests.collecting.servers import (
    PATIENCE,
    SERVE,
    ServerProcess,
    children,
    free_port,
    new_database,
    new_postgres,
    workers_of,
)
from tests.collecting.wire import Wire, answer_bytes
from tests.programs import programs
from tests.samples import sample_study

STUDY = sample_study()
COMMAND = [sys.executable, "-c", "from fairgauge.cli import main; main()"]


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "serve", "--secrets", str(folder / "secrets"), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip


async def ask(port: int, method: str, path: str, body: bytes = b"", token: str = "") -> tuple[int, bytes]:
    async with Wire(port) as wire:
        return await wire.request(method, path, body, token=token)


def until(port: int, status: int) -> None:
    for _ in range(1200):
        try:
            if asyncio.run(ask(port, "GET", "/readyz"))[0] == status:
                return
        except (OSError, EOFError):
            pass
        time.sleep(0.1)
    raise AssertionError(f"/readyz never said {status}")


def test_workers_share_a_port_and_one_that_dies_is_replaced(tmp_path: Path):
    token, port = new_token(tmp_path / "secrets", name="me", role="operator"), free_port()
    crew = start(tmp_path, "--store", new_database(), "--port", str(port), "--workers", "2")
    try:
        until(port, 200)
        asyncio.run(ask(port, "POST", "/studies", STUDY.to_bytes(), token))
        assert len(workers_of(crew.pid)) == 2
        for _ in range(_EARLY_DEATHS + 1):  # one that is killed has done nothing wrong, however soon it happens
            first = workers_of(crew.pid)
            os.kill(first[0], signal.SIGKILL)
            for _ in range(1200):
                if len(workers_of(crew.pid)) == 2 and first[0] not in workers_of(crew.pid):
                    break
                time.sleep(0.1)
            else:
                raise AssertionError("no worker took the place of the one that died")
        until(port, 200)
        ids = [os.urandom(16) for _ in range(40)]
        path = f"/studies/{STUDY.digest}/answers"
        told = [json.loads(asyncio.run(ask(port, "POST", path, answer_bytes(STUDY.digest, i, 0)))[1]) for i in ids * 2]
        assert [one["status"] for one in told] == ["accepted"] * 40 + ["duplicate"] * 40
        crew.send_signal(signal.SIGTERM)
        assert crew.wait(PATIENCE) == 0
    finally:
        crew.kill()
        crew.communicate()


def test_workers_that_never_serve_are_not_started_for_ever(tmp_path: Path):
    """However long each of them takes to find out that it has other keys than the store."""
    address = new_database()
    asyncio.run(_belong(address))
    new_token(tmp_path / "secrets", name="me", role="operator")
    crew = start(tmp_path, "--store", address, "--port", str(free_port()), "--workers", "2")
    told, said = crew.communicate(timeout=4 * PATIENCE)
    assert (crew.returncode, told) == (1, "")
    assert "Traceback" not in said
    lines = said.splitlines()
    assert {line[:60] for line in lines[:-1]} == {"fairgauge: this store was used with another signing key than"}
    assert lines[-1] == "fairgauge: the workers end as soon as they start: what they say above tells why"


async def _belong(address: str) -> None:
    store = await open_store(address)
    await store.remember_key("signing", "0" * 64, 0)
    await store.close()


@pytest.mark.parametrize("when", ["before they serve", "while they serve"])
def test_workers_stop_when_their_parent_is_killed(tmp_path: Path, when: str):
    new_token(tmp_path / "secrets", name="me", role="operator")
    port = free_port()
    crew = start(tmp_path, "--store", new_database(), "--port", str(port), "--workers", "2")
    workers: list[int] = []
    try:
        if when == "while they serve":
            until(port, 200)
        while len(workers) < 2:
            assert crew.poll() is None
            workers = workers_of(crew.pid)
    finally:
        crew.kill()
        crew.communicate(timeout=PATIENCE)  # which waits for whoever writes to its output: the workers do
    for _ in range(1200):
        if not any(Path(f"/proc/{worker}").exists() for worker in workers):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the workers go on without their parent")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--store", "sqlite:///gauge.db", "--workers", "2"], "workers=2: needs PostgreSQL"),
        (["--workers", "0"], "workers=0: must be from 1 to 64"),
        (["--tls-cert", "nothing.pem"], "must be given together with tls_key"),
        (["--tls-cert", "nothing.pem", "--tls-key", "nothing.pem"], "nothing.pem: cannot be used with its key"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(tmp_path: Path, arguments: list[str], words: str):
    new_token(tmp_path / "secrets", name="me", role="operator")
    done = programs().fairgauge("serve", "--secrets", "secrets", "--port", "0", *arguments, folder=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_mistyped_address_is_no_new_store(tmp_path: Path):
    record = Record(tmp_path / "secrets", Signer.in_folder(tmp_path / "secrets"))
    record.begin("2026-01-01T00:00:00Z")
    record.take("2026-01-01T00:00:00Z")
    typed = ("--secrets", "secrets", "--port", "0", "--store", "sqlite:///guage.db")
    done = programs().fairgauge("serve", *typed, folder=tmp_path)
    assert done.returncode == 1
    assert "guage.db is not there, and" in done.stderr
    assert "belongs to another one: is its address right?" in done.stderr
    assert not (tmp_path / "guage.db").exists()


def certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form, none = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, none))


def test_a_collector_speaks_tls_itself(tmp_path: Path):
    certificate(tmp_path)
    server = start(tmp_path, "--port", "0", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1].replace("127.0.0.1", "localhost")
        assert address.startswith("https://")
        trusting = ssl.create_default_context(cafile=tmp_path / "cert.pem")
        with urlopen(f"{address}/healthz", context=trusting, timeout=PATIENCE) as reply:
            assert reply.status == 200
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)


def test_listening_to_the_world_without_tls_is_warned_about(tmp_path: Path):
    new_token(tmp_path / "secrets", name="me", role="operator")
    for host, warned in (("0.0.0.0", True), ("127.0.0.1", False)):
        server = start(tmp_path, "--port", "0", "--host", host)
        assert server.stdout is not None
        server.stdout.readline()
        server.terminate()
        _, said = server.communicate(timeout=PATIENCE)
        assert ("--tls-cert" in said) is warned


def device(folder: Path, *arguments: str) -> str:
    done = programs().fairgauge("answer", "study.json", "--ledger", "ledger.sqlite3", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_device_whose_answer_was_lost_with_a_restore_sends_it_again(tmp_path: Path):
    study: Study = STUDY
    (tmp_path / "study.json").write_bytes(study.to_bytes())
    with ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'g.db'}") as server:
        publish(server, study)
        asyncio.run(backup.back_up(f"sqlite:///{tmp_path / 'g.db'}", tmp_path / "copy.db"))
        group, metric = study.questions[0].attribute.groups[0], study.questions[0].metric
        gave = ["--group", group, "--value", f"{metric.name}={metric.low}", "--limit", "20", "--study-limit", "20"]
        sent = device(tmp_path, *gave, "--send", f"http://127.0.0.1:{server.port}")
        assert sent.endswith("answered, delivered")
        assert server.stop() == 0
    event = Event(0, "tester", "restored")
    place = f"sqlite:///{tmp_path / 'new.db'}"
    asyncio.run(backup.restore(tmp_path / "copy.db", place, event, secrets=tmp_path / "secrets"))
    with ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'new.db'}", token=server.token) as server:
        there = f"http://127.0.0.1:{server.port}"

        def counted() -> int:
            path = f"/studies/{study.digest}/tally"
            return sum(json.loads(asyncio.run(ask(server.port, "GET", path, token=server.token))[1])["counts"])

        assert device(tmp_path, "--send", there, "--study-limit", "20").endswith("delivered before")
        assert counted() == 0
        for _ in range(2):
            assert device(tmp_path, "--send", there, "--again", "--study-limit", "20").endswith("answered, delivered")
        assert counted() == 1


IMPATIENT = ("from fairgauge.collector.stores import postgres\npostgres._SECONDS -= 5\n") + SERVE


def test_a_frozen_database_gives_503_before_devices_give_up_and_nothing_is_lost(tmp_path: Path):
    assert Patience().timeout > postgres._SECONDS  # of which the collector here has less, so that this is short
    database = new_postgres()
    with ServerProcess(tmp_path, new_database(database), code=IMPATIENT) as server:
        publish(server, STUDY)
        path, names = f"/studies/{STUDY.digest}/answers", [os.urandom(16) for _ in range(3)]
        assert asyncio.run(ask(server.port, "POST", path, answer_bytes(STUDY.digest, names[0], 0)))[0] == 200
        frozen = [database.get_pid(), *children(database.get_pid())]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:

            async def both() -> list[tuple[int, bytes]]:
                bodies = [answer_bytes(STUDY.digest, name, 0) for name in names[1:]]
                async with asyncio.timeout(PATIENCE):
                    return await asyncio.gather(*(ask(server.port, "POST", path, body) for body in bodies))

            assert [status for status, _ in asyncio.run(both())] == [503, 503]
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        until(server.port, 200)
        told = [
            json.loads(asyncio.run(ask(server.port, "POST", path, answer_bytes(STUDY.digest, n, 0)))[1]) for n in names
        ]
        assert {one["status"] for one in told} <= {"accepted", "duplicate"}
        found = asyncio.run(ask(server.port, "GET", f"/studies/{STUDY.digest}/tally", token=server.token))[1]
        assert sum(json.loads(found)["counts"]) == 3
