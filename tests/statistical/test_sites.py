"""How often intervals of sites' counts miss, with people drawn at random; and broken ones that must be caught.

Covers: bench.sites_coverage
"""

from collections.abc import Callable

import numpy as np
import pytest

from bench import sites_coverage
from bench.sites_coverage import ENDS, USUAL, Setting, measure
from fairgauge.estimation.noise_law import Noise
from fairgauge.estimation.rates import RateTest
from fairgauge.estimation.site_inference import Between, SiteReader

RUNS = 60
SMALL = Setting(ENDS, 3, 60, "3", "records")
SITES = Setting(USUAL, 20, 200, "1", "sites")


@pytest.mark.parametrize("setting", [SMALL, SITES], ids=str)
def test_intervals_hold_as_often_as_they_say(setting: Setting) -> None:
    found = measure(setting, RUNS)
    assert {one.quantity for one in found} == set(sites_coverage.QUANTITIES)
    assert not any(one.broken for one in found), found


def _ten_times_alpha(patch: pytest.MonkeyPatch) -> Setting:
    believes = SiteReader.believes_rate
    patch.setattr(SiteReader, "believes_rate", lambda self, rate, value, alpha: believes(self, rate, value, 10 * alpha))
    return SMALL


def _half_the_noise(patch: pytest.MonkeyPatch) -> Setting:
    whole = Noise.log_transform
    patch.setattr(Noise, "log_transform", lambda self, times: whole(self, times) / 8)
    return Setting(USUAL, 5, 1000, "0.3", "records")


def _no_people(patch: pytest.MonkeyPatch) -> Setting:
    part = RateTest.part
    patch.setattr(RateTest, "part", lambda self, rate, people, scale: part(self, rate, np.zeros(len(people)), scale))
    return Setting(USUAL, 5, 2000, "3")


def _sites_do_not_differ(patch: pytest.MonkeyPatch) -> Setting:
    variance = Between._variance
    patch.setattr(Between, "_variance", lambda self, first, second: variance(self, first, second) / 6)
    return SITES


@pytest.mark.parametrize(
    "mutant", [_ten_times_alpha, _half_the_noise, _no_people, _sites_do_not_differ], ids=lambda one: one.__name__
)
def test_a_broken_interval_is_caught(mutant: Callable[[pytest.MonkeyPatch], Setting]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        assert any(one.broken for one in measure(mutant(patch), RUNS, first=2))  # rates and shares
