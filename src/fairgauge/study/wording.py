"""The texts of a study that people read, each with its place in the document, and their translations."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.errors import BadStudy, InvalidInput
from fairgauge.study.attribute import Attribute
from fairgauge.study.field_checks import LONGEST_PROSE, LONGEST_TEXT, at, check_text, named
from fairgauge.study.metric import Metric
from fairgauge.study.question import reworded

if TYPE_CHECKING:
    from fairgauge.study.document import Study

_MOST_LANGUAGES = 64
_LANGUAGE = re.compile("[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?")
_PROSE = ("purpose", "help", "person")

Texts = Mapping[str, str]


def texts_of(study: "Study") -> dict[str, str]:
    """Return the texts that a translation has to say too, by their place: "title", "metrics[0].name" ...

    Who asks, whom to ask and what the model is called are names, which are the same in every language.
    """
    found = {"title": study.title, "purpose": study.purpose}
    for i, metric in enumerate(study.metrics):
        found |= {f"metrics[{i}].{text}": getattr(metric, text) for text in ("name", "help", "unit")}
    for i, attribute in enumerate(study.attributes):
        found |= dict(_attribute_texts(f"attributes[{i}]", attribute))
    found |= {f"tables[{n}].person": table[0].mechanism.person for n, table in enumerate(study.tables)}
    return {place: text for place, text in found.items() if text is not None}


def _attribute_texts(place: str, attribute: Attribute) -> Iterator[tuple[str, str | None]]:
    yield f"{place}.name", attribute.name
    yield f"{place}.help", attribute.help
    yield f"{place}.share_source", attribute.share_source
    if attribute.cross:
        for k, factor in enumerate(attribute.cross):
            yield from _attribute_texts(f"{place}.cross[{k}]", factor)
    else:
        yield from ((f"{place}.groups[{j}]", group) for j, group in enumerate(attribute.groups))


def check_language(field: str, value: object) -> None:
    """Refuse what is no language tag (BCP 47) of a language, a script and a region, in their usual letters."""
    if not isinstance(value, str) or not _LANGUAGE.fullmatch(value):
        raise BadStudy(field, value, "must be a language tag such as en, pt-BR or zh-Hant")


def check_translations(study: "Study") -> None:
    """Refuse translations that leave out a text, or say more than the study does.

    Raises:
        BadStudy: Naming the language and the place.
    """
    if study.translations is None:
        return
    if not isinstance(study.translations, Mapping):
        raise BadStudy("translations", named(study.translations), "must be an object")
    if study.language is None:
        raise BadStudy("language", "nothing", "must be given where there are translations")
    if not 1 <= len(study.translations) <= _MOST_LANGUAGES:
        raise BadStudy("translations", f"{len(study.translations)} languages", f"must be from 1 to {_MOST_LANGUAGES}")
    original = texts_of(study)
    for language, texts in study.translations.items():
        with at("translations"):
            check_language(str(language), language)
            if language == study.language:
                raise BadStudy(language, "a translation", "must not be into the language of the study")
        with at(f"translations.{language}"):
            _check_texts(texts, original)


def _check_texts(texts: object, original: Texts) -> None:
    if not isinstance(texts, Mapping):
        raise BadStudy("", texts, "must be an object")
    for place in original:
        if place not in texts:
            raise BadStudy(place, "nothing", "must be given")
    seen: set[tuple[str, str]] = set()
    for place, text in texts.items():
        if place not in original:
            raise BadStudy(place, text, "is not a text of this study")
        check_text(place, text, longest=LONGEST_PROSE if place.endswith(_PROSE) else LONGEST_TEXT)
        siblings, _, last = place.rpartition("[")
        if last.endswith("]"):  # one of a list of groups
            if (siblings, text) in seen:
                raise BadStudy(place, text, "must be listed once")
            seen.add((siblings, text))


def spoken(study: "Study", wanted: Iterable[str]) -> tuple[str | None, Texts]:
    """Return the first of the wanted languages that the study speaks, and its texts in that language.

    A tag also finds a shorter one, "de-AT" finds "de" (RFC 4647, lookup); if nothing is found, the study's own language
    it is.
    """
    known = study.translations or {}
    for tag in wanted:
        while tag:
            if tag == study.language:
                return tag, texts_of(study)
            if tag in known:
                return tag, known[tag]
            tag = tag.rpartition("-")[0]  # noqa: PLW2901 - that is the lookup
    return study.language, texts_of(study)


def explained(study: "Study", helps: Texts) -> "Study":
    """Return a study that says how to give a value, or how to pick a group, by the names of metrics and attributes.

    Raises:
        InvalidInput: If the study has nothing of such a name.
    """
    names = [metric.name for metric in study.metrics]
    names += [factor.name for attribute in study.attributes for factor in attribute.factors]
    for name in helps:
        if name not in names:
            raise InvalidInput("explain", name, f"must be one of {', '.join(dict.fromkeys(names))}")

    def metric_helped(metric: Metric) -> Metric:
        told = {"help": helps.get(metric.name, metric.help), "better": metric.better, "unit": metric.unit}
        return Metric(metric.name, metric.low, metric.high, **told)  # type: ignore[arg-type]

    def attribute_helped(attribute: Attribute) -> Attribute:
        return Attribute(
            attribute.name,
            attribute.groups,
            attribute.shares,
            answering=attribute.answering,
            share_error=attribute.share_error,
            share_source=attribute.share_source,
            help=attribute.help if attribute.cross else helps.get(attribute.name, attribute.help),
            cross=[attribute_helped(factor) for factor in attribute.cross],
            comparisons=attribute.comparisons,
        )

    return replace(study, questions=reworded(study.questions, metric_helped, attribute_helped))


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
