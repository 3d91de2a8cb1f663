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
from statistics import median

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "examples" / "first-study" / "study.json"
TABLE = ROOT / "docs" / "flower" / "nodes.md"
NAMES = {
    "plain": "without fairgauge",
    "ledger": "with a ledger on each node",
    "agent": "with an agent for each node",
}


def main() -> None:
    """Run each way in turn, as often as asked, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5, help="how often; ratios are of runs that follow each other")
    options = parser.parse_args()
    found = [{mode: _run(mode, options.nodes) for mode in NAMES} for _ in range(options.repeat)]
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_text(_table(options.nodes, found), encoding="utf-8")


def _run(mode: str, nodes: int) -> tuple[float, int]:
    """Return how long a run took, in seconds, and how many answers it counted."""
    with tempfile.TemporaryDirectory(prefix="fg") as made:
        folder = Path(made)
        (folder / "study.json").write_bytes(STUDY.read_bytes())
        with _agents(folder, nodes if mode == "agent" else 0):
            _simulate(folder, mode, nodes)
        took, answers = (folder / "took").read_text().split()
    print(mode, took, answers, flush=True)
    return float(took), int(answers)


def _simulate(folder: Path, mode: str, nodes: int) -> None:
    code = (
        "from flwr.simulation import run_simulation; from bench.flower_nodes_app import client, server; "
        f"run_simulation(server, client, {nodes}, backend_config={{'init_args': {{'num_cpus': 2}}, "
        "'client_resources': {'num_cpus': 1, 'num_gpus': 0.0}})"
    )
    told = {"FAIRGAUGE_MODE": mode, "FAIRGAUGE_FOLDER": str(folder), "FAIRGAUGE_NODES": str(nodes)}
    quiet = {"FLWR_HOME": str(folder), "FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    quiet["RAY_worker_niceness"] = "0"  # Ray's workers stand back for every other program, and that would be timed
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **told, **quiet, "PYTHONPATH": search}, check=True
    )


def _table(nodes: int, found: list[dict[str, tuple[float, int]]]) -> str:
    lines = [
        f"| one evaluation of {nodes:,} simulated nodes, {len(found)} times | answers | time as a ratio | from, to |",
        "|---|--:|--:|--:|",
    ]
    for mode, name in NAMES.items():
        ratios = sorted(run[mode][0] / run["plain"][0] for run in found)
        counted = " or ".join(f"{answers:,}" for answers in sorted({run[mode][1] for run in found}))
        span = "—" if mode == "plain" else f"{ratios[0]:.2f}, {ratios[-1]:.2f}"
        lines.append(f"| {name} | {'—' if mode == 'plain' else counted} | {median(ratios):.2f} | {span} |")
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
