"""How close the designs come to the least variance that any private mechanism can reach."""

import json
import math
from decimal import Decimal
from pathlib import Path

import pytest

from fairgauge.designs import make_channel
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

LIMITS = json.loads((Path(__file__).parents[2] / "data" / "limits.json").read_text(encoding="utf-8"))["gap"]


NAMES = ("randomized-response", "laplace", "uncentred")


def two_groups(share: float) -> Scores:
    return Scores(Target((share, round(1 - share, 6))))


@pytest.mark.parametrize("row", LIMITS, ids=lambda row: f"share {row['share']} epsilon {row['epsilon']}")
def test_uncentred_is_close_to_the_limit(row):
    scores, epsilon = two_groups(row["share"]), Decimal(str(row["epsilon"]))
    _, channel = make_channel(scores, epsilon, design="uncentred")
    reached = scores.privacy_variance(channel)
    # The limits are given to about four digits, so nothing may be better than them by more than that.
    assert 0.998 <= reached / row["limit"] <= (1.02 if epsilon <= 4 else 1.1)
    if epsilon <= 4:
        shares = tuple(str(share) for share in scores.target.shares)
        question = Question(
            Metric("recall", "0", "1"),
            Attribute("sex", ("a", "b"), shares, answering="alike"),
            "gap",
            "uncentred",
            str(epsilon),
            channel,
        )
        assert len(Study("size", (question,)).to_bytes()) < 64 * 1024


@pytest.mark.parametrize("epsilon", ["0.1", "0.3", "0.7"])
def test_the_limit_agrees_with_its_closed_form(epsilon):
    # K Var = 4 (C coth(1/C) - 1) with C = coth(epsilon/2), for two equal groups and epsilon up to 0.7123.
    c = 1 / math.tanh(float(epsilon) / 2)
    limit = 4 * (c / math.tanh(1 / c) - 1)
    scores = two_groups(0.5)
    _, channel = make_channel(scores, Decimal(epsilon), design="uncentred")
    assert 0.9999 <= scores.privacy_variance(channel) / limit <= 1.02


def test_known_variances_at_epsilon_1():
    scores = two_groups(0.5)
    variance = {name: scores.privacy_variance(make_channel(scores, Decimal(1), design=name)[1]) for name in NAMES}
    assert variance["randomized-response"] == pytest.approx(44.30, abs=0.005)
    assert variance["laplace"] < 85.02
    assert variance["uncentred"] == pytest.approx(16.0, abs=0.3)


SETTINGS = [
    (shares, epsilon)
    for shares in [(0.5, 0.5), (0.01, 0.99), (0.2, 0.3, 0.5), (0.25,) * 4, (0.3, 0.25, 0.2, 0.24, 0.01), (1 / 6,) * 6]
    for epsilon in ("0.05", "1", "2")
    # Five unequal groups at epsilon 2 take a minute.
    if (len(set(shares)), epsilon) != (5, "2")
]


@pytest.mark.parametrize("target", ["gap", "means"])
@pytest.mark.parametrize(("shares", "epsilon"), SETTINGS)
def test_uncentred_is_never_worse_than_the_simple_designs(shares, epsilon, target):
    scores = Scores(Target(shares, kind=target))
    variance = {name: scores.privacy_variance(make_channel(scores, Decimal(epsilon), design=name)[1]) for name in NAMES}
    assert variance["uncentred"] <= min(variance.values())
    # And at small epsilon it is much better: the simple designs do not reach it.
    if epsilon == "0.05":
        assert variance["uncentred"] < 0.6 * min(variance["randomized-response"], variance["laplace"])


def test_more_groups_than_the_optimum_handles_still_gain_at_small_epsilon():
    scores = Scores(Target((0.1,) * 10, kind="means"))
    best = scores.privacy_variance(make_channel(scores, Decimal("0.5"), design="uncentred")[1])
    simple = scores.privacy_variance(make_channel(scores, Decimal("0.5"), design="randomized-response")[1])
    assert best < simple / 3
