"""A copy that is being made: under another name, for its owner only, and with its own name when it is whole."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairgauge.errors import StoreError
from fairgauge.server.secrets_folder import sync

_BESIDE = ("", "-wal", "-shm", "-journal")


@contextmanager
def whole_copy(target: Path) -> Iterator[Path]:
    """Give an empty file beside the target that only its owner may read; it gets the target's name if nothing is wrong.

    Guarantee: a file of the target's name is complete and durable, and has replaced none; a crash leaves none of that
    name.  What a copy that was killed has left there is removed first, and two copies of one name do not get in each
    other's way: whoever makes one holds the file's lock.

    Raises:
        StoreError: If there is something already, such a copy is being made, or there can be none.
    """
    refuse_existing(target)
    try:
        with _unfinished(target) as path:
            yield path
            sync(path)
            os.link(path, target)  # unlike a rename, this never replaces a file that appeared meanwhile
            sync(target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}") from None


def refuse_existing(path: Path) -> None:
    """Refuse to overwrite anything."""
    if path.exists():
        raise StoreError(f"{path} exists: move it away first, nothing is overwritten")


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    path = target.with_name(f".{target.name}.part")
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        _hold(handle, target)
        # Another file, not this one emptied: it may be a finished copy, whose maker was killed before it let go.
        _remove(path, _BESIDE)
        left, handle = handle, os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        os.close(left)
        _hold(handle, target)
        try:
            yield path
        finally:
            _remove(path, _BESIDE)
    finally:
        os.close(handle)


def _hold(handle: int, target: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise StoreError(f"{target} is being written by another program") from None


def _remove(path: Path, endings: tuple[str, ...]) -> None:
    for ending in endings:
        path.with_name(path.name + ending).unlink(missing_ok=True)
