"""The Flower app: federated averaging of a logistic regression, and a private answer from every trial.

Compared with any other Flower app, what is new is the mod in front of the evaluation and the strategy around FedAvg.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation

from fairgauge.flower import AnswerCounter, PrivateMetrics, private_metrics
from fairgauge.study import Study
from model import SIZE, rates, train
from trials import Matrix, Trial


def federate(trials: list[Trial], study: Study, folder: Path, *, rounds: int) -> tuple[Matrix, str]:
    """Train and measure in Flower's simulation; return the model, and what the answers of so few clients tell."""
    counter = AnswerCounter(study, path=folder / "answers.ndjson")
    trained: list[Matrix] = []
    run_simulation(
        server_app=_server(counter, trained, rounds=rounds, clients=len(trials)),
        client_app=_client(trials, study, folder),
        num_supernodes=len(trials),
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
    return trained[0], counter.report()


def _client(trials: list[Trial], study: Study, folder: Path) -> ClientApp:
    app = ClientApp()

    def number(context: Context) -> int:
        """Which trial a client is: in a simulation they are numbered."""
        return int(context.node_config["partition-id"])

    @app.train()
    def train_here(message: Message, context: Context) -> Message:
        training, _ = trials[number(context)].split(number(context))
        weights = train(_weights(message.content), training)
        # Every trial weighs the same, so that nobody has to tell how many readings there are.
        content = {"arrays": ArrayRecord([weights]), "metrics": MetricRecord({"num-examples": 1})}
        return Message(RecordDict(content), reply_to=message)

    private = private_metrics(
        study=study,
        group={"sex": lambda context: trials[number(context)].sex},
        ledger=lambda context: folder / f"ledgers/{number(context)}.sqlite3",
    )

    @app.evaluate(mods=[private])
    def evaluate_here(message: Message, context: Context) -> Message:
        _, test = trials[number(context)].split(number(context))
        metrics = MetricRecord({**rates(_weights(message.content), test), "num-examples": len(test.lying)})
        return Message(RecordDict({"metrics": metrics}), reply_to=message)

    return app


def _server(counter: AnswerCounter, trained: list[Matrix], *, rounds: int, clients: int) -> ServerApp:
    app = ServerApp()

    @app.main()
    def main(grid: Grid, _: Context) -> None:
        averaging = FedAvg(min_train_nodes=clients, min_evaluate_nodes=clients, min_available_nodes=clients)
        # A client answers once, so nobody is asked before the model is the one that is to be measured.
        strategy = PrivateMetrics(averaging, counter, first_round=rounds)
        result = strategy.start(grid=grid, initial_arrays=ArrayRecord([np.zeros(SIZE)]), num_rounds=rounds)
        trained.append(result.arrays.to_numpy_ndarrays()[0])

    return app


def _weights(content: Mapping[str, ArrayRecord]) -> Matrix:
    weights: Matrix = content["arrays"].to_numpy_ndarrays()[0]
    return weights
