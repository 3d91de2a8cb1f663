"""The total error about a population, as a ratio to the least that was found; no private channel is below the bound."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from bench.lines import Line
from fairgauge.designs import make_channel
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

LIMITS = Path(__file__).parents[1] / "tests" / "data" / "limits_population.json"
# Each design is made for what it is measured by: a standard deviation of at most 0.3 in v, or any values.
_SPREADS = {"sd": 0.3, "worst": None}


def population() -> Iterator[Line]:
    """K Var(gap) in total of the centred design, as a ratio to the reference; shares known, then estimated."""
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    for shares, known in (("known_shares", True), ("estimated_shares", False)):
        for row in limits[shares]:
            for kind, spread in _SPREADS.items():
                yield _line(row, kind, _expecting(row, spread, known=known))
    yield _furthest(limits["known_shares"])
    yield from _unexpected()


def _expecting(row: dict[str, float], spread: float | None, *, known: bool) -> Scores:
    return Scores(Target((row["share"], 1 - row["share"]), known), AssumedValues(expect=row["mean"], spread=spread))


def _furthest(rows: list[dict[str, float]]) -> Line:
    """Return the largest ratio to the bound, below which no channel is, for epsilon from 1 to 4."""
    over = [
        (_reached(_expecting(row, spread, known=True), epsilon) / row[f"{kind}_bound"] - 1, epsilon)
        for row in rows
        for kind, spread in _SPREADS.items()
        for epsilon in [Decimal(str(row["epsilon"]))]
        if 1 <= epsilon <= 4
    ]
    most, epsilon = max(over)
    what = f"furthest above the bound, known shares, epsilon 1 to 4, of {len(over)} cells"
    return Line(what, f"{100 * most:.1f} %, at epsilon {epsilon}", "no channel is below", 1 + most)


def _line(row: dict[str, float], kind: str, scores: Scores) -> Line:
    variance = _reached(scores, Decimal(str(row["epsilon"])))
    shares = "known" if scores.target.shares_known else "estimated"
    what = f"total, centred, {kind}, {shares} share {row['share']}, epsilon {row['epsilon']}, mean {row['mean']}"
    most = 1.03 if scores.target.shares_known and row["epsilon"] < 8 else 1.06
    best = f"reference {row[kind]:.4g}, bound {row[f'{kind}_bound']:.4g}"
    return Line(what, f"{variance:.4g}", best, variance / row[kind], f"at most {most}")


def _unexpected() -> Iterator[Line]:
    """How far off the design made for no expectation is, beside the one made for the true level."""
    for share in (0.5, 0.1):
        for epsilon in map(Decimal, ("1", "2", "4")):
            scores = Scores(Target((share, 1 - share)), design="centred")
            channel = make_channel(scores, epsilon, design="centred")[1]
            for mean in (0.0, 0.4, 0.8):
                told = scores.assuming(expect=mean)
                best, off = _reached(told, epsilon), scores.variance_if(channel, told.values.aim)
                what = f"total, nothing expected, share {share}, epsilon {epsilon}, mean {mean}"
                yield Line(what, f"{off:.4g}", f"expected {best:.4g}", off / best)


def _reached(scores: Scores, epsilon: Decimal) -> float:
    return scores.by("centred").variance(make_channel(scores, epsilon, design="centred")[1])
