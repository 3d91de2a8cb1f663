"""Plans and designs: what will it take, and which table does it best.

>>> from fairgauge import Attribute, Metric, design, plan
>>> recall, sex = Metric("recall", 0, 1), Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
>>> found = plan(recall, sex, clients=10**6, epsilon=1, interval="normal")["recall"]
>>> found.best, round(found.row("randomized-response").error, 4), round(found.row("uncentred").error, 4)
('centred', 0.0086, 0.0056)
>>> (question,) = design(recall, sex, epsilon=1, design="randomized-response")
>>> question.channel.symbols
4
"""

from typing import TYPE_CHECKING

from fairgauge.lazy import lazily

if TYPE_CHECKING:
    from fairgauge.planning.api import design, plan
    from fairgauge.planning.attribute_input import Grouping, read_attribute
    from fairgauge.planning.input import read_questions, read_terms
    from fairgauge.planning.plans import Plan, PlanRow, Plans
    from fairgauge.planning.study_draft import Draft
    from fairgauge.planning.table_draft import new
    from fairgauge.planning.table_pairing import make_study

__all__ = [
    "Draft",
    "Grouping",
    "Plan",
    "PlanRow",
    "Plans",
    "design",
    "make_study",
    "new",
    "plan",
    "read_attribute",
    "read_questions",
    "read_terms",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "Draft": "study_draft",
        "Grouping": "attribute_input",
        "Plan": "plans",
        "PlanRow": "plans",
        "Plans": "plans",
        "design": "api",
        "make_study": "table_pairing",
        "new": "table_draft",
        "plan": "api",
        "read_attribute": "attribute_input",
        "read_questions": "input",
        "read_terms": "input",
    },
)
