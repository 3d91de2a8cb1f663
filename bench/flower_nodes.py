"""A thousand simulated nodes in one run of Flower, with ledgers and with agents, and without fairgauge.

    .venv-flower/bin/python -m bench.flower_nodes --nodes 1000

It writes docs/flower/nodes.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "examples" / "first-study" / "study.json"
TABLE = ROOT / "docs" / "flower" / "nodes.md"


def main() -> None:
    """Run three times, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, default=1000)
    nodes = parser.parse_args().nodes
    found = {}
    for mode in ("plain", "ledger", "agent"):
        with tempfile.TemporaryDirectory(prefix="fg") as made:
            folder = Path(made)
            (folder / "study.json").write_bytes(STUDY.read_bytes())
            with _agents(folder, nodes if mode == "agent" else 0):
                _simulate(folder, mode, nodes)
            took, answers = (folder / "took").read_text().split()
            found[mode] = float(took), int(answers)
            print(mode, *found[mode], flush=True)
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_text(_table(nodes, found), encoding="utf-8")


def _simulate(folder: Path, mode: str, nodes: int) -> None:
    code = (
        "from flwr.simulation import run_simulation; from bench.flower_nodes_app import client, server; "
        f"run_simulation(server, client, {nodes}, backend_config={{'init_args': {{'num_cpus': 2}}, "
        "'client_resources': {'num_cpus': 1, 'num_gpus': 0.0}})"
    )
    told = {"FAIRGAUGE_MODE": mode, "FAIRGAUGE_FOLDER": str(folder), "FAIRGAUGE_NODES": str(nodes)}
    quiet = {"FLWR_HOME": str(folder), "FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **told, **quiet, "PYTHONPATH": search}, check=True
    )


def _table(nodes: int, found: dict[str, tuple[float, int]]) -> str:
    names = {
        "plain": "without fairgauge",
        "ledger": "with a ledger on each node",
        "agent": "with an agent for each node",
    }
    lines = [f"| one evaluation of {nodes:,} simulated nodes | answers counted | time as a ratio |", "|---|--:|--:|"]
    for mode, (took, answers) in found.items():
        counted = "—" if mode == "plain" else f"{answers:,}"
        lines.append(f"| {names[mode]} | {counted} | {took / found['plain'][0]:.2f} |")
    return "\n".join([*lines, ""])


@contextmanager
def _agents(folder: Path, count: int) -> Iterator[None]:
    """Run so many agents in one process of its own."""
    if not count:
        yield
        return
    settings = []
    for number in range(count):
        home = folder / "agents" / str(number)
        home.mkdir(parents=True)
        group = {"sex": "female" if number % 2 else "male"}
        (home / "profile.json").touch(mode=0o600)
        (home / "profile.json").write_text(json.dumps({"group": group, "values": {"recall": 0.5}}))
        (home / "agent.json").write_text(json.dumps({"socket": "s"}))
        settings.append(str(home / "agent.json"))
    code = "import sys; from fairgauge.client.agent_command import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen([sys.executable, "-c", code, *settings], stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
