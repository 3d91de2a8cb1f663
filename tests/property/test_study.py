"""What holds for every study: its bytes say it all, and nothing strange gets through or crashes."""

import json
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import CannotAnswer, InvalidInput, NotPrivate
from fairgauge.study import Attribute, Metric, Question, Study, parse
from tests.property.test_channel import channels
from tests.samples import two_questions

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Zl", "Zp")), min_size=1, max_size=20)
names = texts.map(str.strip).filter(bool)
decimals = st.decimals(-1000, 1000, places=3).map(lambda number: f"{number + 0:f}")


@st.composite
def metrics(draw: st.DrawFn) -> Metric:
    low, high = sorted(draw(st.lists(decimals, min_size=2, max_size=2, unique_by=Decimal)), key=Decimal)
    return Metric(draw(names), low, high)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    channel = draw(channels(fewest_groups=2))
    groups = draw(st.lists(names, min_size=channel.groups, max_size=channel.groups, unique=True))
    parts = draw(st.lists(st.integers(1, 99), min_size=channel.groups - 1, max_size=channel.groups - 1))
    shares = tuple(f"{Decimal(part) / 1000:f}" for part in [*parts, 1000 - sum(parts)])
    attribute = Attribute(draw(names), tuple(groups), draw(st.sampled_from([None, shares])))
    return Question(draw(metrics()), attribute, draw(st.sampled_from(["gap", "means"])), draw(names), "40", channel)


@st.composite
def studies(draw: st.DrawFn) -> Study:
    asked = st.lists(questions(), min_size=1, max_size=3, unique_by=lambda q: (q.metric.name, q.attribute.name))
    moments = st.datetimes().map(lambda moment: f"{moment.isoformat(timespec='seconds')}Z")
    opens, closes = sorted(draw(st.lists(moments, min_size=2, max_size=2, unique=True)))
    return Study(draw(names), draw(asked), opens=opens, closes=closes, contact=draw(st.none() | names))


@given(studies())
def test_bytes_say_it_all(study: Study) -> None:
    data = study.to_bytes()
    assert Study.from_bytes(data) == study
    assert parse(json.dumps(json.loads(data), indent=1).encode()).digest == study.digest


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


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
def test_any_part_replaced_by_junk_is_refused_or_kept(data: st.DataObject) -> None:
    """Whatever is accepted is exactly what was sent, and a refusal is one of ours."""
    document = json.loads(two_questions().to_bytes())
    part: Any = document
    while True:
        key = data.draw(st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part))))
        if not isinstance(part[key], dict | list) or not part[key] or data.draw(st.integers(0, 3)) == 0:
            break
        part = part[key]
    part[key] = data.draw(junk)
    with suppress(InvalidInput, NotPrivate):
        assert json.loads(Study.from_bytes(json.dumps(document).encode()).to_bytes()) == document


@given(st.binary(max_size=50) | st.text(max_size=50).map(lambda text: text.encode(errors="replace")))
def test_any_bytes_are_refused_by_name(data: bytes) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(data)
    assert caught.value.field
