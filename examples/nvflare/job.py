"""Ask every site of an NVFlare simulation one study about a model.

    python examples/nvflare/job.py --output build/nvflare

It needs ``pip install '.[nvflare]'``.  In a deployment the files that this writes for the sites are the sites' own.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from nvflare.recipe import SimEnv

from fairgauge import Attribute, Metric, Study, design
from fairgauge.nvflare import PrivateMetricsRecipe

HERE = Path(__file__).parent
NAME = "private-metrics"


def main() -> None:
    """Write what sites and server have, and run the job."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=Path("build/nvflare"), help="where everything goes")
    parser.add_argument("--sites", type=int, default=2, help="how many sites there are (2)")
    options = parser.parse_args()
    folder: Path = options.output.resolve()
    sites = [f"site-{number + 1}" for number in range(options.sites)]
    for number, site in enumerate(sites):
        settle(folder / "sites" / site, "north" if number % 2 else "south")
    guard(folder / "work" / NAME / "local", folder / "sites" / "{site}" / "agent.json")

    region = Attribute("region", {"north": 0.5, "south": 0.5})
    study = Study("Recall, by region", [design(Metric("recall", 0, 1), region, epsilon=1)])
    np.savez(folder / "model.npz", weights=np.array([1.0, -0.2, 0.4]))
    recipe = PrivateMetricsRecipe(
        study,
        HERE / "measure.py",
        answers=folder / "answers.ndjson",
        model=str(folder / "model.npz"),
        min_clients=len(sites),
    )
    recipe.execute(SimEnv(clients=sites, workspace_root=str(folder / "work")))
    print((folder / "report.txt").read_text(encoding="utf-8"))


def settle(folder: Path, region: str) -> None:
    """Write a site's profile, which only the site itself may read, and its agent's settings."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profile.json").touch(mode=0o600)
    (folder / "profile.json").write_text(json.dumps({"group": {"region": region}, "values": {}}), encoding="utf-8")
    (folder / "agent.json").write_text(json.dumps({"askers_give": ["recall"]}), encoding="utf-8")


def guard(local: Path, settings: Path) -> None:
    """Write the two files with which sites let nothing out but answers."""
    local.mkdir(parents=True, exist_ok=True)
    room, how = "fairgauge.nvflare.site", {"settings": str(settings)}
    scope = {
        "name": "fairgauge",
        "task_data_filters": [{"path": f"{room}.StudyFilter", "direction": "in"}],
        "task_result_filters": [{"path": f"{room}.AnswerFilter", "args": how, "direction": "out"}],
    }
    components = [{"id": "fairgauge_guard", "path": f"{room}.SiteGuard", "args": how}]
    privacy = {"scopes": [scope], "default_scope": "fairgauge", "components": components}
    (local / "privacy.json").write_text(json.dumps(privacy, indent=1), encoding="utf-8")
    (local / "resources.json").write_text('{"format_version": 2, "allow_log_streaming": false}', encoding="utf-8")


if __name__ == "__main__":
    main()
