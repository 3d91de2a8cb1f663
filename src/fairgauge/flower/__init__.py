"""Private metrics in a Flower app: a mod on the devices, a count on the server, and any strategy in between.

A device's evaluation still computes its metrics, but what leaves the device is one answer to a study.  The server
counts each answer once, over all rounds, and every round reports the gap with an interval that holds at every look.
"""

from typing import TYPE_CHECKING

from fairgauge.errors import MissingExtra
from fairgauge.lazy import lazily

try:
    import flwr  # noqa: F401 - asked for here, so that a missing extra is one sentence
except ImportError:
    raise MissingExtra("private metrics in Flower need flwr", "flower") from None

if TYPE_CHECKING:
    from fairgauge.flower.client import node_config, private_metrics, run_config
    from fairgauge.flower.client_fn import on_evaluate
    from fairgauge.flower.strategy import AnswerCounter, PrivateEvaluation, PrivateMetrics

__all__ = [
    "AnswerCounter",
    "PrivateEvaluation",
    "PrivateMetrics",
    "node_config",
    "on_evaluate",
    "private_metrics",
    "run_config",
]

# A device does not pay for the server's part.
__getattr__, __dir__ = lazily(
    __name__,
    {
        "AnswerCounter": "strategy",
        "PrivateEvaluation": "strategy",
        "PrivateMetrics": "strategy",
        "node_config": "client",
        "on_evaluate": "client_fn",
        "private_metrics": "client",
        "run_config": "client",
    },
)
