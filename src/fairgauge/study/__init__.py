"""The study: an immutable document that says what is asked of whom, and with which channels.

Its name is the SHA-256 digest of its canonical bytes, so a device, a collector and a reader who hold the same
digest hold the same study.  From the first release on the meaning of a field never changes: a new meaning is a new
format number, and unknown fields are refused.  Numbers are integers, or decimals written as strings ("0.25"), never
floats; whoever makes a study in Python may give numbers of any kind.
"""

from fairgauge.study.attribute import Attribute, Comparison
from fairgauge.study.document import Study, Table, parse
from fairgauge.study.mechanism import Mechanism
from fairgauge.study.metric import Metric
from fairgauge.study.noisy_counts import NoisyCounts
from fairgauge.study.numbers import Number
from fairgauge.study.question import ANY_VALUES, MOST_SYMBOLS, Question, TargetName, counted
from fairgauge.study.terms import Issuer, Model, Release, Stratum

__all__ = [
    "ANY_VALUES",
    "MOST_SYMBOLS",
    "Attribute",
    "Comparison",
    "Issuer",
    "Mechanism",
    "Metric",
    "Model",
    "NoisyCounts",
    "Number",
    "Question",
    "Release",
    "Stratum",
    "Study",
    "Table",
    "TargetName",
    "counted",
    "parse",
]
