"""Flower's SecAgg+ and the measurement in one app: the sum is right, the gap estimated, and nothing else gets out."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flwr.app import Context, Message, RecordDict
from flwr.client import Client, NumPyClient
from flwr.client.mod import secaggplus_mod
from flwr.clientapp import ClientApp
from flwr.common import ndarrays_to_parameters
from flwr.server import LegacyContext, ServerConfig
from flwr.server.strategy import FedAvg
from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow
from flwr.server.workflow.constant import MAIN_PARAMS_RECORD

from fairgauge.client import Ledger
from fairgauge.flower import AnswerCounter, PrivateEvaluation, node_config, on_evaluate, private_metrics
from fairgauge.study import Attribute
from tests.samples import sample_question, sample_study

SEX = Attribute("sex", ("female", "male"), ("0.5", "0.5"), answering="alike")
STUDY = sample_study(sample_question(attribute=SEX, epsilon="4", loss=54))
# So long that no key or mask has their digits by chance.
MARK, EXAMPLES = 0.8125390625, 918_273_645_546_373
RECALL = {"female": 0.1, "male": 0.9}
ROUNDS = 2


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process be a server to Flower, whose newer versions ask which one makes a message."""
    with suppress(ImportError):
        from flwr.supercore.task_identity import TaskIdentity

        for name in ("_task_id", "_run_id", "_node_id"):
            monkeypatch.setattr(TaskIdentity, name, 1)


class Person(NumPyClient):
    """A device whose update tells who it is, and whose evaluation leaks all that it can."""

    def __init__(self, node: int, sex: str) -> None:
        self.update = np.array([MARK, node / 100.0])
        self.recall = RECALL[sex]

    def fit(self, parameters: Any, config: Any) -> Any:
        return [parameters[0] + self.update], 1, {}

    def evaluate(self, parameters: Any, config: Any) -> Any:
        return MARK, EXAMPLES, {"recall": self.recall, "loss": MARK, "whose": "mark"}


class Devices:
    """A grid of Flower's own client app on many devices, all of them here, that keeps every reply."""

    def __init__(self, app: ClientApp, nodes: int) -> None:
        self.app = app
        self.run = SimpleNamespace(run_id=1)
        self.replies: list[Message] = []
        self.contexts = {
            node: Context(
                run_id=1,
                node_id=node,
                # The node leaves its group and its ledger to the app.
                node_config={"sex": ("female", "male")[node % 2], "number": node, "fairgauge-app": True},
                state=RecordDict(),
                run_config={},
            )
            for node in range(1, nodes + 1)
        }

    def get_node_ids(self) -> list[int]:
        return list(self.contexts)

    def send_and_receive(self, messages: Iterable[Message], timeout: float | None = None) -> list[Message]:
        # Each device gets a copy, as over a wire: SecAgg+ takes entries out of what it was sent.
        sent = (deepcopy(message) for message in messages)
        replies = [self.app(message, self.contexts[message.metadata.dst_node_id]) for message in sent]
        self.replies += deepcopy(replies)
        return replies

    def replies_to(self, kind: str) -> list[Message]:
        return [reply for reply in self.replies if reply.metadata.message_type == kind]


def client_app(here: Path, order: Callable[[list[Any]], Iterable[Any]] = list) -> ClientApp:
    private = private_metrics(
        study=STUDY,
        group={"sex": node_config("sex")},
        ledger=lambda context: here / f"{context.node_config['number']}.sqlite3",
    )

    def client_fn(context: Context) -> Client:
        return Person(int(context.node_config["number"]), str(context.node_config["sex"])).to_client()

    return ClientApp(client_fn, mods=list(order([secaggplus_mod, on_evaluate(private)])))


def legacy_context(**strategy: Any) -> LegacyContext:
    context = Context(run_id=1, node_id=0, node_config={}, state=RecordDict(), run_config={})
    chosen = FedAvg(initial_parameters=ndarrays_to_parameters([np.zeros(2)]), **strategy)
    return LegacyContext(context, ServerConfig(num_rounds=ROUNDS), chosen)


def rounds(devices: Devices, counter: AnswerCounter, **strategy: Any) -> LegacyContext:
    """Train through SecAgg+ and measure in the last round."""
    secure = legacy_context(**strategy)
    DefaultWorkflow(
        fit_workflow=SecAggPlusWorkflow(num_shares=5, reconstruction_threshold=3, max_weight=1.0),
        evaluate_workflow=PrivateEvaluation(counter, first_round=ROUNDS),
    )(devices, secure)
    return secure


def test_the_sum_is_right_and_the_gap_is_measured_in_one_run(tmp_path: Path) -> None:
    devices = Devices(client_app(tmp_path), nodes := 200)
    counter = AnswerCounter(STUDY)
    secure = rounds(devices, counter, fraction_fit=0.1)

    # Every round adds the mean update of those who trained, and SecAgg+ rounds each to 22 bits of a range of 16.
    (model,) = secure.state.array_records[MAIN_PARAMS_RECORD].to_numpy_ndarrays()
    trained = [reply.metadata.src_node_id for reply in devices.replies_to("train")]
    assert len(trained) == 4 * ROUNDS * nodes // 10, "the four stages of SecAgg+"
    expected = [ROUNDS * MARK, ROUNDS * np.mean(trained) / 100.0]
    np.testing.assert_allclose(model, expected, rtol=0, atol=ROUNDS * 16 / 2**22)

    assert len(counter.answers) == nodes
    low, high = (secure.history.metrics_distributed[f"recall female - male {end}"] for end in ("low", "high"))
    assert low[0][0] == ROUNDS
    assert -1 <= low[0][1] < RECALL["female"] - RECALL["male"] < high[0][1] < 0


@pytest.mark.parametrize("order", [list, reversed])
def test_no_reply_has_an_update_or_a_measurement_in_either_order(order: Any, tmp_path: Path) -> None:
    devices = Devices(client_app(tmp_path, order), nodes := 8)
    rounds(devices, AnswerCounter(STUDY))
    trained, evaluated = devices.replies_to("train"), devices.replies_to("evaluate")
    assert len(trained) == 4 * ROUNDS * nodes  # the four stages of SecAgg+
    assert not any(arrays for reply in trained for arrays in reply.content.array_records.values())
    # What SecAgg+ does not mask, as the page says: the number of examples, which is 1 on every device here.
    told = [reply.content.metric_records.get("fitres.num_examples") for reply in trained]
    assert [counted["num_examples"] for counted in told if counted is not None] == [1] * (ROUNDS * nodes)
    assert len(evaluated) == nodes
    for reply in evaluated:
        assert list(reply.content) == ["metrics"]
        assert sorted(reply.content["metrics"]) == ["id", "num-examples", "payload", "study"]
    assert not any(str(MARK) in repr(reply) or str(EXAMPLES) in repr(reply) for reply in devices.replies)


def test_the_twin_without_the_mods_shows_it_all(tmp_path: Path) -> None:
    app = ClientApp(lambda context: Person(int(context.node_config["number"]), "female").to_client())
    devices = Devices(app, 8)
    DefaultWorkflow()(devices, legacy_context())
    assert all(any(reply.content.array_records.values()) for reply in devices.replies_to("train"))
    assert all(str(MARK) in repr(reply) and str(EXAMPLES) in repr(reply) for reply in devices.replies_to("evaluate"))


def test_a_second_run_trains_again_and_counts_nobody_twice(tmp_path: Path) -> None:
    counter = AnswerCounter(STUDY)
    rounds(Devices(client_app(tmp_path), 8), counter)
    spent = Ledger(tmp_path / "1.sqlite3").spent()
    rounds(Devices(client_app(tmp_path), 8), counter)
    assert len(counter.answers) == 8
    assert Ledger(tmp_path / "1.sqlite3").spent() == spent


def test_the_strategy_chooses_who_is_asked(tmp_path: Path) -> None:
    devices = Devices(client_app(tmp_path), 8)
    counter = AnswerCounter(STUDY)
    rounds(devices, counter, fraction_evaluate=0.5)
    assert len(devices.replies_to("evaluate")) == len(counter.answers) == 4
    none = Devices(client_app(tmp_path / "none"), 8)
    rounds(none, AnswerCounter(STUDY), fraction_evaluate=0.0)
    assert none.replies_to("evaluate") == []
