"""The conditions under which coverage is measured, and a list of cells in which every two of them meet.

Measuring every combination would take weeks.  A mistake of an interval shows itself where two conditions meet, if not
under one alone: so every value of every condition meets every value of every other in some cell.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations, product

import numpy as np

from fairgauge.designs import make_channel
from fairgauge.simulation import Cell as People
from fairgauge.simulation import Population, Truth, true_values
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

# What the first group holds, and what the others hold: values, and how many in ten hold them.
VALUES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "everyone at 0.9": ({"0.9": 10}, {"0.9": 10}),
    "everyone at 1": ({"1": 10}, {"1": 10}),
    "half at 0, half at 1": ({"0": 5, "1": 5}, {"0": 5, "1": 5}),
    "two points and a gap": ({"0.2": 6, "0.9": 4}, {"0.6": 5, "0.95": 5}),
    "skewed": ({"0.03": 1, "0.97": 9}, {"0.03": 1, "0.97": 9}),
}
# How people split, and by how much the study may be wrong about it where it says so.
SPLITS: dict[str, tuple[dict[int, tuple[str, ...]], str]] = {
    "even": ({2: ("0.5", "0.5"), 3: ("0.3", "0.3", "0.4"), 5: ("0.2",) * 5}, "0.05"),
    "a rare group": (
        {2: ("0.01", "0.99"), 3: ("0.01", "0.49", "0.5"), 5: ("0.01", "0.19", "0.2", "0.3", "0.3")},
        "0.005",
    ),
}
CONDITIONS: dict[str, tuple[object, ...]] = {
    "values": tuple(VALUES),
    "clients": (10, 100, 1000, 10**4, 10**5, 10**6),
    "epsilon": ("0.05", "0.5", "1", "2", "4", "8"),
    "shares": ("known", "known with error", "estimated"),
    "split": tuple(SPLITS),
    "groups": (2, 3, 5),
    "abstaining": ("nobody", "one in five"),
    "questions": (1, 2),
}
_THOUSAND = 1000
# Designs that take more than a moment are left to randomized response: intervals need not know where a table is from.
_QUICK = 4
# Of so many random combinations the best is taken.
_DRAWN = 60


def covering(
    conditions: Mapping[str, Sequence[object]],
    *,
    seed: int = 1,
    possible: Callable[[Mapping[str, object]], bool] = bool,
    least: int = 0,
) -> list[dict[str, object]]:
    """Return combinations in which every two values of two conditions meet.

    Each is the best of some random ones: the one in which most pairs meet that have not met yet, then most threes.

    Args:
        conditions: The values of each condition.
        seed: Makes it repeatable.
        possible: Tells whether a combination, or a part of one, can be.
        least: How many combinations there are to be at least.

    >>> met = covering({"a": (1, 2, 3), "b": ("x", "y"), "c": (True, False)})
    >>> sorted({(each["a"], each["b"]) for each in met})
    [(1, 'x'), (1, 'y'), (2, 'x'), (2, 'y'), (3, 'x'), (3, 'y')]
    """
    rng, names = np.random.default_rng(seed), list(conditions)
    found: list[dict[str, object]] = []
    for size in (2, 3):
        left = {
            tuple(zip(some, values, strict=True))
            for some in combinations(names, size)
            for values in product(*(conditions[name] for name in some))
        }
        left = {each for each in left if possible(dict(each))} - {met for each in found for met in _met(each, size)}
        while left and (size == 2 or len(found) < least):
            # One pair that is left is in all of them, so that each turn leaves fewer.
            first = dict(min(left, key=str))
            drawn: list[dict[str, object]] = []
            while len(drawn) < _DRAWN:
                each = {n: conditions[n][int(rng.integers(len(conditions[n])))] for n in names} | first
                drawn += [each] if possible(each) else []
            best = max(drawn, key=lambda each: len(left & _met(each, size)))
            left -= _met(best, size)
            found.append(best)
    return found


def _met(each: Mapping[str, object], size: int) -> set[tuple[tuple[str, object], ...]]:
    return set(combinations(each.items(), size))


@dataclass(frozen=True)
class Setting:
    """One combination of conditions: a study, and the people who are drawn to answer it."""

    values: str
    clients: int
    epsilon: str
    shares: str = "known"
    split: str = "even"
    groups: int = 2
    abstaining: str = "nobody"
    questions: int = 1

    @cached_property
    def study(self) -> Study:
        """The study."""
        scores = Scores(
            Target(
                tuple(map(float, self._declared)),
                shares_known=self.shares != "estimated",
                kind="gap" if self._plain else "means",
                abstain=self.abstaining != "nobody",
            )
        )
        quick = self._plain and float(self.epsilon) <= _QUICK
        name, channel = make_channel(scores, Decimal(self.epsilon), design="auto" if quick else "randomized-response")
        error = SPLITS[self.split][1] if self.shares == "known with error" else None
        shares = self._declared if scores.target.shares_known else None
        attribute = Attribute(
            "group", self._names, shares, share_error=error, answering="any" if shares is None else "alike"
        )
        return Study(
            "Coverage",
            [
                Question(Metric(f"metric {i}", 0, 1), attribute, scores.target.kind, name, self.epsilon, channel)
                for i in range(self.questions)
            ],
        )

    @cached_property
    def population(self) -> Population:
        """Whom clients are drawn from."""
        answering = round(10 * self.answering)
        cells = [People(None, None, (10 - answering) * 10 * _THOUSAND)] if answering < 10 else []
        for group, share in enumerate(self.true_shares):
            for value, often in VALUES[self.values][min(group, 1)].items():
                count = int(Decimal(share) * _THOUSAND) * often * answering
                cells.append(People(self._names[group], Decimal(value), count))
        return Population(tuple(cells))

    @cached_property
    def truth(self) -> Truth:
        """What the first question asks for."""
        return true_values(self.study, self.population)[0]

    @property
    def answering(self) -> float:
        """The part of people who do not abstain."""
        return 1.0 if self.abstaining == "nobody" else 0.8

    @property
    def true_shares(self) -> tuple[str, ...]:
        """How people really split: where the study may be wrong about it, it is."""
        first, *others, last = self._declared
        if self.shares != "known with error":
            return self._declared
        error = Decimal(SPLITS[self.split][1])
        return str(Decimal(first) + error), *others, str(Decimal(last) - error)

    @property
    def _plain(self) -> bool:
        return self.shares != "estimated" and self.groups == 2

    @property
    def _names(self) -> tuple[str, ...]:
        return ("a", "b", "c", "d", "e")[: self.groups]

    @property
    def _declared(self) -> tuple[str, ...]:
        return SPLITS[self.split][0][self.groups]

    def __str__(self) -> str:
        return (
            f"{self.values}; {self.clients:,} clients, epsilon {self.epsilon}, {self.groups} groups ({self.split}), "
            f"shares {self.shares}, {self.abstaining} abstains, {self.questions} asked"
        )


def settings() -> list[Setting]:
    """Return cells in which every two conditions meet."""
    return [Setting(**each) for each in covering(CONDITIONS)]  # type: ignore[arg-type]
