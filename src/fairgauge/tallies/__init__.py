"""The tally: how often each symbol of a study was sent.  Merging two tallies is addition.

Counting answers one by one needs nothing but Python.  ``from_frame`` counts those in a data frame, and ``from_files``
those in files; both leave the counting to an engine that exists, and load it when they are called.
"""

from fairgauge.tallies.files import from_files
from fairgauge.tallies.frame_count import from_frame
from fairgauge.tallies.tally import Tally

__all__ = ["Tally", "from_files", "from_frame"]
