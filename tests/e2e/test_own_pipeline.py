"""The example for pipelines of one's own: devices as processes, to a file and to a real collector."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from fairgauge.client import Ledger
from tests.collecting.servers import ServerProcess
from tests.collecting.wire import Wire
from tests.samples import sample_study

EXAMPLE = Path(__file__).parents[2] / "examples/own-pipeline"
STUDY = sample_study()


def run(folder: Path, script: str, *arguments: str, isolated: bool = False) -> str:
    # A device has nothing but the standard library and this package.
    flags = ["-S"] if isolated else []
    command = [sys.executable, *flags, str(EXAMPLE / script), *arguments]
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": source}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def devices(here: Path, number: int) -> list[Path]:
    (here / "study.json").write_bytes(STUDY.to_bytes())
    folders = []
    for index in range(number):
        folder = here / f"device{index}"
        folder.mkdir()
        (folder / "device.json").write_text(json.dumps({"sex": ("female", "male")[index % 2], "recall": 0.75}))
        folders.append(folder)
    return folders


def test_to_a_file(tmp_path: Path) -> None:
    folders = devices(tmp_path, 3)
    for folder in [*folders, folders[0]]:  # one runs twice, and counts once
        run(folder, "device.py", "../study.json", "device.json", "../answers.ndjson", isolated=True)
    assert "recall by sex, 3 answers" in run(tmp_path, "count.py", "study.json", "answers.ndjson")


def test_to_a_collector(tmp_path: Path) -> None:
    (folder,) = devices(tmp_path, 1)
    with ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'gauge.db'}") as server:

        async def ask(method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
            async with Wire(server.port) as wire:
                return await wire.request(method, path, body, token=server.token)

        assert asyncio.run(ask("POST", "/studies", STUDY.to_bytes()))[0] == 201
        for _ in range(2):
            url = f"http://127.0.0.1:{server.port}"
            run(folder, "device.py", f"{url}/studies/{STUDY.digest}", "device.json", url, isolated=True)
        status, tally = asyncio.run(ask("GET", f"/studies/{STUDY.digest}/tally"))
    assert status == 200
    assert sum(json.loads(tally)["counts"]) == 1
    assert Ledger(folder / "ledger.sqlite3").state(STUDY.digest) == "delivered"
