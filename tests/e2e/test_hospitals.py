"""The worked example of hospitals: what it prints holds what Fairlearn finds with all patients in one place."""

import importlib
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "hospitals"


def test_noisy_counts_beside_fairlearn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)
    hospitals = importlib.import_module("hospitals")
    found = hospitals.compared(hospitals=5, people=500)
    assert [one.metric for one in found] == list(hospitals.THEIRS)
    for one in found:
        # The noise is the operating system's: an interval three times as wide misses once in a million.
        width = one.private.high - one.private.low
        assert one.private.low - width < one.pooled.estimate < one.private.high + width
        assert one.ratio > 1
    assert hospitals.table(found).count("\n") == 6
    hospitals.picture(found, tmp_path / "hospitals.svg")
    assert "true_positive_rate" in (tmp_path / "hospitals.svg").read_text()
    del sys.modules["hospitals"]
