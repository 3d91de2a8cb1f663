import math
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flwr.app import ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg, Strategy

from fairgauge.client import Answer
from fairgauge.estimation import estimate
from fairgauge.flower import AnswerCounter, PrivateMetrics
from fairgauge.flower.record import to_content
from fairgauge.goals.goal import Goal
from fairgauge.simulation import Cell, Population, simulate
from fairgauge.study import Attribute, Study
from fairgauge.tallies import Tally
from tests.recorder import recorder
from tests.samples import sample_question, sample_study, two_questions
from tests.surveys import designed
from tests.unit.flower.messages import replied

STUDY = sample_study()


def answers(*symbols: int, study: Study = STUDY, first: int = 0) -> list[Answer]:
    return [Answer(study.digest, f"{number:032x}", symbol) for number, symbol in enumerate(symbols, start=first)]


def contents(given: Iterable[Answer]) -> list[RecordDict]:
    return [to_content(answer) for answer in given]


def test_each_answer_counts_once_over_all_rounds() -> None:
    counter = AnswerCounter(STUDY)
    assert counter.add(contents(answers(0, 1, 1))) == 3
    assert counter.add(contents(answers(0, 1, 1, 3))) == 1
    assert counter.tally == Tally(STUDY.digest, (1, 2, 0, 1))
    assert counter.answers == tuple(answers(0, 1, 1, 3))


def test_what_is_no_answer_to_this_study_does_not_count() -> None:
    counter = AnswerCounter(STUDY)
    counter.add(contents(answers(2)))
    strange = [RecordDict(), RecordDict({"metrics": MetricRecord({"recall": 0.5})})]
    other_symbol_for_a_known_id = answers(3)
    outside = answers(4, first=7)
    of_another_study = answers(0, study=two_questions(), first=8)
    assert counter.add(strange + contents(other_symbol_for_a_known_id + outside + of_another_study)) == 0
    assert counter.tally.counts == (0, 0, 1, 0)


def test_a_later_run_goes_on_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "answers.ndjson"
    AnswerCounter(STUDY, path=path).add(contents(answers(0, 1)))
    with path.open("ab") as file:
        file.write(b'{"id":"00')  # a crash within a line
    later = AnswerCounter(STUDY, path=path)
    assert later.tally.total == 2
    assert later.add(contents(answers(0, 1, 2))) == 1
    assert AnswerCounter(STUDY, path=path).tally == later.tally
    assert len(path.read_bytes().splitlines()) == 3


def test_a_file_of_another_study_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "answers.ndjson"
    AnswerCounter(two_questions(), path=path).add(contents(answers(0, 1, study=two_questions())))
    assert AnswerCounter(STUDY, path=path).tally.total == 0


@pytest.mark.parametrize("count", [0, 1, 2, 20, 200])
def test_few_answers_give_not_yet_and_no_number(count: int) -> None:
    counter = AnswerCounter(STUDY)
    metrics = counter.aggregate(contents(answers(*([0] * count))), "num-examples")
    assert dict(metrics) == {"answers": count}
    assert counter.report() == f"{count} answers\nrecall female - male: not yet"


def many(study: Study, clients: int) -> list[Answer]:
    cells = (Cell("female", Decimal("0.6"), clients // 2), Cell("male", Decimal("0.9"), clients // 2))
    tally = simulate(study, Population(cells), seed=3)
    return answers(*(symbol for symbol, count in enumerate(tally.counts) for _ in range(count)), study=study)


def test_many_answers_give_the_gap_with_an_interval_that_holds_at_every_look() -> None:
    study = sample_study(designed(Goal((0.5, 0.5)), "4", design="randomized-response"))
    counter = AnswerCounter(study, confidence=0.95)
    metrics = counter.aggregate(contents(many(study, 4000)), "num-examples")
    gap = estimate(study, counter.tally, confidence=0.95, interval="anytime")["recall"].gaps["female", "male"]
    assert dict(metrics) == {
        "answers": 4000,
        "recall female - male": gap.estimate,
        "recall female - male low": gap.low,
        "recall female - male high": gap.high,
    }
    assert gap.low < -0.3 < gap.high
    assert f"[{gap.low:.4f}, {gap.high:.4f}]" in counter.report()


def test_every_question_and_pair_has_a_name_of_its_own() -> None:
    age = Attribute("age", ("young", "old", "very old"), ("0.5", "0.25", "0.25"))
    study = sample_study(sample_question(), sample_question(attribute=age))
    names = [line.partition(":")[0] for line in AnswerCounter(study).report().splitlines()]
    assert names == [
        "0 answers",
        "recall by sex female - male",
        "recall by age young - old",
        "recall by age young - very old",
        "recall by age old - very old",
    ]


@pytest.mark.parametrize("symbols", [(0,) * 3000, (0, 1) * 1500, (0, 1, 2, 3) * 500])
def test_numbers_are_finite_and_possible(symbols: tuple[int, ...]) -> None:
    metrics = AnswerCounter(STUDY).aggregate(contents(answers(*symbols)), "num-examples")
    for name, number in metrics.items():
        assert math.isfinite(number), name
        assert name == "answers" or -1 <= number <= 1, name


def test_forwarding_sends_every_answer() -> None:
    counter = AnswerCounter(STUDY)
    counter.add(contents(answers(0, 1)))
    with recorder() as server:
        counter.forward(server.url)
        assert server.bodies == [answer.to_bytes() for answer in answers(0, 1)]


class Plain(Strategy):
    """A strategy that says what it is asked to do."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Message]:
        self.asked.append(("configure_train", server_round))
        return []

    def aggregate_train(self, server_round: int, replies: Any) -> Any:
        self.asked.append(("aggregate_train", server_round))
        return ArrayRecord([np.full(2, float(server_round))]), MetricRecord({"loss": 0.5})

    def configure_evaluate(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Message]:
        self.asked.append(("configure_evaluate", server_round))
        return []

    def aggregate_evaluate(self, server_round: int, replies: Any) -> Any:
        raise AssertionError("there is nothing for it to aggregate")

    def summary(self) -> None:
        self.asked.append("summary")


class NoGrid:
    """A grid whose devices give these replies to every evaluation."""

    def __init__(self, replies: list[Message]) -> None:
        self.replies = replies
        self.sent = 0

    def send_and_receive(self, messages: Iterable[Message], timeout: float) -> list[Message]:
        self.sent += 1
        return self.replies if self.sent % 2 == 0 else []


def test_a_wrapped_strategy_trains_and_the_answers_are_counted() -> None:
    plain, counter = Plain(), AnswerCounter(STUDY)
    failed = replied(Error(6, "no"), node=9)
    grid: Any = NoGrid([replied(content, node=n) for n, content in enumerate(contents(answers(0, 1)))] + [failed])
    strategy = PrivateMetrics(plain, counter, first_round=2)
    result = strategy.start(grid=grid, initial_arrays=ArrayRecord(), num_rounds=3)
    assert result.arrays.to_numpy_ndarrays()[0].tolist() == [3.0, 3.0]
    assert result.train_metrics_clientapp[3] == {"loss": 0.5}
    # Nobody evaluates before the second round, and the third brings nothing new.
    assert result.evaluate_metrics_clientapp == {2: {"answers": 2}, 3: {"answers": 2}}
    assert [asked for asked in plain.asked if asked[0] == "configure_evaluate"] == [
        ("configure_evaluate", 2),
        ("configure_evaluate", 3),
    ]
    assert plain.asked[0] == "summary"


def test_flowers_own_strategies_take_the_counter_as_a_function() -> None:
    counter = AnswerCounter(STUDY)
    strategy = FedAvg(evaluate_metrics_aggr_fn=counter.aggregate)
    replies = [replied(content, node=n) for n, content in enumerate(contents(answers(0, 1, 1)))]
    assert strategy.aggregate_evaluate(1, replies) == {"answers": 3}
    assert counter.tally.total == 3


def test_a_strategy_that_averages_by_mistake_does_not_fail() -> None:
    replies = [replied(content, node=n) for n, content in enumerate(contents(answers(0, 1, 1)))]
    averaged = FedAvg().aggregate_evaluate(1, replies)
    assert averaged is not None
    assert sorted(averaged) == ["id", "study", "symbol"]


def test_configuration_goes_through() -> None:
    seen = []

    class Watching(Plain):
        def configure_evaluate(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Message]:
            seen.append((arrays, config, grid))
            return []

    arrays, config = ArrayRecord(), ConfigRecord({"x": 1})
    grid: Any = NoGrid([])
    PrivateMetrics(Watching(), AnswerCounter(STUDY)).configure_evaluate(1, arrays, config, grid)
    assert seen == [(arrays, config, grid)]
