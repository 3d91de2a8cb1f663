"""What it costs not to know how often groups answer, and which table serves a band of splits."""

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.designs import designs_for, make_channel, tried_by_auto
from fairgauge.estimation.estimands import Asked, estimands_for
from fairgauge.estimation.gap_score import Thrown
from fairgauge.estimation.interval_kinds import kind_of
from fairgauge.estimation.interval_readers import READERS
from fairgauge.planning import choose_design
from fairgauge.planning.answering import _answering_lines, with_answering
from fairgauge.planning.api import design, plan
from fairgauge.planning.choose_design import _share_slope
from fairgauge.planning.planned_widths import planned_width
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

RECALL = Metric("recall", 0, 1)
NORMAL = kind_of("normal")
Z = 2.5758


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Widths as if intervals were normal."""
    monkeypatch.setattr(choose_design, "planned_width", lambda g, c, n, _, a: planned_width(g, c, n, NORMAL, a))


def scores_of(ratio: float, expect: float | None = 0.8, share: float = 0.5) -> Scores:
    return Scores(Target((share, 1 - share), ratio=ratio), AssumedValues(expect=expect)).by("")


# Points at 99 %, expectation .9: the design paper's table of a known split with bands, and of one that is estimated.
@pytest.mark.parametrize(
    ("epsilon", "answers", "known", "estimated"),
    [
        ("0.5", 1e4, {1.0: 10.50, 1.05: 12.94, 1.1: 15.26, 1.25: 21.6}, 18.51),
        ("1", 1e4, {1.0: 5.54, 1.05: 7.98, 1.1: 10.30, 1.25: 16.7}, 8.70),
        ("2", 1e4, {1.0: 3.21, 1.05: 6.25, 1.1: 9.14, 1.25: 17.1}, 3.63),
        ("4", 1e4, {1.0: 1.33, 1.05: 5.56, 1.1: 9.59, 1.25: 20.6}, 1.40),
        ("0.5", 1e5, {1.0: 3.32, 1.05: 5.76, 1.1: 8.08, 1.25: 14.4}, 5.85),
        ("1", 1e5, {1.0: 1.75, 1.05: 4.19, 1.1: 6.51, 1.25: 12.9}, 2.75),
        ("2", 1e5, {1.0: 1.02, 1.05: 4.05, 1.1: 6.94, 1.25: 14.9}, 1.15),
        ("4", 1e5, {1.0: 0.42, 1.05: 4.65, 1.1: 8.68, 1.25: 19.7}, 0.44),
    ],
)
def test_tables_for_known_and_estimated_splits_are_as_good_as_they_should_be(
    epsilon: str, answers: float, known: dict[float, float], estimated: float
):
    digit = 0.005  # what the paper's last one leaves open
    for ratio, points in known.items():
        scores = scores_of(ratio).by("centred")
        channel = make_channel(scores, Decimal(epsilon), design="centred")[1]
        constant = abs(scores.gap_constant(scores.decoder(channel)))
        found = Z * math.sqrt(scores.variance(channel) / answers) + _share_slope(scores.target) * (1 + constant)
        assert 50 * found == pytest.approx(points, rel=0.01, abs=digit)
        if ratio > 1:
            # As read it is no wider: a group that answered more often is divided by its own share, too.
            assert planned_width(scores, channel, answers, NORMAL, 0.01) <= found
    scores = scores_of(1.1).by("estimated")
    channel = make_channel(scores, Decimal(epsilon), design="estimated")[1]
    assert 50 * Z * math.sqrt(scores.variance(channel) / answers) == pytest.approx(estimated, rel=0.01, abs=digit)


@pytest.mark.parametrize("expect", [0.8, None])
@pytest.mark.parametrize("answers", [2_000, 10_000, 10**6])
@pytest.mark.parametrize("ratio", [1.02, 1.1, 2.0])
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_auto_takes_the_table_that_is_read_best(
    quick: None, epsilon: str, ratio: float, answers: int, expect: float | None
):
    scores = scores_of(ratio, expect)
    best, channel = choose_design.choose_design(scores, Decimal(epsilon), answers)
    widths = {
        name: planned_width(
            scores.by(name), make_channel(scores, Decimal(epsilon), design=name)[1], answers, NORMAL, 0.01
        )
        for name in tried_by_auto(scores)
    }
    assert planned_width(scores.by(best), channel, answers, NORMAL, 0.01) <= 1.0011 * min(widths.values())


def test_few_answers_and_a_narrow_band_get_a_table_that_relies_on_shares_and_others_do_not(quick: None):
    narrow, _ = choose_design.choose_design(scores_of(1.02), Decimal("0.5"), 10_000)
    wide, _ = choose_design.choose_design(scores_of(1.25), Decimal(2), 10_000)
    assert scores_of(1.02).by(narrow).target.shares_known
    assert not scores_of(1.25).by(wide).target.shares_known


def test_a_known_split_gets_the_better_table_where_nothing_is_expected():
    chosen = {
        (epsilon, expect): choose_design.choose_design(scores_of(1.0, expect), Decimal(epsilon), 10**5)[0]
        for epsilon, expect in (("2", None), ("4", None), ("4", 0.8))
    }
    assert chosen == {("2", None): "centred", ("4", None): "estimated", ("4", 0.8): "centred"}


def test_a_study_is_read_by_the_scores_that_its_table_was_made_for():
    for answering, name, known in (
        ("1.1", "estimated", False),
        ("1.1", "centred", True),
        ("alike", "estimated", False),
    ):
        sex = Attribute("sex", {"female": 0.5, "male": 0.5}, answering=answering)
        (made,) = design(RECALL, sex, epsilon=2, design=name)
        scores = Scores.of(made)
        assert (scores.target.shares_known, scores.target.most_ratio) == (known, sex.ratio)
    any_split = Scores.of(Question(RECALL, Attribute("sex", {"female": 0.5, "male": 0.5})))
    assert not {"estimated", "estimated-centred"} & set(designs_for(any_split))


def test_several_groups_and_means_have_estimated_splits_within_the_band():
    three = Scores(Target((0.2, 0.3, 0.5), ratio=1.1), AssumedValues(expect=0.8)).by("uncentred")
    assert not three.target.shares_known
    assert not Scores(Target((0.5, 0.5), ratio=1.1, kind="means")).by("uncentred").target.shares_known


def test_a_plan_has_three_lines_with_the_tables_that_design_makes(quick: None):
    sex = Attribute("sex", {"female": 0.5, "male": 0.5})
    asked_of = [Question(RECALL, sex, expect=0.9)]
    (found,) = plan(RECALL, sex, epsilon=1, clients=10_000, expect=0.9, interval="normal")
    lines = _answering_lines(asked_of, 0, found)
    assert [line.answering for line in lines] == ["any", "1.1", "alike"]
    assert lines[0].error == found.row(found.best or "").error
    for line in lines:
        asked = Attribute("sex", {"female": 0.5, "male": 0.5}, answering=line.answering)
        (made,) = design(RECALL, asked, epsilon=1, clients=10_000, expect=0.9)
        assert made.design == line.design
        read = RECALL.scale * planned_width(Scores.of(made), made.channel, 10_000, NORMAL, 0.01)
        assert read == pytest.approx(line.error)
    assert lines[0].error >= lines[1].error > lines[2].error
    (needed,) = plan(RECALL, sex, epsilon=1, error=0.02, expect=0.9, interval="normal")
    (first, *_, last) = _answering_lines(asked_of, 0, needed)
    best = needed.row(needed.best or "").clients or 0
    assert first.clients == pytest.approx(best, rel=0.05)
    assert (last.clients or 0) < 0.5 * best


def test_three_groups_have_three_lines_too(quick: None):
    shares = {"a": "0.4", "b": "0.3", "c": "0.3"}
    asked = Attribute("group", shares)
    (found,) = plan(RECALL, asked, epsilon=2, clients=50_000, interval="normal")
    lines = _answering_lines([Question(RECALL, asked)], 0, found)
    assert [line.answering for line in lines] == ["any", "1.1", "alike"]
    assert lines[0].error == pytest.approx(found.row(found.best or "").error)
    (made,) = design(RECALL, replace(asked, answering="alike"), epsilon=2, clients=50_000)
    assert made.design == lines[2].design
    read = RECALL.scale * planned_width(Scores.of(made), made.channel, 50_000, NORMAL, 0.01)
    assert read == pytest.approx(lines[2].error)
    assert lines[0].error > 1.2 * lines[2].error
    many = Attribute("group", [str(number) for number in range(7)], ["0.1"] * 6 + ["0.4"])
    assert _answering_lines([Question(RECALL, many)], 0, found) == ()


def test_several_metrics_have_three_lines_each_with_the_tables_that_design_makes(quick: None):
    """With a known split one table answers both metrics, and else each has its own and half of the answers."""
    sex, metrics = Attribute("sex", {"female": 0.5, "male": 0.5}), [RECALL, Metric("fpr", 0, 1)]
    expect = {"recall": 0.9, "fpr": 0.1}
    asked_of = [Question(metric, sex, expect=expect[metric.name]) for metric in metrics]
    found = with_answering(asked_of, plan(metrics, sex, epsilon=2, clients=50_000, expect=expect, interval="normal"))
    for place, each in enumerate(found):
        assert [line.answering for line in each.answering] == ["any", "1.1", "alike"]
        assert each.answering[0].error == pytest.approx(each.row(each.best or "").error)
        for line in each.answering:
            made = design(metrics, replace(sex, answering=line.answering), epsilon=2, clients=50_000, expect=expect)
            tables = Study("Two", made).tables
            assert line.design == ("together" if len(tables) == 1 else made[place].design)
            read = planned_width(Scores.of(made[place]), made[place].channel, 50_000 / len(tables), NORMAL, 0.01)
            assert line.error == pytest.approx(RECALL.scale * read)
    assert found[0].answering[2].design == "together"


def test_groups_without_shares_are_of_equally_many_people(quick: None):
    stated = Attribute("age", {"a": "0.333333", "b": "0.333333", "c": "0.333334"})
    (found,) = plan(RECALL, stated, epsilon=2, clients=50_000, interval="normal")
    one, other = (
        _answering_lines([Question(RECALL, each)], 0, found) for each in (Attribute("age", ["a", "b", "c"]), stated)
    )
    assert [line.error for line in one] == pytest.approx([line.error for line in other], rel=1e-5)
    assert one[2].error < 0.9 * one[0].error


def test_a_band_leaves_what_no_number_of_clients_takes_away(quick: None):
    sex = Attribute("sex", {"female": 0.5, "male": 0.5}, answering="1.02")
    (found,) = plan(RECALL, sex, epsilon="0.5", clients=3_000, expect=0.9, interval="normal")
    (line,) = (
        line for line in _answering_lines([Question(RECALL, sex, expect=0.9)], 0, found) if line.answering == "1.02"
    )
    assert _scores(sex).by(line.design).target.shares_known
    assert line.clients is None or line.clients > 10**5


def _scores(sex: Attribute) -> Scores:
    return Scores.of(Question(RECALL, sex, expect=0.9))


@pytest.mark.parametrize("interval", ["normal", "population"])
@pytest.mark.parametrize("shares", [{"female": 0.2, "male": 0.8}, {"a": 0.2, "b": 0.3, "c": 0.5}])
def test_groups_in_the_other_order_have_the_same_plan(shares: dict[str, float], interval: str):
    turned = dict(reversed(shares.items()))
    errors = []
    for each in (shares, turned):
        (found,) = plan(RECALL, Attribute("group", each), epsilon=2, clients=20_000, interval=interval)
        errors.append([row.error for row in found.rows])
    assert errors[0] == pytest.approx(errors[1], rel=1e-6)


def test_groups_in_the_other_order_have_the_same_table_with_its_rows_in_that_order():
    """Where shares are estimated, and where they are known and comparisons are planned."""
    shares = {"a": 0.2, "b": 0.3, "c": 0.5}
    for answering, planned in (("any", False), ("alike", True)):
        first, second = (
            design(
                RECALL,
                Attribute(
                    "group",
                    each,
                    answering=answering,
                    comparisons=[(g, "b") for g in each if g != "b"] if planned else None,
                ),
                epsilon=2,
            )[0]
            for each in (shares, dict(reversed(shares.items())))
        )
        rows, levels = first.channel.table, len(first.channel.levels)
        blocks = [rows[levels * group : levels * (group + 1)] for group in range(3)]
        assert second.channel.table == (*blocks[2], *blocks[1], *blocks[0])
        assert first.design == second.design


@pytest.mark.parametrize(("epsilon", "answers"), [("1", 5_000), ("4", 3_000)])
def test_what_is_read_is_as_wide_as_planned(epsilon: str, answers: int):
    """Answers are drawn from the population that the plan reckons with; seven draws of a few per cent each."""
    scores = Scores(Target((0.5, 0.5), shares_known=False), AssumedValues(expect=0.8)).by("uncentred")
    channel = make_channel(scores, Decimal(epsilon), design="uncentred")[1]
    told, rng, widths = estimands_for(scores, channel, Asked.of(scores.target)), np.random.default_rng(3), []
    population = scores.worst_population(told.decoder, scores.wanted(told.decoder.inputs)[0]).inputs @ told.decoder.rows
    for draw in range(7):
        counts = rng.multinomial(answers, population / population.sum()).astype(float)
        gap = READERS["population"](told, counts, None, Thrown(f"draw {draw}")).gap((0, 1), 0.01)
        widths.append((gap.high - gap.low) / 2)
    assert planned_width(scores, channel, answers, kind_of("population"), 0.01) == pytest.approx(
        float(np.mean(widths)), rel=0.05
    )
