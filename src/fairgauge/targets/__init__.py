"""What a question wants: its inputs, its goal, and the scores that serve it; below designs and estimation alike."""

from fairgauge.targets.inputs import Inputs, Matrix, Vector
from fairgauge.targets.scores import Decoder
from fairgauge.targets.target import Goal, Wanted

__all__ = ["Decoder", "Goal", "Inputs", "Matrix", "Vector", "Wanted"]
