"""Nodes that evaluate once, as the environment says: plainly, with a ledger each, or with an agent each."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from fairgauge.flower import AnswerCounter, PrivateMetrics, private_metrics

client = ClientApp()
server = ServerApp()


def _folder() -> Path:
    return Path(os.environ["FAIRGAUGE_FOLDER"])


def _number(context: Context) -> int:
    return int(context.node_config["partition-id"])


private = private_metrics(
    study=lambda _: _folder() / "study.json",
    group={"sex": lambda context: "female" if _number(context) % 2 else "male"},
    ledger=lambda context: _folder() / f"ledgers/{_number(context)}.sqlite3",
)


def as_the_run_says(message: Message, context: Context, call_next: Any) -> Message:
    """Leave ours out, or in; a simulation has no node configuration of a node's own, so the agent is named here."""
    mode = os.environ["FAIRGAUGE_MODE"]
    if mode == "plain":
        reply: Message = call_next(message, context)
        return reply
    if mode == "agent":
        context.node_config["fairgauge-agent"] = str(_folder() / "agents" / str(_number(context)) / "s")
    return private(message, context, call_next)


@client.evaluate(mods=[as_the_run_says])
def evaluate(message: Message, context: Context) -> Message:
    """Measure nothing much: what is timed is everything else."""
    metrics = MetricRecord({"recall": 0.5 + 0.1 * (_number(context) % 2), "num-examples": 1})
    return Message(RecordDict({"metrics": metrics}), reply_to=message)


@server.main()
def main(grid: Grid, _: Context) -> None:
    """Ask every node once, and write down how long it took."""
    folder, nodes = _folder(), int(os.environ["FAIRGAUGE_NODES"])
    every = FedAvg(fraction_train=0.0, min_evaluate_nodes=nodes, min_available_nodes=nodes)
    counter = AnswerCounter(folder / "study.json", path=folder / "answers.ndjson")
    strategy = every if os.environ["FAIRGAUGE_MODE"] == "plain" else PrivateMetrics(every, counter)
    started = time.perf_counter()
    strategy.start(grid=grid, initial_arrays=ArrayRecord([np.zeros(3)]), num_rounds=1)
    took = time.perf_counter() - started
    (folder / "took").write_text(f"{took} {counter.tally.contributors}", encoding="utf-8")
