"""Apps with Flower's older ``client_fn``, which SecAgg+ needs: a mod of the whole app that is about evaluation alone.

Such an app has one list of mods for everything that is asked of it.  SecAgg+ takes what is about training, and lets the
rest pass; this is its counterpart.
"""

from functools import partial
from typing import TYPE_CHECKING

from flwr.app import Context, Message, MetricRecord, RecordDict

if TYPE_CHECKING:  # the names of types moved between versions of Flower, and nothing else needs them
    from flwr.clientapp.typing import ClientAppCallable, Mod

_EVALUATE = "evaluate"
# How Flower writes what a client's `evaluate` returned.
_LOSS, _METRICS, _STATUS = (f"evaluateres.{part}" for part in ("loss", "metrics", "status"))
_OK = 0


def on_evaluate(mod: "Mod") -> "Mod":
    """Return a mod for ``ClientApp(client_fn, mods=[...])``: the given one for evaluation, and no change to the rest.

    What a client's ``evaluate`` returns besides its metrics is one more of them, ``loss``, unless it has one of that
    name.  Its number of examples is none.

    Guarantee: exact; a reply to an evaluation is the given mod's own.  What the app replies to anything else, such as
    training, properties or initial parameters, passes as it is: that is for SecAgg+ and the app to look after.

    Args:
        mod: What :func:`~fairgauge.flower.client.private_metrics` gave.
    """

    def chosen(message: Message, context: Context, call_next: "ClientAppCallable") -> Message:
        if message.metadata.message_type.split(".")[0] != _EVALUATE:
            return call_next(message, context)
        return mod(message, context, partial(_measured, call_next))

    return chosen


def _measured(call_next: "ClientAppCallable", message: Message, context: Context) -> Message:
    """Evaluate, and write what an older client measured as an app of today does: as one record of metrics."""
    reply = call_next(message, context)
    if reply.has_error() or _METRICS not in reply.content.config_records:
        return reply
    content = reply.content
    measured = {**content.metric_records[_LOSS], **content.config_records[_METRICS]}
    if content.config_records[_STATUS]["code"] != _OK:  # as of a client that has no `evaluate`: its loss is a zero
        measured = {}
    numbers = {name: value for name, value in measured.items() if type(value) in (int, float)}
    return Message(RecordDict({"metrics": MetricRecord(numbers)}), reply_to=message)
