"""What people read, in their language: one file of texts for each, and how each writes numbers, counts and lists."""

from fairgauge.languages.language import MINUS, PLAIN, Voice
from fairgauge.languages.language_choice import FOLDER, OWN, accepted, catalogue, lookup, names
from fairgauge.languages.sentence import Label, Moment, Numeral, Sentence

__all__ = [
    "FOLDER",
    "MINUS",
    "OWN",
    "PLAIN",
    "Label",
    "Moment",
    "Numeral",
    "Sentence",
    "Voice",
    "accepted",
    "catalogue",
    "lookup",
    "names",
]
