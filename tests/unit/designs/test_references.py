"""What gaps are measured by.

Covers: fairgauge.designs.few_groups.
"""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from fairgauge.designs.optimal import uncentred
from fairgauge.designs.references import references, simple_variances, total_measures
from fairgauge.designs.simple import randomized_response
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

LIMITS = json.loads((Path(__file__).parents[2] / "data" / "limits_population.json").read_text(encoding="utf-8"))
ROW = next(row for row in LIMITS["pairs"] if row["shares"] == [0.49, 0.49, 0.02] and row["epsilon"] == 1)
SCORES = Scores(Target(tuple(ROW["shares"])), design="uncentred")


def test_each_gap_is_measured_by_what_it_could_have_alone():
    assert references(SCORES, Decimal(1)) == pytest.approx(ROW["alone"], rel=0.02)
    assert simple_variances(SCORES, Decimal(1)) == pytest.approx(ROW["randomized_response"], rel=1e-6)
    assert np.all(total_measures(SCORES, Decimal(1)) > references(SCORES, Decimal(1)))


def test_a_margin_is_measured_as_one_group():
    crossed = Scores(Target((0.2, 0.3, 0.3, 0.2), comparisons=(Contrast((0, 1), (2, 3)),)))
    assert references(crossed, Decimal(1)) == pytest.approx(references(Scores(Target((0.5, 0.5))), Decimal(1)))


def test_the_largest_ratio_is_within_two_percent_and_no_gap_is_worse_than_randomized_response():
    channel = uncentred(SCORES, Decimal(1))
    found = np.array(SCORES.privacy_variances(channel))
    assert (found / ROW["alone"]).max() <= 1.02 * ROW["max_ratio"]
    assert np.all(found <= SCORES.privacy_variances(randomized_response(SCORES, Decimal(1))))
