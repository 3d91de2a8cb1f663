"""A copy that is being made: under another name, for its owner only, and gone whatever happens."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairgauge.errors import StoreError

_BESIDE = ("", "-wal", "-shm", "-journal")


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """Make an empty file beside the target that only its owner may read; it is removed at the end.

    What a copy that was killed has left there is removed first, and two copies of one name do not get in each other's
    way: whoever makes one holds the file's lock.

    Raises:
        StoreError: If such a copy is being made already.
        OSError: If there can be none.
    """
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
