"""Files that people name, read into what the library takes, with errors that name the file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.canonical import write_file
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.study import Study
from fairgauge.study.numbers import MOST_CLIENTS
from fairgauge.tallies import Tally

if TYPE_CHECKING:
    from fairgauge.simulation import Population
    from fairgauge.simulation.columns import Columns


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


def read_population(path: Path, columns: "Columns") -> "Population":
    """Read a population."""
    from fairgauge.simulation import Population

    with naming(path):
        population = Population.from_csv(path, columns)
        if population.clients > MOST_CLIENTS:
            raise InvalidInput("count", population.clients, "must total at most 10^15")
        return population


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of a file before what is wrong in it."""
    try:
        yield
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
