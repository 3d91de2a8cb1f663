"""Logistic regression on plain arrays: what a client trains, and how well the result serves it."""

import numpy as np

from trials import Labels, Matrix, Trial

STEPS = 50
RATE = 1.0
SIZE = 8


def train(weights: Matrix, trial: Trial) -> Matrix:
    """Return the weights after some steps of gradient descent on one client's readings."""
    inputs = _with_constant(trial.features)
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-(inputs @ weights)))
        weights = weights - RATE * inputs.T @ (chances - trial.lying) / max(len(inputs), 1)
    return weights


def rates(weights: Matrix, trial: Trial) -> dict[str, float]:
    """Return how often lying down is found where it is (tpr) and where it is not (fpr); NaN where there is no case."""
    return rates_of(_with_constant(trial.features) @ weights > 0, trial.lying)


def rates_of(called: Labels, lying: Labels) -> dict[str, float]:
    """Return both rates of what a model called lying down."""
    return {"tpr": _mean(called[lying]), "fpr": _mean(called[~lying])}


def _mean(called: Labels) -> float:
    return float(called.mean()) if len(called) else float("nan")


def _with_constant(features: Matrix) -> Matrix:
    return np.column_stack([features, np.ones(len(features))])
