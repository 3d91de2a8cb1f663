"""While a design is searched for people see a bar on a terminal, and nothing else does."""

import io

import pytest
from rich.console import Console

from fairgauge.cli import waiting
from fairgauge.designs.watching import Search


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_what_is_searched_and_how_far_it_is(terminal: bool, monkeypatch: pytest.MonkeyPatch):
    shown = io.StringIO()
    monkeypatch.setattr(waiting, "err", Console(file=shown, force_terminal=terminal, width=100))
    with waiting.designing() as name:
        name("Designing the channel for [recall]")
        for gaps in ((1.0, 0.1), (1.0, 0.01)):
            search = Search(0.01)
            for gap in gaps:
                search.within(gap)
    text = shown.getvalue()
    if not terminal:
        assert text.strip() == ""
        return
    assert "Designing the channel for [recall], search 2" in text
    assert "100%" in text
