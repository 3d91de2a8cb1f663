"""Deliver an answer to a file of answers, one a line: each at most once, also after a crash."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fairgauge.client.answer import Answer
from fairgauge.client.durable_files import sync_folder
from fairgauge.errors import InvalidInput

# How an answer begins, up to any length: what a crash in the middle of a line leaves behind.
_BEGUN = re.compile(
    rb'\{(?:"(?:i(?:d(?:"[":,a-z0-9]{0,250})?)?'  # one of a device
    rb'|c(?:o(?:u(?:n(?:t(?:s(?:"[":,a-z0-9\[\]-]*)?)?)?)?)?)?)?)?\}?'  # one of a site
)
_LONGEST_LINE = 2**16  # of a site that counts many cells


def append(answer: Answer, path: str | Path) -> bool:
    """Write an answer at the end of a file, and to the disk; tell whether it was not there before.

    Processes that use this function take turns.

    Raises:
        InvalidInput: If the file cannot be written, or ends in something else than a line.
    """
    return append_all([answer], path) == 1


def append_all(answers: Iterable[Answer], path: str | Path) -> int:
    """Write answers at the end of a file, as :func:`append` does, and return how many were not there before."""
    path = Path(path)
    try:
        with _alone(path) as file:
            return _append([answer.to_bytes() + b"\n" for answer in answers], path, file)
    except OSError as problem:
        reason = problem.strerror
    raise InvalidInput("file", path, f"cannot be written: {reason}")


def _append(lines: list[bytes], path: Path, file: BinaryIO) -> int:
    end, new = 0, dict.fromkeys(lines)
    for found in file:
        if not found.endswith(b"\n"):
            if len(found) > _LONGEST_LINE or not _BEGUN.fullmatch(found):
                raise InvalidInput("file", path, "must end in a whole line, as a file of answers does")
            break  # Its writer was killed within the line, has it in a ledger, and will write it again.
        end += len(found)
        new.pop(found, None)
    if new:
        file.truncate(end)
        file.seek(end)
        file.write(b"".join(new))
        file.flush()
    # Also where the line was found: whoever wrote it may not have lived to do this.
    os.fsync(file.fileno())
    sync_folder(path)
    return len(new)


@contextmanager
def _alone(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading and writing, made if need be, and keep other writers out until it is closed."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        try:
            from fcntl import LOCK_EX, flock
        except ImportError:  # Windows: one process at a time, please
            pass
        else:
            flock(file, LOCK_EX)
        yield file
