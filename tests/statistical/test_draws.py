"""How often intervals of studies with secret draws miss the truth: a part of what `bench.draws_coverage` measures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from bench.draws_coverage import LEVELS, DrawnCell, cells, misses
from fairgauge.estimation.draws import Draws
from tests.statistical.exact import FALSE_POSITIVE_RATE

CELLS = cells()


def broken(found: list[int], runs: int) -> bool:
    return any(binom.sf(n - 1, runs, alpha) < FALSE_POSITIVE_RATE for n, alpha in zip(found, LEVELS, strict=True))


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
@pytest.mark.parametrize(("kind", "runs"), [("population", 20), ("anytime", 40), ("normal", 150)])
def test_the_truth_is_held_as_often_as_promised(cell: DrawnCell, kind: str, runs: int) -> None:
    assert not broken(misses(cell, kind, runs), runs)


@pytest.mark.parametrize("kind", ["population", "anytime", "normal"])
def test_a_reader_that_takes_draws_for_answers_is_caught(kind: str) -> None:
    many = replace(CELLS[1], answers=60_000)  # an interval for every look is wide, and holds a gap that is diluted, too
    assert broken(misses(many, kind, 15, forgotten=True), 15)


def test_a_reader_that_does_not_pay_for_what_draws_scatter_by_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three draws for each answer: their mean is removed, and the variance that is told is that of the answers."""
    from fairgauge.estimation.interval_readers import NormalReader

    def unpaid(self: NormalReader, score: np.ndarray, alpha: float) -> float:
        honest = float(score**2 @ self.law) - float(score @ self.law) ** 2
        none: Draws = self.draws
        object.__setattr__(self, "draws", Draws())
        try:
            return self._width(honest, score, alpha)
        finally:
            object.__setattr__(self, "draws", none)

    monkeypatch.setattr(NormalReader, "width", unpaid)
    assert broken(misses(CELLS[2], "normal", 150), 150)
