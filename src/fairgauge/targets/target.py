"""The target of a question: which linear functionals of the population it shall estimate.

A functional gives every input of a table a number, and its average over all clients is what is asked for: a group's
sum, a share, or a comparison of means where shares are known.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fairgauge.study import Question, TargetName
from fairgauge.targets.channel_inputs import ABSTAINING, Inputs, Vector
from fairgauge.targets.comparisons import Contrast, all_pairs, contrasts_of

# Up to so many groups a design is the best that there is; beyond, the best of a family whose groups are independent.
FEW = 6


class Wanted(NamedTuple):
    """A functional to estimate, what every group's mean is assumed to be (None: anything), and how much it matters."""

    functional: Vector
    centre: float | None
    weight: float = 1.0


@dataclass(frozen=True)
class Target:
    """What shall be estimated, of groups of which shares.

    Args:
        shares: The groups' shares among those who answer; where they are not known, a guess that aims the design.
        shares_known: Whether the estimate may rely on the shares.
        kind: ``"gap"`` for the differences between groups, ``"means"`` for each group's own mean.
        abstain: Whether people may abstain.
        abstaining: The part of people who are assumed to abstain, where they may.
        comparisons: Which comparisons are planned, with their weights; none given stands for all pairs alike.
        share_error: How far each stated share may be off.  Intervals pay for it; no table is made for it.
        ratio: How many times as often as another group one may answer at most.  Intervals pay for it, too.  Unless
            given, 1 where shares are known and anything where they are estimated.
    """

    shares: tuple[float, ...]
    shares_known: bool = True
    kind: TargetName = "gap"
    abstain: bool = False
    abstaining: float = ABSTAINING
    comparisons: tuple[Contrast, ...] = ()
    share_error: float = 0.0
    ratio: float | None = None

    @classmethod
    def of(cls, question: Question) -> "Target":
        """Return the target of a question, designed or not."""
        attribute = question.attribute
        return cls(
            shares=attribute.reckoned_shares,
            shares_known=attribute.known_shares is not None,
            kind=question.target,
            abstain=question.abstain,
            abstaining=ABSTAINING if question.abstaining is None else float(question.abstaining),
            comparisons=contrasts_of(attribute),
            share_error=float(attribute.share_error or 0),
            ratio=attribute.ratio,
        )

    @property
    def most_ratio(self) -> float:
        """How many times as often as another group one may answer at most."""
        if self.ratio is not None:
            return self.ratio
        return 1.0 if self.shares_known else math.inf

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.shares)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every pair of groups, in order."""
        return list(combinations(range(self.groups), 2))

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The comparisons that matter: those that are planned, or else every pair."""
        return self.comparisons or all_pairs(self.groups)

    @property
    def two_sided(self) -> bool:
        """Whether it is the gap of two groups."""
        return self.kind == "gap" and self.groups == 2

    @property
    def balanced(self) -> bool:
        """Whether several gaps are wanted, each as good as it can be beside the others."""
        return self.kind == "gap" and self.groups > 2

    @property
    def answering(self) -> float:
        """The part of people who are assumed to give a group and a value."""
        return 1 - self.abstaining if self.abstain else 1.0

    @property
    def share_vector(self) -> Vector:
        """The shares as numbers to compute with."""
        return np.array(self.shares)

    @property
    def relies_on_shares(self) -> bool:
        """Whether averages over all clients are divided by known constants only."""
        return self.shares_known and not self.abstain

    def mean_functional(self, inputs: Inputs, group: int, centre: float) -> Vector:
        """Return the functional whose average is (group's mean - centre), to first order about that centre.

        A group's mean is a sum over a share.  Where the share is estimated too, its error matters in proportion to
        the mean, so the delta method's functional depends on where the mean lies.
        """
        answering = self.answering
        share = self.shares[group] * answering
        if self.shares_known:
            return inputs.sum_of(group) / share - centre * inputs.answered() / answering
        return (inputs.sum_of(group) - centre * inputs.share_of(group)) / share

    def gap_functional(self, inputs: Inputs, pair: tuple[int, int]) -> Vector:
        """Return the functional whose average is the gap where shares are known."""
        first, second = (inputs.sum_of(g) / self.shares[g] for g in pair)
        return first - second

    def contrast_functional(self, inputs: Inputs, contrast: Contrast, centre: float = 0.0) -> Vector:
        """Return the functional whose average is a comparison, to first order about a centre of all means."""
        means = {g: self.mean_functional(inputs, g, centre) for g in contrast.of + contrast.against}
        return self._contrast(means, contrast)

    def _contrast(self, means: Mapping[int, Vector], contrast: Contrast) -> Vector:
        return self._side(means, contrast.of) - self._side(means, contrast.against)

    def _side(self, means: Mapping[int, Vector], groups: tuple[int, ...]) -> Vector:
        if len(groups) == 1:
            return means[groups[0]]
        weights = [self.shares[group] for group in groups]
        return np.average([means[group] for group in groups], axis=0, weights=weights)

    def wanted(self, inputs: Inputs, centre: float | None) -> list[Wanted]:
        """Return the functionals whose largest variance a design shall make small, to first order about a centre.

        Without one they are linear: averages are divided by known constants only.
        """
        # Once for each group: there are 2,016 pairs of 64.
        means = {g: self.mean_functional(inputs, g, centre or 0.0) for g in range(self.groups)}
        if self.kind == "means":
            return [Wanted(mean, centre) for mean in means.values()]
        return [Wanted(self._contrast(means, contrast), centre, contrast.weight) for contrast in self.contrasts]

    def needed(self, inputs: Inputs) -> list[Vector]:
        """Return what must be identified as well, with little weight, for the estimate to exist."""
        needed = [inputs.answered()] if self.abstain else []
        if not self.shares_known:
            for g in range(self.groups):
                needed += [inputs.share_of(g) / self.shares[g], inputs.sum_of(g) / self.shares[g]]
        return needed


def condition(target: Target) -> str | None:
    """Return what a plan assumes of how often groups answer, to stand behind its numbers; None where nothing.

    >>> condition(Target((0.5, 0.5))), condition(Target((0.5, 0.5), shares_known=False))
    ('IF all groups answer equally often', None)
    >>> condition(Target((0.5, 0.5), ratio=1.1))
    'if no group answers more than 1.1 times as often as another'
    """
    if target.most_ratio == math.inf:
        return None
    if target.most_ratio == 1:
        return "IF all groups answer equally often"
    return f"if no group answers more than {target.most_ratio:g} times as often as another"
