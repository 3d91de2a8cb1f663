"""The folder with a collector's secrets: files that only their owner may read, written whole or not at all."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairgauge.errors import InvalidInput

_LOCK = ".lock"


def sync(path: Path) -> None:
    """Put a file on the disk, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from changing the folder while a file in it is read, changed and written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InvalidInput("secrets", folder, f"cannot be changed: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def read_secret(folder: Path, name: str) -> bytes | None:
    """Return a file of the folder, or None if there is none.

    Raises:
        InvalidInput: If others may read it: a secret that leaked is better replaced than used.
    """
    path = folder / name
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            if mode & 0o077:
                raise InvalidInput(str(path), oct(mode), "must be readable by its owner only: chmod 600")
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput("secrets", path, f"cannot be read: {error.strerror}") from None


def write_secret(folder: Path, name: str, data: bytes) -> None:
    """Put a file into the folder so that a crash leaves the old one or the new one, and the new one from here on."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")  # made with mode 600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(folder / name)
            sync(folder)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InvalidInput("secrets", folder / name, f"cannot be written: {error.strerror}") from None


def replace_secret(folder: Path, name: str, size: int) -> bytes:
    """Put a new key of random bytes in the place of the one that is there, and return it."""
    made = os.urandom(size)
    write_secret(folder, name, made)
    return made


def read_or_make_secret(folder: Path, name: str, size: int) -> bytes:
    """Return a key of random bytes, made when it is first needed; two processes that race get the same one."""
    while (found := read_secret(folder, name)) is None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(os.urandom(size))
                file.flush()
                os.fsync(file.fileno())
            try:
                (folder / name).hardlink_to(temporary)
                sync(folder)  # a key that was used and is gone would be made anew, as another one
            except FileExistsError:
                continue
        finally:
            Path(temporary).unlink(missing_ok=True)
    if len(found) != size:
        raise InvalidInput(str(folder / name), f"{len(found)} bytes", f"must be {size} bytes")
    return found
