"""Three and more groups: how near the least that was found the designs come, for clients whose split is fixed."""

import json
from collections.abc import Iterator
from decimal import Decimal

import numpy as np

from bench.lines import Line
from bench.population import LIMITS
from fairgauge.designs import make_channel
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import USUAL_SYMBOLS, Scores
from fairgauge.targets.target import Target

_MOST_SYMBOLS = 4096
# Of a group of eight, for any values about a mean of 0.8.
_REFERENCE = 8.65


def several() -> Iterator[Line]:
    """The largest ratio of a gap's variance to what it could have alone; then the means of many groups; then totals."""
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    for row in limits["pairs"]:
        scores = Scores(Target(tuple(row["shares"])), design="uncentred")
        channel = make_channel(scores, Decimal(str(row["epsilon"])), design="uncentred")[1]
        reached = float((np.array(scores.privacy_variances(channel)) / row["alone"]).max())
        what = f"largest ratio of a gap, uncentred, shares {_listed(row['shares'])}, epsilon {row['epsilon']}"
        best = row["max_ratio"]
        yield Line(what, f"{reached:.4g}", f"reference {best:.4g}", reached / best, "at most 1.02")
    for row in limits["many_groups"]:
        yield _many(row)
    for row in limits["many_groups"]:
        if len(row["shares"]) == 20 and row["epsilon"] == 2:
            yield _many(row, USUAL_SYMBOLS)
    yield from _totals()
    yield from _expected()


def _many(row: dict[str, list[float]], symbols: int = _MOST_SYMBOLS) -> Line:
    shares = tuple((np.array(row["shares"]) / sum(row["shares"])).tolist())
    if len(set(row["shares"])) == 1:
        shares = tuple(row["shares"])
    scores = Scores(Target(shares), design="uncentred", symbols=symbols)
    channel = make_channel(scores, Decimal(str(row["epsilon"])), design="uncentred")[1]
    decoder = scores.decoder(channel)
    read = [decoder.score(scores.target.mean_functional(decoder.inputs, g, 0.0)) for g in range(scores.target.groups)]
    found = np.array([np.inf if score is None else decoder.variance(score) for score in read])
    ratio = float((found / row["variances"]).max())
    what = f"means of {scores.target.groups} groups, uncentred, {_listed(row['shares'])}, epsilon {row['epsilon']}"
    aim = "at most 1.03"
    if symbols != _MOST_SYMBOLS:
        what, aim = f"{what}, at most {symbols} symbols", ""
    return Line(what, f"{found.max():.4g}", f"reference {max(row['variances']):.4g}", ratio, aim)


def _totals() -> Iterator[Line]:
    """The default's worst gap in total, beside randomized response."""
    for shares in ((0.49, 0.49, 0.02), (0.45, 0.45, 0.1), (0.125,) * 8):
        for epsilon in map(Decimal, ("1", "4")):
            for expect in (None, 0.8):
                yield _beside(Scores(Target(shares), AssumedValues(expect=expect)), epsilon)


def _beside(scores: Scores, epsilon: Decimal) -> Line:
    name, channel = make_channel(scores, epsilon)
    simple = make_channel(scores, epsilon, design="randomized-response")[1]
    beside = np.array(scores.by("randomized-response").totals(simple))
    found = np.array(scores.by(name).totals(channel))
    worst = float((found / beside).max())
    shares, expect = _listed(scores.target.shares), scores.values.expect
    what = f"total of the worst gap, {name}, {shares}, epsilon {epsilon}, mean {expect}"
    return Line(what, f"{found.max():.4g}", f"randomized response {beside.max():.4g}", worst, "at most 1")


def _expected() -> Iterator[Line]:
    """The total of many groups' gaps where a mean is expected, beside what a search for any values found before."""
    scores = Scores(Target((0.125,) * 8), AssumedValues(expect=0.8, spread=None))
    name, channel = make_channel(scores, Decimal(4))
    found = max(scores.by(name).totals(channel)) / 2
    what = f"total of a gap over 2, {name}, 8 equal, epsilon 4, mean 0.8, any values"
    yield Line(what, f"{found:.4g}", f"reference {_REFERENCE:.4g}", found / _REFERENCE, "at most 1.03")
    for groups in (7, 8, 12, 20):
        for shares in ((1 / groups,) * groups, _falling(groups)):
            for epsilon in map(Decimal, ("0.5", "1", "2", "4")):
                yield _beside(Scores(Target(shares), AssumedValues(expect=0.8)), epsilon)
    # Very many groups, of equal and of different shares.
    for shares in ((1 / 64,) * 64, _falling(64)):
        yield _beside(Scores(Target(shares)), Decimal(2))


def _falling(groups: int) -> tuple[float, ...]:
    """Return shares that fall as 1/n."""
    parts = 1 / np.arange(1, groups + 1)
    return tuple((parts / parts.sum()).tolist())


def _listed(shares: list[float] | tuple[float, ...]) -> str:
    if len(set(shares)) == 1:
        return f"{len(shares)} equal"
    if len(shares) > 4 and shares == _falling(len(shares)):
        return f"{len(shares)} falling"
    return "/".join(f"{share:g}" for share in shares[:4]) + ("/..." if len(shares) > 4 else "")
