r"""M_R and M_L exactly as published, with their estimators and closed-form variances.

A client holds a group g and a value v in [-1, 1].  Both mechanisms first pass the group through generalized randomized
response, which keeps it with probability :math:`a = e^{\varepsilon_1} / (e^{\varepsilon_1} + d - 1)`, and forget the
value of a client whose group changed.

**For reproduction only.**  The product's clients cannot use these: they draw from a published table of integers and
refuse a table whose exact loss exceeds what it declares.  What is here draws floats, and as allocated in the paper it
loses more privacy than it claims (:mod:`fairgauge.paper.theorems`).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import exp, expm1, log, tanh

import numpy as np
from numpy.typing import NDArray

from fairgauge.errors import InvalidInput

_Groups = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class PaperMechanism(ABC):
    """What M_R and M_L share: the group goes through generalized randomized response.

    Args:
        group_epsilon: The paper's ε1, spent on the group.
        value_epsilon: The paper's ε2, spent on the value.
        groups: How many groups there are (the paper's d; it writes {0..d} but counts d of them).
    """

    group_epsilon: float
    value_epsilon: float
    groups: int = 2

    # The mean square of a group's values for which the variance is largest.
    worst_square: float = 0.0

    def __post_init__(self) -> None:
        for field in ("group_epsilon", "value_epsilon"):
            if not getattr(self, field) >= 0:
                raise InvalidInput(field, getattr(self, field), "must be 0 or above")
        if self.value_epsilon == 0:
            raise InvalidInput("value_epsilon", 0, "must be above 0: nothing can be estimated")
        if self.groups < 2:
            raise InvalidInput("groups", self.groups, "must be 2 or more")

    @property
    def keep(self) -> float:
        """The probability a that a client's group stays."""
        return 1 / (1 + (self.groups - 1) * exp(-self.group_epsilon))

    @property
    def switch(self) -> float:
        """The probability of each other group."""
        return exp(-self.group_epsilon) * self.keep

    def randomise(self, groups: _Groups, values: Values, rng: np.random.Generator) -> tuple[_Groups, Values]:
        """Return the perturbed pairs (g', v') of so many clients."""
        kept = rng.random(len(groups)) < self.keep
        others = (groups + rng.integers(1, self.groups, len(groups))) % self.groups
        values = np.where(kept, values, 0.0)
        return np.where(kept, groups, others), self._perturb(values, kept, rng)

    def estimate(self, groups: _Groups, values: Values, sizes: NDArray[np.int64] | list[int]) -> Values:
        """Return the estimated mean of each group from perturbed pairs, with the groups' sizes n_G given."""
        sums = np.bincount(groups, weights=values, minlength=self.groups).astype(np.float64)
        return self.means(sums, sizes)

    def means(self, sums: Values, sizes: NDArray[np.int64] | list[int]) -> Values:
        """Return the estimated means from the sums of v' over the clients that report each group."""
        return sums / (self.attenuation * np.asarray(sizes))

    def gap_variance(self, shares: tuple[float, float] = (0.5, 0.5), *, square: float | None = None) -> float:
        """Return K times the variance of the estimated gap between two groups that have these shares of the clients.

        The errors of the two means are uncorrelated: a client whose group changed reports a v' of mean 0.
        """
        return sum(self.variance(share, 1.0, square=square) for share in shares)

    @property
    @abstractmethod
    def attenuation(self) -> float:
        """What a group's sum is divided by, beside its size, to make the estimate unbiased."""

    @abstractmethod
    def variance(self, size: float, clients: float, *, square: float | None = None) -> float:
        """Return the variance of the estimated mean of a group.

        Args:
            size: How many clients are in the group (n).
            clients: How many clients there are (K).
            square: The mean of v² in the group (ν²); unless given, the one that makes the variance largest.
        """

    @abstractmethod
    def _perturb(self, values: Values, kept: NDArray[np.bool_], rng: np.random.Generator) -> Values:
        """Return v' of every client; ``values`` is 0 already where the group changed."""


@dataclass(frozen=True)
class ResponseMechanism(PaperMechanism):
    r"""M_R, Algorithm 1 of the paper: the value becomes one bit, which passes through randomized response.

    .. math::

        \mathrm{Var}[\hat m{}_G] = \frac{1}{a (2b-1)^2 n}
        \Big(1 - a (2b-1)^2 \nu^2 + \frac{K - n}{n}\, e^{-\varepsilon_1}\Big)

    The paper has (1 - a)/a in place of the last factor, which is the same for two groups.
    """

    @property
    def contrast(self) -> float:
        """2b - 1: how much of the bit's mean is left."""
        return tanh(self.value_epsilon / 2)

    @property
    def attenuation(self) -> float:
        """A (2b - 1)."""
        return self.keep * self.contrast

    def variance(self, size: float, clients: float, *, square: float | None = None) -> float:
        """Return the closed form; its worst case is a group whose values are all 0."""
        scale = self.keep * self.contrast**2
        strangers = (clients - size) / size * exp(-self.group_epsilon)
        return (1 - scale * (self.worst_square if square is None else square) + strangers) / (scale * size)

    def _perturb(self, values: Values, kept: NDArray[np.bool_], rng: np.random.Generator) -> Values:  # noqa: ARG002
        bits = rng.random(len(values)) < (1 + values) / 2
        truthful = rng.random(len(values)) < 1 / (1 + exp(-self.value_epsilon))
        return np.where(bits == truthful, 1.0, -1.0)


@dataclass(frozen=True)
class LaplaceMechanism(PaperMechanism):
    r"""M_L: Laplace noise of scale 2/ε2 about the value, or of scale k/ε2 about 0 if the group changed.

    .. math::

        \mathrm{Var}[\hat m{}_G] = \frac{1}{n} \Big( \nu^2 \frac{1-a}{a} +
        \frac{1}{a} \big(\sigma^2 + \frac{K - n}{n}\, \bar\sigma^2 e^{-\varepsilon_1}\big) \Big),
        \quad \sigma^2 = \frac{8}{\varepsilon_2^2}, \quad \bar\sigma^2 = \frac{2 k^2}{\varepsilon_2^2}

    Args:
        k: The scale of the noise of clients whose group changed, times ε2.
        kept_k: The same for the others: 2 in the paper, and k in the authors' notebook, which has the two reversed.
    """

    worst_square: float = 1.0
    k: float = 2.0
    kept_k: float = 2.0

    @property
    def attenuation(self) -> float:
        """A: the noise has mean 0."""
        return self.keep

    @property
    def kept_scale(self) -> float:
        """The scale of the noise about a value."""
        return self.kept_k / self.value_epsilon

    @property
    def changed_scale(self) -> float:
        """The scale of the noise about 0 of a client whose group changed."""
        return self.k / self.value_epsilon

    def variance(self, size: float, clients: float, *, square: float | None = None) -> float:
        """Return the closed form; its worst case is a group whose values are all -1 or 1."""
        nu2 = self.worst_square if square is None else square
        own = nu2 * (1 - self.keep) + 2 * self.kept_scale**2
        strangers = (clients - size) / size * 2 * self.changed_scale**2 * exp(-self.group_epsilon)
        return (own + strangers) / (self.keep * size)

    def _perturb(self, values: Values, kept: NDArray[np.bool_], rng: np.random.Generator) -> Values:
        return values + rng.laplace(0.0, np.where(kept, self.kept_scale, self.changed_scale))


Published = ResponseMechanism | LaplaceMechanism


def published_response(epsilon: float, *, groups: int = 2) -> ResponseMechanism:
    """Return "M_R opt." as the paper allocates it: ε1 = ε2 = ε."""
    return ResponseMechanism(epsilon, epsilon, groups)


def published_laplace(epsilon: float) -> LaplaceMechanism:
    """Return "M_L opt." as the paper allocates it; from ε = 2 on its k leaves the paper's own range 0 < k <= 2."""
    if epsilon < 2 / 3:
        return LaplaceMechanism(log(3) - epsilon / 2, epsilon, k=2 / 3)
    return LaplaceMechanism(log(2 / epsilon) + epsilon - 1, epsilon, k=epsilon)


def notebook_laplace(epsilon: float) -> LaplaceMechanism:
    """Return M_L as the authors' notebook runs it: the two scales are exchanged, and k is at most 2."""
    published = published_laplace(epsilon)
    return LaplaceMechanism(published.group_epsilon, epsilon, k=2.0, kept_k=min(published.k, 2.0))


def drawn_laplace(epsilon: float) -> LaplaceMechanism:
    """Return M_L with which the crossovers come out that the paper prints: k = 1, and all values 0 (erratum E6)."""
    return LaplaceMechanism(published_laplace(epsilon).group_epsilon, epsilon, k=1.0, worst_square=0.0)


def sound_response(epsilon: float, *, groups: int = 2) -> ResponseMechanism:
    """Return the best M_R that is ε-private: ε2 = ε and ε1 = ln((e^ε + 1)/2).

    It is generalized randomized response on the 2d pairs of a group and a bit.
    """
    return ResponseMechanism(log(1 + expm1(epsilon) / 2) if epsilon < 500 else epsilon - log(2), epsilon, groups)


def sound_laplace(epsilon: float) -> LaplaceMechanism:
    """Return M_L with k = 2, the only k for which it is private, as the paper allocates it: ε2 = ε, ε1 = ε/2."""
    return LaplaceMechanism(epsilon / 2, epsilon, k=2.0)
