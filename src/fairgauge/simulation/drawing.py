r"""Draw the tally of a study, without drawing a single answer.

A client's symbol follows one row of probabilities, and clients with the same inputs follow the same row.  Where clients
are drawn from a population, each one's symbol follows the average row, whoever else was drawn, so the tally is one
multinomial:

.. math:: (c_1, \dots, c_J) \sim \mathrm{Multinomial}\Big(K,\ \sum_x \pi_x P_x\Big)

Where the clients are the population itself, it is a sum of independent multinomials, one for each kind of client.  Both
are exact at any size, and a billion clients cost what ten thousand cost.
"""

from fractions import Fraction
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairgauge.channel import Channel
from fairgauge.crowd import blanket_weights
from fairgauge.errors import InvalidInput
from fairgauge.simulation.clients import Clients, Input, Seed, checked, generator
from fairgauge.simulation.people import Reading, read_people
from fairgauge.simulation.population import Population
from fairgauge.simulation.sites import SitePopulation, simulate_sites, simulate_sites_exactly
from fairgauge.study import NoisyCounts, Study
from fairgauge.study.field_checks import check_arguments
from fairgauge.study.mechanism import Registry
from fairgauge.tallies import Tally

_Law = NDArray[np.float64]


def simulate(
    study: Study, population: Any, *, clients: int | None = None, seed: Seed = None, reading: Reading | None = None
) -> Tally:
    """Draw the tally of a study that clients answer who are drawn from a population, as in life.

    Who answers is random: groups split about as the population does, not exactly.

    Guarantee: exact in distribution, up to the rounding of probabilities to double precision.

    Args:
        study: The study.
        population: Whom clients are drawn from: a histogram, a data frame, or the path of a CSV or Parquet file, with a
            row for each person or counted (:mod:`fairgauge.simulation.people`).  In a study of sites: who
            comes to which site, as a :class:`~fairgauge.simulation.sites.SitePopulation`, a frame or a path.
        clients: How many answer; as many as the histogram counts, unless told.  In a study of sites: so many sites,
            drawn from those of the population, instead of each once.
        seed: A number or a generator that makes it repeatable.
        reading: How a frame or a file is read, where columns or labels are not the study's own: a draft's ``table``. No
            study knows it, whether it was designed here or loaded.

    Raises:
        InvalidInput: If the population does not fit the study, or an argument is out of range.

    >>> from decimal import Decimal
    >>> from fairgauge.simulation import Cell, Population
    >>> from fairgauge.study import Attribute, Metric, Question
    >>> from fairgauge.channel import Channel, LEVEL_UNIT, ROW_SUM
    >>> rows = ((ROW_SUM // 4 * 3, ROW_SUM // 4), (ROW_SUM // 4, ROW_SUM // 4 * 3))
    >>> channel = Channel((*rows, *reversed(rows)), (-LEVEL_UNIT, LEVEL_UNIT), 2)
    >>> sex, recall = Attribute("sex", ("female", "male"), ("0.5", "0.5")), Metric("recall", "0", "1")
    >>> study = Study("Recall by sex", (Question(recall, sex, "gap", "mine", "1.1", channel),))
    >>> people = Population((Cell("female", Decimal("0.7"), 500), Cell("male", Decimal("0.9"), 500)))
    >>> simulate(study, people, clients=10**9, seed=7).contributors
    1000000000
    """
    if type(study) is not Study:
        check_arguments(study=(study, Study), population=(population, Population))
    _check_read(population, reading)
    return _DRAWERS[study.mechanism].draw(study, population, clients=clients, seed=seed, reading=reading)


def simulate_exactly(
    study: Study, population: Any, *, clients: int | None = None, seed: Seed = None, reading: Reading | None = None
) -> Tally:
    """Draw the tally of a study that everyone in a population answers: groups split exactly as its histogram says.

    That is the source paper's assumption.  Only the mechanism is random.

    Guarantee: exact in distribution, up to the rounding of probabilities to double precision.

    Args:
        study: The study.
        population: Who answers, as :func:`simulate` takes it; in a study of sites each site once, with its own people.
        clients: Rescale the histogram to so many, by largest remainders; devices only.
        seed: A number or a generator that makes it repeatable.
        reading: How a frame or a file is read, as :func:`simulate` takes it.

    Raises:
        InvalidInput: If the population does not fit the study, or an argument is out of range.
    """
    check_arguments(study=(study, Study))
    _check_read(population, reading)
    return _DRAWERS[study.mechanism].draw_exactly(study, population, clients=clients, seed=seed, reading=reading)


def _check_read(population: Any, reading: Reading | None) -> None:
    if reading is not None and isinstance(population, Population | SitePopulation):
        raise InvalidInput("reading", reading, "must be given with a frame or a file")


class Drawer(Protocol):
    """Who draws the tally of a population: all that differs by the mechanism in this room."""

    def draw(self, study: Study, population: Any, *, clients: int | None, seed: Seed, reading: Reading | None) -> Tally:
        """Draw the tally of contributors who are drawn from a population."""

    def draw_exactly(
        self, study: Study, population: Any, *, clients: int | None, seed: Seed, reading: Reading | None
    ) -> Tally:
        """Draw the tally of a population that answers as it is."""


class _Symbols:
    """Clients draw from a channel."""

    def draw(self, study: Study, population: Any, *, clients: int | None, seed: Seed, reading: Reading | None) -> Tally:
        people = Clients.of(study, _histogram(study, population, reading))
        total, laws = people.total, InputLaws(study)
        law = np.zeros(study.symbols)
        for inputs, count in people.kinds:
            law += count / total * laws.of(inputs)
        answers = checked(total if clients is None else clients)
        # Rounding may leave the sum of many rows further from 1 than NumPy takes.
        rng = generator(seed)
        return _counted(study, rng.multinomial(answers, law / law.sum()), rng)

    def draw_exactly(
        self, study: Study, population: Any, *, clients: int | None, seed: Seed, reading: Reading | None
    ) -> Tally:
        population = _histogram(study, population, reading)
        everyone = Clients.of(study, population if clients is None else population.rescaled(checked(clients)))
        rng, laws = generator(seed), InputLaws(study)
        counts = np.zeros(study.symbols, dtype=np.int64)
        for inputs, count in everyone.kinds:
            counts += rng.multinomial(count, laws.of(inputs))
        return _counted(study, counts, rng)


class _Counts:
    """Sites count their people, and add noise."""

    def draw(self, study: Study, population: Any, *, clients: int | None, seed: Seed, reading: Reading | None) -> Tally:
        return simulate_sites(study, _at_sites(study, population, reading), sites=clients, seed=seed)

    def draw_exactly(
        self, study: Study, population: Any, *, clients: int | None, seed: Seed, reading: Reading | None
    ) -> Tally:
        if clients is not None:
            raise InvalidInput(
                "clients", clients, "must not be given in a study of sites: then sites are those there are"
            )
        return simulate_sites_exactly(study, _at_sites(study, population, reading), seed=seed)


_DRAWERS: Registry[Drawer] = Registry({Channel: _Symbols(), NoisyCounts: _Counts()})


def _counted(study: Study, counts: NDArray[np.int64], rng: np.random.Generator) -> Tally:
    """Return the tally of answers, with secret draws among them where a collector would add them."""
    answers = int(counts.sum())
    if study.release is not None:
        weights = np.array(blanket_weights(study.channels), dtype=np.float64)
        drawn = study.release.draws * study.release.batches(answers)
        counts = counts + rng.multinomial(drawn, weights / weights.sum())
    return Tally(study.digest, tuple(counts.tolist()), answers)


def _at_sites(study: Study, population: Any, reading: Reading | None) -> SitePopulation:
    if isinstance(population, Population):
        rule = "must be a SitePopulation, a data frame or a file with a row for each person in a study of sites"
        raise InvalidInput("population", str(population), rule)
    if isinstance(population, SitePopulation):
        return population
    return SitePopulation.read(study.questions[0].counts, population, reading)


def _histogram(study: Study, population: Any, reading: Reading | None) -> Population:
    return population if isinstance(population, Population) else read_people(study, population, reading).population


class InputLaws:
    """The laws of answers over the symbols of all tables; clients with the same input follow the same row."""

    def __init__(self, study: Study) -> None:
        self._channels = study.channels
        self._row = cache(self._compute)

    def of(self, inputs: tuple[Input, ...]) -> _Law:
        """Return the law of the answer of a client with these inputs."""
        return np.concatenate([self._row(index, *each) for index, each in enumerate(inputs)])

    def _compute(self, index: int, group: int | None, *positions: Fraction | None) -> _Law:
        row = self._channels[index].mixture(group, *positions)
        return np.array([float(p / len(self._channels)) for p in row])
