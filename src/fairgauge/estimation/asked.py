"""What tests of a ratio's values have in common."""

from dataclasses import dataclass, field
from functools import cached_property

from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.estimation.hypothesis import Hypothesis, extent
from fairgauge.estimation.laws import Laws
from fairgauge.targets.inputs import Vector


@dataclass(frozen=True, eq=False)
class RatioTest:
    """Tests values of over / under against the counts of symbols.

    Args:
        laws: The laws that the population may have.
        over: The score whose average is the numerator.
        under: The score whose average is the denominator.
        counts: How often each symbol came.
        alpha: How often a right value may be rejected.
        draws: The secret draws that are among the counts.
    """

    laws: Laws
    over: Vector
    under: Vector
    counts: Vector
    alpha: float
    draws: Draws = field(default=NO_DRAWS, kw_only=True)

    @cached_property
    def answers(self) -> float:
        """How many answers there are."""
        return float(self.counts.sum()) - self.draws.count

    @cached_property
    def estimate(self) -> float:
        """The ratio of the two averages."""
        return float(self.over @ self.cleaned) / float(self.under @ self.cleaned)

    @cached_property
    def cleaned(self) -> Vector:
        """The counts less what draws add to them on average."""
        return self.draws.removed(self.counts)

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The range of values that are possible at all."""
        return extent(self.laws, self.over, self.under)

    def asked(self, value: float) -> Hypothesis:
        """Return what it means that a value is right: a score averages to zero."""
        return Hypothesis(self.laws, self.over - value * self.under)
