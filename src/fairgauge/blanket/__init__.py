"""What a tally reveals, as nearly as can be computed: for the laboratory and the docs; a device uses ``crowd``."""

from fairgauge.blanket.bounds import Closeness, closeness

__all__ = ["Closeness", "closeness"]
