"""Questions that one table answers at once: each is told as if it were alone, and they are not mixed up.

Covers: fairgauge.estimation.estimands, fairgauge.targets.channel_inputs
"""

from dataclasses import replace

import numpy as np
import pytest

from fairgauge.errors import InvalidInput
from fairgauge.estimation import estimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval_kinds import KINDS
from fairgauge.estimation.metric_frame import PrivateMetricFrame
from fairgauge.simulation import Population, true_values
from fairgauge.simulation.population import read_cell
from fairgauge.study import Metric, Study
from fairgauge.targets.channel_inputs import Inputs
from fairgauge.targets.symbol_scores import worst_variances
from tests.samples import ENDS, THREE_LEVELS, joint_questions, sample_joint_channel, sample_question
from tests.surveys import expected_tally

JOINT = Study("Joint", joint_questions(sample_joint_channel(levels=(THREE_LEVELS, ENDS))))
PEOPLE = Population(
    tuple(
        read_cell({"sex": sex, "recall": recall, "false alarms": alarms, "count": count})
        for sex, recall, alarms, count in (
            ("female", "0.9", "0.1", 300_000),
            ("female", "0.3", "0.5", 300_000),
            ("male", "0.8", "0.2", 400_000),
        )
    )
)


@pytest.mark.parametrize("interval", list(KINDS))
def test_both_are_the_truth_for_expected_counts(interval: str):
    found = estimate(JOINT, expected_tally(JOINT, PEOPLE), interval=interval)
    recall, alarms = found["recall"].gap("female", "male"), found["false alarms"].gap("female", "male")
    assert (recall.estimate, alarms.estimate) == pytest.approx((0.6 - 0.8, 0.3 - 0.2), abs=1e-4)
    assert recall.low < -0.2 < recall.high
    assert alarms.low < 0.1 < alarms.high
    assert [truth.gaps["female", "male"] for truth in true_values(JOINT, PEOPLE)] == pytest.approx([-0.2, 0.1])
    assert found["recall"].answers == found["false alarms"].answers == 10**6


def test_a_question_without_its_axis_is_not_the_others():
    first, second = JOINT.questions
    assert (
        Study("In order", [first, replace(second, axis=0)]).questions == JOINT.questions
    )  # a question's place says it
    mutant = estimands_of(replace(second, axis=0)).gaps
    law = np.array(expected_tally(JOINT, PEOPLE).counts) / 10**6
    assert mutant is not None
    assert mutant[0, 1].value(law) / 2 == pytest.approx(-0.2, abs=1e-4)  # what recall's gap is


def test_a_table_beside_others_gets_its_part_of_the_answers():
    f1 = sample_question(Metric("f1", 0, 1))
    study = Study("Three", [*JOINT.questions, f1])
    rows = [dict(cell.columns or ()) | {"f1": "0.5", "count": cell.count} for cell in PEOPLE.cells]
    found = estimate(study, expected_tally(study, Population(tuple(map(read_cell, rows)))), interval="normal")
    assert found["recall"].gap("female", "male").estimate == pytest.approx(-0.2, abs=1e-3)
    assert found["f1"].gap("female", "male").estimate == pytest.approx(0, abs=1e-3)
    assert (found["recall"].answers, found["f1"].answers) == (500_000, 500_000)


def test_inputs_are_in_runs_of_the_questions_own_levels():
    channel = JOINT.questions[0].channel
    first, second = Inputs.of(channel, 0), Inputs.of(channel, 1)
    assert (first.others, second.others, first.count, second.count) == (2, 3, 12, 12)
    assert first.runs(first.blocks[1]) == [slice(6, 9), slice(9, 12)]
    assert second.sum_of(1).tolist() == [0] * 6 + [-1, 1] * 3
    decoder = estimands_of(JOINT.questions[0]).decoder
    # Rows go by group, then recall, then false alarms; here recall is fastest.
    assert decoder.rows[1] == pytest.approx(np.array(channel.row(0, 1, 0)) / 2**53)


def test_widths_look_along_the_runs_and_not_across_them():
    told = estimands_of(JOINT.questions[0])
    assert told.gaps is not None
    score = told.gaps[0, 1].over
    rows = told.decoder.rows
    values = np.linspace(0, 1, 101)[:, None]
    worst = []
    for block in told.decoder.inputs.blocks:
        pairs = [(run.start + i, run.start + i + 1) for run in told.decoder.inputs.runs(block) for i in (0, 1)]
        laws = np.vstack([(1 - values) * rows[a] + values * rows[b] for a, b in pairs])
        worst.append((laws @ score**2 - (laws @ score) ** 2).max())
    assert worst_variances(told.decoder, score) == pytest.approx(worst, rel=1e-3)


def test_equalized_odds_is_the_larger_of_two_gaps():
    frame = PrivateMetricFrame(JOINT, expected_tally(JOINT, PEOPLE))
    assert frame.equalized_odds_difference("recall", "false alarms") == pytest.approx(0.2, abs=1e-4)
    low, high = frame.equalized_odds_difference_ci("recall", "false alarms")
    assert low < 0.2 < high
    # Both gaps hold together, so each has half of alpha: wider than the larger gap alone.
    alone = [float(end["recall"]) for end in frame.difference_ci()]
    assert low < alone[0] < alone[1] < high
    with pytest.raises(InvalidInput, match="metric=misses: must be one of recall, false alarms"):
        frame.equalized_odds_difference_ci("recall", "misses")
