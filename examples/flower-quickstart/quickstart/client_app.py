"""quickstart: the ClientApp."""

from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from quickstart.task import load_data, test, train

app = ClientApp()


@app.train()
def train_here(msg: Message, context: Context) -> Message:
    """Train the model on local data."""
    readings, labels = load_data(context)
    weights = train(msg.content["arrays"].to_numpy_ndarrays()[0], readings, labels)
    metrics = MetricRecord({"num-examples": len(labels)})
    return Message(RecordDict({"arrays": ArrayRecord([weights]), "metrics": metrics}), reply_to=msg)


@app.evaluate()
def evaluate_here(msg: Message, context: Context) -> Message:
    """Evaluate the model on local data."""
    readings, labels = load_data(context)
    accuracy = test(msg.content["arrays"].to_numpy_ndarrays()[0], readings, labels)
    metrics = MetricRecord({"eval_acc": accuracy, "num-examples": len(labels)})
    return Message(RecordDict({"metrics": metrics}), reply_to=msg)
