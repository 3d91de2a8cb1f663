"""The study: an immutable document that says what is asked of whom, and with which channels.

Its name is the SHA-256 digest of its canonical bytes, so a device, a collector and a reader who hold the same
digest hold the same study.  The meaning of a field never changes: a new meaning is a new format number, and
unknown fields are refused.  Numbers are integers, or decimals written as strings ("0.25"), never floats; whoever
makes a study in Python may give numbers of any kind.
"""

from fairgauge.study.checks import LONGEST_DECIMAL, LONGEST_TEXT
from fairgauge.study.document import MOST_QUESTIONS, Study, parse
from fairgauge.study.numbers import Number
from fairgauge.study.values import MOST_GROUPS, MOST_SYMBOLS, Attribute, Metric, Question, Target

__all__ = [
    "LONGEST_DECIMAL",
    "LONGEST_TEXT",
    "MOST_GROUPS",
    "MOST_QUESTIONS",
    "MOST_SYMBOLS",
    "Attribute",
    "Metric",
    "Number",
    "Question",
    "Study",
    "Target",
    "parse",
]
