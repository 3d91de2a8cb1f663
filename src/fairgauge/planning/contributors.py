"""Who will answer, which ``outcome`` says: devices of one person each, or sites that count the many whom they hold.

It is read here and nowhere else: what each of both heeds of what is said while there is no mechanism yet, and what is
asked of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, Question
from fairgauge.study.noisy_counts import Outcome

if TYPE_CHECKING:
    from fairgauge.planning.input import Metrics
    from fairgauge.planning.study_draft import Draft

# What a plan says of sites and of the people that they hold.
ABOUT_SITES = ("sites", "people", "right", "positives")
# The outcomes that are about a metric; others have rates of their own.
_OF_METRICS = frozenset({"levels"})


class Contributors(ABC):
    """Who will answer, and all that goes by it before a mechanism does."""

    count: ClassVar[str]  # what a plan calls how many they are
    things: ClassVar[tuple[str, ...]]  # what tables of people have beside groups and metrics
    measure = True  # whether they have a value of a metric for each person
    _heeded: ClassVar[tuple[str, ...]]
    _foreign: ClassVar[frozenset[str]]
    _rule: ClassVar[str]

    def check_heeded(self, said: Mapping[str, object]) -> None:
        """Refuse what would change nothing.

        Args:
            said: What is said, by its field; what stands under ``plan`` begins with it, and None is unsaid.

        Raises:
            InvalidInput: If a field is about other contributors; the error names it.
        """
        for field, value in said.items():
            if value is not None and field.removeprefix("plan.") in self._foreign:
                raise InvalidInput(field, value, self._rule)

    def ask(self, metric: "Metrics | None", attribute: Attribute, said: Mapping[str, Any]) -> Sequence[Question]:
        """Return what is asked about a metric, or several, by an attribute: not designed yet.

        Raises:
            InvalidInput: If something is of another type or out of range, or would change nothing.
        """
        heeded = {name: said[name] for name in self._heeded if said.get(name) is not None}
        return self._asked(metric, attribute, heeded)

    @abstractmethod
    def _asked(self, metric: "Metrics | None", attribute: Attribute, heeded: Mapping[str, Any]) -> Sequence[Question]:
        """Return the same, of what is heeded."""

    @abstractmethod
    def designed_with(self, draft: "Draft") -> Mapping[str, Any]:
        """Return what a design reckons with of values, as ``ask`` takes it."""

    @abstractmethod
    def planned_with(self, draft: "Draft") -> Mapping[str, Any]:
        """Return what a plan reckons with of people and values, as ``ask`` takes it."""


class _Devices(Contributors):
    count, things = "clients", ()
    _heeded = ("target", "abstain", "abstaining", "expect", "spread", "weights", "symbols")
    _foreign = frozenset({"records", "person", *ABOUT_SITES})
    _rule = "must be given with outcome: devices hold one person each"

    def _asked(self, metric: "Metrics | None", attribute: Attribute, heeded: Mapping[str, Any]) -> Sequence[Question]:
        from fairgauge.planning.input import ask  # it brings the solvers, which reading a draft needs none of

        return ask(metric, attribute, **heeded)

    def designed_with(self, draft: "Draft") -> Mapping[str, Any]:
        return {"expect": draft.expect or None, "spread": draft.spread or None}

    def planned_with(self, draft: "Draft") -> Mapping[str, Any]:
        return self.designed_with(draft)


class Sites(Contributors):
    """Sites, which all count the same.

    Args:
        outcome: What they count: ``"confusion"`` for truth and prediction, ``"levels"`` for a metric.
    """

    count, things = "sites", ("truth", "prediction")
    _heeded = ("records", "person", "people", "positives", "expect", "spread")
    _foreign = frozenset(
        {
            "target", "design", "designs", "abstain", "abstaining", "symbols", "weight", "weights", "clients", "detect",
            "crowd_epsilon", "delta", "local_limit",
        }
    )  # fmt: skip
    _rule = "must not be given with outcome: sites count everyone they hold"

    def __init__(self, outcome: str) -> None:
        self._outcome = outcome
        self.measure = outcome in _OF_METRICS

    def _asked(self, metric: "Metrics | None", attribute: Attribute, heeded: Mapping[str, Any]) -> Sequence[Question]:
        from fairgauge.planning.counted_questions import ask_counts

        return ask_counts(metric, attribute, self._outcome, **heeded)

    def designed_with(self, draft: "Draft") -> Mapping[str, Any]:
        """Return nothing: noise is the same whatever is expected."""
        del draft
        return {}

    def planned_with(self, draft: "Draft") -> Mapping[str, Any]:
        """Return how many people each site holds, and what is expected of them."""
        stated = draft.plan
        if "people" not in stated:
            raise InvalidInput("people", "nothing", "must be given in a plan for sites: how many each of them holds")
        if "right" in stated and draft.metrics:
            raise InvalidInput("plan.right", stated["right"], "must be given where the outcome is confusion")
        known = {name: stated.get(name) for name in ("people", "positives")}
        return known | {"expect": stated.get("right", draft.expect or None), "spread": draft.spread or None}


# Whoever adds a mechanism adds what asks for it.
_BY_OUTCOME: dict[str | None, Contributors] = {None: _Devices(), **{one: Sites(one) for one in get_args(Outcome)}}


def contributors_of(outcome: str | None) -> Contributors:
    """Return who will answer: sites that count so, or devices where nobody says what is counted.

    Raises:
        InvalidInput: If nobody does.
    """
    if outcome not in _BY_OUTCOME:
        known = " or ".join(f'"{one}"' for one in _BY_OUTCOME if one is not None)
        raise InvalidInput("outcome", outcome, f"must be {known}")
    return _BY_OUTCOME[outcome]
