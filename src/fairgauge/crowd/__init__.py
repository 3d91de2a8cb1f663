"""The crowd: what published counts with secret draws in them tell about one person.

Standard library only, so that a device can compute it before it answers.
"""

from fairgauge.crowd.crowd_epsilon import Crowd, crowd_of, default_delta, promised
from fairgauge.crowd.secret_draws import blanket_weights, draw_symbols, misfit, usual_draws
from fairgauge.crowd.sentences import factor_sentence, guess_sentence, readers_sentence

__all__ = [
    "Crowd",
    "blanket_weights",
    "crowd_of",
    "default_delta",
    "draw_symbols",
    "factor_sentence",
    "guess_sentence",
    "misfit",
    "promised",
    "readers_sentence",
    "usual_draws",
]
