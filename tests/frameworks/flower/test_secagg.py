"""An app whose updates go through SecAgg+, in Flower's simulation: it measures the gap, too."""

import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from runs import run_app

EXAMPLE = Path(__file__).parents[3] / "examples" / "flower-secagg"
NODES, ROUNDS = 6, 2


def trained_openly() -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The model that the same devices make without any secrecy."""
    from secagg.task import SIZE, load_data, train

    people = [load_data(SimpleNamespace(node_config={"partition-id": number})) for number in range(NODES)]
    model = np.zeros(SIZE)
    for _ in range(ROUNDS):
        model = np.mean([train(model, *person) for person in people], axis=0)
    return model


def test_secure_aggregation_and_the_gap_share_an_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = tmp_path / "app"
    shutil.copytree(EXAMPLE, app, ignore=shutil.ignore_patterns("__pycache__"))
    shown = run_app(app, tmp_path, nodes=NODES)
    assert shown.count("Secure aggregation completed.") == ROUNDS
    model = [float(number) for number in re.search(r"model: \[(.*)\]", shown)[1].split(", ")]  # type: ignore[index]
    monkeypatch.setattr(sys, "path", [str(EXAMPLE), *sys.path])
    np.testing.assert_allclose(model, trained_openly(), rtol=0, atol=1e-4)

    assert f"private metrics: {NODES} replies, {NODES} new answers" in shown
    assert "eval_acc female - male: not yet" in shown
    kept = tmp_path / "flwr" / "fairgauge" / "fairgauge.secagg"
    assert len((kept / "answers.ndjson").read_bytes().splitlines()) == NODES
    assert len(list((kept / "ledgers").iterdir())) == NODES
