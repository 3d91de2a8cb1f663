"""Who may touch an agent's files: nobody who may only ask it.

Whoever may connect to the socket, and everyone else on the computer, must not be able to read the profile, to raise the
limits, or to make the ledger forget.  So owners and permissions are looked at whenever a file is used.
"""

import os
import stat
from pathlib import Path

READ, WRITE, _SEARCH = 0o4, 0o2, 0o1
_GROUP = 0o060


def trouble(path: Path, mode: int, forbidden: int, *, owned: bool = True) -> str | None:
    """Return what is wrong with a file and with the folders above it, or None.

    Args:
        path: The file; one that is missing has nothing wrong but its folders.
        mode: The socket's permissions: they say whether the agent's group may ask.
        forbidden: What nobody else may do: ``READ``, ``WRITE`` or both.
        owned: Whether the file must belong to the agent's user, or to root.
    """
    if os.name != "posix":
        return None
    try:
        # By its name and by where that leads: who can change a folder on either way can put another file in its place.
        for place in (path.absolute(), Path(os.path.realpath(path))):
            for folder in place.parents:
                # Beside a ledger nobody may put a file either: SQLite would roll it back by a journal of theirs.
                sticky = folder != place.parent or not forbidden & READ
                if (problem := _open_folder(folder, mode, owned=owned, sticky=sticky)) is not None:
                    return problem
        return wrong(path, path.stat(), mode, forbidden, owned=owned)
    except FileNotFoundError:
        return None
    except OSError as problem:
        return f"{path} cannot be used: {problem.strerror}"


def _open_folder(folder: Path, mode: int, *, owned: bool, sticky: bool) -> str | None:
    """Return what is wrong where others could move what is in a folder; None if they could not.

    Args:
        folder: The folder.
        mode: As above.
        owned: Whether it must belong to the agent's user, or to root.
        sticky: Whether others may put files of theirs there, as in ``/tmp``.
    """
    try:
        found = folder.stat()
    except FileNotFoundError:
        return None  # it will be made, in the one above it
    if owned and found.st_uid not in (0, os.geteuid()):
        return f"the folder {folder} must belong to the user that the agent runs as, or to root"
    if not (sticky and found.st_mode & stat.S_ISVTX) and allowed(found, mode) & WRITE:
        return f"the folder {folder} must be closed for writing to whoever may ask: chmod go-w FOLDER"
    return None


def wrong(path: Path, found: os.stat_result, mode: int, forbidden: int, *, owned: bool = True) -> str | None:
    """Return what is wrong with the owner or the permissions of a file, or None."""
    if owned and found.st_uid not in (0, os.geteuid()):
        return f"{path} must belong to the user that the agent runs as"
    if allowed(found, mode) & forbidden:
        closed = "go-w" if forbidden == WRITE else "go="
        return f"{path} must be closed to others and to whoever may ask: chmod {closed} FILE"
    return None


def length_seen(path: Path, mode: int) -> str | None:
    """Return what is wrong where others can see how long a file is; None if a folder above it is closed to them.

    Who cannot read "female" in a file can count its letters: permissions of the file hide what is in it, and not how
    much.
    """
    if os.name != "posix" or not all(allowed(folder.stat(), mode) & _SEARCH for folder in path.resolve().parents):
        return None
    return (
        f"others can see how long {path} is, which tells of what is in it: chmod go= FOLDER, with the socket elsewhere"
    )


def allowed(found: os.stat_result, mode: int) -> int:
    """Return what everyone, and whoever may ask as one of the agent's group, may do with a file."""
    may = found.st_mode & 0o7
    if mode & _GROUP and found.st_gid == os.getegid():
        may |= found.st_mode >> 3 & 0o7
    return may
