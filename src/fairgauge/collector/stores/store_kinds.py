"""Which store an address names: ours, and those that others add.

A store is named by the scheme of its address, the part before the first colon.  To add one, either call
``register`` before the collector starts, or publish a package with an entry point of the group ``fairgauge.stores``,
whose name is the scheme and whose value is a factory::

    [project.entry-points."fairgauge.stores"]
    redis = "my_package.store:open_redis"

A factory takes the address and returns a store (:class:`fairgauge.collector.stores.store.Store`) that is ready.
"""

from collections.abc import Awaitable, Callable
from importlib.metadata import entry_points
from pathlib import Path

from fairgauge.collector.stores.store import Store
from fairgauge.errors import InvalidInput, MissingExtra

_GROUP = "fairgauge.stores"
_Factory = Callable[[str], Awaitable[Store]]


async def _open_sqlite(address: str) -> Store:
    from fairgauge.collector.stores.sqlite import SqliteStore  # locks files as POSIX does: not everywhere

    path = address.removeprefix("sqlite:///")
    if not path or path == address:
        raise InvalidInput("store", "sqlite", "must be sqlite:///FILE")
    return await SqliteStore.open(Path(path))


async def _open_postgres(address: str) -> Store:
    try:
        from fairgauge.collector.stores.postgres import PostgresStore
    except ImportError:
        raise MissingExtra("PostgreSQL needs asyncpg", "collector") from None
    if "://" not in address:
        raise InvalidInput("store", "postgresql", "must be postgresql://...")
    return await PostgresStore.open(address)


_FACTORIES: dict[str, _Factory] = {
    "sqlite": _open_sqlite,
    "postgresql": _open_postgres,
    "postgres": _open_postgres,
}


def register(scheme: str, factory: _Factory) -> None:
    """Add a kind of store, named by the scheme of its addresses.

    Raises:
        InvalidInput: If the scheme is taken.
    """
    if scheme in _FACTORIES:
        raise InvalidInput("scheme", scheme, "is taken")
    _FACTORIES[scheme] = factory


async def open_store(address: str) -> Store:
    """Open the store at ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``postgresql://...``, or one of others.

    Raises:
        InvalidInput: If no store has such an address.
        StoreError: If it cannot be opened, or has a schema that this version does not know.
    """
    # The address may hold a password, so no error repeats more of it than the scheme.
    scheme, colon, _ = address.partition(":")
    factory = _FACTORIES.get(scheme) or _installed(scheme)
    if factory is None or not colon:
        raise InvalidInput("store", scheme, "must be sqlite:///FILE, postgresql://... or another that is installed")
    return await factory(address)


def _installed(scheme: str) -> _Factory | None:
    for found in entry_points(group=_GROUP, name=scheme):
        factory: _Factory = found.load()
        return factory
    return None
