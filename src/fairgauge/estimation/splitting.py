r"""Answers in five parts, by throws that know nothing of the answers: so that one part may choose how the next is read.

Each answer goes to a part by the next byte of a stream: the parts have 13, 38, 77, 77 and 51 of the 256 bytes, in this
order.  The stream of the n-th answers of symbol j, for n from m 2^20 on, is SHAKE-256 of the text ``name j m``.  So
nothing but integers is computed, and everyone who has the study and its counts finds the same parts.  Given how many
answers each part has, the counts of the parts are multivariate hypergeometric: every way to deal out the answers is
equally likely.

Of more than 2^31 answers no byte is thrown for each: whoever hands in a tally could make that last for ever.  How many
of a symbol's answers go to each part has a multinomial law, and is drawn from that by NumPy's generator whose stream is
frozen, with SHAKE-256 of the name as its seed.

The name is the study's digest and the number of the question.  It was there before any answer, so nobody can choose
parts after they have seen counts, and throws have nothing to do with what people answered: given the throws, answers
are still independent draws from one population, and so those of one part are independent of those of another.
"""

import hashlib
from dataclasses import dataclass
from math import pi, sqrt
from typing import Protocol

import numpy as np

from fairgauge.targets.inputs import Matrix, Vector

# How many of the 256 bytes send an answer to each part.
BYTES = (13, 38, 77, 77, 51)
FRACTIONS: Vector = np.array(BYTES) / 256
_ENDS = np.cumsum(BYTES).tolist()
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
        name: What the throws follow from, and nothing of the answers: the study's digest and the question's number.
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
        below = np.zeros(len(BYTES), dtype=np.int64)
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
