"""What is compared."""

import numpy as np
import pytest

from fairgauge.study import Attribute, Comparison
from fairgauge.targets.comparisons import Contrast, all_pairs, contrasts_of
from fairgauge.targets.inputs import Inputs
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target


def test_an_attribute_plans_comparisons_with_weights():
    planned = [Comparison("women", "nonbinary", 3), Comparison(["women", "men"], "nonbinary")]
    gender = Attribute("gender", ("women", "men", "nonbinary"), comparisons=planned)
    assert contrasts_of(gender) == (Contrast((0,), (2,), 3.0), Contrast((0, 1), (2,), 1.0))
    assert contrasts_of(Attribute("gender", ("women", "men"))) == ()
    assert all_pairs(3) == (Contrast((0,), (1,)), Contrast((0,), (2,)), Contrast((1,), (2,)))


def test_a_side_of_several_groups_counts_everyone_alike():
    scores = Scores(Target((0.2, 0.3, 0.5)))
    inputs = Inputs(3, np.array([-1.0, 1.0]))
    found = scores.target.contrast_functional(inputs, Contrast((0, 1), (2,)))
    assert found.tolist() == pytest.approx([-2, 2, -2, 2, 2, -2])
