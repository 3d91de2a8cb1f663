"""The tally: how often each symbol of a study was sent.  Merging two tallies is addition."""

from fairgauge.tally.counts import Tally

__all__ = ["Tally"]
