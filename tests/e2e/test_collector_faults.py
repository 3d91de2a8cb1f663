"""Faults on purpose: a store that turns read-only, too few file descriptors, a clock that jumps both ways."""

import asyncio
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from tests.collecting.kills import publish
from tests.collecting.servers import PATIENCE, SERVE, ServerProcess, new_database
from tests.collecting.wire import Wire, answer_bytes
from tests.samples import sample_study

STUDY = sample_study()


async def ask(server: ServerProcess, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
    async with Wire(server.port) as wire:
        return await wire.request(method, path, body, token=server.token)


def answer(server: ServerProcess, name: bytes) -> int:
    path = f"/studies/{STUDY.digest}/answers"
    return asyncio.run(ask(server, "POST", path, answer_bytes(STUDY.digest, name, 0)))[0]


def counted(server: ServerProcess) -> int:
    found = asyncio.run(ask(server, "GET", f"/studies/{STUDY.digest}/tally"))[1]
    return sum(json.loads(found)["counts"])


def ready(server: ServerProcess) -> int:
    return asyncio.run(ask(server, "GET", "/readyz"))[0]


def logged(server: ServerProcess, event: str) -> list[dict[str, str]]:
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


def test_a_database_that_turns_read_only_is_told_once_and_recovers(tmp_path: Path):
    store = new_database()
    name = store.partition("?")[0].rpartition("/")[2]

    async def read_only(setting: str) -> None:
        connection = await asyncpg.connect(store)
        await connection.execute("SET default_transaction_read_only = off")
        await connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {setting}")
        ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = $1"
        await connection.execute(ours, name)  # so that the collector connects anew, and meets the setting
        await connection.close()

    with ServerProcess(tmp_path, store) as server:
        publish(server, STUDY)
        assert answer(server, bytes(16)) == 200
        asyncio.run(read_only("on"))
        told = [answer(server, os.urandom(16)) for _ in range(4)]
        assert set(told) == {503}
        assert ready(server) == 503
        assert len(logged(server, "commits fail")) == 1
        asyncio.run(read_only("off"))
        again = [answer(server, b"\1" * 16) for _ in range(3)]
        assert again[-1] == 200
        assert ready(server) == 200
        assert counted(server) == 2
        assert logged(server, "commits succeed again")


# A limit that a test can set and lift while the collector runs, as a disk that turns read-only does: no file may grow.
STUCK = (
    """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
most = resource.RLIM_INFINITY
signal.signal(signal.SIGUSR1, lambda *_: resource.setrlimit(resource.RLIMIT_FSIZE, (0, most)))
signal.signal(signal.SIGUSR2, lambda *_: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
"""
    + SERVE
)


def test_a_file_that_cannot_be_written_is_told_and_recovers(tmp_path: Path):
    import signal

    with ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'g.db'}", code=STUCK) as server:
        assert server.process is not None
        publish(server, STUDY)
        assert answer(server, bytes(16)) == 200
        server.process.send_signal(signal.SIGUSR1)
        told = {answer(server, os.urandom(16)) for _ in range(3)}
        assert told <= {503, 507}
        assert ready(server) in (503, 507)
        server.process.send_signal(signal.SIGUSR2)
        deadline = time.monotonic() + PATIENCE
        while answer(server, b"\1" * 16) != 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert ready(server) == 200
        assert counted(server) == 2


FEW = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n" + SERVE


def test_sixty_four_file_descriptors_are_enough_to_go_on(tmp_path: Path):
    with ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'g.db'}", code=FEW) as server:
        publish(server, STUDY)

        async def crowd() -> int:
            """Open far more connections than there are descriptors, and see who is served."""
            path, served = f"/studies/{STUDY.digest}/answers", 0
            wires = [Wire(server.port) for _ in range(150)]

            async def one(wire: Wire, number: int) -> bool:
                body = answer_bytes(STUDY.digest, number.to_bytes(16), 0)
                try:
                    async with asyncio.timeout(PATIENCE):
                        return (await wire.request("POST", path, body))[0] == 200
                except (OSError, EOFError, TimeoutError):
                    return False

            served = sum(await asyncio.gather(*(one(wire, number) for number, wire in enumerate(wires))))
            for wire in wires:
                wire.close()
            return served

        served = asyncio.run(crowd())
        assert served > 0
        assert answer(server, os.urandom(16)) == 200
        assert served + 1 <= counted(server) <= 151
        assert ready(server) == 200
        assert server.stop() == 0


# The wall clock of this process says what a file says.
JUMPY = (
    """
import sys, time
from pathlib import Path
honest, at = time.time, Path(sys.argv[1]).with_name("jump")
def wall():
    try:
        return honest() + float(at.read_text())
    except (OSError, ValueError):
        return honest()
time.time = wall
from fairgauge.collector import retention
retention.SteadyClock.__init__.__defaults__ = (wall, time.monotonic)
"""
    + SERVE
)


@pytest.mark.parametrize("years", [1, -1])
def test_a_clock_that_jumps_for_three_seconds_closes_nothing(tmp_path: Path, years: int):
    closes = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86400 * 30))
    study = replace(STUDY, closes=closes)
    with ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'g.db'}", code=JUMPY) as server:
        publish(server, study)
        (tmp_path / "jump").write_text(str(years * 365 * 86400))
        time.sleep(3)  # the collector looks every two
        (tmp_path / "jump").unlink()
        path = f"/studies/{study.digest}/answers"
        told = asyncio.run(ask(server, "POST", path, answer_bytes(study.digest, bytes(16), 0)))
        assert told[0] == 200
        listed = json.loads(asyncio.run(ask(server, "GET", "/studies"))[1])["studies"]
        assert [one["status"] for one in listed] == ["open"]
