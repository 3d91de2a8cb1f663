"""Sites and people drawn at random: the law of what sites would send, from files and frames."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.errors import InvalidInput
from fairgauge.simulation import (
    Cell,
    Population,
    Reading,
    SitePopulation,
    simulate_exactly,
    simulate_sites,
    simulate_sites_exactly,
)
from tests.samples import sample_study
from tests.sites import confusion_study, levels_study, site_of

STUDY = confusion_study()
SITE = site_of(STUDY)
TABLE = {
    "site": ["a", "a", "b", "b"],
    "sex": ["female", "male", "female", "male"],
    "truth": [1, 1, 0, 1],
    "prediction": [1, 0, 0, 1],
    "count": [300, 100, 200, 50],
}
OWN = Reading(columns={"sex": "gender", "truth": "sick", "prediction": "alarm"})
A, B = [0, 0, 0, 300, 0, 0, 100, 0], [200, 0, 0, 0, 0, 0, 0, 50]


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame], ids=lambda kind: kind.__name__)
def test_who_comes_to_which_site(frame: Any) -> None:
    found = SitePopulation.read(SITE, frame(TABLE))
    assert found.names == ("a", "b")
    assert found.cells.tolist() == [A, B]
    assert str(found) == "Population of 650 people in 2 sites"


def test_a_row_is_a_person_and_columns_have_names_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("hospital,gender,sick,alarm\na,male,1,1\nb,female,0,1\nb,,0,1\nb,female,,1\n")
    found = SitePopulation.read(SITE, path, OWN, where="hospital")
    assert found.cells.tolist() == [[0, 0, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0, 0, 0]]
    alone = SitePopulation.read(SITE, path, OWN)
    assert alone.names == ("all",)
    assert alone.cells.sum() == 2


@pytest.mark.parametrize(
    ("column", "entries", "said"),
    [
        ("site", ["a", None, "b", "b"], "row 1: site=nothing: must be the name of a site"),
        ("count", [1, 1, 2.5, 1], "row 2: count=2.5: must be an integer from 0 up"),
        ("count", [1, 1, -1, 1], "row 2: count=-1"),
        ("count", [0, 0, 0, 0], "table=no row: must have somebody"),
        ("truth", [0, 1, 7, 1], "row 2: truth=7: truth must be 0 or 1"),
    ],
)
def test_what_makes_no_sense(column: str, entries: list[Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        SitePopulation.read(SITE, TABLE | {column: entries})


def test_values_between_levels_are_partly_in_both() -> None:
    site = site_of(levels_study())  # at 0, 5 and 10
    found = SitePopulation.read(site, {"sex": ["male"], "score": [4], "count": [10]})
    assert found.cells[0].tolist() == pytest.approx([0, 0, 0, 2, 8, 0])
    tally = simulate_sites_exactly(levels_study("1000"), found, seed=1)
    assert tally.counts == (0, 0, 0, 2, 8, 0)


def test_people_are_drawn_and_only_the_noise_where_they_are_known() -> None:
    quiet = confusion_study("1000")  # noise that is never drawn
    people = SitePopulation.read(SITE, TABLE)
    exact = simulate_sites_exactly(quiet, people, seed=1)
    assert list(exact.counts) == [a + b for a, b in zip(A, B, strict=True)]
    drawn = [simulate_sites(quiet, people, seed=seed).counts for seed in range(200)]
    assert all(sum(counts) == 650 for counts in drawn)
    means, variances = np.mean(drawn, axis=0), np.var(drawn, axis=0)
    assert means[3] == pytest.approx(300, abs=5 * np.sqrt(75 / 200))
    assert variances[3] == pytest.approx(400 * 0.75 * 0.25, rel=0.6)
    noisy = [simulate_sites_exactly(STUDY, people, seed=seed).counts[1] for seed in range(400)]
    q = np.exp(-0.5)
    assert np.var(noisy) == pytest.approx(2 * 2 * q / (1 - q) ** 2, rel=0.5)


def test_sites_that_are_drawn_from_the_sites() -> None:
    quiet, people = confusion_study("1000"), SitePopulation.read(SITE, TABLE)
    met: list[int] = []
    tally = simulate_sites(quiet, people, sites=30, seed=1, progress=met.append)
    assert tally.contributors == 30
    assert met == [1] * 30
    assert simulate_sites(quiet, people, sites=30, seed=1) == tally
    sums = {simulate_sites(quiet, people, sites=1, seed=seed).counts[7] > 0 for seed in range(20)}
    assert sums == {True, False}
    with pytest.raises(InvalidInput, match="sites=0: must be an integer from 1"):
        simulate_sites(quiet, people, sites=0)


def test_both_verbs_serve_sites() -> None:
    exactly, people = simulate_exactly(STUDY, pl.DataFrame(TABLE), seed=2), SitePopulation.read(SITE, TABLE)
    assert exactly == simulate_exactly(STUDY, people, seed=2) == simulate_sites_exactly(STUDY, people, seed=2)
    assert exactly != fg.simulate(STUDY, people, seed=2)
    with pytest.raises(InvalidInput, match="clients=8: must not be given in a study of sites"):
        simulate_exactly(STUDY, people, clients=8)
    with pytest.raises(InvalidInput, match="must be a SitePopulation, a data frame or a file"):
        simulate_exactly(STUDY, Population((Cell("female", None, 3),)))


def test_the_verb_takes_frames() -> None:
    tally = fg.simulate(STUDY, pl.DataFrame(TABLE), clients=8, seed=2)
    assert tally.contributors == 8
    assert fg.estimate(STUDY, tally, interval="sites")["selection rate"].answers == 8
    with pytest.raises(InvalidInput, match="must be a SitePopulation, a data frame or a file"):
        fg.simulate(STUDY, Population((Cell("female", None, 3),)))
    with pytest.raises(InvalidInput, match="must be for sites"):
        simulate_sites(sample_study(), SitePopulation.read(SITE, TABLE))
