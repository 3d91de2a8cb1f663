"""The texts of a study for the people who are asked: what helps them to answer, and the same in other languages."""

import json
from collections.abc import Mapping
from dataclasses import replace

from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, Metric, Study, counted


def explained(study: Study, helps: Mapping[str, str]) -> Study:
    """Return a study that says how to give a value, or how to pick a group, by the names of metrics and attributes.

    Raises:
        InvalidInput: If the study has nothing of such a name.
    """
    names = [metric.name for metric in study.metrics]
    names += [factor.name for attribute in study.attributes for factor in attribute.factors]
    for name in helps:
        if name not in names:
            raise InvalidInput("explain", name, f"must be one of {', '.join(dict.fromkeys(names))}")
    if (counts := study.counts_mechanism) is not None:
        metric = counts.metric and _metric(counts.metric, helps)
        counts = replace(counts, metric=metric, attribute=_attribute(counts.attribute, helps))
        return replace(study, questions=counted(counts))
    asked = [
        replace(question, metric=_metric(question.metric, helps), attribute=_attribute(question.attribute, helps))
        for question in study.questions
    ]
    return replace(study, questions=tuple(asked))


def _metric(metric: Metric, helps: Mapping[str, str]) -> Metric:
    return Metric(metric.name, metric.low, metric.high, help=helps.get(metric.name, metric.help))


def _attribute(attribute: Attribute, helps: Mapping[str, str]) -> Attribute:
    return Attribute(
        attribute.name,
        attribute.groups,
        attribute.shares,
        answering=attribute.answering,
        share_error=attribute.share_error,
        share_source=attribute.share_source,
        help=attribute.help if attribute.cross else helps.get(attribute.name, attribute.help),
        cross=[_attribute(factor, helps) for factor in attribute.cross],
        comparisons=attribute.comparisons,
    )


def read_texts(data: bytes) -> dict[str, str]:
    """Read a translation: a JSON object with a text for each place.

    >>> read_texts(b'{"title": "Falls"}')
    {'title': 'Falls'}

    Raises:
        InvalidInput: If it is something else; which texts are needed, the study checks.
    """
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise InvalidInput("translation", "a file", "must be a JSON object with a text for each place")
    return found
