"""secagg: the ServerApp, which learns the sum of all updates, and the gap."""

import numpy as np
from flwr.app import Context
from flwr.common import ndarrays_to_parameters
from flwr.server import Grid, LegacyContext, ServerApp, ServerConfig
from flwr.server.strategy import FedAvg
from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow

from fairgauge.flower import AnswerCounter, PrivateEvaluation
from secagg.task import SIZE

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train for some rounds, and measure the last one's model."""
    rounds = int(context.run_config["num-server-rounds"])
    strategy = FedAvg(initial_parameters=ndarrays_to_parameters([np.zeros(SIZE)]))
    secure = LegacyContext(context, ServerConfig(num_rounds=rounds), strategy)
    # The workflow begins here.
    counter = AnswerCounter(context.run_config["study"], path="answers.ndjson")
    workflow = DefaultWorkflow(
        fit_workflow=SecAggPlusWorkflow(num_shares=5, reconstruction_threshold=3, max_weight=1.0),
        evaluate_workflow=PrivateEvaluation(counter, first_round=rounds),
    )
    workflow(grid, secure)
    (model,) = secure.state.array_records["parameters"].to_numpy_ndarrays()
    print("model:", model.tolist())
    print(counter.report())
