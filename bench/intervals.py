"""Widths of intervals about the population, as ratios to the normal interval with the true variance."""

import json
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta

from bench.lines import Line
from fairgauge.designs import make_channel
from fairgauge.estimation.anytime import AnytimeTest
from fairgauge.estimation.confidence_set import inverted
from fairgauge.estimation.population_test import PopulationTest
from fairgauge.estimation.populations import Laws
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import Decoder
from fairgauge.targets.target import Target

REFERENCE = Path(__file__).parent.parent / "tests" / "data" / "limits_intervals.json"
HALF = np.array([0.5, 0.5])
ONE_SPREAD = 0.3
# What centred designs are told to expect, in v, and how many answer.
EXPECTED, CLIENTS = 0.8, 10_000


def widths() -> Iterator[Line]:
    """Widths with the reference's channels, then with centred designs."""
    yield from _uncentred_widths()
    yield from _centred_widths()


def _centred_widths() -> Iterator[Line]:
    """Half-widths with designs that were told the right mean, against the normal ones; a share of 0.9 is one of 0.1."""
    for share, epsilon in product((0.1, 0.3, 0.5), ("0.5", "1", "2", "3", "4")):
        scores = Scores(Target((share, 1 - share)), AssumedValues(expect=EXPECTED)).by("centred")
        decoder = scores.decoder(make_channel(scores, Decimal(epsilon), design="centred")[1])
        score = scores.gap_score(decoder, (0, 1))
        if score is None:
            raise ValueError("the channel does not tell the gap")
        held = {"everyone": np.array([EXPECTED]), "a bell": _bell(EXPECTED)}
        for (values, some), alpha in product(held.items(), (0.05, 0.01)):
            part = _at(decoder.inputs.levels, some)
            law = np.concatenate([share * part, (1 - share) * part]) @ decoder.rows
            law = law / law.sum()
            deviation = np.sqrt(float(law @ score**2) - float(law @ score) ** 2)
            normal = -float(ndtri(alpha / 2)) * deviation / np.sqrt(CLIENTS)
            terms = (Laws(decoder, np.array(scores.target.shares)), score, np.ones(len(score)), CLIENTS * law, alpha)
            low, high = inverted(PopulationTest(*terms))
            what = (
                f"width, population, centred, share {share}, epsilon {epsilon}, {values} at {EXPECTED}, alpha {alpha}"
            )
            aim = "at most 1.15" if epsilon == "4" else "at most 1.1"
            ratio = (high - low) / 2 / normal
            yield Line(what, f"{ratio:.3f}", f"normal, {CLIENTS:,} clients", ratio, aim)


def _uncentred_widths() -> Iterator[Line]:
    """Half-widths for the counts that come on average, against the normal ones, and beside the reference's."""
    for row in json.loads(REFERENCE.read_text(encoding="utf-8"))["intervals"]:
        _, _, epsilon, values = row["name"].split(maxsplit=3)
        decoder, score = _channel(epsilon.removeprefix("eps"))
        law = _law(decoder, values)
        mean = float(law @ score)
        deviation = np.sqrt(float(law @ score**2) - mean**2)
        normal = -float(ndtri(row["alpha"] / 2)) * deviation / np.sqrt(row["K"])
        terms = (Laws(decoder, HALF), score, np.ones(len(score)), row["K"] * law, row["alpha"])
        for kind, test in (("prawitz", PopulationTest(*terms)), ("anytime", AnytimeTest(*terms))):
            low, high = inverted(test)
            ratio, name = (high - low) / 2 / normal, "population" if kind == "prawitz" else kind
            what = f"width, {name}, {values}, {epsilon}, {row['K']:,} clients, alpha {row['alpha']}"
            known = row[f"{kind}_ratio"]
            yield Line(what, f"{ratio:.3f}", f"reference {known:.3f}", ratio / known, "at most 1.05")


@lru_cache(maxsize=8)
def _channel(epsilon: str) -> tuple[Decoder, Vector]:
    scores = Scores(Target((0.5, 0.5)))
    decoder = scores.decoder(make_channel(scores, Decimal(epsilon), design="uncentred")[1])
    score = decoder.score(scores.target.gap_functional(decoder.inputs, (0, 1)))
    if score is None:
        raise ValueError("the channel does not tell the gap")
    return decoder, score


def _law(decoder: Decoder, values: str) -> Vector:
    """Return the law of symbols for equal groups: all at 0.8, a bell at 0.6 and 0.5, or at the ends with mean 0.6."""
    levels = decoder.inputs.levels
    if values.startswith("all"):
        held = [_at(levels, np.array([0.8]))] * 2
    elif values.startswith("binary"):
        held = [0.8 * _at(levels, np.array([1.0])) + 0.2 * _at(levels, np.array([-1.0]))] * 2
    else:
        held = [_at(levels, _bell(mean)) for mean in (0.6, 0.5)]
    law: Vector = np.concatenate([0.5 * part for part in held]) @ decoder.rows
    return np.asarray(law / law.sum())


def _bell(mean: float) -> Vector:
    """Return values of a beta law between -1 and 1 with this mean and the usual standard deviation."""
    middle, spread = (mean + 1) / 2, ONE_SPREAD / 2
    size = middle * (1 - middle) / spread**2 - 1
    found: Vector = 2 * beta(middle * size, (1 - middle) * size).ppf((np.arange(400) + 0.5) / 400) - 1
    return found


def _at(levels: Vector, values: Vector) -> Vector:
    """Return how likely each level is for values that are rounded at random to a level beside them."""
    return np.array([np.interp(values, levels, row).mean() for row in np.eye(len(levels))])
