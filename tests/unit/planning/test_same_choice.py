"""A plan calls best what design takes: the same table, byte for byte, whatever is asked.

Covers: fairgauge.planning.choose_design, fairgauge.planning.plans, fairgauge.planning.table_pairing.
"""

from typing import Any

import pytest

from fairgauge.estimation.interval_kinds import kind_of
from fairgauge.planning import choose_design, counted_questions
from fairgauge.planning.api import design, plan
from fairgauge.planning.planned_widths import planned_width
from fairgauge.planning.table_pairing import TOGETHER
from fairgauge.study import Attribute, Metric, Study

RECALL, FPR = Metric("recall", 0, 1), Metric("fpr", 0, 1)
ANY = Attribute("sex", {"female": 0.5, "male": 0.5})
RARE = Attribute("sex", {"female": 0.1, "male": 0.9})
ALIKE = Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
UNEQUAL = Attribute("sex", {"female": 0.231, "male": 0.769}, answering="alike")
OFF = Attribute("sex", {"female": 0.4, "male": 0.6}, answering="alike", share_error="0.01")
THREE = Attribute("age", ["a", "b", "c"])

QUESTIONS: list[tuple[Attribute, str, int, dict[str, Any]]] = [
    (ANY, "1", 10_000, {}),
    (ANY, "1", 200, {}),
    (ANY, "4", 300, {"expect": 0.9}),  # which the plan and design had different tables for
    (ANY, "0.5", 10**6, {"expect": 0.9}),
    (ANY, "2", 5_000, {"spread": "max"}),
    (ANY, "1", 10_000, {"abstain": True}),
    (RARE, "1", 10_000, {}),
    (RARE, "4", 1_000, {"expect": 0.2}),
    (ANY, "1", 10_000, {"target": "means"}),
    (ALIKE, "2", 10_000, {}),  # .4 % apart
    (ALIKE, "0.5", 10_000, {}),
    (ALIKE, "1", 10_000, {"expect": 0.9}),
    (ALIKE, "4", 300, {"expect": 0.9, "spread": 0.05}),
    (ALIKE, "1", 10**6, {"target": "means"}),
    (ALIKE, "1", 10_000, {"abstaining": 0.3}),
    (UNEQUAL, "0.5", 10**5, {}),
    (UNEQUAL, "2", 10**5, {"expect": 0.9}),
    (OFF, "2", 10**5, {}),
    (OFF, "1", 1_000, {"expect": 0.9}),
    (THREE, "1", 10_000, {"target": "means"}),
    (THREE, "2", 10_000, {"target": "means", "abstain": True}),
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Widths as if intervals were normal: which design they choose is another matter."""
    normal = kind_of("normal")
    monkeypatch.setattr(choose_design, "planned_width", lambda g, c, n, _, a: planned_width(g, c, n, normal, a))


@pytest.mark.parametrize(("attribute", "epsilon", "clients", "known"), QUESTIONS, ids=str)
def test_a_plan_and_a_design_have_one_table(attribute: Attribute, epsilon: str, clients: int, known: dict[str, Any]):
    (planned,) = plan(RECALL, attribute, epsilon=epsilon, clients=clients, interval="normal", **known)
    (made,) = design(RECALL, attribute, epsilon=epsilon, clients=clients, **known)
    assert planned.best == made.design
    assert planned.row(planned.best).mechanism == made.mechanism
    assert planned.row(planned.best).symbols == made.channel.symbols


# An epsilon is found by a search that solves a dozen tables.
@pytest.mark.parametrize(
    ("attribute", "given"),
    [
        *((attribute, {"epsilon": 1, "error": 0.05}) for attribute in (ANY, ALIKE, UNEQUAL)),
        *((attribute, {"clients": 20_000, "error": 0.04}) for attribute in (ANY, ALIKE)),
    ],
    ids=str,
)
def test_what_a_plan_finds_is_designed_with_its_table(attribute: Attribute, given: dict[str, Any]):
    (planned,) = plan(RECALL, attribute, interval="normal", **given)
    best = planned.row(planned.best or "")
    (made,) = design(RECALL, attribute, epsilon=best.epsilon or 0, clients=best.clients)
    assert made.design == best.design
    assert made.mechanism == best.mechanism


@pytest.mark.parametrize("epsilon", ["1", "2"])
def test_several_metrics_have_the_tables_of_their_plan(epsilon: str):
    plans = plan([RECALL, FPR], ALIKE, epsilon=epsilon, clients=10**5, interval="normal")
    made = design([RECALL, FPR], ALIKE, epsilon=epsilon, clients=10**5)
    shared = len(Study("Both", made).tables) == 1
    assert [one.best for one in plans] == [TOGETHER if shared else one.design for one in made]
    assert [one.row(one.best or "").mechanism for one in plans] == [one.mechanism for one in made]


@pytest.mark.parametrize("outcome", ["confusion", "levels"])
def test_sites_send_what_their_plan_reckons_with(outcome: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(counted_questions, "inverted", lambda _: (-0.1, 0.1))
    asked: dict[str, Any] = {"outcome": outcome, "records": 3, "epsilon": "0.7"}
    metric = RECALL if outcome == "levels" else None
    plans = plan(metric, ANY, clients=20, people=100, **asked)
    made = design(metric, ANY, **asked)
    assert [one.row(one.best or "").mechanism for one in plans] == [one.mechanism for one in made]
    assert {one.best for one in plans} == {one.design for one in made}
    assert {one.counts.records for one in made} == {3}
