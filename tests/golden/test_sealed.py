"""Seals verify for ever: these were made before 0.2.0, with the interval that was called finite then.

The export is not kept: answer number i, in the order of the symbols, has the first 16 bytes of SHA-256(i) as its id.

Covers: fairgauge.collector.seal, fairgauge.collector.seal_before, fairgauge.estimation.finite.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from fairgauge.cli import make_app
from fairgauge.collector.seal import PURPOSE, check_sealed, lines_of, read_sealed
from fairgauge.collector.signing import signature_is_good
from fairgauge.errors import SealBroken
from fairgauge.study import Study

HERE = Path(__file__).parent / "sealed"
NAMES = ("gap", "means", "several")
KEY = "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="


def study_of(name: str) -> Study:
    return Study.from_bytes((HERE / f"{name}.study.json").read_bytes())


def export_of(document: dict[str, Any]) -> list[tuple[bytes, int]]:
    symbols = [symbol for symbol, count in enumerate(document["seal"]["tally"]) for _ in range(count)]
    return sorted((sha256(str(i).encode()).digest()[:16], symbol) for i, symbol in enumerate(symbols))


def sealed_text(name: str) -> bytes:
    return (HERE / f"{name}.sealed.json").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_seal_of_before_verifies(name: str):
    sealed = read_sealed(sealed_text(name))
    assert signature_is_good(KEY, PURPOSE, sealed.seal.to_bytes(), sealed.signature)
    check_sealed(study_of(name), sealed, export_of(json.loads(sealed_text(name))))


@pytest.mark.parametrize("name", NAMES)
def test_the_command_verifies_a_seal_of_before(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    study, answers = study_of(name), export_of(json.loads(sealed_text(name)))
    export = tmp_path / "export.ndjson"
    export.write_bytes(lines_of(study.digest, answers))
    typed = [str(HERE / f"{name}.study.json"), str(HERE / f"{name}.sealed.json"), str(export)]
    make_app()(["verify", *typed, "--key", KEY], standalone_mode=False)
    said = capsys.readouterr().out
    assert "sealed.json are those that the sealed tally gives." in said
    assert "sealed.json is signed with that key." in said
    assert "export.ndjson was counted again: " in said
    # Only numbers are compared, and that is said.
    assert f"{name}.sealed.json were not compared: a version before 0.2.0 sealed it" in said


def _gap(estimate: dict[str, Any]) -> None:
    estimate["questions"][0]["gaps"][0]["low"] += 0.001


def _main(estimate: dict[str, Any]) -> None:
    estimate["questions"][0]["gap"]["groups"].reverse()


def _mean(estimate: dict[str, Any]) -> None:
    means = estimate["questions"][0]["means"]
    means[next(iter(means))]["estimate"] += 0.001


def _answers(estimate: dict[str, Any]) -> None:
    estimate["questions"][0]["answers"] += 1


def _interval(estimate: dict[str, Any]) -> None:
    estimate["interval"] = "anytime"


def _confidence(estimate: dict[str, Any]) -> None:
    estimate["confidence"] = 0.999


def _question(estimate: dict[str, Any]) -> None:
    estimate["questions"].pop()


@pytest.mark.parametrize("change", [_gap, _main, _mean, _answers, _interval, _confidence, _question])
@pytest.mark.parametrize("name", NAMES)
def test_a_seal_of_before_with_another_estimate_is_broken(name: str, change: Callable[[dict[str, Any]], None]):
    document = json.loads(sealed_text(name))
    change(document["estimate"])
    changed = read_sealed(json.dumps(document).encode())
    with pytest.raises(SealBroken, match="the estimate is not the one that this tally gives"):
        check_sealed(study_of(name), changed, export_of(document))
