"""The moment: a uniform second of the next epoch, whenever in this one the answer was drawn."""

import secrets
from collections import Counter

import pytest
from scipy.stats import binomtest

from fairgauge.client.sending_epoch import next_moment, others_of, shown
from fairgauge.errors import CannotAnswer

NOW = 1_800_000_000.5
FALSE_POSITIVES = 1e-6


def halves(draw, count: int = 4000) -> float:
    """Return the p-value of what a first and a second half of the epoch would be for a uniform moment."""
    first = sum((draw() % 600) < 300 for _ in range(count))
    return float(binomtest(first, count, 0.5).pvalue)


def test_a_moment_is_a_uniform_second_of_the_next_epoch():
    begins = (int(NOW) // 600 + 1) * 600
    seen = Counter(next_moment(NOW + shift, 600) for shift in (0, 599 - int(NOW) % 600) for _ in range(3000))
    assert min(seen) >= begins
    assert max(seen) < begins + 600
    assert len(seen) > 590
    assert halves(lambda: next_moment(NOW, 600)) > FALSE_POSITIVES
    # The twin: a moment that is some seconds after now is caught.
    assert halves(lambda: int(NOW) + 300) < FALSE_POSITIVES


def test_a_study_that_closes_in_the_next_epoch_shortens_it_and_one_that_closes_before_is_refused():
    begins = (int(NOW) // 600 + 1) * 600
    assert {next_moment(NOW, 600, shown(begins + 2)) for _ in range(99)} == {begins, begins + 1}
    with pytest.raises(CannotAnswer, match=f"before {shown(begins)}, when that begins; nothing was drawn"):
        next_moment(NOW, 600, shown(begins))


def test_a_moment_is_drawn_from_the_secure_source(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(secrets, "randbelow", lambda limit: limit - 1)
    assert next_moment(0.0, 60) == 119


def test_the_others_of_an_epoch_are_all_but_oneself():
    day = shown(0), shown(86_400)
    assert others_of(1, 3600, *day) == 0
    assert others_of(25, 3600, *day) == pytest.approx(1)
    assert others_of(25, 7 * 86_400, *day) == 24  # no epoch has more than the whole study
