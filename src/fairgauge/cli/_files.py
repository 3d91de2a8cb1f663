"""Files that people name, read into what the library takes, with errors that name the file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairgauge.canonical_json import write_file
from fairgauge.errors import BadRecords, InvalidInput, NotPrivate
from fairgauge.study import Study
from fairgauge.tallies import Tally


def read_study(path: Path) -> Study:
    """Read a study and check its privacy."""
    data = read_bytes("study", path)
    with naming(path):
        return Study.from_bytes(data)


def read_tally(path: Path, study: Study) -> Tally:
    """Read the tally of a study."""
    data = read_bytes("tally", path)
    with naming(path):
        tally = Tally.from_bytes(data)
        tally.check(study)
        return tally


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of a file before what is wrong in it."""
    try:
        yield
    except BadRecords as error:
        first, *others = (InvalidInput(f"{path}: {one.field}", one.value, one.rule) for one in error.problems)
        raise BadRecords(first.field, first.value, first.rule, *others) from None
    except InvalidInput as error:
        if error.value == path:
            raise
        raise type(error)(f"{path}: {error.field}", error.value, error.rule) from None
    except NotPrivate as error:
        raise NotPrivate(f"{path}: {error}") from None


def read_bytes(field: str, path: Path) -> bytes:
    """Read a file."""
    try:
        return path.read_bytes()
    except OSError as reason:
        raise InvalidInput(field, path, f"cannot be read: {reason.strerror or reason}") from None


def write_bytes(field: str, path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    write_file(path, data, field=field)
