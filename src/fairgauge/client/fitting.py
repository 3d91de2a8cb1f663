"""What of a profile a study cannot use, in words for the person's own side alone.

Nothing that leaves a device may depend on it: it is said to somebody at a terminal before anything is drawn, who may
then type something else, or on the device's own side when the answer is written down.
"""

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from fairgauge.client.answer import group_index, groups_by_attribute
from fairgauge.client.entries import entry_of
from fairgauge.client.policy import Policy
from fairgauge.study import Metric, Study
from fairgauge.study.numbers import exact


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


def is_inside(metric: Metric, value: object) -> bool:
    """Tell whether a value is a number of the metric's range."""
    number = exact(value)
    return number is not None and Fraction(metric.low) <= number <= Fraction(metric.high)


def _lacks(given: Mapping[str, Any], name: str) -> bool:
    return name in given and given[name] is None
