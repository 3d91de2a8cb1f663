"""Counterexamples that run: each function returns the numbers that its erratum quotes."""

from math import exp, log, pi, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from fairgauge.paper.attack import allowed_success
from fairgauge.paper.bounds import PUBLISHED, SOUND, crossovers
from fairgauge.paper.mechanisms import (
    ResponseMechanism,
    drawn_laplace,
    notebook_laplace,
    published_laplace,
    published_response,
    sound_laplace,
    sound_response,
)
from fairgauge.paper.privacy import claimed_epsilon, clipped_loss, delta, exact_loss
from fairgauge.paper.runs import Clients, estimated_gaps
from fairgauge.paper.tables import printed
from fairgauge.paper.wrong_sizes import assumed_mse, assumed_variance

CLAIMED = (0.01, 0.1, 1.0, 10.0)
_SEED = 20220
# Readings of the filtered trials of the dataset, and those of them that are of somebody who lies down.
_READINGS, _LYING = 74_213, 50_855


def theorem_1() -> dict[str, float]:
    """M_R as allocated: the report (own group, own bit) is likelier than claimed for its owner than for a stranger."""
    found = {f"exact at claimed {e:g}": exact_loss(published_response(e)).epsilon for e in CLAIMED}
    mechanism = published_response(1.0)
    own = mechanism.keep * (1 + mechanism.contrast) / 2
    stranger = mechanism.switch / 2
    found |= {
        "Pr of the report for its owner": own,
        "Pr of it for a stranger": stranger,
        "log ratio": log(own / stranger),
    }
    for e in (0.1, 1.0):
        ratio = sound_response(e).gap_variance() / published_response(e).gap_variance()
        found[f"clients for true privacy at {e:g}"] = ratio
    return found


def theorem_2() -> dict[str, float]:
    """M_L with k other than 2: the log ratio of a report grows without bound as the report does."""
    mechanism = published_laplace(0.01)
    found = {"claimed": claimed_epsilon(mechanism), "the reported group alone": mechanism.group_epsilon}
    for report in (1.0, 100.0, 1000.0, 10_000.0):
        kept = log(mechanism.keep / mechanism.kept_scale) - abs(report - 1) / mechanism.kept_scale
        changed = log(mechanism.switch / mechanism.changed_scale) - abs(report) / mechanism.changed_scale
        found[f"log ratio at {report:g}"] = kept - changed
    inside = mechanism.keep * _inside(mechanism.kept_scale) + mechanism.switch * _inside(mechanism.changed_scale)
    found |= {"reports outside [-1, 1]": 1 - inside, "guess right": mechanism.keep, "allowed": allowed_success(0.01)}
    for e in CLAIMED[:3]:
        published = published_laplace(e)
        found[f"delta at claimed {e:g}"] = delta(published, e)
        found[f"epsilon for delta 1e-6 at claimed {e:g}"] = float(
            brentq(lambda x, m=published: log(delta(m, x) / 1e-6), e, 30.0)
        )
        found[f"exact if clipped at claimed {e:g}"] = clipped_loss(published)
    for e in (0.1, 1.0):
        ratio = sound_laplace(e).gap_variance() / published_laplace(e).gap_variance()
        found[f"clients for true privacy at {e:g}"] = ratio
    found["least epsilon at which the group alone keeps the claim"] = 2 / exp(1)
    return found


def _inside(scale: float) -> float:
    """Return the part of Laplace noise about 0 that lies in [-1, 1]."""
    return 1 - exp(-1 / scale)


def theorem_3() -> dict[str, float]:
    """The absolute value of an unbiased estimate is not unbiased: with no gap at all it still reports one."""
    mechanism, clients = sound_response(0.1), 10**6
    sd = sqrt(mechanism.gap_variance() / clients)
    rng = np.random.default_rng(_SEED)
    drawn = estimated_gaps(mechanism, Clients.fixed([[0.0], [0.0]], clients // 2, 100_000), rng)
    return {
        "true gap": 0.0,
        "mean of the signed estimate": float(drawn.mean()),
        "mean of its absolute value": float(np.abs(drawn).mean()),
        "bias by formula": absolute_bias(0.0, sd),
        "standard deviation": sd,
    }


def absolute_bias(gap: float, sd: float) -> float:
    """Return the bias of the absolute value of a normal estimate of a gap."""
    return sd * sqrt(2 / pi) * exp(-(gap**2) / (2 * sd**2)) - 2 * abs(gap) * float(ndtr(-abs(gap) / sd))


def wrong_sizes() -> dict[str, float]:
    """Group sizes that are off by a tenth, in opposite directions, move the gap however many clients there are."""
    mechanism, size = sound_response(1.0), 10**12
    rng = np.random.default_rng(_SEED)
    clients = Clients.fixed([[0.8], [0.7]], size, 1)
    sums = [0.0, 0.0]
    for group in (0, 1):
        kept = rng.binomial(clients.counts[group][0, 0], mechanism.keep)
        plus = rng.binomial(kept, (1 + mechanism.contrast * clients.values[group][0]) / 2)
        strangers = rng.binomial(size, mechanism.switch)
        sums[group] = float(2 * plus - kept + 2 * rng.binomial(strangers, 0.5) - strangers)
    found = {"true gap": 0.8 - 0.7}
    for name, factors in {
        "right sizes": (1.0, 1.0),
        "first too large": (1.1, 0.9),
        "first too small": (0.9, 1.1),
    }.items():
        means = mechanism.means(np.array(sums), [round(size * f) for f in factors])
        found[f"gap with {name}"] = float(means[0] - means[1])
    published, people = published_response(1.0), 2 * 10**4
    for name, measure in {"variance": assumed_variance, "MSE with everyone at 1": assumed_mse}.items():
        right, *wrong = (measure(published, people / 2, people, factor) for factor in (1.0, 0.5, 1.5))
        found[f"{name}, off by a half"] = min(wrong) / right
    return found


def notebook() -> dict[str, float]:
    """The authors' notebook exchanges the two scales of M_L, and so do the printed errors."""
    found: dict[str, float] = {}
    for e in CLAIMED:
        code = notebook_laplace(e)
        found[f"value loss at claimed {e:g}"] = 2 * e / code.kept_k
        text, run = published_laplace(e).gap_variance(), code.gap_variance()
        found[f"sd of the code over sd of the text at {e:g}"] = sqrt(run / text)
    groups, keep = 3, ResponseMechanism(1.0, 1.0, 3).keep
    for d in (3, 8):
        found[f"a for {d} groups at 0.1"] = ResponseMechanism(0.1, 0.1, d).keep
        found[f"a is 1/2 for {d} groups at"] = log(d - 1)
    # As printed, GRR gives one value the probability a and each of d others (1 - a)/(d - 1).
    found["GRR over {0..d} sums to"] = keep + groups * (1 - keep) / (groups - 1)
    return found


def printed_model() -> dict[str, float]:
    """The printed TPR gap is not that of the printed means, nor the printed FPR that of the printed accuracy and TPR.

    With a part p of readings lying, accuracy = p TPR + (1 - p)(1 - FPR).
    """
    model, half = printed()["dataset_model"], 0.00005
    found = {
        f"gap of the printed means, {m}": abs(model[f"mean_{m}"]["male"] - model[f"mean_{m}"]["female"])
        for m in ("tpr", "fpr")
    }
    lying = _LYING / _READINGS
    found["lying"] = lying
    for name, sign in {"FPR of the printed others": 0, "at least": -1, "at most": 1}.items():
        accuracy, tpr = (model[rate] + up * half for rate, up in (("accuracy", -sign), ("tpr", sign)))
        found[name] = 1 - (accuracy - lying * tpr) / (1 - lying)
    specific = 1 - model["fpr"]
    found["lying, by all three"] = (specific - model["accuracy"]) / (specific - model["tpr"])
    # A test set is three tenths of the readings, drawn without replacement.
    found["sd of lying in a test set"] = sqrt(lying * (1 - lying) * 0.7 / (0.3 * _READINGS))
    return found


def printed_crossovers() -> dict[str, float]:
    """The crossovers 0.31 and 2.6 follow from k = 1 and values of 0, not from the allocation that the paper gives."""
    names = ("lower", "upper")
    by_formula = crossovers(published_response, published_laplace)
    with_one = crossovers(published_response, drawn_laplace)
    found = {f"{name} by the formulas": value for name, value in zip(names, by_formula, strict=True)}
    found |= {f"{name} with k = 1": value for name, value in zip(names, with_one, strict=True)}
    (found["sound M_R below sound M_L up to"],) = crossovers(SOUND["M_R"], SOUND["M_L"])
    at = PUBLISHED["M_R opt"](0.31).gap_variance() / PUBLISHED["M_L opt"](0.31).gap_variance()
    return found | {"MSE of M_R over that of M_L at 0.31": at}
