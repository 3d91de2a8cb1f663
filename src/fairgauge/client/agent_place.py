"""Where an agent listens: one agent for each socket, whatever a dead one or somebody else left there."""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fairgauge.errors import InvalidInput

BACKLOG = 128


@contextmanager
def listening(path: Path, mode: int) -> Iterator[socket.socket]:
    """Listen at a path with these permissions; what a dead agent left there is removed, and so is our own at the end.

    Raises:
        InvalidInput: If another agent has the path, or it cannot be used.
    """
    with _alone(path), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        _make_room(path)
        try:
            _bind(listener, path, mode)
            listener.listen(BACKLOG)
            ours = path.lstat()
        except OSError as problem:
            raise InvalidInput("socket", path, f"cannot be used: {problem.strerror or problem}") from None
        try:
            yield listener
        finally:
            with suppress(OSError):
                now = path.lstat()
                if (now.st_dev, now.st_ino) == (ours.st_dev, ours.st_ino):  # what somebody else put there stays
                    path.unlink()


def _bind(listener: socket.socket, path: Path, mode: int) -> None:
    """Make the socket with its permissions: changed afterwards, they might be those of another file by then."""
    before = os.umask(0o777 & ~mode)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock beside a socket: of two who start at once, neither may take the other's socket for a dead one's."""
    import fcntl

    lock = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise InvalidInput("socket", path, f"cannot be used: {problem.strerror or problem}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidInput("socket", path, "is in use by an agent that is running") from None
        yield
    finally:
        os.close(handle)


def _make_room(path: Path) -> None:
    """Remove a socket on which nobody listens; everything else stays."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise InvalidInput("socket", path, "is a file of something else")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as problem:
            raise InvalidInput("socket", path, f"cannot be used: {problem.strerror or problem}") from None
    raise InvalidInput("socket", path, "is in use by an agent that is running")
