"""What of a profile a study cannot use, in words for the person's own side alone.

Nothing that leaves a device may depend on it: it is said to somebody at a terminal before anything is drawn, who may
then type something else, or on the device's own side when the answer is written down.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fairgauge.client.answer import group_index, groups_by_attribute
from fairgauge.client.entries import entry_of
from fairgauge.study import Study
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
            number = exact(given)
            inside = number is not None and Fraction(metric.low) <= number <= Fraction(metric.high)
            if not inside and not (abstain and given is None):
                found.append(f"{metric.name} must be a number from {metric.low} to {metric.high}")
    return list(dict.fromkeys(found))
