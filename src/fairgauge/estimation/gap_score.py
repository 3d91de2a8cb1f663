r"""The score of a gap that no share moves: what is averaged where the groups' shares are estimated.

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

*Which c.*  Answers come in five parts (:mod:`fairgauge.estimation.splitting`), and the c of each part is found from the
parts before it: the mean of both groups that they tell, drawn towards what was expected the more the worse they do,

.. math:: c_b = e + (\hat c - e) \frac{\tau^2}{\tau^2 + \hat V_c / n} .

The last part catches up: its c is such that the average over all parts is what the last one would have been.  What the
parts before tell is a constant for the answers of a part, so its scores have the means above.
"""

import math
from dataclasses import dataclass

import numpy as np

from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.targets.inputs import Matrix, Vector

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

    def estimate(self, counts: Vector, split: tuple[float, float] = (0.0, 1.0)) -> float:
        """Return the gap at which scores sum to zero, with the share that the answers point to in an interval.

        Where that share is what they tell, it is the difference of the two means.
        """
        (w, x), (u, z) = (tuple(float(score @ counts) for score in both) for both in (self.sums, self.shares))
        told = u / (u + z)
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
