"""What people read, in their language: one file of texts for each, and how each writes numbers, counts and lists."""

from fairgauge.languages.catalogue import FOLDER, OWN, accepted, catalogue, lookup, names
from fairgauge.languages.told import Numeral, Told
from fairgauge.languages.voice import MINUS, PLAIN, Voice

__all__ = ["FOLDER", "MINUS", "OWN", "PLAIN", "Numeral", "Told", "Voice", "accepted", "catalogue", "lookup", "names"]
