"""The texts of a study for the people who are asked: what helps them to answer, and the same in other languages."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import singledispatch

from fairgauge.channel import Channel
from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, Mechanism, Metric, NoisyCounts, Question, Study, counted


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
    return replace(study, questions=_explained(study.mechanism, study, helps))


@singledispatch
def _explained(mechanism: Mechanism, study: Study, helps: Mapping[str, str]) -> tuple[Question, ...]:
    """Return the questions with what helps to answer them."""
    raise NotImplementedError


@_explained.register
def _(_: Channel, study: Study, helps: Mapping[str, str]) -> tuple[Question, ...]:
    return tuple(
        replace(question, metric=_metric(question.metric, helps), attribute=_attribute(question.attribute, helps))
        for question in study.questions
    )


@_explained.register
def _(counts: NoisyCounts, _: Study, helps: Mapping[str, str]) -> tuple[Question, ...]:
    metric = counts.metric and _metric(counts.metric, helps)
    return counted(replace(counts, metric=metric, attribute=_attribute(counts.attribute, helps)))


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
