"""What reads counts by each kind of interval."""

from collections.abc import Mapping

from fairgauge.estimation.by_inversion import AnytimeReader, PopulationReader
from fairgauge.estimation.kinds import IntervalKind
from fairgauge.estimation.normal import NormalReader
from fairgauge.estimation.reader import Reader

READERS: Mapping[str, type[Reader]] = {
    "population": PopulationReader,
    "anytime": AnytimeReader,
    "normal": NormalReader,
}


def reader_of(kind: IntervalKind) -> type[Reader]:
    """Return what reads counts by a kind of interval."""
    return READERS[kind.name]
