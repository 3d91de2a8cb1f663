"""Where answers are kept: ``open_store`` picks the store that an address names, and ``register`` adds a kind."""

from fairgauge.collector.stores.store_kinds import open_store, register

__all__ = ["open_store", "register"]
