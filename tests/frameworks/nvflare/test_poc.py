"""A deployment of NVFlare on one machine: a guarded site lets out nothing marked, and an open one everything."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from fairgauge.client import Ledger
from runs import running
from tests.frameworks.nvflare.leaking import GROUP, OPEN, forged
from tests.frameworks.nvflare.sites import NAMES, leaking_job, marks_in, privacy, settle_site
from tests.unit.client.test_agent_socket import serving

ROOT = Path(__file__).parents[3]
ADMIN = "admin@nvidia.com"
PATIENCE = 300.0
# In a process of its own: the threads of a session outlive it, and would keep the tests from ending.
SUBMIT = """
import os, sys, time
from nvflare.fuel.flare_api.flare_api import new_secure_session
deadline = time.monotonic() + 120
while True:
    try:
        session = new_secure_session("admin@nvidia.com", sys.argv[1], timeout=20)
        if len(session.get_system_info().client_info) == 2:
            break
        session.close()
    except Exception:
        pass
    assert time.monotonic() < deadline, "the server or its sites do not come"
    time.sleep(1)
job = session.submit_job(sys.argv[2])
session.monitor_job(job, timeout=300)
print(session.get_job_meta(job)["status"], flush=True)
os._exit(0)
"""
SITES = ("guarded-1", "open-1")


def environment(here: Path) -> dict[str, str]:
    search = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    own = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "HOME": str(here),
        "NVFLARE_POC_WORKSPACE": str(here / "poc"),
        "PYTHONPATH": search,
        "PATH": f"{own}{os.pathsep}{os.environ['PATH']}",
    }


def program(name: str, kit: Path) -> list[str]:
    """Return how the server or a site of a kit is started."""
    server = name == "server"
    role = "server" if server else "client"
    command = [sys.executable, "-u", "-m", f"nvflare.private.fed.app.{role}.{role}_train", "-m", str(kit)]
    command += ["-s", f"fed_{role}.json", "--set", "secure_train=true", "org=nvidia", "config_folder=config"]
    return command if server else [*command, f"uid={name}"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a deployment in which the leaking job has run."""
    here = tmp_path_factory.mktemp("poc")
    prepare = ["nvflare", "poc", "prepare", "-n", "2", "-c", *SITES]
    subprocess.run(prepare, env=environment(here), cwd=here, check=True, capture_output=True)
    kits = here / "poc" / "example_project" / "prod_00"
    settings = settle_site(here / "site")
    local = kits / "guarded-1" / "local"
    (local / "privacy.json").write_text(json.dumps(privacy(agent=str(here / "site" / "agent.sock"))))
    resources = json.loads((local / "resources.json.default").read_text())
    (local / "resources.json").write_text(json.dumps({**resources, "allow_log_streaming": False}))
    leaking_job(here, clients=2).export_job(str(here / "jobs"))
    with ExitStack() as stack:
        stack.enter_context(serving(settings))
        for name in ("server", *SITES):
            stack.enter_context(running(program(name, kits / name), here / f"{name}.log", environment(here)))
        submit = [sys.executable, "-c", SUBMIT, str(kits / ADMIN), str(here / "jobs" / "leaking")]
        told = subprocess.run(
            submit, env=environment(here), capture_output=True, text=True, check=False, timeout=2 * PATIENCE
        )
        assert "FINISHED:COMPLETED" in told.stdout, told.stdout + told.stderr
    return here


def what_the_server_has(here: Path) -> str:
    """Everything that the server received, logged and stored, but for the job itself, which names the marks."""
    kit = here / "poc" / "example_project" / "prod_00" / "server"
    places = [here / "received", here / "server.log", *kit.rglob("*.txt"), *kit.rglob("*log*")]
    return _read(places) + streamed_logs(here)


def streamed_logs(here: Path) -> str:
    """What came as a stream of logs, live or after the job."""
    return _read([*(here / "streamed").rglob("*"), *(here / "poc" / "jobs-storage").glob("*/*LOG*")])


def _read(places: list[Path]) -> str:
    return "".join(path.read_text(errors="replace") for path in places if path.is_file())


def test_the_guarded_site_answers_and_lets_nothing_else_out(done: Path) -> None:
    received = what_the_server_has(done)
    assert marks_in(received.replace("platypus - koala", "")) == []
    assert forged(GROUP) not in received
    assert len((done / "answers.ndjson").read_bytes().splitlines()) == 1
    assert (done / "answers.ndjson.nodes").read_text() == "guarded-1\n"
    assert list(Ledger(done / "site" / "ledger.sqlite3").spent()) == ["animal"]


def test_the_twin_at_the_open_site_lets_out_everything_by_every_way(done: Path) -> None:
    received = (done / "received").read_text()
    assert marks_in(received, OPEN) == NAMES
    assert forged(OPEN[0]) in received
    assert "event fed.analytix_log_stats" in received
    assert "event fed.wombat" in received
    assert marks_in(streamed_logs(done), OPEN) == NAMES
    names = [path.name for path in (*(done / "streamed").rglob("*"), *(done / "poc" / "jobs-storage").glob("*/*LOG*"))]
    assert not any("guarded-1" in name for name in names)
