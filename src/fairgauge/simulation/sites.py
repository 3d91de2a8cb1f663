"""Simulate a study of sites: who comes to each site is drawn at random, and so is the noise.

Sites are those of a population, each once (sites as strata), or so many drawn from them (sites as a sample).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.client import Answer
from fairgauge.client.site_counts import law_in
from fairgauge.errors import InvalidInput
from fairgauge.simulation.clients import Seed, generator, group_index
from fairgauge.simulation.people import LEAVE_OUT, Reading, TableColumns
from fairgauge.simulation.table import open_table
from fairgauge.study import Metric, NoisyCounts, Study
from fairgauge.study.noisy_counts import MOST_IN_CELL
from fairgauge.tallies import Tally

Counts = NDArray[np.float64]
_Come = Callable[[np.random.Generator, Counts], Any]
_Progress = Callable[[int], None]
_MOST_SITES = 10**5
_BINARY = (Metric("truth", 0, 1), Metric("prediction", 0, 1))


@dataclass(frozen=True, eq=False)
class SitePopulation:
    """Who comes to which site.

    Args:
        names: The sites.
        cells: For each site how many people there are in each cell; a value between two levels is partly in both.
    """

    names: tuple[str, ...]
    cells: Counts

    @classmethod
    def read(
        cls, site: NoisyCounts, given: Any, how: Reading | None = None, *, where: str = "site"
    ) -> "SitePopulation":
        """Read it from a CSV or Parquet file, a data frame, or a mapping from columns to entries.

        Each row is a person, or as many as its ``count`` says.  What lacks a group or an outcome is left out, as sites
        leave it out.

        Args:
            site: What is counted.
            given: The file or the frame.
            how: Where groups and outcomes stand (``truth`` and ``prediction``, or the metric) and what labels mean.
            where: The column that says to which site a person came; without one all came to the same.

        Raises:
            InvalidInput: If it cannot be read, or a column is missing.
            BadRecords: If rows cannot be used.
        """
        outcome = _BINARY if site.metric is None else (site.metric,)
        reading = how or Reading()
        reading = replace(reading, missing=reading.missing or LEAVE_OUT)
        asked = TableColumns([site.attribute], outcome, reading, beside=where, whole=site.metric is None)
        found: dict[str, Counts] = {}
        for cell in asked.read(open_table(given)).population.cells:
            entries = dict(cell.columns or ())
            group = group_index(site.attribute, cell)
            own = found.setdefault(entries.get(where) or "all", np.zeros(site.size))
            for place, part in law_in(site, group, [entries[metric.name] for metric in outcome]):
                own[place] += cell.count * float(part)
        kept = {name: own for name, own in found.items() if own.sum() > 0}
        return cls(tuple(kept), np.array(list(kept.values())))

    def __str__(self) -> str:
        """Return how many sites there are, and how many people."""
        return f"Population of {self.cells.sum():,.0f} people in {len(self.names):,} sites"


def simulate_sites(
    study: Study,
    population: SitePopulation,
    *,
    sites: int | None = None,
    seed: Seed = None,
    progress: _Progress | None = None,
) -> Tally:
    """Draw the tally of a study of sites: who comes to them is at random, as in life.

    Guarantee: exact in distribution, up to the rounding of probabilities to double precision.

    Args:
        study: A study for sites.
        population: Who comes to which site.  As many come as it counts there, with one record each.
        sites: So many sites, drawn from those of the population at random; each of these once unless given.
        seed: A number or a generator that makes it repeatable.
        progress: Hears of every site that answered.

    Raises:
        InvalidInput: If the study is for devices, or an argument is out of range.
    """
    if sites is not None and (type(sites) is not int or not 1 <= sites <= _MOST_SITES):
        raise InvalidInput("sites", sites, f"must be an integer from 1 to {_MOST_SITES:,}")
    rng = generator(seed)
    there = len(population.names)
    picked = range(there) if sites is None else rng.integers(there, size=sites).tolist()
    return _answered(study, [population.cells[index] for index in picked], rng, _drawn, progress)


def simulate_sites_exactly(
    study: Study, population: SitePopulation, *, seed: Seed = None, progress: _Progress | None = None
) -> Tally:
    """Draw the tally of a study of sites in which the people are those of the population: only the noise is at random.

    Guarantee: exact in distribution, up to the rounding of probabilities to double precision; values between levels are
    rounded at random together.
    """
    return _answered(study, population.cells, generator(seed), _as_they_are, progress)


def _answered(
    study: Study, sites: Iterable[Counts], rng: np.random.Generator, come: _Come, progress: _Progress | None
) -> Tally:
    site = study.questions[0].counts
    decay = float(np.exp(-float(Fraction(site.declared) / (2 * site.records))))
    answers = []
    for own in sites:
        if own.sum() > MOST_IN_CELL / 2:
            raise InvalidInput("count", round(own.sum()), f"must be at most {MOST_IN_CELL // 2:,} people in a site")
        noise = rng.geometric(1 - decay, site.size) - rng.geometric(1 - decay, site.size)
        name = rng.bytes(16).hex()
        answers.append(Answer(study.digest, name, tuple((come(rng, own) + noise).tolist())))
        if progress is not None:
            progress(1)
    return Tally.of(study, answers)


def _drawn(rng: np.random.Generator, own: Counts) -> Any:
    """Return as many people as a site has, each drawn at random."""
    return rng.multinomial(_whole(own), own / own.sum())


def _whole(own: Counts) -> int:
    return round(float(own.sum()))


def _as_they_are(rng: np.random.Generator, own: Counts) -> Any:
    """Return the people of a site: whole numbers stay, and parts are rounded at random so that their sum stays."""
    whole = np.floor(own + 1e-9).astype(np.int64)
    rest = np.maximum(own - whole, 0.0)
    left = _whole(rest)
    return whole + (rng.multinomial(left, rest / rest.sum()) if left else 0)
