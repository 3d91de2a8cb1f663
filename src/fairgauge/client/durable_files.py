"""Names of files: that they last through a power cut, which takes writing out the folder, and that none is taken."""

import errno
import os
from pathlib import Path


def rename_to_free(old: Path, new: Path) -> None:
    """Rename a file, unless the new name is taken; of several who try at once, one succeeds.

    Raises:
        FileExistsError: If the name is taken; the file keeps its old name.
        OSError: If the file cannot be renamed.
    """
    if os.name != "posix":
        old.rename(new)  # elsewhere this refuses a name that is taken
        return
    try:
        os.link(old, new)
    except FileExistsError:
        raise
    except OSError:
        _rename_alone(old, new)  # not every file system has links
    else:
        old.unlink()


def _rename_alone(old: Path, new: Path) -> None:
    """Rename a file while nobody else does so in its folder: whoever renames like this takes the folder's lock."""
    import fcntl

    handle = os.open(new.parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if new.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
        old.rename(new)
    finally:
        os.close(handle)


def make_folder(path: Path) -> None:
    """Make the folder of a file if there is none, for its owner only, and make its name last.

    Raises:
        OSError: If it cannot be made.
    """
    missing = [folder for folder in path.absolute().parents if not folder.is_dir()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder)


def sync_folder(path: Path) -> None:
    """Write out the names in a file's folder.

    Raises:
        OSError: If the disk fails; not where the system has no such thing.
    """
    if os.name != "posix":
        return
    handle = os.open(path.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)
