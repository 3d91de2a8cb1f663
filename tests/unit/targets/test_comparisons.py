"""What is compared.

Sides by number.
"""

from dataclasses import replace

import numpy as np
import pytest

from fairgauge.study import Attribute, Comparison
from fairgauge.targets.channel_inputs import Inputs
from fairgauge.targets.comparisons import (
    Contrast,
    all_pairs,
    compared,
    contrasts_of,
    margin_sides,
    members,
    pair_names,
    side_of,
)
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import sample_question


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


CELLS = Attribute.crossed(Attribute("sex", ["f", "m"]), Attribute("age", ["young", "old"]))


def test_a_group_by_itself_is_a_number_and_several_are_numbers():
    assert (side_of(CELLS, ("f, old",)), side_of(CELLS, ("f, old", "m, old"))) == (1, (1, 3))
    assert (members(1), members((1, 3))) == ((1,), (1, 3))


def test_what_is_compared_has_its_names():
    some = Comparison(CELLS.groups[:2], CELLS.groups[2:])
    question = sample_question(attribute=replace(CELLS, comparisons=(some, Comparison("f, old", "m, old"))))
    assert compared(question) == (((0, 1), (2, 3)), (1, 3))
    assert pair_names(question) == {((0, 1), (2, 3)): ("f", "m"), (1, 3): ("f, old", "m, old")}
    assert margin_sides(question) == {"f": (0, 1), "m": (2, 3), "young": (0, 2), "old": (1, 3)}


def test_every_two_groups_are_compared_where_nothing_is_planned():
    assert compared(sample_question(attribute=CELLS)) == ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
