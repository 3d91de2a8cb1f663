"""What a device or a site may be asked: settled in its own file, before any study is known and any data is opened.

Agent, node of Flower, site of NVFlare and command of a site have the same entries in their files::

    "attributes": {"sex": ["female", "male"]},
    "metrics": {"recall": [0, 1]},
    "confusion": true,
    "studies": ["1f0c..."]

What is left out of a person's file is not restricted.  Whether a study is refused depends on it and on these entries.

What of a profile or a table does not fit is said here, too, for the owner's own side alone: nothing that leaves may
depend on it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from fairgauge.client.answer import contributor_of
from fairgauge.client.profile_entries import entry_of, is_inside
from fairgauge.client.randomiser import group_index, groups_by_attribute
from fairgauge.client.refusals import Refusal
from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, Metric, Study

FIELDS = ("attributes", "metrics", "confusion", "studies")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Policy:
    """What studies may ask.

    Guarantee: exact; a study that is refused is refused whoever is asked, and nothing of theirs was opened.

    Args:
        attributes: By name, the attributes with their groups; None for any.
        metrics: By name, the metrics with their ranges; None for any.
        confusion: Whether a site counts truth by prediction.
        studies: Digests of the only studies that are answered; None for any.
    """

    attributes: Mapping[str, Attribute] | None = None
    metrics: Mapping[str, Metric] | None = None
    confusion: bool = True
    studies: frozenset[str] | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Policy":
        """Read the entries of a file.

        Raises:
            InvalidInput: Naming the entry.
        """
        # A file that settles one kind of outcome and is silent about the other does not allow it.
        settled = "metrics" in document or "confusion" in document
        studies, confusion = document.get("studies"), document.get("confusion", not settled)
        if studies is not None and not _are_texts(studies):
            raise InvalidInput("studies", studies, "must be a list of digests")
        if not isinstance(confusion, bool):
            raise InvalidInput("confusion", confusion, "must be true or false")
        return cls(
            _by_name(document, "attributes", '{"sex": ["female", "male"]}', _attribute),
            _by_name({"metrics": {}, **document} if settled else document, "metrics", '{"recall": [0, 1]}', _metric),
            confusion,
            None if studies is None else frozenset(studies),
        )

    @property
    def counted(self) -> tuple[tuple[Attribute, ...], tuple[Metric, ...], bool] | None:
        """The attributes and metrics that it names, and whether truth by prediction may be counted; None for any."""
        if self.attributes is None or self.metrics is None:
            return None
        return tuple(self.attributes.values()), tuple(self.metrics.values()), self.confusion

    def refused(self, study: Study) -> Refusal | None:
        """Return why a study may not be asked; None if it may."""
        if self.studies is not None and study.digest not in self.studies:
            return Refusal("asked", f"study {study.digest} is not on the list of studies")
        for attribute in study.attributes:
            for factor in attribute.factors:
                if not self._has_attribute(factor):
                    return Refusal("asked", f"the study asks for {factor.name} with groups that the settings have not")
        metrics = contributor_of(study).metrics(study)
        if metrics is None:
            return None if self.confusion else Refusal("asked", "the study counts truth by prediction")
        for metric in metrics:
            if not self.has_metric(metric):
                return Refusal("asked", f"the study asks for {metric.name} in a range that the settings have not")
        return None

    def words(self) -> str:
        """Say what may be asked, in a line for who runs the device or the site."""
        if self.studies is not None:
            return f"{len(self.studies)} studies on its list"
        if self.attributes is None and self.metrics is None:
            return "any study, whatever attributes, groups, metrics and ranges it names"
        groups = [f"{one.name} ({', '.join(one.groups)})" for one in (self.attributes or {}).values()]
        ranges = [f"{one.name} from {one.low} to {one.high}" for one in (self.metrics or {}).values()]
        counted = ["truth by prediction"] if self.confusion and self.metrics is not None else []
        asked = ", ".join([*ranges, *counted]) if self.metrics is not None else "any metric"
        return f"studies of {asked or 'nothing'} by {', '.join(groups) if self.attributes is not None else 'anything'}"

    def _has_attribute(self, asked: Attribute) -> bool:
        own = None if self.attributes is None else self.attributes.get(asked.name)
        return self.attributes is None or (own is not None and set(own.groups) == set(asked.groups))

    def has_metric(self, asked: Metric) -> bool:
        """Tell whether a metric may be asked for in its range."""
        own = None if self.metrics is None else self.metrics.get(asked.name)
        return self.metrics is None or (own is not None and _range(own) == _range(asked))


def _range(metric: Metric) -> tuple[Fraction, Fraction]:
    return Fraction(metric.low), Fraction(metric.high)


def _by_name(
    document: Mapping[str, Any], field: str, example: str, make: Callable[[str, Any], _T]
) -> Mapping[str, _T] | None:
    if field not in document:
        return None
    given = document[field]
    if not isinstance(given, Mapping):
        raise InvalidInput(field, given, f"must be an object, such as {example}")
    try:
        return {name: make(name, entry) for name, entry in given.items()}
    except InvalidInput as problem:
        raise InvalidInput(f"{field}: {problem.field}", problem.value, problem.rule) from None


def _attribute(name: str, groups: Any) -> Attribute:
    if not _are_texts(groups):
        raise InvalidInput(name, groups, "must be a list of groups")
    return Attribute(name, groups)


def _metric(name: str, limits: Any) -> Metric:
    if not isinstance(limits, list) or len(limits) != 2:
        raise InvalidInput(name, limits, 'must be its least and its largest value, such as [0, 1] or ["0", "0.5"]')
    return Metric(name, *limits)


def _are_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(one, str) for one in given)


def misfits(study: Study, profile: Mapping[str, Any]) -> list[str]:
    """Say what is missing, not listed, no number or out of range, by name and without the group or a value.

    What is missing where a table has a row for those who abstain is no misfit: it may be meant.
    """
    groups, values = groups_by_attribute(study, profile["group"]), profile["values"]
    found = []
    for table in study.tables:
        abstain = table[0].mechanism.abstain
        for factor in table[0].attribute.factors:
            given = entry_of(groups, factor.name)
            if group_index(factor, given) is None and not (abstain and given is None):
                found.append(f"{factor.name} must be one of {', '.join(factor.groups)}")
        for metric in (question.metric for question in table):
            given = entry_of(values, metric.name)
            if not is_inside(metric, given) and not (abstain and given is None):
                found.append(f"{metric.name} must be a number from {metric.low} to {metric.high}")
    return list(dict.fromkeys(found))


def unsettled(policy: Policy, profile: Mapping[str, Any], askers_give: Collection[str] = ()) -> list[str]:
    """Say what of a profile the device's own settings do not name, by name and without the group or a value.

    What the person lacks is ``null``; what is left out may have been forgotten, or is spelt otherwise.

    Args:
        policy: What studies may ask.
        profile: The person's groups and values.
        askers_give: Metrics whose values are not in the profile.
    """
    groups, values = profile["group"], profile["values"]
    found = []
    for name, attribute in (policy.attributes or {}).items():
        if not _lacks(groups, name) and group_index(attribute, groups.get(name)) is None:
            found.append(f"{name} must be one of {', '.join(attribute.groups)}, or null")
    for name, metric in (policy.metrics or {}).items():
        if name not in askers_give and not _lacks(values, name) and not is_inside(metric, values.get(name)):
            found.append(f"{name} must be a number from {metric.low} to {metric.high}, or null")
    return found


def _lacks(given: Mapping[str, Any], name: str) -> bool:
    return name in given and given[name] is None
