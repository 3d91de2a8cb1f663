"""What is asked of a table: the target, the scores that read it, and what is assumed of the values."""

from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

__all__ = ["AssumedValues", "Scores", "Target"]
