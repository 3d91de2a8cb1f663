"""Bundles: the files of a study that belong together, and whether they do.

The way of files to a verdict, and the module that each step lives in::

    files      what each file is, by what it holds: files by name, a folder, or a zip as a collector serves it
      |
    checks     one check after the other, each with an outcome and a sentence
      |
    compared   whether a report is what its study and its tally give, byte for byte
"""

from fairgauge.bundles.checks import verify
from fairgauge.bundles.files import Bundle, Piece, gather
from fairgauge.bundles.outcomes import Check, Signatures, Verification

__all__ = ["Bundle", "Check", "Piece", "Signatures", "Verification", "gather", "verify"]
