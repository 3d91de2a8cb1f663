"""Flower's simulation, with devices that try to let marked values out in every way: none gets through."""

from pathlib import Path

from fairgauge.client.refusals import _TEXT
from tests.e2e.flower.engines import simulate
from tests.e2e.flower.test_engines import answered, marks_in, prepare


def test_the_simulation(tmp_path: Path) -> None:
    prepare(tmp_path)
    printed = simulate(tmp_path, devices=20)
    received = (tmp_path / "received").read_bytes()
    # Every device answers, in both rounds, and counts once: also the four in five whose evaluation fails.
    assert printed.count("private metrics: 20 replies, 20 new answers") == 1
    assert printed.count("private metrics: 20 replies, 0 new answers") == 1
    assert "gave none" not in printed
    assert "platypus - koala: not yet" in printed
    assert answered(tmp_path) == 20
    assert _TEXT.encode() not in received
    printed = printed.replace("platypus - koala", "")
    assert marks_in(received, printed.encode()) == []
