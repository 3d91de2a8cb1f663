r"""Designs that take no search: randomized response, Laplace noise, and questions from a Hadamard matrix.

*Randomized response* on (group, sign) is the paper's M_R with the allocation that makes it private.
The paper keeps the group with budget e1 and the bit with budget e2, and claims max(e1, e2).  The exact loss is
max(e2, e1 + ln(2 e^e2 / (1 + e^e2))), so e2 = e and e1 = ln((e^e + 1) / 2) is the best sound choice, and it is
generalized randomized response on the 2d pairs: the true pair with probability e^e / (e^e + 2d - 1).

*Laplace noise* on a lattice is the paper's M_L with k = 2, the only k for which it is private.
The group passes through randomized response with budget e1.  Who keeps the group sends v plus noise of budget
e2 for the whole range [-1, 1]; who does not sends noise about 0.  The loss is max(e2, e1 + e2/2).  Noise on a
lattice of step 1/N is two-sided geometric with ratio exp(-e2 / 2N).  Beyond the ends its tail is memoryless, so
all that an output there tells is "beyond": one symbol per end, and the table is finite without any clipping.

*Hadamard questions* are yes-or-no questions for more groups than the exact optimum can handle.
With known shares a client answers "is your value on the side that question k asks of your group?"; rows of the
matrix make the groups' questions orthogonal, so that one group's values do not disturb another's sum.  With
shares to estimate, or abstaining, the questions are about sets of (group, sign) pairs instead, from which everything
can be told.  Both beat randomized response at small epsilon by a factor that grows with the number of groups.

A symbol that asks several groups at once asks each for one side of its values.  Taking the sides from rows of a
Hadamard matrix, and from the same rows turned round, makes the groups' scores independent of each other; there are such
matrices of many orders, not only of powers of two.

*Budgets*: both are also made with the paper's own budgets, under names such as ``randomized-response(1:1)``.  The paper
gives the group a budget ε1 and the value a budget ε2.  What they cost together is not what it claims of M_R:

.. math:: \max(\varepsilon_2,\; \varepsilon_1 + \ln(2 e^{\varepsilon_2} / (1 + e^{\varepsilon_2})))

M_L has a third number k, the scale of the noise of those whose group changed.  For k = 2 its loss is
:math:`\max(\varepsilon_2, \varepsilon_1 + \varepsilon_2 / 2)`, and for any other k it is infinite.  So a study says
which budgets it was made with, in its design's name, and is made only for an epsilon that they keep.
"""

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fairgauge.channel import Channel
from fairgauge.designs.exact_table import exact_channel
from fairgauge.designs.level_count import even_levels, levels_needed
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector
from fairgauge.targets.scores import Scores

# Of Laplace noise.
_MOST_LEVELS = 33
_MOST_SYMBOLS = 150
_GOLDEN = (5**0.5 - 1) / 2
_CLOSE = 1e-3  # to which the best split of the budgets is found

Signs = NDArray[np.int_]


def _response_rows(inputs: int, epsilon: float) -> Matrix:
    """Return the law of generalized randomized response on so many inputs."""
    # Decimals, because processors round the last bit of exp differently: this design's table is the same on all.
    more = float(Decimal(epsilon).exp() - 1)
    rows: Matrix = (np.ones((inputs, inputs)) + more * np.eye(inputs)) / (inputs + more)
    return rows


def randomized_response(scores: Scores, epsilon: Decimal) -> Channel:
    """Make the sound M_R for any number of groups; abstaining is one more pair."""
    inputs = Inputs(scores.target.groups, np.array([-1.0, 1.0]), scores.target.abstain)
    return exact_channel(_response_rows(inputs.count, float(epsilon)), inputs, epsilon)


def laplace(scores: Scores, epsilon: Decimal) -> Channel:
    """Make the sound M_L, with the budget split between group and value so that the variance is least."""
    return _laplace(scores.by(""), epsilon)  # for ``uncentred``, too, which need not look for it again


@lru_cache(maxsize=64)
def _laplace(scores: Scores, epsilon: Decimal) -> Channel:
    most = _most_levels(scores.target.groups)
    count, needed = 0, 3
    while needed > count:
        count = needed
        channel = _best_split(scores, epsilon, count)
        needed = min(levels_needed(scores, scores.privacy_variance(channel), count), most)
    return channel


def _most_levels(groups: int) -> int:
    """Return how many levels Laplace noise has at most, an odd number: more groups leave fewer symbols for each."""
    return min(_MOST_LEVELS, max(3, (_MOST_SYMBOLS // groups - 1) // 2 * 2 + 1))


def _best_split(scores: Scores, epsilon: Decimal, count: int) -> Channel:
    inputs = Inputs(scores.target.groups, even_levels(count), scores.target.abstain)
    total = float(epsilon)

    def channel(part: float) -> Channel:
        return exact_channel(_laplace_rows(inputs, total - part * total / 2, part * total), inputs, epsilon)

    low, high = 0.3, 1.0  # a golden section: the variance falls, and then rises
    while high - low > _CLOSE:
        nearer, farther = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if scores.privacy_variance(channel(nearer)) < scores.privacy_variance(channel(farther)):
            high = farther
        else:
            low = nearer
    return min((channel((low + high) / 2), channel(1.0)), key=scores.privacy_variance)


def _laplace_rows(inputs: Inputs, group_epsilon: float, value_epsilon: float) -> Matrix:
    """Return the law for a budget of the group and a budget of the value."""
    m, d = len(inputs.levels), inputs.groups
    noise = _noise(m, value_epsilon)
    about_zero = noise[m // 2]
    keep = _response_rows(d + inputs.abstain, group_epsilon)
    rows = np.zeros((inputs.count, d * m + inputs.abstain))
    for g, block in enumerate(inputs.blocks):
        for h in range(d):
            rows[block, h * m : (h + 1) * m] = keep[g, h] * (noise if g == h else about_zero)
        if inputs.abstain:
            rows[block, -1] = keep[g, -1]
    return rows


def _noise(m: int, epsilon: float) -> Matrix:
    """Return the law of the noisy level, for each of m levels."""
    half = m // 2
    ratio = np.exp(-epsilon / (2 * half))
    distance = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    law: Matrix = ratio**distance / (1 + ratio)
    law[:, 1:-1] *= 1 - ratio
    return law


def hadamard(scores: Scores, epsilon: Decimal) -> Channel:
    """Make the channel of Hadamard questions."""
    inputs = Inputs(scores.target.groups, np.array([-1.0, 1.0]), scores.target.abstain)
    if scores.target.shares_known and not scores.target.abstain:
        questions = _questions(scores.target.groups)[:, : scores.target.groups]
        agrees = np.repeat(questions, 2, axis=1) * np.tile([-1, 1], scores.target.groups)
    else:
        # The first row and the first column are all ones and tell nothing apart.
        agrees = _questions(inputs.count + 1)[1:, 1 : inputs.count + 1]
    likely = np.vstack([agrees, -agrees]) > 0
    weights = np.where(likely, np.exp(float(epsilon)), 1.0).T
    return exact_channel(weights / weights.sum(axis=1, keepdims=True), inputs, epsilon)


def _questions(least: int) -> Signs:
    """Return Sylvester's matrix of at least so many rows; the first row and the first column are all ones."""
    found = np.array([[1]])
    while len(found) < least:
        found = np.kron(np.array([[1, 1], [1, -1]]), found)
    return found


@lru_cache(maxsize=64)
def sign_rows(columns: int) -> Signs:
    """Return rows of signs with so many columns, each row with its opposite, whose columns are orthogonal.

    >>> sign_rows(3).shape, (sign_rows(3).T @ sign_rows(3)).tolist()
    ((8, 3), [[8, 0, 0], [0, 8, 0], [0, 0, 8]])
    """
    if columns == 0:
        return np.ones((1, 0), dtype=np.int_)
    order = next(order for order in range(columns, 2 * columns + 1) if _hadamard_of(order) is not None)
    matrix = _hadamard_of(order)
    if matrix is None:  # pragma: no cover - there is a power of two in the range
        raise AssertionError
    rows = matrix[:, :columns]
    return np.vstack([rows, -rows])


@lru_cache(maxsize=64)
def fewer_sign_rows(columns: int) -> Signs:
    """Return about half as many rows, whose columns are orthogonal and sum to nothing.

    Scores of single groups stay independent.  Three columns may depend on each other, so that the values of a third
    group can make the scores of two others move together, which a difference of the two may notice.

    >>> fewer_sign_rows(3).shape, fewer_sign_rows(3).sum(axis=0).tolist()
    ((4, 3), [0, 0, 0])
    """
    if columns == 0:
        return np.ones((1, 0), dtype=np.int_)
    order = next(order for order in range(columns + 1, 2 * columns + 3) if _hadamard_of(order) is not None)
    matrix = _hadamard_of(order)
    if matrix is None:  # pragma: no cover - there is a power of two in the range
        raise AssertionError
    # Turned so that the first column is all ones; every other one is orthogonal to it.
    turned: Signs = (matrix * matrix[:, :1])[:, 1 : columns + 1]
    return turned


@lru_cache(maxsize=128)
def _hadamard_of(order: int) -> Signs | None:
    """Return a Hadamard matrix of an order, or None if neither Paley nor Sylvester has one."""
    if order in (1, 2):
        return np.array([[1]]) if order == 1 else np.array([[1, 1], [1, -1]])
    if order % 4:
        return None
    if _prime(order - 1):
        return _first_paley(order - 1)
    if _prime(order // 2 - 1) and (order // 2 - 1) % 4 == 1:
        return _second_paley(order // 2 - 1)
    half = _hadamard_of(order // 2)
    return None if half is None else np.kron(np.array([[1, 1], [1, -1]]), half)


def _prime(number: int) -> bool:
    return number > 2 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def _characters(prime: int) -> Signs:
    """Return whether i - j is a square modulo a prime: 1 if it is, -1 if not, 0 on the diagonal."""
    squares = {i * i % prime for i in range(1, prime)}
    of = np.array([0, *(1 if i in squares else -1 for i in range(1, prime))])
    places = np.arange(prime)
    found: Signs = of[(places[:, None] - places) % prime]
    return found


def _first_paley(prime: int) -> Signs:
    skew = np.zeros((prime + 1, prime + 1), dtype=np.int_)
    skew[0, 1:], skew[1:, 0] = 1, -1
    skew[1:, 1:] = _characters(prime)
    return skew + np.eye(prime + 1, dtype=np.int_)


def _second_paley(prime: int) -> Signs:
    even = np.zeros((prime + 1, prime + 1), dtype=np.int_)
    even[0, 1:], even[1:, 0] = 1, 1
    even[1:, 1:] = _characters(prime)
    found: Signs = np.kron(even, np.array([[1, 1], [1, -1]])) + np.kron(
        np.eye(prime + 1, dtype=np.int_), np.array([[1, -1], [-1, -1]])
    )
    return found


def simple_variances(scores: Scores, epsilon: Decimal) -> Vector:
    """Return the variances of randomized response."""
    return np.array(scores.privacy_variances(randomized_response(scores, epsilon)))


def largest_ratio(scores: Scores, channel: Channel, measures: Vector) -> float:
    """Return the largest ratio of a wanted number's variance to what it is measured by, weighed."""
    weights = [wanted.weight for wanted in scores.wanted(scores.decoder(channel).inputs)]
    return float((np.array(scores.privacy_variances(channel)) * weights / measures).max())


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
        return Inputs(groups, even_levels(_most_levels(groups)))

    def rows(self, inputs: Inputs) -> Matrix:
        """Return the mechanism's law: a column for each group and level that is reported."""
        if self.design == LAPLACE:
            return _laplace_rows(inputs, float(self.group), float(self.value))
        bits = _response_rows(2, float(self.value))
        keep = _response_rows(inputs.groups, float(self.group))
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
