"""Designs: ways of making a channel for what is asked.

========================  =======================================================================================
``randomized-response``   the paper's M_R with the allocation that makes it private
``laplace``               the paper's M_L (k = 2) on a lattice, with tails as single symbols
``uncentred``             the least worst-case variance for clients whose split is known exactly
``centred``               the least total error about the population, for the gap of two groups
``estimated``             as ``uncentred`` if nothing were known of the split, for the gap of two groups where it is
``estimated-centred``     as ``centred`` if nothing were known of the split, for the gap of two groups where it is
``auto``                  whichever of them has the least total error; ``laplace`` never has, and is not tried
========================  =======================================================================================

Every design ends in a table of integers whose privacy is checked exactly, and every variance is computed from that
table.  Other packages add designs through :mod:`fairgauge.designs.registry`.
"""

from fairgauge.designs.registry import (
    AUTO,
    LEAST_EPSILON,
    Design,
    check_design,
    designs_for,
    known_designs,
    make_channel,
    register,
    tried_by_auto,
)

__all__ = [
    "AUTO",
    "LEAST_EPSILON",
    "Design",
    "check_design",
    "designs_for",
    "known_designs",
    "make_channel",
    "register",
    "tried_by_auto",
]
