"""Rows of a plan for every comparison and mean."""

import pytest

from fairgauge import Attribute, Metric, design, plan
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval_kinds import KINDS
from fairgauge.planning import plan_parts as parts
from fairgauge.planning.plan_parts import beside_simplest, cap_cost
from fairgauge.planning.planned_widths import expected
from fairgauge.targets.scores import Scores

RECALL = Metric("recall", 0, 1)
GENDER = Attribute("gender", {"women": 0.49, "men": 0.49, "nonbinary": 0.02}, answering="alike")
SIMPLE = "randomized-response"


def test_every_comparison_has_a_row_and_the_worst_is_first():
    row = plan(RECALL, GENDER, clients=200_000, epsilon=1, designs=[SIMPLE])[0].rows[0]
    assert [part.groups for part in row.pairs[1:]][-1] == ("women", "men")
    assert [part.variance for part in row.pairs] == sorted((part.variance for part in row.pairs), reverse=True)
    assert row.pairs[0].error == pytest.approx(row.error, rel=1e-9)
    assert {part.groups for part in row.means} == {("women",), ("men",), ("nonbinary",)}
    told = row.to_dict()["pairs"][0]
    assert list(told) == ["groups", "variance", "privacy_variance", "error"]


def test_the_worst_is_what_is_known_least_not_what_varies_most(monkeypatch: pytest.MonkeyPatch):
    """An interval may be the wider one though its variance is smaller; "at worst" is said of widths."""
    monkeypatch.setattr(parts, "_errors", lambda found, _reading: [0.1 + one.variance**-1 for one in found])
    row = plan(RECALL, GENDER, clients=200_000, epsilon=1, designs=[SIMPLE])[0].rows[0]
    for told in (row.pairs, row.means):
        errors = [part.error or 0.0 for part in told]
        assert errors == sorted(errors, reverse=True)
        assert len(set(errors)) > 1


def test_the_plan_has_the_numbers_that_the_estimate_gives():
    """What randomising alone adds; for all of it see tests/property/test_several.py."""
    (question,) = design(RECALL, GENDER, epsilon=1, design=SIMPLE)
    row = plan(RECALL, GENDER, clients=10**6, epsilon=1, designs=[SIMPLE], interval="normal")[0].rows[0]
    found = estimands_of(question)
    scores, channel = Scores.of(question), question.channel
    decoder = scores.decoder(channel)
    assert found.gaps is not None
    planned = {part.groups: part for part in row.pairs}
    for (a, b), ratio in found.gaps.items():
        assert isinstance(a, int)
        assert isinstance(b, int)
        part = planned[GENDER.groups[a], GENDER.groups[b]]
        assert decoder.variance(ratio.over) == pytest.approx(part.privacy_variance, rel=1e-9)


def test_a_designed_question_tells_its_gain_over_randomized_response():
    (question,) = design(RECALL, GENDER, epsilon=1)
    found, simple = beside_simplest(question, "gap")
    assert all(part.variance <= simple[part.groups] for part in found)
    assert min(part.variance / simple[part.groups] for part in found) < 0.5
    assert cap_cost(question) is None


def test_errors_between_are_right_where_the_widest_is_cut_to_what_is_possible():
    shares = {"a": "0.04", "b": "0.08", "c": "0.18", "d": "0.3", "e": "0.4"}
    many = Attribute("many", shares, answering="alike")
    row = plan(RECALL, many, clients=5_000, epsilon=1, designs=[SIMPLE])[0].rows[0]
    assert row.means[0].error == pytest.approx(0.5)
    (question,) = design(RECALL, many, epsilon=1, design=SIMPLE)
    exact = expected(Scores.of(question), question.channel, "means")
    widths = {
        group: 0.5 * one.width(KINDS["population"], 5_000, 0.01) for group, one in zip(shares, exact, strict=True)
    }
    assert {part.groups[0]: part.error for part in row.means} == pytest.approx(widths, rel=0.02)


def test_a_device_answers_one_of_several_tables_and_errors_are_in_the_metrics_units():
    (question,) = design(RECALL, GENDER, epsilon=1, design=SIMPLE)
    scores, kind = Scores.of(question), KINDS["normal"]

    def planned(answers: int, metric: Metric, tables: int) -> list[parts.PlanPart]:
        reading = parts.PlanConditions(answers, kind, 0.01, metric, tables)
        return list(parts.planned_parts(scores, question.channel, GENDER, reading, target="gap"))

    alone, beside = planned(100_000, RECALL, 1), planned(300_000, RECALL, 3)
    assert [part.error for part in beside] == pytest.approx([part.error for part in alone])
    assert [part.variance for part in beside] == pytest.approx([3 * part.variance for part in alone])
    tenths = planned(100_000, Metric("delay", 0, 10), 1)
    assert [part.error for part in tenths] == pytest.approx([10 * (part.error or 0.0) for part in alone])
    found = expected(scores, question.channel, "gap")
    widest = max(one.width(kind, 100_000, 0.01) for one in found)
    assert alone[0].error == pytest.approx(widest / 2)
