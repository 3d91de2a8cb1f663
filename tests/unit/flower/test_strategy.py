import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flwr.app import ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg, Strategy

from fairgauge.client import Answer
from fairgauge.client.refusals import refusal_text
from fairgauge.errors import InvalidInput
from fairgauge.flower import AnswerCounter, PrivateMetrics
from fairgauge.flower.metric_reply import to_content
from fairgauge.study import Study
from tests.samples import sample_study
from tests.unit.flower.messages import replied

STUDY = sample_study()


def answers(*symbols: int, study: Study = STUDY, first: int = 0) -> list[Answer]:
    return [Answer(study.digest, f"{number:032x}", (symbol,)) for number, symbol in enumerate(symbols, start=first)]


def contents(given: Iterable[Answer]) -> list[RecordDict]:
    return [to_content(answer) for answer in given]


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


def test_one_node_counts_once_though_its_ledger_is_new_every_round() -> None:
    counter = AnswerCounter(STUDY)
    strategy = PrivateMetrics(Plain(), counter)
    for server_round in range(50):
        (content,) = contents(answers(0, first=server_round))
        strategy.aggregate_evaluate(server_round + 1, [replied(content, node=7)])
    assert counter.tally.contributors == 1
    assert counter.count_replies([replied(content, node=8) for content in contents(answers(1, first=99))]) == 1


def test_the_server_says_how_many_gave_none_and_why_as_far_as_it_may(caplog: pytest.LogCaptureFixture) -> None:
    strategy = PrivateMetrics(Plain(), AnswerCounter(STUDY))
    reasons = [refusal_text("ledger"), refusal_text("ledger"), refusal_text("device"), "KeyError: female 0.75"]
    strategy.aggregate_evaluate(1, [replied(Error(6, reason), node=n) for n, reason in enumerate(reasons)])
    assert "4 gave none; most often: the device's ledger cannot be used (2)" in caplog.text
    strategy.aggregate_evaluate(2, [replied(Error(0, "KeyError: female 0.75"), node=1)])
    assert "1 gave none; most often: an error that is not fairgauge's" in caplog.text
    assert "female" not in caplog.text.replace("female - male", "")


def test_the_log_names_the_study_and_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="flwr")
    PrivateMetrics(Plain(), AnswerCounter(STUDY, path=tmp_path / "answers.ndjson")).summary()
    assert STUDY.digest in caplog.text
    assert str(tmp_path / "answers.ndjson") in caplog.text


def test_what_is_no_answer_does_not_end_a_round() -> None:
    counter = AnswerCounter(STUDY)
    strange = [RecordDict(), RecordDict({"metrics": MetricRecord({"recall": 0.5})})]
    assert counter.count([*strange, *contents(answers(0))]) == 1
    assert dict(counter.metrics()) == {"answers": 1}


def test_flowers_own_strategies_take_the_counter_as_a_function() -> None:
    counter = AnswerCounter(STUDY)
    strategy = FedAvg(evaluate_metrics_aggr_fn=counter.aggregate)
    replies = [replied(content, node=n) for n, content in enumerate(contents(answers(0, 1, 1)))]
    assert strategy.aggregate_evaluate(1, replies) == {"answers": 3}
    assert counter.tally.contributors == 3


def test_a_strategy_that_averages_by_mistake_does_not_fail() -> None:
    replies = [replied(content, node=n) for n, content in enumerate(contents(answers(0, 1, 1)))]
    averaged = FedAvg().aggregate_evaluate(1, replies)
    assert averaged is not None
    assert sorted(averaged) == ["id", "payload", "study"]


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


def test_a_gap_and_the_apps_own_metrics_are_both_returned() -> None:
    """The wrapped strategy aggregates what nodes let out as it is; one that lets out something else ends nothing."""
    strategy = PrivateMetrics(FedAvg(), AnswerCounter(STUDY))
    losses: list[dict[str, int | float]] = [{"eval_loss": 0.25}, {"eval_loss": 0.75}, {"other": 1.0}, {}]
    replies = [
        replied(to_content(answer, plain), node=node)
        for node, (answer, plain) in enumerate(zip(answers(0, 1, 0, 1), losses, strict=True))
    ]
    found = strategy.aggregate_evaluate(1, [*replies, replied(Error(6, "no"), node=9)])
    assert found is not None
    assert dict(found) == {"eval_loss": 0.5, "answers": 4}


def test_a_model_that_was_only_measured_is_there_to_be_saved() -> None:
    """The quickstart saves the result's arrays; Flower leaves them empty where nothing was trained."""
    plain = FedAvg(fraction_train=0.0, min_train_nodes=0, min_available_nodes=0, min_evaluate_nodes=0)
    grid: Any = NoGrid([])
    grid.get_node_ids = list
    model = ArrayRecord([np.full(2, 7.0)])
    measured = PrivateMetrics(plain, AnswerCounter(STUDY)).start(grid=grid, initial_arrays=model, num_rounds=1)
    assert measured.arrays.to_numpy_ndarrays()[0].tolist() == [7.0, 7.0]


def test_only_nodes_that_are_known_count(tmp_path: Path) -> None:
    """A SuperNode that is not authenticated has a new id after each start, and counted again with each."""
    restarted = [replied(content, node=100 + n) for n, content in enumerate(contents(answers(0, 1, 0)))]
    assert AnswerCounter(STUDY).count_replies(restarted) == 3
    counter = AnswerCounter(STUDY, path=tmp_path / "answers", nodes=[101, "7"])
    assert counter.count_replies(restarted) == 1
    assert counter.count_replies([replied(to_content(answers(0, first=9)[0]), node=7)]) == 1
    with pytest.raises(InvalidInput, match="cannot be told apart here"):
        counter.aggregate(contents(answers(1, first=20)), "")
