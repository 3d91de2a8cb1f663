"""The source paper's model, and a worse one: the same, with its training cut short.

Both are arrays of nine numbers, eight weights and a constant, for readings scaled to unit length.
"""

import warnings
from collections.abc import Iterable

import numpy as np

from fairgauge.paper.dataset import fit
from model import rates_of
from trials import Matrix, Trial

CUT_SHORT = 5
SEED = 0


def train_both(trainings: Iterable[Trial]) -> tuple[Matrix, Matrix]:
    """Return the model that a team had, whose training was cut short, and the paper's, which is to replace it."""
    trainings = list(trainings)
    readings = np.vstack([trial.readings for trial in trainings])
    lying = np.concatenate([trial.lying for trial in trainings])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The max_iter was reached")  # that one is cut short is the point
        old, new = fit(readings, lying, seed=SEED, passes=CUT_SHORT), fit(readings, lying, seed=SEED)
    return _array(old), _array(new)


def differences(old: Matrix, new: Matrix, trial: Trial) -> dict[str, float]:
    """Return the new model's rates less the old one's, on the same readings."""
    before, after = rates(old, trial), rates(new, trial)
    return {f"{name}, new minus old": after[name] - before[name] for name in before}


def rates(weights: Matrix, trial: Trial) -> dict[str, float]:
    """Return how often lying down is found where it is (tpr) and where it is not (fpr); NaN where there is no case."""
    lengths = np.linalg.norm(trial.readings, axis=1, keepdims=True)
    return rates_of((trial.readings / lengths) @ weights[:-1] + weights[-1] > 0, trial.lying)


def _array(model: "object") -> Matrix:
    return np.append(model.coef_[0], model.intercept_[0])  # type: ignore[attr-defined]
