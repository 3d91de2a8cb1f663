"""What commands did in the secrets folder, until a collector puts it into the audit log of its store.

Commands that make tokens and tickets or replace a key need no store, and a collector need not run.  Each leaves a line
in the folder.  Of several collectors that share the folder, one at a time takes the lines, and drops them when they are
in the store: a crash in between writes a line twice, and loses none.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairgauge.collector.stores.base import Event
from fairgauge.server.coarse_time import bucket_of
from fairgauge.server.secrets_folder import locked, read_secret, write_secret

FILE = "notes.json"
LOCK = ".notes.lock"
WHO = "command line"
HOUR = 3600


_SITE = "made the ticket of the site "


def site_note(name: str) -> str:
    """Return the line that says that a site was given its ticket.

    >>> named_site(Event(0, WHO, site_note("St Mary")))
    'St Mary'
    """
    return f"{_SITE}{name}"


def named_site(note: Event) -> str | None:
    """Return the site that a line says was given its ticket, or None if it says something else."""
    return note.did.removeprefix(_SITE) if note.did.startswith(_SITE) else None


def leave_note(folder: Path, did: str, about: str) -> None:
    """Leave a line for the audit log; never a secret."""
    with locked(folder):
        _write(folder, [*_read(folder), Event(bucket_of(time.time(), HOUR), WHO, did, about)])


@contextmanager
def taken_notes(folder: Path) -> Iterator[list[Event]]:
    """Give the lines that were left, none if another process has them, and drop them if nothing goes wrong."""
    if not (folder / FILE).exists():
        yield []
        return
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield []
            return
        taken = _read(folder)
        yield taken
        with locked(folder):
            _write(folder, _read(folder)[len(taken) :])
    finally:
        os.close(handle)


def _read(folder: Path) -> list[Event]:
    return [Event(*line) for line in json.loads(read_secret(folder, FILE) or b"[]")]


def _write(folder: Path, events: list[Event]) -> None:
    if events:
        lines = [[event.bucket, event.who, event.did, event.about] for event in events]
        write_secret(folder, FILE, json.dumps(lines, indent=1).encode())
    else:
        (folder / FILE).unlink(missing_ok=True)
