"""Measure how differently a model serves demographic groups, without learning who belongs to which group.

The data's path, and the room that each step lives in::

    plan       fairgauge.planning       how many clients, how much privacy, how small an error: two give the third
      |
    channel    fairgauge.designs    make the table of integers that randomises (fairgauge.channel)
      |
    study      fairgauge.study      publish the questions with their channels; the name is a SHA-256 digest
      |
    answer     fairgauge.client     on a device: check the study, then send one randomised symbol
      |
    tally      fairgauge.tallies      count the symbols (fairgauge.simulation makes a tally from a population)
      |
    estimate   fairgauge.estimation   group means, the gap between groups, and how sure we are
      |
    report     fairgauge.reports     sentences, pictures, and a document for people

``fairgauge.audit`` measures from outside what a client gives away, whatever its table says.
``fairgauge.cli`` puts a command on each step, and ``fairgauge.errors`` names everything that can go wrong.

The names below load on first use, so ``import fairgauge.client`` on a device loads the standard library
and nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairgauge import errors
    from fairgauge.channel import Channel
    from fairgauge.client import Answer
    from fairgauge.estimation.metric_frame import PrivateMetricFrame
    from fairgauge.simulation import Population
    from fairgauge.study import Attribute, Metric, Question, Study
    from fairgauge.tallies import Tally

__version__ = "0.2.0"

__all__ = [
    "Answer",
    "Attribute",
    "Channel",
    "Metric",
    "Population",
    "PrivateMetricFrame",
    "Question",
    "Study",
    "Tally",
    "__version__",
    "errors",
]

_HOMES = {
    "Answer": "fairgauge.client",
    "Attribute": "fairgauge.study",
    "Channel": "fairgauge.channel",
    "Metric": "fairgauge.study",
    "Population": "fairgauge.simulation",
    "PrivateMetricFrame": "fairgauge.estimation.metric_frame",
    "Question": "fairgauge.study",
    "Study": "fairgauge.study",
    "Tally": "fairgauge.tallies",
}
# Functions are called through their room (fairgauge.simulation.simulate): a package cannot hold a module and a
# function of the same name, and which of the two one got would depend on what was imported before.
_ROOMS = frozenset(
    {
        "audit",
        "channel",
        "client",
        "designs",
        "errors",
        "estimation",
        "goals",
        "planning",
        "reports",
        "simulation",
        "study",
        "tallies",
    }
)


def __getattr__(name: str) -> object:
    """Load a public name, or a room, when it is first asked for."""
    if name in _HOMES:
        value: object = getattr(import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = import_module(f"fairgauge.{name}")
    else:
        raise AttributeError(f"module 'fairgauge' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names and the rooms, loaded or not."""
    return sorted({*__all__, *_ROOMS})
