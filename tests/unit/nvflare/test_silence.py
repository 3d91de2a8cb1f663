"""Silence says nothing in NVFlare: a server that changes the study, and everything that a site sends and logs.

The harness is that of ``tests/e2e/test_silence.py``; the site has NVFlare's own runner, its filters and its guard.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nvflare.apis.dxo import DXO, DataKind

from fairgauge.nvflare import SiteGuard
from tests.silence import MUTANTS, Person, documents, quick_folder, told_apart
from tests.unit.nvflare.running import run_task


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as found:
        yield found


def site(who: Person, folder: Path) -> Callable[[bytes], str]:
    """A site whose job measures what its person has."""
    (folder / "agent.json").write_text(json.dumps({"limit": "1000", "askers_give": ["recall"]}))
    (folder / "profile.json").touch(mode=0o600)
    (folder / "profile.json").write_text(json.dumps(who))
    guard = SiteGuard(settings=str(folder / "agent.json"))

    def ask(document: bytes) -> str:
        sent = run_task(
            guard, lambda *_: DXO(DataKind.METRICS, data=who["values"]).to_shareable(), asked=document.decode()
        )
        return repr(sorted(sent.items(), key=str))

    return ask


def test_nothing_but_what_was_drawn_tells_sites_apart(folder: Path) -> None:
    assert told_apart(site, folder, own=["profile.json"]) == []


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_harness_sees_a_site_that_refuses_for_what_somebody_has(
    mutant: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS[mutant](monkeypatch)
    assert told_apart(site, folder, documents()[:4], own=["profile.json"]) != []
