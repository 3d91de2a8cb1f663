"""Kinds of intervals: one value each, from which everything else reads.

Covers: fairgauge.estimation.reader.
"""

import subprocess
import sys

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.estimation.kinds import DEFAULT, KINDS, LIVE, SITE_KINDS, check_confidence, kind_of, sealed_kind
from fairgauge.estimation.reader import Reader


def test_the_kinds_that_are_offered():
    assert list(KINDS) == ["population", "fixed", "anytime", "normal", "chebyshev"]
    assert (DEFAULT, LIVE) == ("population", "anytime")
    assert all(kind_of(name) is kind and kind.name == name for name, kind in KINDS.items())


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_each_says_what_it_is_about_and_reads_by_itself(kind):
    assert issubclass(kind.reader, Reader)
    assert ("population" in kind.about) != ("clients who answered" in kind.about)
    assert kind.about in kind.guarantee
    assert not kind.guarantee.endswith(".")


def test_an_estimate_names_a_kind_of_devices_or_of_sites():
    assert sealed_kind("normal") is KINDS["normal"]
    assert sealed_kind("people") is SITE_KINDS["people"]


def test_unknown_names_and_impossible_confidences_are_refused():
    with pytest.raises(InvalidInput, match="interval=wald: must be one of population, fixed, anytime, normal, cheb"):
        kind_of("wald")
    assert check_confidence(0.99) == pytest.approx(0.01)
    for confidence in (1.5, 1.0, 0.49, 0.0, -1.0, float("nan")):
        with pytest.raises(InvalidInput, match=r"confidence=.*: must be from 0.5 to below 1"):
            check_confidence(confidence)


def test_naming_the_kinds_loads_no_numbers():
    code = "import sys, fairgauge.estimation.kinds; print('numpy' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
