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

# What each engine reads by itself.  Dask and DuckDB read through fsspec: DuckDB's own way to S3 is an extension that it
# would have to fetch first, and that does not look for credentials where others do.
_OWN = {
    "polars": ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "http", "https", "hf", "file"),
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
    if lacking(address) is not None:
        return [address]
    try:
        files, path = _opened(address)
        if any(letter in path for letter in "*?["):
            found = files.glob(path)
        elif files.isdir(path):
            found = [name for name in files.find(path) if str(name).lower().endswith(tuple(endings))]
        else:
            return [address]
        return [str(files.unstrip_protocol(name)) for name in sorted(found)]
    except Exception as error:  # noqa: BLE001 - each kind of storage has errors of its own
        raise InvalidInput("answers", address, f"cannot be looked up: {first_line(error)}") from None


def lacking(address: str) -> str | None:
    """Return what has to be installed before fsspec can look into an address; None if nothing is missing.

    >>> lacking("memory://answers") is None
    True
    """
    try:
        _opened(address)
    except ImportError as error:
        return "install fsspec" if error.name == "fsspec" else _small(first_line(error))
    except ValueError as error:
        return _small(first_line(error))
    except Exception:  # noqa: BLE001 - something else is wrong, and is told when it is read
        return None
    return None


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def first_line(error: BaseException) -> str:
    """Return what an error says, on one line; where something has to be installed, that: whoever wraps it hides it."""
    found: BaseException | None = error
    while found is not None:
        # Below what fsspec says, which is the best, there is the module that was not found.
        if isinstance(found, ImportError) and not (isinstance(found, ModuleNotFoundError) and found is not error):
            error = found
        found = found.__cause__ or found.__context__
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def opened(file: str) -> Iterator[Any]:
    """Give a file of an address for reading, or None where fsspec cannot open it."""
    if lacking(file) is not None:
        yield None
        return
    files, path = _opened(file)
    with files.open(path, "rb") as source:
        yield source


def size(address: str) -> int:
    """Return how many bytes a file has, or 0 where nobody knows."""
    try:
        files, path = _opened(address)
        return int(files.size(path) or 0)
    except Exception:  # noqa: BLE001 - then the bar does not know; reading tells what is wrong
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
    except Exception as error:  # noqa: BLE001 - each kind of storage has errors of its own
        rule = lacking(address) or first_line(error)
        raise InvalidInput("answers", address, f"cannot be fetched: {rule}") from None
    return target


def _opened(address: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    files, path = url_to_fs(address)
    return files, str(path)
