"""Run the command line in this process: quick, and with exit status, output and errors apart."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fairgauge.cli import main
from tests.samples import RECALL
from tests.surveys import expected_tally, people, study, tells_all


class Done(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def fairgauge(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["fairgauge", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return Done(int(end.value.code or 0), out, err)

    return run


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A study of recall by sex with its tally: 0.8 for 30,000 women and 0.6 for 70,000 men."""
    asked = study(tells_all("0.3", "0.7", metric=RECALL))
    tally = expected_tally(asked, people(("female", "0.8", 30_000), ("male", "0.6", 70_000)))
    (tmp_path / "study.json").write_bytes(asked.to_bytes())
    (tmp_path / "tally.json").write_bytes(tally.to_bytes())
    return tmp_path / "study.json", tmp_path / "tally.json"


def refused(done: Done, text: str) -> bool:
    """Whether a command ended with status 2 and one line that holds this text."""
    line = done.err.strip().splitlines()[-1]
    return done.status == 2 and done.out == "" and text in line and "Traceback" not in done.err
