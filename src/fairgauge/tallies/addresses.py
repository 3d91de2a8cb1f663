"""Files that are elsewhere: addresses such as ``s3://bucket/answers``, by whatever fsspec knows.

Folders and patterns are looked up here; reading is the engine's, where it can.  What an engine cannot read is fetched
into a temporary folder first.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fairgauge.errors import InvalidInput

# What each engine reads by itself; Dask takes whatever fsspec does.
_OWN = {
    "polars": ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "http", "https", "hf", "file"),
    "duckdb": ("s3", "http", "https", "gs", "gcs", "hf"),
    "pyspark": ("s3", "s3a", "gs", "abfs", "abfss", "hdfs", "file", "dbfs"),
}
_PIECE = 2**20


def is_remote(path: str) -> bool:
    """Tell whether a path is an address."""
    return "://" in path


def listed(address: str, endings: Sequence[str]) -> list[str]:
    """Return the files that an address names: itself, all in a folder, or all that fit a pattern.

    Where nothing here knows the scheme, it is the engine's: the address itself is returned.

    Raises:
        InvalidInput: If it cannot be looked up.
    """
    try:
        files, path = _opened(address)
    except (ImportError, ValueError):
        return [address]
    try:
        if any(letter in path for letter in "*?["):
            found = files.glob(path)
        elif files.isdir(path):
            found = [name for name in files.find(path) if str(name).lower().endswith(tuple(endings))]
        else:
            return [address]
        return [str(files.unstrip_protocol(name)) for name in sorted(found)]
    except OSError as error:
        raise InvalidInput("answers", address, f"cannot be looked up: {error.strerror or error}") from None


def size(address: str) -> int:
    """Return how many bytes a file has, or 0 where nobody knows."""
    try:
        files, path = _opened(address)
        return int(files.size(path) or 0)
    except (ImportError, OSError, ValueError):
        return 0


@contextmanager
def readable(engine: str, addresses: Sequence[str]) -> Iterator[list[str]]:
    """Give what an engine can read: the addresses themselves, or copies for as long as this lasts."""
    own = _OWN.get(engine)
    if own is None or all(not is_remote(one) or one.partition("://")[0] in own for one in addresses):
        yield list(addresses)
        return
    with TemporaryDirectory(prefix="fairgauge-") as folder:
        yield [
            str(_fetched(one, Path(folder) / f"{number}{Path(one).suffix}")) if is_remote(one) else one
            for number, one in enumerate(addresses)
        ]


def _fetched(address: str, target: Path) -> Path:
    try:
        files, path = _opened(address)
        with files.open(path, "rb") as source, target.open("wb") as copy:
            while piece := source.read(_PIECE):
                copy.write(piece)
    except ImportError:
        raise InvalidInput("answers", address, "needs fsspec, and what it needs for such addresses") from None
    except (OSError, ValueError) as error:
        raise InvalidInput("answers", address, f"cannot be fetched: {error}") from None
    return target


def _opened(address: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    files, path = url_to_fs(address)
    return files, str(path)
