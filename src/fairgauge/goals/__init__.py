"""What a question wants: its inputs, its goal, and the scores that serve it; below designs and estimation alike."""

from fairgauge.goals.decoder import Decoder
from fairgauge.goals.goal import Goal, Wanted
from fairgauge.goals.inputs import Inputs, Matrix, Vector

__all__ = ["Decoder", "Goal", "Inputs", "Matrix", "Vector", "Wanted"]
