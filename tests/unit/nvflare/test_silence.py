"""Silence says nothing in NVFlare: a server that changes the study, and everything that a site sends and logs.

The harness is that of ``tests/e2e/test_silence.py``; the site has NVFlare's own runner, its filters and its guard.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nvflare.apis.dxo import DXO, DataKind

from fairgauge.nvflare import SiteGuard
from tests.silence import (
    LAW_PEOPLE,
    MUTANTS,
    Person,
    answers_as_one_row,
    documents,
    of_another_law,
    quick_folder,
    told_apart,
)
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


def test_what_a_site_draws_for_those_outside_follows_the_fixed_mixture(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Falsely alarmed three times in a million runs; its twins are somebody who is inside, and one row for all."""
    assert of_another_law(site, folder / "honest") == ["female"]
    answers_as_one_row(monkeypatch)
    assert of_another_law(site, folder / "mutant") == LAW_PEOPLE
