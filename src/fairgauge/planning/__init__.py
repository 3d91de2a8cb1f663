"""Plans and designs: what will it take, and which channel does it best.

>>> from fairgauge import Attribute, Metric, design, plan
>>> recall, sex = Metric("recall", 0, 1), Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
>>> found = plan(recall, sex, clients=10**6, epsilon=1, interval="normal")
>>> found.best, round(found.row("randomized-response").error, 4), round(found.row("uncentred").error, 4)
('centred', 0.0086, 0.0056)
>>> design(recall, sex, epsilon=1, design="randomized-response").channel.symbols
4
"""

from typing import TYPE_CHECKING

from fairgauge.lazy import lazily

if TYPE_CHECKING:
    from fairgauge.planning.draft import Draft
    from fairgauge.planning.result import Plan, PlanRow
    from fairgauge.planning.several import Plans
    from fairgauge.planning.typed import as_count, as_number
    from fairgauge.planning.verbs import design, plan

__all__ = ["Draft", "Plan", "PlanRow", "Plans", "as_count", "as_number", "design", "plan"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "Draft": "draft",
        "Plan": "result",
        "PlanRow": "result",
        "Plans": "several",
        "as_count": "typed",
        "as_number": "typed",
        "design": "verbs",
        "plan": "verbs",
    },
)
