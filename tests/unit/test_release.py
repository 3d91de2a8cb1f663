"""A release's version and day are written wherever they stand, by one command.

Covers: nothing of the package; ``bench/release.py`` and ``bench/release_check.py``.
"""

import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from bench import release, release_check
from docs import licences
from fairgauge import __version__

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The tracked files of text that tell versions, in a repository of their own."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        if name.startswith(("src/", "docs/", "deploy/")) or "/" not in name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_one_command_writes_version_and_day_everywhere(clone: Path) -> None:
    release.write(clone, "9.8.7", "2031-02-03")
    assert release.current(clone) == "9.8.7"
    assert release.places(clone, __version__) == []
    changes = (clone / "CHANGELOG.md").read_text()
    assert "\n## 9.8.7, 2031-02-03\n" in changes
    assert "### For people who are asked, and their devices" in changes
    assert len(changes.split()) < 1000, "a changelog for people"
    static = clone / "src" / "fairgauge" / "collector" / "static"
    assert [path.name for path in sorted(static.glob("*.js")) if "Version 9.8.7." in path.read_text()] == [
        "fairgauge-client.js",
        "fairgauge-envelopes.js",
        "fairgauge-passes.js",
    ]
    citation = yaml.safe_load((clone / "CITATION.cff").read_text())
    assert (citation["version"], str(citation["date-released"])) == ("9.8.7", "2031-02-03")
    assert "fairgauge-9.8.7-py3-none-any.whl" in (clone / "docs" / "flower.md").read_text()
    (clone / "CHANGELOG.md").write_text("# Changelog\n")
    with pytest.raises(ValueError, match=r"CHANGELOG\.md must have 9\.8\.7 once"):
        release.write(clone, "9.9.0", "2031-02-04")


def test_the_citation_names_this_version_and_no_address_that_is_not_there() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert (citation["cff-version"], citation["license"], citation["type"]) == ("1.2.0", "Apache-2.0", "software")
    assert {"title", "message", "authors"} <= set(citation)
    assert {"url", "repository-code", "doi"}.isdisjoint(citation), "there is no public address yet"


def test_the_page_of_licences_is_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where Flower's environment is not there: what was written of it stays."""
    page = licences.PAGE.read_text(encoding="utf-8")
    assert licences.page() == page, "run docs/licences.py --write"
    monkeypatch.setattr(licences, "APART", {"flower": "nowhere", "nvflare": "nowhere"})
    assert licences.page() == page
    named = {line.split(" | ")[0].removeprefix("| ").lower() for line in page.splitlines() if line.startswith("| ")}
    assert {"numpy", "cryptography", "starlette", "pyspark", "flwr"} <= named


def test_links_to_files_and_their_parts_lead_somewhere(tmp_path: Path) -> None:
    assert list(release_check.broken_links(ROOT)) == []
    (tmp_path / "README.md").write_text("[a](docs/none.md) [b](https://somewhere.example) [c](#here)")
    (tmp_path / "CHANGES.md").write_text("# A `b`: c?\n(own)=\n[x](README.md#none) [y](#own) [z](CHANGES.md#a-b-c)")
    assert sorted(release_check.broken_links(tmp_path)) == [
        "CHANGES.md: README.md#none",
        "README.md: #here",
        "README.md: docs/none.md",
    ]


def test_every_extra_for_users_is_tried_and_the_readme_has_commands() -> None:
    assert {"", "lab", "collector", "relay", "issuer", "flower", "nvflare", "all"} <= set(release_check.EXTRAS)
    assert release_check.NOT_FOR_USERS.isdisjoint(release_check.EXTRAS)
    assert release_check.PYTHONS == ("3.11", "3.12", "3.13")
    words = [line.split()[:2] for line in release_check.readme_commands()]
    assert words == [["fairgauge", name] for name in ("new", "plan", "design", "simulate")]


def test_archives_are_built_twice_with_the_same_bytes(tmp_path: Path) -> None:
    wheel, sdist = release_check.build_twice(tmp_path)
    assert release_check.check_wheel(wheel).startswith(f"fairgauge-{__version__}-py3-none-any.whl")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "SECURITY.md", "CITATION.cff", "docs/maths.md", "Makefile"} <= names
    assert not any(name.startswith((".ci", ".git/")) for name in names)
