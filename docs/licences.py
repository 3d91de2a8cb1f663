"""Make docs/licences.md: every package that an extra brings, with the licence that it states.

    python docs/licences.py --check    exit 1 if the page is not what the environment says today
    python docs/licences.py --write    write it

Read from the environment that runs this, and from those of Flower and NVFlare where they are there.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
EXTRAS = ("lab", "paper", "collector", "relay", "issuer", "polars", "duckdb", "dask", "spark")
APART = {"flower": ".venv-flower", "nvflare": ".venv-nvflare"}
HEAD = """# Licences of what is installed

<!-- Made by docs/licences.py. -->

fairgauge is under the [Apache licence 2.0](https://www.apache.org/licenses/LICENSE-2.0). A device brings no other
package. An extra brings these, at the versions that we test with. Each states its licence itself, and what matters is
what it ships.
"""
# What a package's classifiers say where it has no expression, in the words of SPDX.
_SPDX = {
    "Apache Software License": "Apache-2.0", "BSD License": "BSD", "MIT License": "MIT", "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0", "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "The Unlicense (Unlicense)": "Unlicense", "Historical Permission Notice and Disclaimer (HPND)": "HPND",
}  # fmt: skip


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def closure(extra: str, known: Mapping[str, Distribution]) -> set[str]:
    """Return the packages that an extra of ours brings, those that they bring included."""
    found: set[str] = set()
    waiting = [("fairgauge", extra)]
    done = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in done or name not in known:
            continue
        done.add((name, wanted))
        found.add(name)
        for line in known[name].requires or ():
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": wanted}):
                waiting += [(_name(need.name), ""), *((_name(need.name), one) for one in need.extras)]
    return found - {"fairgauge"}


def licence(package: Distribution) -> str:
    """Return the licence that a package states: its expression, its classifiers, or its first line."""
    head: Any = package.metadata  # a message, whose protocol has no get
    if head.get("License-Expression"):
        return str(head["License-Expression"])
    classes = [line.rpartition(" :: ")[2] for line in head.get_all("Classifier", []) if line.startswith("License ::")]
    said = [_SPDX.get(one, one) for one in classes if one != "OSI Approved"]
    if said:
        return " or ".join(dict.fromkeys(said))
    return (str(head.get("License") or "").strip().splitlines() or ["not stated"])[0][:60]


def known_in(paths: Iterable[str]) -> dict[str, Distribution]:
    """Return the packages of an environment by their names."""
    return {_name(one.metadata["Name"]): one for one in distributions(path=list(paths)) if one.metadata["Name"]}


def rows(extras: Iterable[str], known: Mapping[str, Distribution], but: Iterable[str] = ()) -> Iterator[str]:
    """Yield a line for each package, with the extras that bring it."""
    brought: dict[str, list[str]] = {}
    for extra in extras:
        for name in closure(extra, known) - set(but):
            brought.setdefault(name, []).append(extra)
    yield "| package | version | licence | with |"
    yield "|---|---|---|---|"
    for name in sorted(brought):
        package = known[name]
        title = str(package.metadata["Name"])
        yield f"| {title} | {package.version} | {licence(package).replace('|', '/')} | {', '.join(brought[name])} |"


def page() -> str:
    """Return the page; what stands for an environment that is not here stays as it is."""
    here = known_in(sys.path)
    parts = [HEAD, *rows(EXTRAS, here), ""]
    for extra, folder in APART.items():
        parts += [f"## {extra}", "", "Beside what `lab` brings, in an environment of its own:", ""]
        sites = [str(path) for path in (ROOT / folder).glob("lib/python3*/site-packages")]
        lab = closure("lab", here)
        parts += [*rows([extra], known_in(sites), but=lab), ""] if sites else _kept(extra)
    return "\n".join(parts)


def _kept(extra: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    found = re.search(rf"^## {extra}\n\n.*?\n\n(.*?\n)\n?(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return ["Not listed: that environment was not there when this was made.", ""] if found is None else [found[1]]


def main() -> int:
    """Write the page, or return 1 if it is out of date."""
    parser = argparse.ArgumentParser()
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--check", action="store_true")
    how.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    return int(PAGE.read_text(encoding="utf-8") != page())


if __name__ == "__main__":
    sys.exit(main())
