"""Run a check of vectors in Node, where there is one: the modules are the same that browsers load."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
STATIC = HERE.parents[1] / "src" / "fairgauge" / "collector" / "static"
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="there is no node here; tests/browser check the same in Chromium")

Change = tuple[str, str]


def run_node(folder: Path, script: str) -> str:
    """Run a module in Node, and return what it prints."""
    assert NODE is not None
    (folder / "run.mjs").write_text(script, encoding="utf-8")
    done = subprocess.run([NODE, "run.mjs"], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def missed(folder: Path, name: str, change: Change | None = None) -> list[str]:
    """Return the vectors of ``name.json`` that ``fairgauge-name.js`` does not meet, honest or with one change."""
    source = (STATIC / f"fairgauge-{name}.js").read_text(encoding="utf-8")
    if change is not None:
        assert change[0] in source
        source = source.replace(*change)
    (folder / "module.mjs").write_text(source, encoding="utf-8")
    (folder / "check.mjs").write_text((HERE / f"{name}.js").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "vectors.json").write_text((HERE / f"{name}.json").read_text(encoding="utf-8"), encoding="utf-8")
    printed = run_node(
        folder,
        """
        import { readFileSync } from "node:fs";
        import { check } from "./check.mjs";
        import * as module from "./module.mjs";
        console.log(JSON.stringify(await check(module, JSON.parse(readFileSync("vectors.json", "utf8")))));
        """,
    )
    found: list[str] = json.loads(printed)
    return found


def run_client(folder: Path, script: str, change: Change | None = None) -> Any:
    """Run a script beside the JavaScript client, with a ledger in memory, and return the JSON that it prints.

    Args:
        folder: Where it runs.
        script: The script, to which the client is ``client``.
        change: What is changed in the client's own module.
    """
    for module in STATIC.glob("*.js"):
        source = module.read_text(encoding="utf-8")
        if change is not None and module.name == "fairgauge-client.js":
            assert change[0] in source
            source = source.replace(*change)
        (folder / module.name).write_text(source, encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    memory = (HERE / "memory_database.js").read_text(encoding="utf-8")
    (folder / "memory_database.js").write_text(memory, encoding="utf-8")
    imports = 'import "./memory_database.js";\nimport * as client from "./fairgauge-client.js";\n'
    return json.loads(run_node(folder, imports + script))


def client_misses(folder: Path, script: str, file: str) -> list[str]:
    """Return the vectors of a file that ``fairgauge-client.js`` does not meet, by a script that browsers run too."""
    check = (HERE / script).read_text(encoding="utf-8").replace('"/static/', '"./')
    (folder / "check.js").write_text(check, encoding="utf-8")
    (folder / "vectors.json").write_text((HERE / file).read_text(encoding="utf-8"), encoding="utf-8")
    found: list[str] = run_client(
        folder,
        """
        import { readFileSync } from "node:fs";
        import { check } from "./check.js";
        console.log(JSON.stringify(await check(client, JSON.parse(readFileSync("vectors.json", "utf8")))));
        """,
    )
    return found
