"""Flower's simulation, with devices that try to let marked values out in every way: none gets through."""

from pathlib import Path

from fairgauge.client.refusals import TEXT
from tests.e2e.flower.engines import simulate
from tests.e2e.flower.test_engines import answered, marks_in, prepare


def test_the_simulation(tmp_path: Path) -> None:
    prepare(tmp_path)
    printed = simulate(tmp_path, devices=20)
    received = (tmp_path / "received").read_bytes()
    # Every fifth device answers, in both rounds, and counts once.
    assert printed.count("private metrics: 20 replies, 4 new answers") == 1
    assert printed.count("private metrics: 20 replies, 0 new answers") == 1
    assert printed.count("16 gave none") == 2
    assert "platypus - koala: not yet" in printed
    assert answered(tmp_path) == 4
    assert received.count(TEXT.encode()) == 2 * 16 * 2  # in the text of a reply, and in its bytes
    printed = printed.replace("platypus - koala", "")
    assert marks_in(received, printed.encode()) == []
