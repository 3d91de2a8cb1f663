"""Shares that may be off: what is believable is what some share in the band believes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from fairgauge.estimation import share_band
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval import Interval
from fairgauge.estimation.interval_readers import READERS
from fairgauge.estimation.share_band import Band, Readings, gap_in_band, mean_in_band
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.surveys import attribute, coin_question, designed, tells_all


def held(error: float, runs: int = 150, *, tells: bool = False) -> int:
    """How often no gap at all is believed, of clients at recall 0.9 who split 45 to 55 and are taken for halves."""
    question = tells_all("0.5", "0.5") if tells else designed(Scores(Target((0.5, 0.5))), "2", design="uncentred")
    told = replace(estimands_of(question), share_error=error)
    levels = told.decoder.inputs.levels
    at_08 = np.array([np.interp(0.8, levels, row) for row in np.eye(len(levels))])
    law = np.concatenate([0.45 * at_08, 0.55 * at_08]) @ told.decoder.rows
    rng = np.random.default_rng(7)
    counts = rng.multinomial(20_000, law / law.sum(), size=runs).astype(float)
    return sum(READERS["normal"](told, row).believes_gap((0, 1), 0.0, 0.01) for row in counts)


@pytest.mark.parametrize("tells", [False, True])
def test_no_gap_is_believed_if_the_error_is_stated(tells: bool):
    missed = 150 - held(0.05, tells=tells)
    assert binom.sf(missed - 1, 150, 0.01) >= FALSE_POSITIVE_RATE


def test_without_it_women_are_said_to_be_worse_off():
    """The twin: with shares that are taken for exact the truth is missed nearly always."""
    missed = 150 - held(0.0)
    assert binom.sf(missed - 1, 150, 0.01) < FALSE_POSITIVE_RATE


@pytest.mark.parametrize("interval", READERS)
def test_more_error_is_wider_and_none_changes_nothing(interval: str):
    told = estimands_of(coin_question())
    counts = np.array([4800.0, 5200.0])
    found = [
        READERS[interval](replace(told, share_error=error), counts).gap((0, 1), 0.05)
        for error in (0.0, 0.001, 0.02, 0.5)
    ]
    widths = [gap.high - gap.low for gap in found]
    assert widths == sorted(widths)
    assert widths[1] == pytest.approx(widths[0], rel=0.05)
    # A group that could be no one may have any mean.
    assert found[-1].low < -0.9
    assert found[-1].high > 1


def test_a_mean_moves_as_its_share_does():
    for share, low, high in ((0.5, 0.25, 0.625), (0.1, 0.15, 1.0)):
        found = mean_in_band(Interval(0.4, 0.3, 0.5), Band(np.array([share, 1 - share]), 1.0, 0.1), 0)
        assert (found.low, found.high) == pytest.approx((low, high))


def test_three_groups_have_bands_of_their_own():
    told = replace(estimands_of(tells_all("0.2", "0.3", "0.5")), share_error=0.01)
    reader = READERS["normal"](told, np.full(told.decoder.rows.shape[1], 5000.0))
    exact = READERS["normal"](replace(told, share_error=0.0), reader.counts)
    for pair in ((0, 1), (0, 2), (1, 2)):
        wide, narrow = reader.gap(pair, 0.05), exact.gap(pair, 0.05)
        assert wide.low < narrow.low < narrow.high < wide.high


def test_the_field_reaches_the_estimate():
    question = coin_question()
    sex = attribute("0.5", "0.5")
    stated = replace(question, attribute=replace(sex, share_error="0.05"))
    assert estimands_of(stated).share_error == 0.05
    assert estimands_of(question).share_error == 0


LEVELS = [(0.0, 0.0), (0.4, -0.2), (-0.8, 0.5)]


def gaps_that_fit(shares: tuple[str, ...], levels: tuple[float, float]) -> tuple[Interval, list[float]]:
    """The interval, and the gaps of random means with random shares in the band, of those whose score fits the strip.

    A score that takes a constant from values has a level of its own in each group.
    """
    told = replace(estimands_of(tells_all(*shares)), share_error=0.04)
    assert told.gaps is not None
    assert told.shares is not None
    inputs = told.decoder.inputs
    means = told.decoder.rows @ told.gaps[0, 1].over
    for g in (0, 1):
        means[inputs.blocks[g]] += levels[g]
    gap, known = Interval(0.3, 0.25, 0.35), (Interval(0.5, 0.2, 0.8), Interval(0.2, 0.0, 0.4))
    found = gap_in_band(Readings(gap, known, means), told.band, inputs, (0, 1))
    rng, seen = np.random.default_rng(4), []
    lines = [np.polyfit(inputs.levels, means[inputs.blocks[g]], 1) for g in (0, 1)]
    for _ in range(20_000):
        p = told.shares[:2] + rng.uniform(-0.04, 0.04, 2)
        p[1] = 1 - p[0] if len(shares) == 2 else p[1]
        held = rng.uniform(-1, 1, 2)
        theta = sum(p[g] * np.polyval(lines[g], held[g]) for g in (0, 1))
        sums = p * held / told.shares[:2]
        if gap.low <= theta <= gap.high and all(k.low <= s <= k.high for k, s in zip(known, sums, strict=True)):
            seen.append(held[0] - held[1])
    return found, seen


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("shares", [("0.3", "0.7"), ("0.2", "0.3", "0.5")])
def test_every_gap_that_fits_some_shares_and_means_is_accepted_and_little_more(
    shares: tuple[str, ...], levels: tuple[float, float]
):
    found, seen = gaps_that_fit(shares, levels)
    assert len(seen) > 150
    assert found.low <= min(seen) < found.low + 0.12
    assert found.high - 0.12 < max(seen) <= found.high


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("shares", [("0.3", "0.7"), ("0.2", "0.3", "0.5")])
def test_nothing_between_the_ends_of_a_cell_is_missed_however_large_it_is(
    shares: tuple[str, ...], levels: tuple[float, float], monkeypatch: pytest.MonkeyPatch
):
    fine, _ = gaps_that_fit(shares, levels)
    monkeypatch.setattr(share_band, "_LONG", 1)
    monkeypatch.setattr(share_band, "_SQUARE", 1)
    found, seen = gaps_that_fit(shares, levels)
    assert found.low <= min(fine.low, *seen)
    assert found.high >= max(fine.high, *seen)


def test_the_share_of_several_groups_errs_as_they_do_together_or_as_all_the_others_do():
    band = Band(np.full(5, 0.2), 1.0, 0.01)
    assert [round(band.off(side), 9) for side in (0, (0, 1), (0, 1, 2), (0, 1, 2, 3))] == [
        0.01, 0.02, 0.02, 0.01
    ]  # fmt: skip
