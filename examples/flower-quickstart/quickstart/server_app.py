"""quickstart: the ServerApp."""

import numpy as np
from flwr.app import ArrayRecord, Context
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from quickstart.task import SIZE

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train for some rounds."""
    rounds = int(context.run_config["num-server-rounds"])
    strategy = FedAvg()
    result = strategy.start(grid=grid, initial_arrays=ArrayRecord([np.zeros(SIZE)]), num_rounds=rounds)
    print("evaluated:", result.evaluate_metrics_clientapp)
