"""The device's half of the package runs on a bare Python: no site-packages, no third-party module."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

# What a device loads, and what counts its answers.
BARE_ROOMS = ["errors", "canonical_json", "channel", "study", "crowd", "client", "tallies"]
BARE_ROOMS += ["unlinkable.blinding", "unlinkable.pass_token", "unlinkable.binary_http"]


def loaded_by(statement: str) -> list[str]:
    """Run a statement in an isolated Python without site-packages and list the modules it loaded."""
    code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("room", BARE_ROOMS)
def test_a_bare_python_imports_the_room(room: str):
    loaded = loaded_by(f"import fairgauge.{room}")
    assert f"fairgauge.{room}" in loaded


@pytest.mark.parametrize("room", BARE_ROOMS)
def test_the_room_loads_only_itself_and_the_standard_library(room: str):
    roots = {module.partition(".")[0] for module in loaded_by(f"import fairgauge.{room}")}
    foreign = {root for root in roots if root not in sys.stdlib_module_names and not root.startswith("_")}
    assert foreign - {"fairgauge"} == set()


def test_the_client_loads_a_database_and_the_web_only_when_needed():
    needed_later = {"sqlite3", "http", "urllib", "ssl", "socket", "email", "argparse", "json.tool"}
    assert needed_later.isdisjoint(loaded_by("import fairgauge.client"))
    assert "sqlite3" in loaded_by("from fairgauge.client import Ledger")


def test_the_client_loads_no_room_above_it():
    rooms = {module.split(".")[1] for module in loaded_by("import fairgauge.client") if module.startswith("fairgauge.")}
    assert rooms <= {"lazy", "errors", "canonical_json", "channel", "study", "client"}


@pytest.mark.parametrize(("name", "module"), [("Flower", "flwr"), ("NVFlare", "nvflare")])
def test_without_a_framework_there_is_one_sentence(name: str, module: str):
    room = name.lower()
    code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); sys.modules[{module!r}] = None; import fairgauge.{room}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.endswith(f"private metrics in {name} need {module}: pip install 'fairgauge[{room}]'")


@pytest.mark.parametrize("party", ["issuer", "relay"])
def test_a_party_that_must_not_be_the_collector_needs_nothing_of_it(party: str):
    away = ("numpy", "scipy", "jinja2", "asyncpg", "pyarrow", "prometheus_client")
    code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); sys.modules.update(dict.fromkeys({away!r}))\n"
    code += f"import fairgauge.parties.{party}_server, fairgauge.cli.{party}, fairgauge.server.serving\n"
    code += "print([name for name in sys.modules if name.startswith('fairgauge.collector')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
