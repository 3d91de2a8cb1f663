"""What people see while they wait."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from fairgauge.cli import _progress
from fairgauge.cli._console import Output
from fairgauge.cli._progress import designing, waiting
from fairgauge.designs.column_generation import Search
from tests.unit.cli.conftest import Run


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard error as it would be on a terminal."""
    written = io.StringIO()
    monkeypatch.setattr(_progress, "err", Console(file=written, force_terminal=True, width=100, markup=False))
    return written


def test_a_bar_is_as_full_as_what_is_done(terminal: io.StringIO):
    with waiting("Working", total=4) as bar:
        for name in ("one", "two [red]", "three", "four"):
            bar.begin(name)
    *_, shown = (line for line in terminal.getvalue().splitlines() if "four" in line)
    full, _, empty = shown.partition("╺")
    assert full.count("━") > 2 * empty.count("━") > 0  # three of four are done
    with waiting("Working", total=2) as bar:
        bar.begin("a [red]name\x1b[31m")
        bar.reach(2, 2)
    assert "a [red]name [31m" in terminal.getvalue()


def test_a_command_shows_what_it_is_at_on_a_terminal_only(
    fairgauge: Run, files: tuple[Path, Path], terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
):
    done = fairgauge("estimate", *files, "--json")
    assert "Estimating" in terminal.getvalue()
    assert done.json["confidence"] == 0.99
    written = io.StringIO()
    monkeypatch.setattr(_progress, "err", Console(file=written, force_terminal=False))
    fairgauge("estimate", *files)
    assert written.getvalue() == ""


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_terminal_shows_what_is_searched_and_how_far_it_is(on_terminal: bool, monkeypatch: pytest.MonkeyPatch):
    shown = io.StringIO()
    monkeypatch.setattr(_progress, "err", Console(file=shown, force_terminal=on_terminal, width=100))
    with designing() as name:
        name("Designing the channel for [recall]")
        for gaps in ((1.0, 0.1), (1.0, 0.01)):
            search = Search(0.01)
            for gap in gaps:
                search.within(gap)
    text = shown.getvalue()
    if not on_terminal:
        assert text.strip() == ""
        return
    assert "Designing the channel for [recall], search 2" in text
    assert "100%" in text


def test_what_is_printed_meanwhile_stands_above_the_bar(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch):
    both = Output(file=terminal, force_terminal=True, width=100, markup=False)
    monkeypatch.setattr(_progress, "out", both)
    with waiting("Working") as bar:
        both.print("a line")
        bar.begin("still at it")
    both.print("the last")
    shown = terminal.getvalue()
    before, _, after = shown.partition("a line\n")
    assert before.endswith("\x1b[2K")  # the bar's own line is empty by then
    assert "still at it" in after
    assert shown.endswith("\x1b[2Kthe last\n")
