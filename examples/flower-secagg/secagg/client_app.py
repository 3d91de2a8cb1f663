"""secagg: the ClientApp, whose updates leave a device masked and whose accuracy leaves it as one private answer."""

from flwr.app import Context
from flwr.client import Client, NumPyClient
from flwr.client.mod import secaggplus_mod
from flwr.clientapp import ClientApp
from flwr.common import NDArrays, Scalar

from fairgauge.flower import on_evaluate, private_metrics, run_config
from secagg.task import load_data, sex_of, test, train


class Person(NumPyClient):
    """One person's device."""

    def __init__(self, context: Context) -> None:
        self.readings, self.labels = load_data(context)

    def fit(self, parameters: NDArrays, _config: dict[str, Scalar]) -> tuple[NDArrays, int, dict[str, Scalar]]:
        """Train the model on local data."""
        # SecAgg+ masks arrays.  The number of examples and the metrics of a training are sent as they are.
        return [train(parameters[0], self.readings, self.labels)], 1, {}

    def evaluate(self, parameters: NDArrays, _config: dict[str, Scalar]) -> tuple[float, int, dict[str, Scalar]]:
        """Evaluate the model on local data."""
        accuracy = test(parameters[0], self.readings, self.labels)
        return 1 - accuracy, len(self.labels), {"eval_acc": accuracy}


def client_fn(context: Context) -> Client:
    """Return the device's client."""
    return Person(context).to_client()


# The mods begin here.
private = private_metrics(
    study=run_config("study"),
    group={"sex": sex_of},
    ledger=lambda context: f"ledgers/{context.node_config['partition-id']}.sqlite3",
)
app = ClientApp(client_fn, mods=[secaggplus_mod, on_evaluate(private)])
