"""The smallest level that rejects: nested tests by halving, others from the largest level down."""

import numpy as np
import pytest

from fairgauge.estimation.p_values import _LEVELS, by_halving, by_levels


@pytest.mark.parametrize("edge", [1e-7, 0.003, 0.2])
def test_a_nested_test_gives_its_edge(edge: float):
    assert by_halving(lambda level: level >= edge) == pytest.approx(edge, rel=0.01)
    assert by_levels(lambda level: level >= edge) == min(level for level in _LEVELS if level >= min(edge, 1))


def test_what_never_and_always_rejects():
    assert by_halving(lambda _: True) == 1e-12
    assert by_halving(lambda _: False) == by_levels(lambda _: False) == 1.0
    assert by_levels(lambda _: True) == _LEVELS[-1] == 1e-6


def test_a_test_that_is_not_nested_still_gives_a_p_value():
    """It rejects at each level alone with just that probability; halving would give small p-values too often."""
    rng = np.random.default_rng(2)
    runs = 4000

    def alone(thrown: np.ndarray) -> dict[float, bool]:
        return {level: bool(throw < level) for level, throw in zip(_LEVELS, thrown, strict=True)}

    thrown = [alone(row) for row in rng.random((runs, len(_LEVELS)))]
    for level in (0.5, 0.1, 0.01):
        often = np.mean([by_levels(rejects.__getitem__) <= level for rejects in thrown])
        assert often <= level + 4 * (level / runs) ** 0.5
        # The twin: the smallest level that rejects, whatever the others do.
        naive = np.mean([min((a for a in _LEVELS if rejects[a]), default=1.0) <= level for rejects in thrown])
        assert naive > level + 4 * (level / runs) ** 0.5 or level == 0.5
