"""What was measured is written with where it is from, is quoted by its name, and is refused from a busy machine."""

import json
import re
import sys
from pathlib import Path

import pytest

from bench import results, run
from bench.lines import Line
from bench.results import QUIET, QuoteError, Record, Stamp, quoted, read_results, write_results

QUIETLY = Stamp("0123456789", "2026-11-18", "a processor, 2 cores", 0.1, 3.0)
LINES = (
    Line("bytes of an answer", "1,270 bytes, 46 µs each", "50 in binary", 25.4, "at most 30"),
    Line("bytes of a study", "1,832", "an answer", 14.4),
)
KEPT = {"wire": Record(QUIETLY, LINES)}


def shown(asked: str) -> str:
    return quoted(f"<!-- bench {asked} -->old<!-- / -->", KEPT).removeprefix(f"<!-- bench {asked} -->")[:-10]


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("{wire: bytes of an answer}", "1,270"),
        ("{wire: of an answer; 2}", "46"),
        ("{wire: bytes of a study; ratio}", "14.4"),
        ("{wire: bytes of an answer; against}", "50"),
        ("1e9 * {wire: bytes of a study} / 1e12 | .2f", "1.83"),
        ("({wire: of an answer} - 270) ** 2 | ,.0f", "1,000,000"),
        ("{wire}", str(QUIETLY)),
    ],
)
def test_a_line_is_quoted_by_its_name(asked: str, value: str):
    assert shown(asked) == value


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ("{wires: bytes of a study}", "there is no result of wires"),
        ("{wire: bytes of}", "2 lines of wire have these words"),
        ("{wire: bytes of nothing}", "0 lines of wire have these words"),
        ("2 * {wire: bytes of a study}", "needs a format"),
        ("__import__('os') | .2f", "not a number"),
    ],
)
def test_what_was_not_measured_cannot_be_quoted(asked: str, refused: str):
    with pytest.raises(QuoteError, match=re.escape(refused)):
        shown(asked)


def test_what_is_written_is_read_again_and_says_where_it_is_from(tmp_path: Path):
    busy = Stamp("0123456789", "2026-11-18", "a processor, 2 cores", QUIET + 0.1, 3.0)
    found = {**KEPT, "device": Record(busy, LINES[:1])}
    write_results(found, tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == found
    page = (tmp_path / "results.md").read_text()
    assert (
        "## wire\n\ncommit 0123456789, 2026-11-18, a processor, 2 cores; cores that other programs took: 0.1; 3 s."
        in page
    )
    assert "other programs took: **busy: 0.4**" in page


def test_recorded_topics_are_those_of_today_and_each_has_its_stamp():
    known = run.TOPICS | run.LONG
    for name, record in read_results().items():
        assert name in known, f"{name}: no such topic; remove what was recorded"
        assert re.fullmatch(r"[0-9a-f]{10}\+?", record.stamp.commit), name
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", record.stamp.date), name
        assert "cores" in record.stamp.processor, name


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a way to run the bench with two topics, one of them timed, beside so much other work."""

    def ran(load: list[float], *options: str) -> tuple[int, list[str]]:
        file, loads = tmp_path / "results.json", iter(load)
        monkeypatch.setattr(run, "TOPICS", {"wire": lambda: iter(LINES), "device": lambda: iter(LINES)})
        monkeypatch.setattr(run, "others_load", lambda: next(loads))
        monkeypatch.setattr(results, "others_load", lambda: next(loads))
        monkeypatch.setattr(run, "read_results", lambda: read_results(file))
        monkeypatch.setattr(run, "write_results", lambda found: write_results(found, file))
        monkeypatch.setattr(sys, "argv", ["bench", *options])
        status = run.main()
        return status, list(json.loads(file.read_text())) if file.exists() else []

    return ran


@pytest.mark.parametrize(
    ("load", "options", "status", "written"),
    [
        ([0.0, 0.0, 0.0, 0.0], [], 0, ["wire", "device"]),
        ([2.0, 2.0] + [2.0] * 10, [], 1, ["wire"]),  # bytes are the same on a busy machine; times are not
        ([0.0, 0.0, 2.0, 0.0, 0.0], [], 0, ["wire", "device"]),  # it waits for what an earlier topic left
        ([0.0, 0.0, 0.0, 2.0], [], 1, ["wire"]),  # busy at the end
        ([2.0] * 4, ["--busy"], 0, ["wire", "device"]),
        ([0.0] * 4, ["--quick"], 0, []),
    ],
)
def test_nothing_timed_is_written_from_a_busy_machine(bench, load: list[float], options, status: int, written):
    assert bench(load, *options) == (status, written)
