"""What is asked of a table: the target, the scores that read it, and what is assumed of the values."""

from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import Decoder
from fairgauge.targets.target import Target, Wanted

__all__ = ["AssumedValues", "Decoder", "Inputs", "Matrix", "Scores", "Target", "Vector", "Wanted"]
