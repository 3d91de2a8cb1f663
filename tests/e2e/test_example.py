"""The first study as newcomers run it: `make run`."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

RUN = Path(__file__).parents[2] / "examples" / "first-study" / "run.py"


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, str(RUN), *arguments], cwd=folder, stdout=subprocess.PIPE, text=True)


def told(url: str, token: str = "") -> bytes:
    with urlopen(Request(url, headers={"Authorization": f"Bearer {token}"}), timeout=10) as response:
        found: bytes = response.read()
    return found


def test_it_shows_everything_and_stops_its_collector(tmp_path: Path):
    with start(tmp_path, "--devices", "50", "--stay") as process:
        assert process.stdout is not None
        said = ""
        while "Ctrl-C ends it" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        (url,) = re.findall(r"^   (http://\S+)$", said, re.MULTILINE)
        (token,) = re.findall(r"Token of its operator: (\S+)", said)
        # The collector is a real one, and what was shown is what it says.
        assert told(url) == (tmp_path / "build/first-study/study.json").read_bytes()
        assert sum(json.loads(told(f"{url}/tally", token))["counts"]) == 50
        shown = json.loads((tmp_path / "build/first-study/collected.json").read_text())
        assert shown == json.loads(told(f"{url}/estimate?confidence=0.99", token))
        gap = shown["questions"][0]["headline"]
        assert f"{gap['low']:+.4f} to {gap['high']:+.4f}" in said
        assert "50 answers are counted" in said
        assert said.count("true gap (female - male)") == 2
        assert said.count("times as many") == 2
        report = (tmp_path / "build/first-study/report.html").read_text(encoding="utf-8")
        assert "lower for female than for male" in report
        # A browser gets the page, with results for everyone.
        page = Request(url, headers={"Accept": "text/html"})
        with urlopen(page, timeout=10) as response:
            assert "50 answers" in response.read().decode()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    with pytest.raises(URLError):
        told(url)
