r"""The source paper's two mechanisms with its own budgets, under names such as ``randomized-response(1:1)``.

The paper gives the group a budget ε1 and the value a budget ε2.  What they cost together is not what it claims of M_R:

.. math:: \max(\varepsilon_2,\; \varepsilon_1 + \ln(2 e^{\varepsilon_2} / (1 + e^{\varepsilon_2})))

M_L has a third number k, the scale of the noise of those whose group changed.  For k = 2 its loss is
:math:`\max(\varepsilon_2, \varepsilon_1 + \varepsilon_2 / 2)`, and for any other k it is infinite.  So a study says
which budgets it was made with, in its design's name, and is made only for an epsilon that they keep.
"""

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Self

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.exact_table import exact_channel
from fairgauge.designs.levels import even_levels
from fairgauge.designs.simple import laplace_rows, most_levels, response_rows
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.targets.inputs import Inputs, Matrix
from fairgauge.targets.scores import Scores

RESPONSE, LAPLACE = "randomized-response", "laplace"
_NAME = re.compile(r"([a-z0-9-]+)\((.*)\)")
_PRIVATE_K = Decimal(2)
_MOST = Decimal(12)


@dataclass(frozen=True)
class Budgets:
    """A mechanism of the paper, by our name of it, with the paper's ε1 and ε2.

    >>> Budgets.read("randomized-response(1:1)").name
    'randomized-response(1:1)'
    >>> Budgets.read("laplace(0.50:1:2)").name
    'laplace(0.5:1)'
    """

    design: str
    group: Decimal
    value: Decimal

    @classmethod
    def read(cls, name: str) -> Self | None:
        """Return the budgets that a design's name has, or None where it has none.

        Raises:
            InvalidInput: If they are no budgets, or not those of a mechanism of the paper.
            NotPrivate: If k is given, and is not 2.
        """
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        design, text = found.groups()
        if design not in (RESPONSE, LAPLACE):
            raise InvalidInput("budgets", text, f"go with the paper's mechanisms, {RESPONSE} and {LAPLACE}")
        rule = "must be ε1:ε2 (group:value), numbers above 0 and up to 12, such as 1:1"
        parts = [_number(part) for part in text.split(":")]
        if len(parts) != 2 + (design == LAPLACE and len(parts) == 3) or not all(0 < part <= _MOST for part in parts):
            raise InvalidInput("budgets", text, rule if design == RESPONSE else f"{rule}, or ε1:ε2:k")
        if len(parts) == 3 and parts[2] != _PRIVATE_K:
            raise NotPrivate(
                f"laplace with k = {parts[2]:f} has no finite epsilon, whatever Theorem 2 claims: the farther out a "
                "report, the surer it tells whether the group was kept (erratum E2). Only k = 2 is private"
            )
        return cls(design, *parts[:2])

    @property
    def name(self) -> str:
        """The name of the design with these budgets, as a study has it."""
        group, value = (format(part.normalize(), "f") for part in (self.group, self.value))
        return f"{self.design}({group}:{value})"

    @property
    def loss(self) -> Decimal:
        """The exact epsilon."""
        if self.design == LAPLACE:
            return max(self.value, self.group + self.value / 2)
        return max(self.value, self.group + self.value + Decimal(2).ln() - (1 + self.value.exp()).ln())

    @property
    def claimed(self) -> Decimal:
        """What Theorem 1 claims of M_R, and Theorem 2 of M_L with k = 2, where it is true."""
        return self.loss if self.design == LAPLACE else max(self.group, self.value)

    def inputs(self, groups: int) -> Inputs:
        """Return the inputs: of M_L as many levels as its lattice may have, so that it is all but continuous."""
        if self.design == RESPONSE:
            return Inputs(groups, np.array([-1.0, 1.0]))
        return Inputs(groups, even_levels(most_levels(groups)))

    def rows(self, inputs: Inputs) -> Matrix:
        """Return the mechanism's law: a column for each group and level that is reported."""
        if self.design == LAPLACE:
            return laplace_rows(inputs, float(self.group), float(self.value))
        bits = response_rows(2, float(self.value))
        keep = response_rows(inputs.groups, float(self.group))
        # Of those whose group changes the bit is a coin.
        return np.block([[k * (bits if g == h else np.full((2, 2), 0.5)) for h, k in enumerate(row)]
                         for g, row in enumerate(keep)])  # fmt: skip

    def make(self, scores: Scores, epsilon: Decimal) -> Channel:
        """Make the channel.

        Raises:
            NotPrivate: If the budgets lose more than epsilon.
            InvalidInput: If people may abstain, which the paper does not know.
        """
        if scores.target.abstain:
            raise InvalidInput(
                "abstain", "yes", "must not be given with budgets: the paper's mechanisms have no row for it"
            )
        if self.loss > epsilon:
            raise NotPrivate(f"{self.name} loses {_up(self.loss, 5)}, not {epsilon:f}{self._why}")
        inputs = self.inputs(scores.target.groups)
        return exact_channel(self.rows(inputs), inputs, epsilon)

    @property
    def _why(self) -> str:
        enough = f"--epsilon {_up(self.loss, 3)} is the least, to three digits"
        if self.loss > self.claimed:
            return f": Theorem 1 claims {self.claimed:f}, and is false (erratum E1); {enough}"
        return f": {enough}"


def _number(text: str) -> Decimal:
    return Decimal(text) if re.fullmatch(r"\d{1,3}(\.\d{1,12})?", text) else Decimal(0)


def _up(loss: Decimal, digits: int) -> str:
    """Return a loss rounded up to so many digits."""
    short = loss.quantize(Decimal(1).scaleb(loss.adjusted() - digits + 1), ROUND_CEILING)
    return format(short.normalize(), "f")
