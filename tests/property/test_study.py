"""What holds for every study: its bytes say it all, and nothing strange gets through or crashes."""

import json
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import BadStudy, CannotAnswer, InvalidInput, NotPrivate
from fairgauge.study import (
    Attribute,
    Comparison,
    Issuer,
    Metric,
    Model,
    NoisyCounts,
    Question,
    Release,
    Study,
    counted,
    parse,
)
from fairgauge.study.field_checks import check_name, looks_of
from fairgauge.study.wording import texts_of
from tests.property.test_channel import channels
from tests.samples import THREE_LEVELS, full_study, sample_joint_channel, site_study, two_questions, unlinked_study

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Zl", "Zp")), min_size=1, max_size=20)


def _is_name(text: str) -> bool:
    with suppress(BadStudy):
        check_name("name", text)
        return True
    return False


names = texts.map(str.strip).filter(_is_name)
decimals = st.decimals(-1000, 1000, places=3).map(lambda number: f"{number + 0:f}")


@st.composite
def metrics(draw: st.DrawFn) -> Metric:
    low, high = sorted(draw(st.lists(decimals, min_size=2, max_size=2, unique_by=Decimal)), key=Decimal)
    return Metric(draw(names), low, high)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    channel = draw(channels(fewest_groups=2))
    groups = draw(st.lists(names, min_size=channel.groups, max_size=channel.groups, unique_by=looks_of))
    parts = draw(st.lists(st.integers(1, 99), min_size=channel.groups - 1, max_size=channel.groups - 1))
    shares = tuple(f"{Decimal(part) / 1000:f}" for part in [*parts, 1000 - sum(parts)])
    stated: dict[str, Any] = draw(st.sampled_from([{}, {"shares": shares, "answering": "alike"}]))
    attribute = Attribute(draw(names), tuple(groups), **stated)
    return Question(draw(metrics()), attribute, draw(st.sampled_from(["gap", "means"])), draw(names), "40", channel)


def _metric_name(question: Question) -> str:
    return question.metric.name


def _attribute_name(question: Question) -> str:
    return question.attribute.name


@st.composite
def studies(draw: st.DrawFn) -> Study:
    asked = st.lists(questions(), min_size=1, max_size=3, unique_by=(_metric_name, _attribute_name))
    moments = st.datetimes().map(lambda moment: f"{moment.isoformat(timespec='seconds')}Z")
    opens, closes = sorted(draw(st.lists(moments, min_size=2, max_size=2, unique=True)))
    return Study(draw(names), draw(asked), opens=opens, closes=closes, contact=draw(st.none() | names))


parts: st.SearchStrategy[str] = st.decimals("0.001", "0.999", places=3).map(lambda number: f"{number:f}")
keys = st.text("ABCxyz019-_", min_size=1, max_size=20)
languages = st.from_regex(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?", fullmatch=True)


@st.composite
def attributes(draw: st.DrawFn) -> Attribute:
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=2))
    called = draw(st.lists(names, min_size=3, max_size=3, unique_by=looks_of))
    factors = [Attribute(called[k], [f"{k}{j}" for j in range(size)]) for k, size in enumerate(sizes)]
    found = factors[0] if len(factors) == 1 else Attribute.crossed(*factors, name=called[-1])
    many = len(found.groups)
    shares = ("0.001",) * (many - 1) + (f"0.{1001 - many}",)
    told: dict[str, Any] = draw(st.sampled_from([{}, {"shares": shares}, {"shares": shares, "answering": "alike"}]))
    if "shares" in told:
        told["share_source"] = draw(st.none() | names)
    if "answering" in told:
        told["share_error"] = draw(st.none() | parts)
    weight: st.SearchStrategy[str | None] = st.none() | parts
    comparison = st.builds(Comparison, st.just(found.groups[:1]), st.just(found.groups[1:]), weight)
    comparisons = draw(st.none() | st.tuples(comparison))
    return replace(found, **told, comparisons=comparisons, help=draw(st.none() | names))


@st.composite
def full_studies(draw: st.DrawFn) -> Study:
    """Studies that say more: of their terms, their attributes and their metrics, in several languages."""
    attribute = draw(attributes())
    called = draw(st.lists(names, min_size=2, max_size=2, unique_by=looks_of))
    asked = [replace(draw(metrics()), name=name, help=draw(st.none() | names)) for name in called]
    levels = draw(st.lists(st.sampled_from([THREE_LEVELS, THREE_LEVELS[::2]]), min_size=1, max_size=2))
    channel = sample_joint_channel(groups=len(attribute.groups), levels=tuple(levels))
    told: dict[str, Any] = {"spread": draw(st.sampled_from([None, "max"])), "weight": draw(st.none() | parts)}
    questions = [
        Question(metric, attribute, "gap", "sample", "1.1", channel, expect=metric.low, **told)
        for metric in asked[: len(levels)]
    ]
    sites = [
        NoisyCounts(attribute, "confusion", "0.5", person=draw(st.none() | names)),
        NoisyCounts(attribute, "levels", 1, metric=asked[0], levels=THREE_LEVELS),
    ]
    site = draw(st.none() | st.sampled_from(sites))
    terms: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {"language": languages},
            optional={
                "purpose": names,
                "operator": names,
                "retention": st.integers(0, 36525),
                "planned": st.integers(1, 10**15),
                "aim": parts,
                "gateway": keys,
                "epoch": st.integers(60, 86400),
                "hourly": st.integers(1, 10**6),
                "model": st.builds(Model, names, st.none() | names),
                "release": st.builds(Release, st.integers(1, 10**6), parts, st.integers(1, 10**6)),
            },
        )
    )
    if site:  # it is no secret who contributes
        terms = {name: value for name, value in terms.items() if name not in ("gateway", "epoch", "release")}
    elif issuer := draw(st.none() | st.builds(Issuer, names, keys)):
        terms |= {"issuer": issuer, "admission": "blind"}
    study = Study(draw(names), counted(site) if site else questions, **terms)
    others = draw(st.lists(languages.filter(lambda tag: tag != study.language), max_size=2, unique=True))
    texts = {tag: {place: f"{tag} {text}" for place, text in texts_of(study).items()} for tag in others}
    return replace(study, translations=texts or None)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def replace_a_part(part: Any, data: st.DataObject) -> None:
    while True:
        key = data.draw(st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part))))
        if not isinstance(part[key], dict | list) or not part[key] or data.draw(st.integers(0, 3)) == 0:
            break
        part = part[key]
    part[key] = data.draw(junk)


@given(studies() | full_studies())
def test_bytes_say_it_all(study: Study) -> None:
    data = study.to_bytes()
    assert Study.from_bytes(data) == study
    assert Study.from_bytes(data).to_bytes() == data
    document = json.loads(data)
    assert document["format"] == 1
    assert rfc8785.dumps(document) == data
    assert parse(json.dumps(document, indent=1).encode()).digest == study.digest


@given(st.data())
def test_any_part_replaced_by_junk_is_refused_or_kept(data: st.DataObject) -> None:
    """Whatever is accepted is exactly what was sent: nothing can be said in two ways; a refusal is one of ours."""
    study = data.draw(st.sampled_from([two_questions(), full_study(), unlinked_study(), site_study("levels")]))
    document = json.loads(study.to_bytes())
    replace_a_part(document, data)
    with suppress(InvalidInput, NotPrivate):
        assert json.loads(Study.from_bytes(json.dumps(document).encode()).to_bytes()) == document


@given(studies(), st.data())
def test_symbols_are_numbered_through(study: Study, data: st.DataObject) -> None:
    symbol = data.draw(st.integers(0, study.symbols - 1))
    index, local = study.question_of(symbol)
    assert study.offset(index) + local == symbol
    assert 0 <= local < study.questions[index].channel.symbols


@given(metrics(), st.floats() | st.decimals() | st.integers() | st.fractions() | st.text() | st.booleans())
def test_a_position_is_exact_or_refused(metric: Metric, value: Any) -> None:
    low, high = Fraction(metric.low), Fraction(metric.high)
    try:
        position = metric.position(value)
    except CannotAnswer:
        with suppress(ValueError, OverflowError):
            assert isinstance(value, bool) or "/" in str(value) or not low <= Fraction(value) <= high
    else:
        assert low + (position / LEVEL_UNIT + 1) * (high - low) / 2 == Fraction(value)


@given(st.binary(max_size=50) | st.text(max_size=50).map(lambda text: text.encode(errors="replace")))
def test_any_bytes_are_refused_by_name(data: bytes) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(data)
    assert caught.value.field
