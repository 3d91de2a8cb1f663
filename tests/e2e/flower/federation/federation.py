"""A Flower app whose devices hold marked groups and values, and try to let them out in every way there is."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Context, Error, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from fairgauge.client import load_study
from fairgauge.flower import AnswerCounter, PrivateMetrics, private_metrics

MODES = ("honest", "raising", "failing", "leaving", "interrupting")


class Marks(NamedTuple):
    """What a device holds and nobody else may see."""

    group: str
    value: float
    examples: int

    @classmethod
    def of(cls, context: Context) -> "Marks":
        kind = "open" if mode(context) == "open" else "private"
        return cls(*json.loads((Path(here(context)) / "marks.json").read_text())[kind])


def mode(context: Context) -> str:
    """What a device does: as it is told in deployment, in turns in simulation; a bad one as the run says."""
    turn = MODES[int(context.node_config.get("partition-id", 0)) % len(MODES)]
    own = str(context.node_config.get("mode", turn))
    return str(context.run_config["bad"]) if own == "bad" else own


def ledger(context: Context) -> Path:
    device = context.node_config.get("partition-id", context.node_config.get("mode"))
    return Path(here(context)) / "ledgers" / f"{device}.sqlite3"  # a folder that nobody made


def here(context: Context) -> str:
    return str(Path(str(context.run_config.get("here", "") or ".")).resolve())  # a relative path would be the app's


private = private_metrics(
    study=lambda context: f"{here(context)}/{context.run_config.get('study', 'study.json')}",
    group={"animal": lambda context: Marks.of(context).group},
    ledger=ledger,
)


def perhaps_private(message: Message, context: Context, call_next: Any) -> Message:
    """The mod, or nothing in its place on the open device: the search must find that one's marks."""
    if mode(context) != "open":
        return private(message, context, call_next)
    reply: Message = call_next(message, context)
    return reply


client = ClientApp()


@client.evaluate(mods=[perhaps_private])
def evaluate(message: Message, context: Context) -> Message:
    group, value, examples = Marks.of(context)
    said = f"{group} has recall {value} on {examples} examples"
    if context.run_config.get("study") == "sites.json":
        # Code that a server ships may read whatever the node's user may: what it returns must not leave.
        said = Path(str(context.node_config["fairgauge-site"])).with_name("patients.csv").read_text()
    match mode(context):
        case "raising":
            raise ValueError(said)
        case "failing":
            return Message(Error(code=examples, reason=said), reply_to=message)
        case "leaving":
            raise SystemExit(said)
        case "interrupting":
            raise KeyboardInterrupt(said)
    return Message(
        RecordDict(
            {
                "metrics": MetricRecord({"recall": value, "recall again": value, "num-examples": examples}),
                group: ConfigRecord({"group": group, "said": said}),
                "arrays": ArrayRecord([np.full(3, value)]),
            }
        ),
        reply_to=message,
        ttl=examples / 7,
    )


class Recording(PrivateMetrics):
    """Keeps everything that the server sees of every reply."""

    def __init__(self, counter: AnswerCounter, devices: int, record: Path) -> None:
        # Training is Flower's own, and here it would cost each device another process.  Old versions want both zeros.
        every = {"min_evaluate_nodes": devices, "min_available_nodes": devices}
        strategy = FedAvg(fraction_train=0.0, min_train_nodes=0, **every)
        super().__init__(strategy, counter)
        self.record = record

    def aggregate_evaluate(self, server_round: int, replies: Any) -> MetricRecord | None:
        replies = list(replies)
        with self.record.open("ab") as file:
            for reply in replies:
                file.write(repr(reply).encode() + b"\n" + reply.deflate() + b"\n")
                for content in () if reply.has_error() else reply.content.values():
                    file.write(content.deflate() + b"\n")
        return super().aggregate_evaluate(server_round, replies)


server = ServerApp()


@server.main()
def main(grid: Grid, context: Context) -> None:
    folder = Path(here(context))
    name = str(context.run_config.get("study", "study.json"))
    answers = "answers.ndjson" if name == "study.json" else f"{name}.ndjson"
    counter = AnswerCounter(load_study(folder / name), path=folder / answers)
    strategy = Recording(counter, int(context.run_config.get("devices", 20)), folder / "received")
    strategy.start(
        grid=grid, initial_arrays=ArrayRecord([np.zeros(3)]), num_rounds=int(context.run_config.get("rounds", 2))
    )
