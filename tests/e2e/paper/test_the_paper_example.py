"""The paper's two mechanisms end to end: thousands of devices answer, a collector counts, both estimators read."""

import asyncio
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.paper.estimator import published_estimate
from tests.collecting.desk import open_desk

RUN = Path(__file__).parents[3] / "examples" / "the-paper" / "both_mechanisms.py"
_spec = importlib.util.spec_from_file_location("the_paper_example", RUN)
assert _spec is not None
assert _spec.loader is not None
example = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(example)
BATCH = 500


def collected(folder: Path, study: fg.Study, lines: list[bytes]) -> fg.Tally:
    async def counted() -> bytes:
        async with open_desk(f"sqlite:///{folder / 'gauge.db'}", folder) as desk:
            assert (await desk.publish(study)).status_code == 201
            for start in range(0, len(lines), BATCH):
                assert (await desk.batch(study, lines[start : start + BATCH])).status_code == 200
            return (await desk.get(f"/studies/{study.digest}/tally")).content

    return fg.Tally.from_bytes(asyncio.run(counted()))


@pytest.mark.parametrize("name", example.STUDIES)
def test_devices_answer_a_collector_counts_and_both_estimators_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    study = example.make_study(name)
    answers = example.answers(study)
    tally = collected(tmp_path, study, [answer.to_bytes() for answer in answers])
    assert tally.counts == fg.Tally.of(study, answers).counts
    assert tally.contributors == example.DEVICES
    gap, half = published_estimate(study, tally, np.random.default_rng(0)).gaps["male", "female"]
    ours = fg.estimate(study, tally)["tpr"].gap("male", "female")
    # Random bytes are each test's own, so that neither is left to chance.
    assert abs(gap - 0.17) < half
    assert ours.low < 0.17 < ours.high
    assert ours.high - ours.low < half
    study.save(tmp_path / "study.json")
    tally.save(tmp_path / "tally.json")
    typed = ["fairgauge", "paper", "estimate", str(tmp_path / "study.json"), str(tmp_path / "tally.json")]
    monkeypatch.setattr(sys, "argv", typed)
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    shown = capsys.readouterr().out
    assert f"4,000 answers to {name}" in shown
    assert {"M_R": "epsilon 1 as claimed, 1.37989 exactly", "M_L": "epsilon 1 as claimed, 1 exactly"}[name] in shown
    assert f"{gap:.4f}" in shown
    assert f"{ours.estimate:.4f}" in shown


def test_the_example_writes_what_a_collector_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(example, "answers", lambda study, of=example.answers: of(study, 2000))
    example.main(tmp_path)
    lines = (tmp_path / "answers-M_R.ndjson").read_text().splitlines()
    assert len(lines) == 2000
    assert json.loads(lines[0])["study"] == fg.Study.load(tmp_path / "study-M_R.json").digest
