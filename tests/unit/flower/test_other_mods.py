"""Flower's own mods beside ours: where each belongs, and what happens where it does not."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from fairgauge.flower import private_metrics
from fairgauge.flower.metric_reply import from_content
from tests.samples import sample_study
from tests.unit.flower.messages import asked

mods = pytest.importorskip("flwr.clientapp.mod")
STUDY = sample_study()
CLIPPING_NORM = "clipping_norm"


def context() -> Context:
    return Context(run_id=1, node_id=2, node_config={"fairgauge-app": True}, state=RecordDict(), run_config={})


def app(here: Path, *, whole: list[Any] | None = None, training: list[Any], before: list[Any], after: list[Any]) -> Any:
    """An app with other mods on the whole of it, on training, and before and after ours on the evaluation."""
    made = ClientApp(mods=whole or [])
    private = private_metrics(study=STUDY, group={"sex": "female"}, ledger=here / "ledger")

    @made.train(mods=training)
    def train(message: Message, context: Context) -> Message:
        return Message(
            RecordDict({"arrays": ArrayRecord([np.full(3, 100.0)]), "metrics": MetricRecord({"num-examples": 1})}),
            reply_to=message,
        )

    @made.evaluate(mods=[*before, private, *after])
    def evaluate(message: Message, context: Context) -> Message:
        return Message(RecordDict({"metrics": MetricRecord({"recall": 0.5, "loss": 0.8125390625})}), reply_to=message)

    return made


def sent(kind: str) -> Message:
    """What a server sends, with a model and the key that its clipping strategies add."""
    message = asked()
    message.metadata.message_type = kind
    message.content["arrays"] = ArrayRecord([np.zeros(3)])
    message.content["config"] = ConfigRecord({CLIPPING_NORM: 1.0})
    return message


DIFFERENTIAL = {
    "LocalDpMod": lambda: mods.LocalDpMod(clipping_norm=1.0, sensitivity=1.0, epsilon=1.0, delta=1e-5),
    "fixedclipping_mod": lambda: mods.fixedclipping_mod,
    "adaptiveclipping_mod": lambda: mods.adaptiveclipping_mod,
}
DIFFERENTIAL = {name: made for name, made in DIFFERENTIAL.items() if hasattr(mods, name)}  # 1.21 has not all of them


@pytest.mark.parametrize("name", DIFFERENTIAL)
def test_clipping_and_noise_belong_on_training(name: str, tmp_path: Path) -> None:
    made = app(tmp_path, training=[DIFFERENTIAL[name]()], before=[], after=[])
    trained = made(sent("train"), context())
    assert trained.has_content()
    assert np.linalg.norm(trained.content["arrays"].to_numpy_ndarrays()[0]) < 100
    assert from_content(made(sent("evaluate"), context()).content).study == STUDY.digest


@pytest.mark.parametrize("name", DIFFERENTIAL)
def test_on_the_whole_app_they_may_refuse_every_evaluation_and_leak_nothing(name: str, tmp_path: Path) -> None:
    made = app(tmp_path, whole=[DIFFERENTIAL[name]()], training=[], before=[], after=[])
    reply = made(sent("evaluate"), context())
    if reply.has_error():
        assert "ArrayRecord" in reply.error.reason
    else:  # as in Flower 1.21, where they look at training alone
        assert from_content(reply.content).study == STUDY.digest
    assert "8125390625" not in repr(reply)


@pytest.mark.parametrize("place", ["before", "after"])
def test_mods_that_log_sizes_go_anywhere(place: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    others = {"before": [], "after": []} | {place: [mods.message_size_mod, mods.arrays_size_mod]}
    caplog.set_level(logging.INFO, logger="flwr")
    reply = app(tmp_path, training=[], **others)(sent("evaluate"), context())
    assert list(reply.content) == ["metrics"]
    assert from_content(reply.content).study == STUDY.digest
    assert "8125390625" not in repr(reply)
