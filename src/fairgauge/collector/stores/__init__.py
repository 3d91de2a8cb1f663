"""Where answers are kept: ``open_store`` picks the store that an address names."""

from pathlib import Path

from fairgauge.collector.stores.base import Store
from fairgauge.errors import InvalidInput, MissingExtra


async def open_store(address: str) -> Store:
    """Open the store at ``sqlite:///relative.db``, ``sqlite:////absolute.db`` or ``postgresql://...``.

    Raises:
        InvalidInput: If no store has such an address.
        StoreError: If it cannot be opened, or has a schema that this version does not know.
    """
    if address.startswith("sqlite:///") and len(address) > len("sqlite:///"):
        from fairgauge.collector.stores.sqlite import SqliteStore

        return await SqliteStore.open(Path(address.removeprefix("sqlite:///")))
    if address.startswith(("postgresql://", "postgres://")):
        try:
            from fairgauge.collector.stores.postgres import PostgresStore
        except ImportError:
            raise MissingExtra("PostgreSQL needs asyncpg", "collector") from None
        return await PostgresStore.open(address)
    # The address may hold a password, so the error does not repeat it.
    raise InvalidInput("store", address.partition(":")[0], "must be sqlite:///FILE or postgresql://...")
