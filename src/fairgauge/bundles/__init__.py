"""Bundles: the files of a study that belong together, and whether they do.

The way of files to a verdict, and the module that each step lives in::

    bundle_files        what each file is, by what it holds: files by name, a folder, or a zip of a collector
      |
    verification        one check after the other, each with an outcome and a sentence
      |
    seal_check          whether a seal is what the study and the export give
    report_comparison   whether a report is what its study and its tally give, byte for byte
"""

from fairgauge.bundles.bundle_files import Bundle, Piece, gather
from fairgauge.bundles.verification import Check, Signatures, Verification, verify

__all__ = ["Bundle", "Check", "Piece", "Signatures", "Verification", "gather", "verify"]
