"""The goal of a question: what it shall estimate, and how well a channel serves that."""

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fairgauge.channel import Channel
from fairgauge.errors import CannotEstimate
from fairgauge.goals.decoder import Decoder
from fairgauge.goals.inputs import ABSTAINING, Inputs, Vector
from fairgauge.study import Question, Target

# Where nothing is expected of the overall mean, a design reckons with the ends and the middle of its range.
_CENTRES = (-1.0, 0.0, 1.0)


@dataclass(frozen=True)
class Goal:
    """What a question shall estimate.

    Args:
        shares: The groups' shares among those who answer; where they are not known, a guess that aims the design.
        shares_known: Whether the estimate may rely on the shares.
        target: ``"gap"`` for the differences between groups, ``"means"`` for each group's own mean.
        abstain: Whether people may abstain.
        expect: The overall mean to expect, in [-1, 1].  It matters only where shares are estimated: a wrong guess
            costs precision, never truth.
    """

    shares: tuple[float, ...]
    shares_known: bool = True
    target: Target = "gap"
    abstain: bool = False
    expect: float | None = None

    @classmethod
    def of(cls, question: Question) -> "Goal":
        """Return the goal that a question serves.

        Raises:
            CannotEstimate: If the question is answered together with others.
        """
        if question.channel.further:
            raise CannotEstimate(
                f"{question.metric.name} is answered together with others, which cannot be decoded yet"
            )
        return cls(
            shares=question.attribute.reckoned_shares,
            shares_known=question.attribute.shares is not None,
            target=question.target,
            abstain=question.channel.abstain,
        )

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.shares)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every pair of groups, in order."""
        return list(combinations(range(self.groups), 2))

    @property
    def share_vector(self) -> Vector:
        """The shares as numbers to compute with."""
        return np.array(self.shares)

    def mean_functional(self, inputs: Inputs, group: int, centre: float) -> Vector:
        """Return the functional whose average is (group's mean - centre), to first order about that centre.

        A group's mean is a sum over a share.  Where the share is estimated too, its error matters in proportion to
        the mean, so the delta method's functional depends on where the mean lies.
        """
        answering = 1 - ABSTAINING if self.abstain else 1.0
        share = self.shares[group] * answering
        if self.shares_known:
            return inputs.sum_of(group) / share - centre * inputs.answered() / answering
        return (inputs.sum_of(group) - centre * inputs.share_of(group)) / share

    def wanted(self, inputs: Inputs) -> list["Wanted"]:
        """Return the functionals whose largest variance the design shall make small."""
        if self.shares_known and not self.abstain:
            centres: tuple[float | None, ...] = (None,)
        else:
            centres = _CENTRES if self.expect is None else (self.expect,)
        found: list[Wanted] = []
        for centre in centres:
            means = [self.mean_functional(inputs, g, centre or 0.0) for g in range(self.groups)]
            pairs = [means[a] - means[b] for a, b in self.pairs]
            found += [Wanted(f, centre) for f in (means if self.target == "means" else pairs)]
        return found

    def needed(self, inputs: Inputs) -> list[Vector]:
        """Return what must be identified as well, with little weight, for the estimate to exist."""
        needed = [inputs.answered()] if self.abstain else []
        if not self.shares_known:
            for g in range(self.groups):
                needed += [inputs.share_of(g) / self.shares[g], inputs.sum_of(g) / self.shares[g]]
        return needed

    def decoder(self, channel: Channel) -> Decoder:
        """Return the decoder of a channel that serves this goal best."""
        decoder = Decoder.even(channel, self.share_vector)
        if not self.shares_known or self.abstain:
            return decoder
        wanted = [f for f, _ in self.wanted(decoder.inputs)]
        # Gaps depend on each other, so they share one prior; a mean may have its own.
        return decoder.aimed(wanted) if self.target == "means" else decoder.least_favourable(wanted)

    def variance(self, channel: Channel) -> float:
        """Return K times the variance of the worst of the wanted numbers; infinite if the channel cannot tell."""
        decoder = self.decoder(channel)
        if any(decoder.score(f) is None for f in self.needed(decoder.inputs)):
            return float("inf")
        return max(self._variance(decoder, wanted) for wanted in self.wanted(decoder.inputs))

    def _variance(self, decoder: Decoder, wanted: "Wanted") -> float:
        score = decoder.score(wanted.functional)
        return float("inf") if score is None else decoder.variance(score, centre=wanted.centre)


class Wanted(NamedTuple):
    """A functional to estimate, and what every group's mean is reckoned to be (None: anything)."""

    functional: Vector
    centre: float | None
