"""A client that is killed at any point never randomises twice, never overspends, and delivers in the end."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import Answer, Ledger
from fairgauge.study import Study
from tests.recorder import Heard, Recorder, Reply, recorder
from tests.samples import sample_study

STUDY = sample_study()
COST = str(STUDY.questions[0].mechanism.epsilon_bound)
ROOT = Path(__file__).parents[2]


# Some of the points, so far apart that the broken clients below are caught.  FAIRGAUGE_CRASH=every tries every line,
# every instruction and every call, which takes minutes: `make attacks` does.
EVERY = os.environ.get("FAIRGAUGE_CRASH") == "every"
LINES = 19


@pytest.fixture
def server():
    with recorder() as found:
        yield found


@pytest.fixture
def folder():
    """A folder in memory where there is one: a killed process takes nothing from a disk's cache, so none is needed."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as found:
        yield Path(found)


def lose_the_first_reply(server: Recorder) -> None:
    """Take each answer but hang up on the first try, so that the client cannot know and tries again."""
    tried: dict[str, int] = defaultdict(int)

    def reply(heard: Heard) -> Reply:
        tried[heard.path] += 1
        return Reply(0) if tried[heard.path] == 1 else Reply(body=b'{"status":"duplicate"}')

    server.reply = reply


def drive(
    server: Recorder, folder: Path, *, patience: float | None = 300, asked: Study = STUDY, **plan: Any
) -> list[dict[str, Any]]:
    """Run the driver for so many seconds at most, and return its reports."""
    study = folder / "study.json"
    study.write_bytes(asked.to_bytes())
    full = {"url": server.url, "study": str(study), "folder": str(folder), "client": "ours", "stride": 1, **plan}
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.crash_driver", json.dumps(full)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=None if EVERY else patience,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def on_the_wire(server: Recorder) -> dict[int, list[Answer]]:
    """Return what was sent in each round."""
    found = defaultdict(list)
    for heard in server.heard:
        if heard.method == "GET" or not heard.body:  # whether the study is open; or killed before a body was sent
            continue
        found[int(heard.path.split("/")[1])].append(Answer.from_bytes(heard.body))
    return found


def randomised_twice(server: Recorder) -> list[int]:
    return [number for number, answers in on_the_wire(server).items() if len(set(answers)) > 1]


def check_reports(reports: list[dict[str, Any]], *, at_least: int) -> None:
    assert len(reports) >= at_least, "or the points were not where the work is"
    assert [report["killed"] for report in reports[:-1]] == [-signal.SIGKILL] * (len(reports) - 1)
    assert reports[-1]["killed"] == 0, "the last one had no more points to be killed at"
    for report in reports:
        assert report["again"] == 0, report
        assert report["state"] == "delivered", report
        assert report["spent"] == {"sex": COST}, report


@pytest.mark.parametrize(
    ("points", "stride", "at_least"), [("lines", LINES, 36), ("instructions", 131, 48), ("calls", 89, 27)]
)
def test_killed_anywhere_while_sending(server: Recorder, folder: Path, points: str, stride: int, at_least: int) -> None:
    lose_the_first_reply(server)
    reports = drive(server, folder, how="send", points=points, stride=1 if EVERY else stride)
    check_reports(reports, at_least=at_least)
    assert randomised_twice(server) == []
    sent = on_the_wire(server)
    assert sorted(sent) == list(range(len(reports))), "everyone delivered"
    assert any(len(answers) > 2 for answers in sent.values()), "some had to send again after the crash"


def test_killed_anywhere_while_writing_to_a_file(server: Recorder, folder: Path) -> None:
    reports = drive(server, folder, how="file", points="lines", stride=1 if EVERY else 13)
    check_reports(reports, at_least=48)
    for number in range(len(reports)):
        (line,) = (folder / f"{number}.out").read_bytes().splitlines()
        assert Answer.from_bytes(line).study == STUDY.digest


@pytest.mark.parametrize("client", ["remembers late", "draws again"])
def test_a_broken_client_is_caught(server: Recorder, folder: Path, client: str) -> None:
    lose_the_first_reply(server)
    drive(server, folder, how="send", points="lines", client=client, stride=LINES)
    assert randomised_twice(server) != []


def test_a_crash_while_the_ledger_is_made_leaves_none_or_a_whole_one(server: Recorder, folder: Path) -> None:
    reports = drive(server, folder, how="file", points="instructions", stride=1 if EVERY else 101)
    left = [report["left"] for report in reports]
    assert left.count(None) > 4, "killed while it was made"
    assert min(size for size in left if size is not None) > 4096
    assert len(left) > 2 * left.count(None), "and after"
    assert all(report["again"] == 0 for report in reports)


def test_a_ledger_made_in_place_is_caught(server: Recorder, folder: Path) -> None:
    reports = drive(server, folder, how="file", points="lines", client="makes it in place", stride=7)
    assert reports[-1]["left"] == 0


def test_killed_at_random_moments(server: Recorder, folder: Path) -> None:
    """Also within SQLite and the operating system, where no line of Python is: by the clock."""
    lose_the_first_reply(server)
    coin = random.Random(20261115)
    study = folder / "study.json"
    study.write_bytes(STUDY.to_bytes())
    killed = number = 0
    while killed < 3:  # a busy machine kills some of them too late
        ledger = folder / str(number)
        command = [sys.executable, "-m", "fairgauge.client", str(study), "--group", "female", "--value", "recall=1"]
        command += ["--ledger", str(ledger), "--send", f"{server.url}/{number}", "--limit", "1.1"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # From when it begins to use the ledger; starting Python is not what is tested.
        while not ledger.exists() and process.poll() is None:
            time.sleep(0.0005)
        time.sleep(coin.uniform(0, 0.06))
        os.kill(process.pid, signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        assert Ledger(ledger).state(STUDY.digest) == "delivered"
        assert {name: str(cost) for name, cost in Ledger(ledger).spent().items()} == {"sex": COST}
        number += 1
        assert number < 100, "hardly any was killed in time"
    assert randomised_twice(server) == []
    assert len(on_the_wire(server)) == number
