"""Write what the sites of the simulation have of their own: profiles, settings of agents, and what may leave.

    python examples/nvflare/sites.py --output build/nvflare

In a deployment each site writes these itself, and nobody else can.  A simulation has one ``privacy.json`` for all.
"""

import json
from pathlib import Path

import typed

JOB = "private-metrics"
REGIONS = ("south", "north")


def main() -> None:
    """Write the files of every site."""
    folder, sites = typed.read(__doc__)
    for number in range(sites):
        settle(folder / "sites" / f"site-{number + 1}", REGIONS[number % len(REGIONS)])
    guard(folder / "work" / JOB / "local", folder / "sites" / "{site}" / "agent.json")


def settle(folder: Path, region: str) -> None:
    """Write a site's profile, which only the site itself may read, and its agent's settings."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profile.json").touch(mode=0o600)
    (folder / "profile.json").write_text(json.dumps({"group": {"region": region}, "values": {}}), encoding="utf-8")
    may = {"attributes": {"region": REGIONS}, "metrics": {"recall": [0, 1]}, "askers_give": ["recall"]}
    (folder / "agent.json").write_text(json.dumps(may), encoding="utf-8")


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
