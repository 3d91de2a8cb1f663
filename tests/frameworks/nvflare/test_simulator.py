"""NVFlare's simulator: with a site's privacy.json nothing marked gets through; without it everything does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairgauge.client import Ledger
from tests.frameworks.nvflare.leaking import GROUP, forged
from tests.frameworks.nvflare.sites import NAMES, PATIENT, STUDY, marks_in, privacy, settle_hospital, settle_site

ROOT = Path(__file__).parents[3]
SITES = ("site-1", "site-2")


def run(here: Path, *, hospitals: bool = False) -> str:
    """Run the leaking job in a process of its own, and return all that the server received and streamed."""
    code = (
        "import sys; from pathlib import Path; from tests.frameworks.nvflare.sites import leaking_job; "
        f"here = Path({str(here)!r}); job = leaking_job(here, clients=2, hospitals={hospitals}); "
        "sys.exit(job.simulator_run(str(here / 'work'), n_clients=2, threads=2) or 0)"
    )
    search = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=here,
        env={**os.environ, "PYTHONPATH": search},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout
    streamed = [path.read_text(errors="replace") for path in sorted((here / "work" / "server").rglob("*log*.txt*"))]
    return (here / "received").read_text() + "".join(streamed)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("guarded")
    local = here / "work" / "local"
    local.mkdir(parents=True)
    for site in SITES:
        settle_site(here / site)
    (local / "privacy.json").write_text(json.dumps(privacy(settings=str(here / "{site}" / "agent.json"))))
    (local / "resources.json").write_text(json.dumps({"format_version": 2, "allow_log_streaming": False}))
    return here


def test_nothing_marked_reaches_the_server(guarded: Path) -> None:
    received = run(guarded)
    assert forged(GROUP) not in received
    assert marks_in(received.replace("platypus - koala", "").replace(STUDY.to_bytes().decode(), "")) == []
    assert "event" not in (guarded / "received").read_text()
    assert len((guarded / "answers.ndjson").read_bytes().splitlines()) == 2
    assert (guarded / "answers.ndjson.nodes").read_text() == "site-1\nsite-2\n"
    assert json.loads((guarded / "numbers.json").read_text()) == {"answers": 2}
    assert all(list(Ledger(guarded / site / "ledger.sqlite3").spent()) == ["animal"] for site in SITES)


def test_the_twin_without_a_privacy_file_lets_out_everything(tmp_path: Path) -> None:
    received = run(tmp_path)
    assert marks_in(received) == NAMES
    kept = (tmp_path / "received").read_text()
    assert kept.count("result: ") == 2
    assert "event fed.analytix_log_stats" in kept
    assert "event fed.platypus" in kept
    assert "'cookie': 'platypus has" in kept
    assert forged(GROUP) in kept


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "the twin without a privacy file"])
def test_records_of_sites_that_hold_many_people(guarded: bool, tmp_path: Path) -> None:
    local = tmp_path / "work" / "local"
    local.mkdir(parents=True)
    for site in SITES:
        settle_hospital(tmp_path / site)
    if guarded:
        (local / "privacy.json").write_text(json.dumps(privacy(records=str(tmp_path / "{site}" / "site.json"))))
        (local / "resources.json").write_text(json.dumps({"format_version": 2, "allow_log_streaming": False}))
    received = run(tmp_path, hospitals=True)
    if not guarded:
        assert all(f"{PATIENT}-{n:03d}" in received for n in range(300))
        return
    assert PATIENT not in received
    assert forged(GROUP) not in received
    assert marks_in(received) == []
    lines = [json.loads(line) for line in (tmp_path / "answers.ndjson").read_text().splitlines()]
    assert [set(line) for line in lines] == [{"study", "id", "counts"}] * 2
    assert json.loads((tmp_path / "numbers.json").read_text())["answers"] == 2
    assert all(Ledger(tmp_path / site / "ledger.sqlite3").spent() == {"sex": 1} for site in SITES)
