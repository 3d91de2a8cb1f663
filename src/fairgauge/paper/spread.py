r"""How far the average of a score can stray from its mean, from the channel alone.

Everything here bounds over all values that clients may hold, between levels too.  What a bound is for a single
client depends on the client's group; :class:`Spread` joins the groups' bounds into one for all clients: by the
shares where the study relies on them, else by the worst group.

It is the paper's assumption that these clients are all there are: what they hold is fixed, and only the channel is
random.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairgauge.targets.decoder import Decoder, least_variances, worst_variances
from fairgauge.targets.inputs import Matrix, Vector


@dataclass(frozen=True)
class Spread:
    """Bounds on the spread of one score.

    Args:
        decoder: The decoder of the channel.
        score: A number for each symbol.
        shares: The groups' shares if the clients are known to split like that, else None.
    """

    decoder: Decoder
    score: Vector
    shares: Vector | None

    @cached_property
    def variance(self) -> float:
        """The largest variance of the average client's score."""
        return self._joined(worst_variances(self.decoder, self.score))

    @cached_property
    def least_variance(self) -> float:
        """The smallest variance of the average client's score."""
        return -self._joined(-least_variances(self.decoder, self.score))

    @cached_property
    def reach(self) -> float:
        """The largest distance between a score and its mean."""
        mean = self.decoder.rows @ self.score
        return float(max(self.score.max() - mean.min(), mean.max() - self.score.min()))

    def cumulant(self, tilt: Vector, sign: int) -> Vector:
        r"""Return the largest log moment generating function of the centred score, at each tilt.

        .. math:: \Lambda(\lambda) = \max_v \ln E[e^{\pm\lambda (Y - E Y)} \mid v]

        Between two levels this is a concave function of where v lies; its top has a closed form.
        """
        mean, moments, top = self._moments(tilt, sign)
        inputs = self.decoder.inputs
        tops = [
            np.max([_top_cumulant(mean[run], moments[run], tilt) for run in inputs.runs(block)], axis=0)
            for block in inputs.blocks
        ]
        joined: Vector = (self._weights(np.array(tops)) * tops).sum(axis=0) + tilt * top
        return joined

    def _moments(self, tilt: Vector, sign: int) -> tuple[Vector, Matrix, float]:
        """Return every input's mean, and its moments relative to the largest score, which do not overflow."""
        score = sign * self.score
        top = float(score.max())
        return self.decoder.rows @ score, self.decoder.rows @ np.exp(np.multiply.outer(score - top, tilt)), top

    def _joined(self, of_blocks: Vector) -> float:
        """Join upper bounds of each block of inputs into one for the average client."""
        return float(self._weights(of_blocks[:, None])[:, 0] @ of_blocks)

    def _weights(self, of_blocks: Matrix) -> Matrix:
        """Return how much each block weighs in the average client that is worst for these bounds, in each column."""
        count, columns = of_blocks.shape
        if self.shares is None:
            return np.asarray(np.arange(count)[:, None] == of_blocks.argmax(axis=0), dtype=np.float64)
        d = len(self.shares)
        weights = np.zeros((count, columns))
        weights[:d] = self.shares[:, None]
        if count > d:
            # How many abstain is not known, so the average client is no worse than the worse of the two kinds.
            weights[:, of_blocks[d] > self.shares @ of_blocks[:d]] = np.eye(count)[:, [d]]
        return weights


def _top_cumulant(mean: Vector, moments: Matrix, tilt: Vector) -> Vector:
    """Return the largest value of ln((1-t) A + t B) - tilt (f0 + t (f1 - f0)) over levels and between them."""
    at_levels: Vector = np.log(moments) - np.multiply.outer(mean, tilt)
    best: Vector = at_levels.max(axis=0)
    if len(mean) == 1:
        return best
    below, rise, step = moments[:-1], np.diff(moments, axis=0), np.diff(mean)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = 1 / (tilt * step) - below / rise
    t = np.clip(np.nan_to_num(t, nan=0.0), 0, 1)
    between = np.log(below + t * rise) - tilt * (mean[:-1, None] + t * step)
    top: Vector = np.maximum(best, between.max(axis=0))
    return top
