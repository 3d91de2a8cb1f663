"""Kinds of intervals: one value each, from which everything else reads.

Covers: fairgauge.estimation.interval_readers.
"""

import subprocess
import sys

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.estimation.inference import SUM_READERS
from fairgauge.estimation.interval_kinds import DEFAULT, KINDS, LIVE, SITE_KINDS, check_confidence, kind_of
from fairgauge.estimation.interval_readers import READERS, Reader, reader_of
from tests.samples import site_study

SITES = site_study().mechanism


def test_the_kinds_that_are_offered():
    assert list(KINDS) == ["population", "anytime", "normal"]
    assert (DEFAULT, LIVE) == ("population", "anytime")
    assert all(kind_of(name) is kind and kind.name == name for name, kind in KINDS.items())
    assert all(
        kind_of(name, SUM_READERS[SITES].kinds) is kind and kind.name == name for name, kind in SITE_KINDS.items()
    )
    assert DEFAULT in KINDS.keys() & SITE_KINDS.keys()


@pytest.mark.parametrize("kind", [*KINDS.values(), *SITE_KINDS.values()], ids=lambda kind: kind.name)
def test_each_says_what_it_is_about(kind):
    assert kind.about in kind.guarantee
    assert not kind.guarantee.endswith(".")


def test_each_kind_has_a_reader_of_its_own():
    assert list(READERS) == list(KINDS)
    found = [reader_of(kind) for kind in KINDS.values()]
    assert len({*found}) == len(KINDS)
    assert all(issubclass(reader, Reader) for reader in found)


@pytest.mark.parametrize("name", ["chebyshev", "finite", "fixed"])
def test_the_papers_kinds_are_refused_with_where_they_are(name: str):
    where = "; the source paper's kinds, about exactly the clients who answered, are under `fairgauge paper`$"
    with pytest.raises(InvalidInput, match=f"^interval={name}: must be one of population, anytime, normal{where}"):
        kind_of(name)
    rule = f"must be one of population, records, sites in a study for sites{where}"
    with pytest.raises(InvalidInput, match=f"^interval={name}: {rule}"):
        kind_of(name, SUM_READERS[SITES].kinds)


def test_unknown_names_and_impossible_confidences_are_refused():
    with pytest.raises(InvalidInput, match=r"^interval=wald: must be one of population, anytime, normal$"):
        kind_of("wald")
    assert check_confidence(0.99) == pytest.approx(0.01)
    for confidence in (1.5, 1.0, 0.49, 0.0, -1.0, float("nan")):
        with pytest.raises(InvalidInput, match=r"confidence=.*: must be from 0.5 to below 1"):
            check_confidence(confidence)


def test_naming_the_kinds_loads_no_numbers():
    code = "import sys, fairgauge.estimation.interval_kinds; print('numpy' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
