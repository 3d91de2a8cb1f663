"""Measure how differently a model serves demographic groups, without learning who belongs to which group.

The data's path, and the room that each step lives in::

    plan       fairgauge.planning    how many clients, how much privacy, how small an error: two give the third
      |
    channel    fairgauge.designs     make the table of integers that randomises (fairgauge.channel)
      |
    study      fairgauge.study       publish the questions with their channels; the name is a SHA-256 digest
      |
    answer     fairgauge.client      on a device: check the study, then send one randomised symbol
      |
    tally      fairgauge.tallies     count the symbols (fairgauge.simulation makes a tally from a population)
      |
    estimate   fairgauge.estimation  group means, the gap between groups, and how sure we are
      |
    report     fairgauge.reports     sentences, pictures, and a document for people

``fairgauge.audit`` measures from outside what a client gives away, whatever its table says.
``fairgauge.cli`` puts a command on each step, and ``fairgauge.errors`` names everything that can go wrong.

The names below load on first use, so ``import fairgauge.client`` on a device loads the standard library
and nothing else.
"""

from typing import TYPE_CHECKING

from fairgauge.lazy import bodies_from, lazily

if TYPE_CHECKING:
    from fairgauge import errors
    from fairgauge.client import Answer, answer
    from fairgauge.estimation import Estimate, Interval, estimate
    from fairgauge.estimation.metric_frame import PrivateMetricFrame
    from fairgauge.planning import Plan, design, new, plan
    from fairgauge.reports import report
    from fairgauge.simulation import Population, simulate
    from fairgauge.study import Attribute, Metric, Question, Study
    from fairgauge.tallies import Tally

__version__ = "0.2.0"

__all__ = [
    "Answer",
    "Attribute",
    "Estimate",
    "Interval",
    "Metric",
    "Plan",
    "Population",
    "PrivateMetricFrame",
    "Question",
    "Study",
    "Tally",
    "__version__",
    "answer",
    "design",
    "errors",
    "estimate",
    "new",
    "plan",
    "report",
    "simulate",
]

_ROOMS = (
    "audit", "channel", "client", "designs", "errors", "estimation", "planning", "reports", "simulation",
    "study", "tallies", "targets",
)  # fmt: skip

# Verbs are functions and rooms are nouns: a package cannot hold a module and a function of the same name.
__getattr__, __dir__ = lazily(
    __name__,
    {
        "Answer": "client",
        "Attribute": "study",
        "Estimate": "estimation",
        "Interval": "estimation",
        "Metric": "study",
        "Plan": "planning",
        "Population": "simulation",
        "PrivateMetricFrame": "estimation.metric_frame",
        "Question": "study",
        "Study": "study",
        "Tally": "tallies",
        "answer": "client",
        "design": "planning",
        "estimate": "estimation",
        "new": "planning",
        "plan": "planning",
        "report": "reports",
        "simulate": "simulation",
        **{room: room for room in _ROOMS},
    },
)


def _load_bodies(name: str) -> None:
    """Import the rooms that give values their late methods: how they look, and what a study is drafted from."""
    if name == "draft":
        import fairgauge.planning.study_draft
    else:
        import fairgauge.reports.notebook  # noqa: F401


bodies_from(_load_bodies)
