"""What it takes for a file's name to last through a power cut: writing the file out does not write out its folder."""

import errno
import os
from pathlib import Path


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
