"""The command line: one small file per command, and no mathematics.

Exit status: 0 fine, 1 the answer is no (not private, impossible, cannot be estimated), 2 bad input.
"""

from fairgauge.cli.entry import main, make_app

__all__ = ["main", "make_app"]
