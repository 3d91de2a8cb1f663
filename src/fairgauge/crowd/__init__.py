"""The crowd: what a published tally tells about one person, who is hidden among all who answered.

Standard library only, so that a device can compute it before it answers.
"""

from fairgauge.crowd.promise import (
    OBSERVED_IF_OPEN,
    OBSERVED_WITH_TICKETS,
    Crowd,
    crowd_of,
    default_delta,
    promised,
    usual_observed,
)
from fairgauge.crowd.words import factor_sentence, guess_sentence, readers_sentence

__all__ = [
    "OBSERVED_IF_OPEN",
    "OBSERVED_WITH_TICKETS",
    "Crowd",
    "crowd_of",
    "default_delta",
    "factor_sentence",
    "guess_sentence",
    "promised",
    "readers_sentence",
    "usual_observed",
]
