"""What commands did in the secrets folder, until a collector puts it into the audit log of its store.

Commands that make tokens and tickets or replace a key need no store, and a collector need not run.  Each leaves a line
in the folder.  Of several collectors that share the folder, one at a time takes the lines, and drops them when they are
in the store: a crash in between writes a line twice, and loses none.
"""

import fcntl
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from fairgauge.collector.stores.store import Event
from fairgauge.languages import OWN, Sentence, catalogue
from fairgauge.server.coarse_time import bucket_of
from fairgauge.server.secrets_folder import locked, read_secret, write_secret

_FILE = "notes.json"
_LOCK = ".notes.lock"
_WHO = "command line"
_SITE = "made the ticket of the site "
_TICKETS = re.compile(r"made (\d{1,9}) tickets?")
_HOUR = 3600


@dataclass(frozen=True, slots=True)
class _LeftNote:
    """A line for the audit log, and the site that was given its ticket, if it is about one."""

    event: Event
    site: str | None = None


def site_words(name: str) -> str:
    """Return what the audit log says of a site that was given its ticket: words for people, which nothing reads."""
    return f"{_SITE}{name}"


def done_words(did: str) -> str:
    """Return what the audit log says that was done, so that pages can say it in another language.

    >>> str(done_words("made 100 tickets")), str(done_words("restored a backup"))
    ('made 100 tickets', 'restored a backup')
    """
    key = f"did.{did.replace(' ', '-')}"
    if key in catalogue()[OWN]:
        return Sentence.of(key)
    tickets = _TICKETS.fullmatch(did)
    if tickets is not None:
        return Sentence.of("did.tickets", count=int(tickets[1]))
    return Sentence.of("did.site", name=did.removeprefix(_SITE)) if did.startswith(_SITE) else did


def leave_note(folder: Path, did: str, about: str, *, site: str | None = None) -> None:
    """Leave a line for the audit log; never a secret."""
    with locked(folder):
        _write(folder, [*_read(folder), _LeftNote(Event(bucket_of(time.time(), _HOUR), _WHO, did, about), site)])


@contextmanager
def taken_notes(folder: Path) -> Iterator[list[_LeftNote]]:
    """Give the lines that were left, none if another process has them, and drop them if nothing goes wrong."""
    if not (folder / _FILE).exists():
        yield []
        return
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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


def _read(folder: Path) -> list[_LeftNote]:
    lines = json.loads(read_secret(folder, _FILE) or b"[]")
    return [_LeftNote(Event(*event), site) for *event, site in lines]


def _write(folder: Path, notes: list[_LeftNote]) -> None:
    if notes:
        lines = [[*astuple(note.event), note.site] for note in notes]
        write_secret(folder, _FILE, json.dumps(lines, indent=1).encode())
    else:
        (folder / _FILE).unlink(missing_ok=True)
