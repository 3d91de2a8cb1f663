"""Tests of values give the margins that they gave before: what was published is found again from the same counts.

A margin is how far a value is beyond what is accepted, by which every interval, sentence and p-value is decided.
A change of the last digits that nobody meant is an error; one that is meant writes ``intervals.json`` again
(``make vectors``) and says so in the changelog.  Counts and tables are kept or made of integers.

Covers: fairgauge.estimation.anytime, fairgauge.estimation.share_band, fairgauge.estimation.betting,
fairgauge.estimation.draws, fairgauge.estimation.edgeworth, fairgauge.estimation.gap_score,
fairgauge.estimation.noise_law, fairgauge.estimation.population_gap, fairgauge.estimation.population_test,
fairgauge.estimation.populations, fairgauge.estimation.rates, fairgauge.estimation.interval_readers,
fairgauge.estimation.site_inference, fairgauge.estimation.hypothesis_tests, fairgauge.targets.symbol_scores.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fairgauge.crowd import blanket_weights
from fairgauge.errors import CannotEstimate
from fairgauge.estimation import confidence_set
from fairgauge.estimation.inference import reader_for
from fairgauge.estimation.interval_kinds import KINDS, SITE_KINDS, IntervalKind
from fairgauge.estimation.interval_readers import Reader
from fairgauge.estimation.interval_readers import TestReader as ByTests
from fairgauge.estimation.rates import NoisySums, RateGapTest, RateTest, metrics_of, rate_of
from fairgauge.estimation.site_inference import SiteReader, noise_of
from fairgauge.study import Attribute, Release, Study, parse
from fairgauge.tallies import Tally
from tests.sites import confusion_study, levels_study, site_of
from tests.surveys import expected_tally, people

HERE = Path(__file__).parent
FILE = HERE / "intervals.json"
VECTORS = HERE.parent / "vectors"
ALPHA = 0.05
# From what the counts say, in the widths that are about accepted.
PLACES = (-2.5, -1.1, -0.6, 0.0, 0.3, 0.95, 1.4)
SIZES, SITES = (600, 20_000, 400_000), 6


def _study(file: str, **said: object) -> Study:
    """Return a study whose table is kept, with other things said of its groups."""
    study = parse((VECTORS / file).read_bytes())
    assert isinstance(study, Study)
    first = study.questions[0]
    groups = Attribute(first.attribute.name, first.attribute.groups, **said)  # type: ignore[arg-type]
    return replace(study, questions=(replace(first, attribute=groups),))


def studies() -> dict[str, Study]:
    """Return a study for each way in which counts are read."""
    alike = {"shares": ("0.5", "0.5"), "answering": "alike"}
    estimated = _study("study-means.json")
    return {
        "gap alone": _study("study-centred.json", **alike),
        "shares known": _study("study-means.json", **alike),
        "shares may be off": _study("study-means.json", **alike, share_error="0.01"),
        "split within a band": _study("study-means.json", shares=("0.5", "0.5"), answering="1.2"),
        "split estimated": estimated,
        "planned": replace(estimated, planned=30_000),
        "draws": replace(estimated, release=Release(10_000, "0.00000001", 1000)),
    }


def counted(study: Study, answers: int) -> Tally:
    """Return counts that are off by what integers make of a wave, so that nothing cancels."""
    wanted = people(("female", "0.9", 45 * answers // 100), ("male", "0.8", 55 * answers // 100))
    counts = np.array(expected_tally(study, wanted).counts)
    counts += np.array([(-1) ** place * (place * 7 % 5) for place in range(len(counts))]) * answers // 4000
    counts = np.maximum(counts, 0)
    if study.release is None:
        return Tally(study.digest, tuple(map(int, counts)))
    law = np.array(blanket_weights(study.channels), dtype=float)
    drawn = np.floor(study.release.draws * law / law.sum()).astype(int)
    drawn[0] += study.release.draws - drawn.sum()
    return Tally(study.digest, tuple(map(int, counts + drawn)), int(counts.sum()))


def cases() -> dict[str, Callable[[], Iterator[float]]]:
    """Return what finds the numbers of each kind of test, for each way in which counts are read."""
    found: dict[str, Callable[[], Iterator[float]]] = {}
    for name, study in studies().items():
        for answers in SIZES:
            for kind in KINDS.values():
                found[f"{name}, {answers:,} answers, {kind.name}"] = partial(_of_devices, study, answers, kind)
    outcomes = {"outcomes": confusion_study(), "two records a person": confusion_study("2", records=2)}
    for name, study in (outcomes | {"levels": levels_study()}).items():
        found[f"sites, {name}, population"] = partial(_of_sites, study, drawn=True)
        found[f"sites, {name}, records"] = partial(_of_sites, study, drawn=False)
        found[f"sites, {name}, sites"] = partial(_between_sites, study)
    return found


def _of_devices(study: Study, answers: int, kind: IntervalKind) -> Iterator[float]:
    try:
        yield from _margins(reader_for(study, counted(study, answers), 0, kind))
    except CannotEstimate:  # too few to tell how large a group is
        yield 0.0


def _margins(reader: Reader) -> Iterator[float]:
    estimands = reader.estimands
    ratios = [] if estimands.gaps is None else [estimands.gaps[0, 1]]
    ratios += [] if estimands.means is None else [estimands.mean_of(0)]
    for ratio in ratios:
        if isinstance(reader, ByTests):
            yield from _around(reader.test(ratio, ALPHA))
        else:
            found = reader.ratio(ratio, ALPHA)
            yield from (found.low, found.high)
    if estimands.gaps is None:
        yield from _around(reader.gap_test((0, 1), ALPHA))
    elif not estimands.exact:
        wide = reader.gap((0, 1), ALPHA)
        yield from (wide.low, wide.high)


def _around(test: confidence_set.Test) -> Iterator[float]:
    """Yield the estimate of a test, about how wide it is, and its margins around it."""
    (low, high), limit = test.extent, test.limit(test.estimate)
    yield from (test.estimate, limit)
    yield from (test.margin(min(max(test.estimate + place * limit, low), high)) for place in PLACES)


def _of_sites(study: Study, *, drawn: bool) -> Iterator[float]:
    site = site_of(study)
    counts = np.array([(cell * 37 % 11 + 3) * 40.0 for cell in range(site.size)])
    table = NoisySums(counts, noise_of(site, SITES), site.records, drawn=drawn)
    weights = list(metrics_of(site).values())[-1]
    first, second = (RateTest(table, rate_of(site, weights, [group]), ALPHA) for group in (0, 1))
    yield from _around(first)
    yield from _around(RateGapTest(first, second))


def _between_sites(study: Study) -> Iterator[float]:
    site = site_of(study)
    rows = [
        np.array([(cell * 37 % 11 + 3) * 7 + cell * (3 * row + 1) % 7 for cell in range(site.size)])
        for row in range(SITES)
    ]
    products = np.sum([np.outer(row, row) for row in rows], axis=0)[np.triu_indices(site.size)]
    tally = Tally(study.digest, tuple(np.sum(rows, axis=0).tolist()), SITES, products=tuple(products.tolist()))
    reader, weights = SiteReader(site, tally, SITE_KINDS["sites"]), next(iter(metrics_of(site).values()))
    rates = [rate_of(site, weights, [group]) for group in (0, 1)]
    for found in (reader.rate(rates[0], ALPHA), reader.gap(rates[0], rates[1], ALPHA)):
        yield from (found.low, found.high)


CASES = cases()
KEPT: dict[str, list[float]] = json.loads(FILE.read_text(encoding="utf-8"))


def written() -> str:
    """Return the file, with more digits than are compared."""
    found = {name: [float(f"{value:.9g}") for value in case()] for name, case in CASES.items()}
    return json.dumps(found, indent=1) + "\n"


def test_the_same_cases_are_kept():
    assert list(CASES) == list(KEPT)


@pytest.mark.parametrize("name", CASES)
def test_a_margin_is_what_it_was(name: str):
    assert list(CASES[name]()) == pytest.approx(KEPT[name], rel=1e-6, abs=1e-8)
