"""The Flower app: federated averaging of a logistic regression, and a private answer from every trial.

Compared with any other Flower app, what is new is the mod in front of the evaluation and the strategy around FedAvg.
With ``models`` in its configuration it trains nothing, and asks how two models differ.
"""

from functools import cache
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from fairgauge.flower import AnswerCounter, PrivateMetrics, private_metrics, run_config
from model import SIZE, rates, train
from paper_model import differences
from trials import Matrix, Trial, load

client = ClientApp()
server = ServerApp()


def number(context: Context) -> int:
    """Return which trial a client is: in a simulation they are numbered."""
    return int(context.node_config["partition-id"])


def folder(context: Context) -> Path:
    """Return where the example keeps its files."""
    return Path(str(context.run_config["folder"]))


def trial(context: Context) -> tuple[Trial, Trial]:
    """Return the client's own readings: what it trains on, and what it evaluates on.

    Where there are more clients than trials, they take turns.
    """
    known = _trials(str(context.run_config["data"]))
    place = number(context) % len(known)
    return known[place].split(place)


@cache
def _trials(data: str) -> list[Trial]:
    return load(Path(data) if data else None)


private = private_metrics(
    study=run_config("study"),
    group={"sex": lambda context: trial(context)[0].sex},
    ledger=lambda context: folder(context) / f"ledgers/{number(context)}.sqlite3",
)


@client.train()
def train_here(message: Message, context: Context) -> Message:
    """Take some steps on the client's own readings."""
    training, _ = trial(context)
    weights = train(_arrays(message)[0], training)
    # Every trial weighs the same, so that nobody has to tell how many readings there are.
    content = {"arrays": ArrayRecord([weights]), "metrics": MetricRecord({"num-examples": 1})}
    return Message(RecordDict(content), reply_to=message)


@client.evaluate(mods=[private])
def evaluate_here(message: Message, context: Context) -> Message:
    """Measure the model, or how the second of two differs from the first; the mod lets one private answer out."""
    _, test = trial(context)
    models = _arrays(message)
    found = rates(models[0], test) if len(models) == 1 else differences(models[0], models[1], test)
    metrics = MetricRecord({**found, "num-examples": len(test.lying)})
    return Message(RecordDict({"metrics": metrics}), reply_to=message)


@server.main()
def main(grid: Grid, context: Context) -> None:
    """Train and measure, or compare two models that there are."""
    clients, rounds = int(context.run_config["clients"]), int(context.run_config["rounds"])
    given = str(context.run_config["models"])
    every = {"min_train_nodes": clients, "min_evaluate_nodes": clients, "min_available_nodes": clients}
    counter = AnswerCounter(str(context.run_config["study"]), path=folder(context) / "answers.ndjson")
    if given:
        # Nothing is trained: both models go out in one message, and one answer comes back about their difference.
        comparing = PrivateMetrics(FedAvg(fraction_train=0.0, **every), counter)
        comparing.start(grid=grid, initial_arrays=ArrayRecord(list(np.load(given).values())), num_rounds=1)
        return
    # A client answers once, so nobody is asked before the model is the one that is to be measured.
    strategy = PrivateMetrics(FedAvg(**every), counter, first_round=rounds)
    result = strategy.start(grid=grid, initial_arrays=ArrayRecord([np.zeros(SIZE)]), num_rounds=rounds)
    np.savez(folder(context) / "model.npz", result.arrays.to_numpy_ndarrays()[0])


def _arrays(message: Message) -> list[Matrix]:
    arrays: list[Matrix] = message.content["arrays"].to_numpy_ndarrays()
    return arrays
