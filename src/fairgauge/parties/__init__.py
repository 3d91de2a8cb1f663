"""The parties beside the collector: the issuer of blind tickets, and the relay that carries envelopes.

Each is a program of its own, run by somebody else than the collector, and imports nothing of it.
"""
