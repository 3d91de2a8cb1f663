"""What is in deploy/ works as it stands: the container's steps, the unit, the alerts, the settings."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml

from fairgauge.collector.config import CollectorLimits, read_config
from fairgauge.collector.metrics import Metrics
from tests.collecting.servers import free_port

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
# What a step installs beside fairgauge is in this environment already, what builds it too; "0" is how pip spells yes.
LIBRARIES = [path for path in sys.path if path.endswith("site-packages")]
OFFLINE = {
    "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PYTHONPATH": os.pathsep.join(LIBRARIES),
}  # fmt: skip


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Containerfile, those on several lines joined."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Containerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    pairs = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    return [(name, rest) for name, rest in pairs]


def last(name: str) -> str:
    return [rest for one, rest in instructions() if one == name][-1]


def test_the_containerfile_is_sound():
    done = subprocess.run(
        [Path(sys.executable).parent / "hadolint", DEPLOY / "Containerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert last("USER") == "10001:10001"
    assert json.loads(last("ENTRYPOINT")) == ["fairgauge"]


def test_the_containers_steps_make_a_collector_that_its_health_check_finds_well(tmp_path: Path):
    """Its own steps, in a folder instead of a container's root; libraries come from this environment."""
    source, opt, data = tmp_path / "src", tmp_path / "opt", tmp_path / "data"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in tracked.decode().split("\0"):
        if name.startswith(("src/", "pyproject", "README", "LICENSE", "constraints.txt")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)

    def placed(text: str) -> str:
        return text.replace("/opt", str(opt)).replace("/data", str(data))

    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for name, rest in instructions():
        if name == "RUN":
            step = placed(rest).replace("python -m venv", f"{sys.executable} -m venv")
            done = subprocess.run(
                step, shell=True, cwd=source, env=clean | OFFLINE, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr[-2000:]
    (site,) = (opt / "fairgauge" / "lib").glob("python3*/site-packages")
    assert (site / "fairgauge" / "collector" / "workers.py").exists()
    (site / "libraries.pth").write_text("\n".join(LIBRARIES))
    port = str(free_port())
    path = {"PATH": f"{opt / 'fairgauge' / 'bin'}{os.pathsep}{clean['PATH']}"}
    command = [placed(word) for word in [*json.loads(last("ENTRYPOINT")), *json.loads(last("CMD"))]]
    command = [word if word != "0.0.0.0" else "127.0.0.1" for word in command]
    health = [word.replace("8642", port) for word in json.loads(last("HEALTHCHECK").partition("CMD")[2])]
    with subprocess.Popen(
        [*command, "--port", port], env=clean | path, cwd=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            for _ in range(1200):
                if subprocess.run(health, env=clean | path, capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.1)
            else:
                raise AssertionError("the health check never found it well")
            assert sorted(one.name for one in data.iterdir() if one.suffix == ".db") == ["gauge.db"]
        finally:
            server.terminate()
    assert subprocess.run(health, env=clean | path, capture_output=True, check=False).returncode != 0


def test_the_unit_is_sound():
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("there is no systemd here")
    unit = (DEPLOY / "fairgauge.service").read_text()
    exec_start = re.search(r"^ExecStart=(.*)$", unit, flags=re.MULTILINE)
    assert exec_start is not None
    words = shlex.split(exec_start[1])
    assert words[1:] == ["serve", "--store", "sqlite:///gauge.db", "--secrets", "secrets"]
    assert "WorkingDirectory=/var/lib/fairgauge" in unit
    done = subprocess.run(
        [program, "security", "--offline=true", "--threshold=30", str(DEPLOY / "fairgauge.service")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "Failed to" in done.stderr and done.returncode:
        pytest.skip("this systemd cannot look at a unit that is not installed")
    assert done.returncode == 0, done.stdout[-300:] + done.stderr


def test_alerts_are_about_what_the_collector_shows():
    metrics = Metrics()
    metrics.failures.labels("StoreFull").inc()
    shown = set(re.findall(r"^(fairgauge_\w+?)(?:\{| )", metrics.to_bytes().decode(), flags=re.MULTILINE))
    rules = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"][0]["rules"]
    asked = {name for rule in rules for name in re.findall(r"fairgauge_\w+", rule["expr"])}
    assert len(asked) >= 4
    assert asked <= shown
    program = shutil.which("promtool")
    if program is not None:
        done = subprocess.run(
            [program, "check", "rules", str(DEPLOY / "alerts.yaml")], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stdout


def test_the_proxy_keeps_no_address_and_lets_through_what_the_collector_takes():
    text = (DEPLOY / "Caddyfile").read_text()
    # Of a request that fails Caddy logs the address, whatever becomes of the access log.
    assert re.search(r"^\tlog default \{\n\t\texclude http\n\t\}$", text, flags=re.MULTILINE)
    assert "\tlog {\n\t\toutput discard\n\t}" in text
    largest = re.search(r"max_size (\d+)MiB", text)
    assert largest is not None
    assert int(largest[1]) * 2**20 >= CollectorLimits().study_bytes
    shown = (ROOT / "docs" / "operators.md").read_text()
    assert all(line.strip() in shown for line in text.splitlines() if "collector:" not in line and "#" not in line)
    program = shutil.which("caddy")
    if program is not None:
        command = [program, "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


def test_memory_is_bounded_above_what_a_flood_takes():
    """The page says how much one collector takes beside floods; the composed one has two workers."""
    said = int(re.findall(r"stays below (\d+) MiB", (ROOT / "docs" / "operators.md").read_text())[0])
    assert "\nMemoryMax=1G\n" in (DEPLOY / "fairgauge.service").read_text()
    gauge = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["collector"]
    assert gauge["mem_limit"] == "1g"
    workers = int(gauge["command"][gauge["command"].index("--workers") + 1])
    assert workers * said < 1024


def test_the_composed_collector_reads_its_settings():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert set(services) == {"collector", "database", "proxy"}
    settings = read_config(DEPLOY / "fairgauge.toml")
    user, database = (
        services["database"]["environment"]["POSTGRES_USER"],
        services["database"]["environment"]["POSTGRES_DB"],
    )
    assert settings.store == f"postgresql://{user}@database/{database}"
    assert settings.secrets.startswith("/data/")
    assert any(mount.endswith(":/data") for mount in services["collector"]["volumes"])
    assert services["collector"]["read_only"] is True
    assert services["collector"]["mem_limit"] == "1g"
    assert services["collector"]["cap_drop"] == ["ALL"]
    assert services["collector"]["security_opt"] == ["no-new-privileges:true"]
    assert "user" not in services["collector"], "it runs as the container's own, who is not root"
    # Who may read a secret cannot be said here: one that is a file is mounted as it is, with its owner.
    assert services["collector"]["secrets"] == ["pgpass"]
    user = last("USER").partition(":")[0]
    assert f"chown {user} deploy/pgpass" in (DEPLOY / "compose.yaml").read_text()
    assert tomllib.loads((DEPLOY / "fairgauge.toml").read_text())["port"] == 8642
