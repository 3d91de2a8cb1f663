"""A mod of a whole app that is about evaluation alone, for clients of Flower's older kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.client import NumPyClient
from flwr.clientapp import ClientApp

from fairgauge import client
from fairgauge.flower import on_evaluate, private_metrics
from fairgauge.flower.metric_reply import from_content
from tests.samples import sample_study
from tests.unit.flower.messages import asked

STUDY = sample_study()


class Person(NumPyClient):
    def __init__(self, gives: Any) -> None:
        self.gives = gives

    def get_properties(self, config: Any) -> Any:
        return {"battery": 7}

    def fit(self, parameters: Any, config: Any) -> Any:
        return [np.array([4.5])], 1, {}

    def evaluate(self, parameters: Any, config: Any) -> Any:
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


class Speechless(NumPyClient):
    """A client without an `evaluate`."""


@pytest.fixture
def values(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """What the mod takes for measured."""
    seen: list[Mapping[str, Any]] = []
    real = client.answer

    def answer(study: Any, profile: Any, **more: Any) -> Any:
        seen.append(dict(profile["values"]))
        return real(study, profile, **more)

    monkeypatch.setattr("fairgauge.client.ledger.answer", answer)
    return seen


def app(here: Path, person: NumPyClient) -> ClientApp:
    private = private_metrics(study=STUDY, group={"sex": "female"}, ledger=here / "ledger")
    return ClientApp(lambda context: person.to_client(), mods=[on_evaluate(private)])


def sent(kind: str, records: str = "") -> Message:
    message = asked()
    message.metadata.message_type = kind
    message.content[f"{records}.parameters"] = ArrayRecord([np.zeros(1)])
    message.content[f"{records}.config"] = ConfigRecord()
    return message


def context() -> Context:
    return Context(run_id=1, node_id=2, node_config={"fairgauge-app": True}, state=RecordDict(), run_config={})


@pytest.mark.parametrize(
    ("gives", "measured"),
    [
        ((0.25, 60, {"recall": 0.75}), {"recall": 0.75, "loss": 0.25}),
        ((0.25, 60, {"recall": 0.75, "loss": 0.5}), {"recall": 0.75, "loss": 0.5}),
        ((0.25, 60, {"recall": "high", "raw": b"x", "yes": True}), {"loss": 0.25}),
        (ValueError("female"), {}),
        ("nonsense", {}),
    ],
)
def test_what_a_client_measured(gives: Any, measured: Any, values: list[Any], tmp_path: Path) -> None:
    reply = app(tmp_path, Person(gives))(sent("evaluate", "evaluateins"), context())
    assert values == [measured]
    assert list(reply.content) == ["metrics"]
    assert from_content(reply.content).study == STUDY.digest


def test_a_client_without_an_evaluation_has_measured_nothing(values: list[Any], tmp_path: Path) -> None:
    reply = app(tmp_path, Speechless())(sent("evaluate", "evaluateins"), context())
    assert values == [{}], "its loss of zero is no loss"
    assert from_content(reply.content).study == STUDY.digest


def test_everything_else_passes_as_it_is(values: list[Any], tmp_path: Path) -> None:
    made = app(tmp_path, Person((0.25, 60, {})))
    trained = made(sent("train", "fitins"), context())
    assert trained.content.array_records["fitres.parameters"].to_numpy_ndarrays() == [np.array([4.5])]
    asked_for = made(sent("get_properties", "getpropertiesins"), context())
    assert asked_for.content.config_records["getpropertiesres.properties"] == {"battery": 7}
    assert values == []
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize("kind", ["evaluate", "evaluate.again"])
def test_an_app_of_today_may_have_it_on_the_whole(kind: str, values: list[Any], tmp_path: Path) -> None:
    private = private_metrics(study=STUDY, group={"sex": "female"}, ledger=tmp_path / "ledger")
    made = ClientApp(mods=[on_evaluate(private)])

    @made.evaluate()
    @made.evaluate("again")
    def evaluate(message: Message, context: Context) -> Message:
        return Message(RecordDict({"metrics": MetricRecord({"recall": 0.5})}), reply_to=message)

    reply = made(sent(kind), context())
    assert values == [{"recall": 0.5}]
    assert from_content(reply.content).study == STUDY.digest
