r"""The score of a gap that no share moves, and the parts of the answers that find its constant.

For a gap D between groups A and B let p be the share of A among both, and w and u the scores of a group's sum and
share.  With any number c

.. math:: \psi = (1-p)\,\big(w_A - (c + (1-p) D)\, u_A\big) - p\,\big(w_B - (c - p D)\, u_B\big)

has, where the true shares of all are q_A and q_B, q = q_A / (q_A + q_B), and the true gap is Delta,

* at p = q the mean (q_A q_B / (q_A + q_B)) (Delta - D), whatever c is: zero for the right gap;
* at D = Delta the mean (q_A + q_B) (c_0 - c) (q - p), c_0 = p m_A + (1-p) m_B: if c is near the mean of A and B
  together, next to nothing for every p that is near q.

So the share need be known only roughly, and c should be near the overall mean.  *Proof.*  A and B have the parts
q_A = Q q and q_B = Q (1 - q), Q = q_A + q_B; w_A has the mean q_A m_A, u_A the mean q_A, and so for B.  At p = q the
mean is Q q (1-q) (m_A - c - (1-q) D - m_B + c - q D).  With D = m_A - m_B both m_A - (1-p) D and m_B + p D are c_0, and
the mean is Q ((1-p) q - p (1-q)) (c_0 - c).

*Which c.*  Answers come in five parts (:mod:`fairgauge.estimation.gap_score`), and the c of each part is found from the
parts before it: the mean of both groups that they tell, drawn towards what was expected the more the worse they do,

.. math:: c_b = e + (\hat c - e) \frac{\tau^2}{\tau^2 + \hat V_c / n} .

The last part catches up: its c is such that the average over all parts is what the last one would have been.  What the
parts before tell is a constant for the answers of a part, so its scores have the means above.

*Five parts*, by throws that know nothing of the answers: so that one part may choose how the next is read.

Each answer goes to a part by the next byte of a stream: the parts have 13, 38, 77, 77 and 51 of the 256 bytes, in this
order.  The stream of the n-th answers of symbol j, for n from m 2^20 on, is SHAKE-256 of the text ``name j m``.  So
nothing but integers is computed, and everyone who has the study and its counts finds the same parts.  Given how many
answers each part has, the counts of the parts are multivariate hypergeometric: every way to deal out the answers is
equally likely.

Of more than 2^31 answers no byte is thrown for each: whoever hands in a tally could make that last for ever.  How many
of a symbol's answers go to each part has a multinomial law, and is drawn from that by NumPy's generator whose stream is
frozen, with SHAKE-256 of the name as its seed.

The name is a digest of what the study says, but for its groups and tables, and the number of the question.  It was
there before any answer, so nobody can choose parts after they have seen counts, and throws have nothing to do with what
people answered: given the throws, answers are still independent draws from one population, and so those of one part are
independent of those of another.  Groups in another order are dealt out in the same way.
"""

import hashlib
import math
from dataclasses import dataclass
from math import pi, sqrt
from typing import Protocol

import numpy as np

from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.targets.channel_inputs import Matrix, Vector

# How many of the 256 bytes send an answer to each part.
_BYTES = (13, 38, 77, 77, 51)
FRACTIONS: Vector = np.array(_BYTES) / 256
_ENDS = np.cumsum(_BYTES).tolist()
_LONGEST = 1 << 20
_MOST_THROWN = 1 << 31


class Split(Protocol):
    """A way to deal out answers to parts."""

    @property
    def stray(self) -> float:
        """By how many of its standard deviations a mean that parts tell is moved, to plan with."""

    def parts(self, counts: Vector) -> Matrix:
        """Return the counts of each part."""


@dataclass(frozen=True)
class Thrown:
    """Answers that came, dealt out by throws.

    Args:
        name: What the throws follow from, and nothing of the answers: the study's seed and the question's number.
    """

    name: str
    stray = 0.0

    def parts(self, counts: Vector) -> Matrix:
        """Return the counts of each part.

        Raises:
            ValueError: If counts are no whole numbers.

        >>> Thrown("a study 0").parts(np.array([100.0, 50.0, 0.0])).astype(int).tolist()
        [[4, 1, 0], [14, 7, 0], [34, 12, 0], [22, 21, 0], [26, 9, 0]]
        """
        if (counts != np.floor(counts)).any():
            raise ValueError("only whole answers can be dealt out")
        if counts.sum() > _MOST_THROWN:
            return self._drawn(counts)
        return np.array([self._dealt(symbol, int(count)) for symbol, count in enumerate(counts)], dtype=np.float64).T

    def _drawn(self, counts: Vector) -> Matrix:
        seed = np.frombuffer(self._bytes(f"{self.name} all", 64), dtype="<u4")
        draws = np.random.RandomState(seed)  # whose stream is the same in every version
        return np.array([draws.multinomial(int(count), FRACTIONS) for count in counts], dtype=np.float64).T

    def _dealt(self, symbol: int, count: int) -> Vector:
        below = np.zeros(len(_BYTES), dtype=np.int64)
        for number, start in enumerate(range(0, count, _LONGEST)):
            thrown = self._bytes(f"{self.name} {symbol} {number}", min(_LONGEST, count - start))
            throws = np.frombuffer(thrown, dtype=np.uint8)
            # To compare and count is quicker than one count for each byte.
            below += [np.count_nonzero(throws < end) for end in _ENDS[:-1]] + [len(throws)]
        return np.diff(below, prepend=0).astype(np.float64)

    @staticmethod
    def _bytes(text: str, count: int) -> bytes:
        return hashlib.shake_256(text.encode()).digest(count)


# In a plan shares and parts are off by so many of their standard deviations: the farther off something is, the more it
# costs.  Fitted to what is read of 3,000 to 100,000 drawn answers at epsilon 1, 2 and 4 and a mean of .9.
USUALLY = 1.25
# Parts are so by turns, and the whole is not.
TURNS: Vector = np.array([1.0, -1.0, 1.0, -1.0, (FRACTIONS[:4] ** 0.5 @ [-1, 1, -1, 1]) / FRACTIONS[4] ** 0.5])


@dataclass(frozen=True)
class InProportion:
    """Answers that a plan expects: every part is like the whole, and what a part tells is off by as much as usual."""

    # The average size of a normal number.
    stray = sqrt(2 / pi)

    def parts(self, counts: Vector) -> Matrix:
        """Return the counts of each part, which need not be whole."""
        return np.multiply.outer(FRACTIONS, counts)


# How far the overall mean may be from the one that was expected, as a standard deviation; and from 0 if none was.
_EXPECTED, _UNKNOWN = 0.2, 0.5
# Some c that are fixed before any answer: about the mean that is expected, or all over where none is.
_ABOUT: Vector = np.array([-0.4, -0.15, 0.0, 0.15, 0.4])
_EVENLY: Vector = np.linspace(-1.5, 1.5, 9)
# Any c is valid, and to catch up it may be beyond what a mean can be: by so much, where fixed ones reach to, too.
_FARTHEST = 1.5


def nodes_about(expect: float | None) -> Vector:
    """Return some c that are fixed before any answer, between those that are farthest from 0.

    >>> nodes_about(0.8).round(2).tolist()
    [-1.5, 0.4, 0.65, 0.8, 0.95, 1.2, 1.5]
    """
    return _EVENLY if expect is None else np.array([-_FARTHEST, *(expect + _ABOUT), _FARTHEST])


@dataclass(frozen=True, eq=False)
class GapScore:
    """The scores of the sums and the shares of two groups, or of two sides of several groups.

    Args:
        sums: The scores of both sums.
        shares: The scores of both shares.
        expect: The overall mean that was expected before any answer, if there is one.
    """

    sums: tuple[Vector, Vector]
    shares: tuple[Vector, Vector]
    expect: float | None = None

    def lines(self, gap: float, shares: Vector) -> tuple[Matrix, Matrix]:
        """Return psi at c = 0, and what it gains with c, for each share of the first side among both."""
        (w, x), (u, z), p = self.sums, self.shares, shares[:, None]
        return (1 - p) * (w - (1 - p) * gap * u) - p * (x + p * gap * z), p * z - (1 - p) * u

    @property
    def both(self) -> tuple[Vector, Vector]:
        """The scores of the sum and of the share of both sides together."""
        return self.sums[0] + self.sums[1], self.shares[0] + self.shares[1]

    def told(self, counts: Vector) -> float:
        """Return the share of the first side among both that the answers point to."""
        (u, z) = (float(score @ counts) for score in self.shares)
        return u / (u + z)

    def estimate(self, counts: Vector, split: tuple[float, float] = (0.0, 1.0)) -> float:
        """Return the gap at which scores sum to zero, with the share that the answers point to in an interval.

        Where that share is what they tell, it is the difference of the two means.
        """
        (w, x), (u, z) = (tuple(float(score @ counts) for score in both) for both in (self.sums, self.shares))
        told = self.told(counts)
        p = min(max(told, split[0]), split[1])
        if p == told:
            return w / u - x / z
        c = min(max((w + x) / (u + z), -1.0), 1.0)
        return ((1 - p) * (w - c * u) - p * (x - c * z)) / ((u + z) * p * (1 - p))

    def centres(self, parts: Matrix, stray: float, draws: Draws = NO_DRAWS) -> Vector:
        """Return c for each part; that of each follows from the parts before it.

        Args:
            parts: The counts of each part.
            stray: By how many of its standard deviations the mean that parts tell is moved, to plan with.  What
                counts is how far it is from that of all answers, so the deviation is that of a sample without return.
            draws: The secret draws that are among the counts, of which each part has some.
        """
        sizes = parts.sum(axis=1)
        left = np.sqrt(1 - np.cumsum(np.append(0.0, sizes[:-1])) / max(float(sizes.sum()), 1.0))
        part = draws.part_of(float(sizes.sum()))
        found = []
        for number in range(len(parts)):
            earlier = parts[:number].sum(axis=0)
            told = earlier - earlier.sum() * part * draws.law if part else earlier
            found.append(self._aim(earlier, told, stray * float(left[number])))
        if sizes[-1] > 0:
            behind = float(sizes[:-1] @ (found[-1] - np.array(found[:-1])))
            found[-1] = min(max(found[-1] + behind / float(sizes[-1]), -_FARTHEST), _FARTHEST)
        return np.array(found)

    def _aim(self, earlier: Vector, cleaned: Vector, stray: float) -> float:
        """Return c for what comes after these answers; cleaned of what draws add on average."""
        expected, spread = (0.0, _UNKNOWN) if self.expect is None else (self.expect, _EXPECTED)
        (over, under), n = self.both, float(earlier.sum())
        if n == 0 or float(under @ cleaned) <= 0:
            return expected
        mean = float(over @ cleaned) / float(under @ cleaned)
        error = float(((over - mean * under) ** 2) @ earlier) / float(under @ cleaned) ** 2
        told = mean + stray * math.sqrt(error)
        return min(max(expected + (told - expected) * spread**2 / (spread**2 + error), -1.0), 1.0)
