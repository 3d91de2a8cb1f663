"""What a study's own file says, and what is typed: one draft, which plan and design read alike.

What is typed counts instead of what the file says: ``--group`` instead of all its groups and their shares, ``--metric``
instead of all its metrics, and every other option instead of its own field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from fairgauge.cli._files import naming
from fairgauge.errors import InvalidInput
from fairgauge.estimation.interval_kinds import DEFAULT
from fairgauge.planning.attribute_input import Grouping, read_attribute, with_comparisons
from fairgauge.planning.contributors import ABOUT_SITES, Contributors
from fairgauge.planning.input import read_by_metric, read_metrics, read_terms, read_weights
from fairgauge.planning.study_draft import Draft
from fairgauge.study import Attribute
from fairgauge.study.numbers import as_epsilon

# The part of a metric's range that a gap is to be known to where nobody says: two hundredths.
_USUAL_PART = 0.02
_OTHERS = ("clients", "epsilon", "crowd_epsilon")


def load_draft(path: Path | None) -> Draft:
    """Read a study's own file; without one nothing is said."""
    if path is None:
        return Draft()
    if path.suffix == ".json":
        rule = "must be a study's own file (TOML): a published study is designed already"
        raise InvalidInput("study", path, rule)
    with naming(path):
        return Draft.load(path)


def typed_over(
    draft: Draft, grouping: Mapping[str, Any], metrics: Sequence[str], terms: Mapping[str, Any], **typed: Any
) -> Draft:
    """Return a draft in which what is typed counts.

    Args:
        draft: What the file says.
        grouping: What is typed of groups, by the names of :class:`~fairgauge.planning.attribute_input.Grouping`.
        metrics: Metrics as they are typed.
        terms: Terms as they are typed.
        typed: What else is typed, by the draft's names; expect, spread and weights as texts.
    """
    found = draft
    if metrics:
        found = replace(found, metrics=tuple(read_metrics(metrics)), expect={}, spread={}, weights={})
    by_metric: dict[str, Mapping[str, Any]] = {
        "expect": read_by_metric("expect", found.metrics, typed.pop("expect", None) or ()),
        "spread": read_by_metric("spread", found.metrics, typed.pop("spread", None) or ()),
        "weights": read_weights(found.metrics, typed.pop("weights", None) or ()),
    }
    if (epsilon := typed.pop("epsilon", None)) is not None:
        typed["epsilon"] = as_epsilon(epsilon)
    more: dict[str, Any] = {name: {**getattr(found, name), **given} for name, given in by_metric.items()}
    more |= {name: value for name, value in typed.items() if value is not None}
    return replace(
        found,
        **more,
        attribute=_attribute(found.attribute, {name: given for name, given in grouping.items() if given}),
        terms={**found.terms, **read_terms(**terms)},
    )


def _attribute(stated: Attribute | None, typed: dict[str, Any]) -> Attribute | None:
    if "groups" in typed or "crosses" in typed or stated is None:
        if stated is not None:
            typed = {"attribute": stated.name, "answering": stated.answering} | typed
            typed.setdefault("share_error", stated.share_error)
        return read_attribute(Grouping(**typed)) if typed else None
    named = {
        "attribute": "name",
        "answering": "answering",
        "share_error": "share_error",
        "share_source": "share_source",
    }
    if "shares" in typed:
        raise InvalidInput("shares", typed["shares"], "is about the cells of --cross")
    found = replace(stated, **{named[name]: given for name, given in typed.items() if name in named})
    return with_comparisons(found, Grouping(**typed)) if {"compare", "against", "weigh"} & set(typed) else found


@dataclass(frozen=True)
class PlanRequest:
    """What a plan is asked for: what is typed, and else what the file says.

    Of clients, epsilon and error two are taken: first those that are typed, then the file's in this order: epsilon,
    clients (those that are planned), error.
    """

    clients: Any = None
    epsilon: Any = None
    error: Any = None
    confidence: float = 0.99
    interval: str = DEFAULT
    detect: float | None = None
    crowd_epsilon: Any = None
    delta: Any = None
    local_limit: Any = None
    said: str | None = None

    @classmethod
    def of(cls, draft: Draft, **typed: Any) -> "PlanRequest":
        """Take what is typed, and fill up with what the file says."""
        given = {name: value for name, value in typed.items() if value is not None}
        own = {name: value for name, value in draft.plan.items() if name not in ABOUT_SITES}
        stated = {**own, "epsilon": draft.epsilon, "clients": draft.clients}
        stated = {name: value for name, value in stated.items() if value is not None}
        if "epsilon" in given or "error" in given:
            stated.pop("crowd_epsilon", None)
        crowd = "crowd_epsilon" in given or "crowd_epsilon" in stated
        for name in ("clients",) if crowd else ("epsilon", "clients", "error"):
            if name in stated and len({"clients", "epsilon", "error"} & set(given)) < 2:
                given.setdefault(name, stated[name])
        others = {name: value for name, value in stated.items() if name not in ("clients", "epsilon", "error")}
        given = others | given
        if "error" in stated and "error" not in given:
            two = " and ".join(name.replace("_", " ") for name in _OTHERS if name in given)
            given["said"] = f"The file's error of ±{stated['error']} is not used: {two} are given, and say what it is."
        for name in ("confidence", "detect"):
            if isinstance(given.get(name), Decimal):
                given[name] = float(given[name])
        return cls(**given)

    @property
    def clients_alone(self) -> bool:
        """Whether nothing but a number of clients is known, so that a table of epsilons is wanted."""
        return self.clients is not None and (self.epsilon, self.error, self.crowd_epsilon) == (None, None, None)

    def with_usual_error(self, file: Path | None, draft: Draft) -> "PlanRequest":
        """Return it with an error to plan for, where a file names an epsilon and nobody a number of clients."""
        if file is None or self.epsilon is None or (self.clients, self.error) != (None, None) or not draft.metrics:
            return self
        part = float(draft.terms.get("aim", _USUAL_PART))
        errors = {metric.name: float(f"{2 * metric.scale * part:.12g}") for metric in draft.metrics}
        alike = len(set(errors.values())) == 1
        told = "" if alike else ", ".join(f"{name} ±{error:.4g}" for name, error in errors.items())
        wanted = f"an error of ±{errors[draft.metrics[0].name]:.4g}" if alike else f"errors of {told}"
        said = f"Reckoned for {wanted}; --clients or --error says otherwise, or planned in the file."
        return replace(self, error=f"{errors[draft.metrics[0].name]:.12g}" if alike else errors, said=said)


def usual_metric(file: Path | None, contributors: Contributors) -> list[str]:
    """Return the metric that is planned for where nobody says which."""
    return ["metric:0:1"] if file is None and contributors.measure else []


def usual_groups(stated: Draft, cross: Sequence[str] | None) -> list[str]:
    """Return the groups that are planned for where nobody says which: two equal ones."""
    return [] if cross or stated.attribute is not None else ["one=0.5", "other=0.5"]


def expected_people(metrics: Sequence[object], expect: Sequence[str] | None) -> dict[str, str]:
    """Return what ``--expect`` says of people, beside what it says of a metric's values: of devices nothing."""
    del metrics, expect
    return {}
