"""The study: exact values, numbering of symbols, canonical bytes, and all that a document may get wrong.

Covers: fairgauge.study.checks, fairgauge.study.format1.
"""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM
from fairgauge.errors import BadStudy, BadTable, CannotAnswer, InvalidInput, NotPrivate
from fairgauge.study import MOST_SYMBOLS, Attribute, Metric, Question, Study, parse
from tests.samples import (
    NEARLY_LN_3,
    RECALL,
    SEX,
    sample_channel,
    sample_question,
    sample_study,
    two_questions,
)

Document = dict[str, Any]


class TestMetric:
    @pytest.mark.parametrize(
        ("value", "v"),
        [
            (0, -1),
            (1, 1),
            (0.5, 0),
            ("0.83", Fraction(66, 100)),
            (Decimal("0.25"), Fraction(-1, 2)),
            (Fraction(1, 3), Fraction(-1, 3)),
            (0.1, 2 * Fraction(0.1) - 1),
            (np.float32(0.25), Fraction(-1, 2)),
            (np.float64(0.1), 2 * Fraction(0.1) - 1),
            (np.int64(1), 1),
        ],
    )
    def test_position_is_exact_for_every_kind_of_number(self, value: Any, v: Fraction) -> None:
        position = RECALL.position(value)
        assert position == v * LEVEL_UNIT
        assert type(position.numerator) is int

    def test_position_uses_low_and_high(self) -> None:
        metric = Metric("error", "-0.5", "2")
        assert metric.position("-0.5") == -LEVEL_UNIT
        assert metric.position("0.125") == Fraction(-LEVEL_UNIT, 2)
        assert metric.position(2) == LEVEL_UNIT

    @pytest.mark.parametrize(
        "value",
        [
            1.0000000000000002,
            -1e-300,
            math.nan,
            math.inf,
            -math.inf,
            Decimal("NaN"),
            Decimal("sNaN"),
            Decimal("Infinity"),
            "0.83x",
            "",
            "1/2",
            True,
            False,
            np.True_,
            None,
            [0.5],
            0.5j,
            b"0.5",
        ],
    )
    def test_anything_else_is_refused_without_naming_it(self, value: Any) -> None:
        with pytest.raises(CannotAnswer) as caught:
            RECALL.position(value)
        assert str(caught.value) == "recall must be a number from 0 to 1"
        # Not in a chained exception either: a traceback may travel to a server.
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None

    def test_back_to_the_metric(self) -> None:
        metric = Metric("error", "-0.5", "2")
        assert metric.scale == 1.25
        assert [metric.to_metric(v) for v in (-1.0, 0.0, 1.0)] == [-0.5, 0.75, 2.0]


def test_shares_as_numbers() -> None:
    assert SEX.share_values == (0.6, 0.4)
    assert Attribute("sex", ("female", "male")).share_values is None


def test_many_digits_of_shares_are_summed_exactly() -> None:
    tiny = "0." + "0" * 29 + "1"
    with pytest.raises(BadStudy, match="must sum to exactly 1"):
        Attribute("sex", ("a", "b", "c"), ("0.5", "0.5", tiny))


class TestSymbols:
    def test_are_numbered_through_the_study(self) -> None:
        study = two_questions()
        assert study.symbols == 14
        assert [study.offset(0), study.offset(1)] == [0, 4]
        located = [study.question_of(symbol) for symbol in range(14)]
        assert located == [(0, j) for j in range(4)] + [(1, j) for j in range(10)]

    @pytest.mark.parametrize("symbol", [-1, 14])
    def test_outside_are_refused(self, symbol: int) -> None:
        with pytest.raises(InvalidInput, match=f"symbol={symbol}: must be from 0 to 13"):
            two_questions().question_of(symbol)

    def test_a_question_that_does_not_exist_has_no_offset(self) -> None:
        with pytest.raises(IndexError):
            two_questions().offset(2)


class TestBytes:
    def test_round_trip(self) -> None:
        study = replace(
            two_questions(),
            opens="2026-11-15T00:00:00Z",
            closes="2027-01-01T12:30:00Z",
            contact="a@b.example",
        )
        assert Study.from_bytes(study.to_bytes()) == study

    def test_digest_is_of_the_canonical_bytes_however_it_was_written(self) -> None:
        study = two_questions()
        untidy = json.dumps(dict(reversed(json.loads(study.to_bytes()).items())), indent=2).encode()
        assert untidy != study.to_bytes()
        assert Study.from_bytes(untidy).digest == study.digest == sha256(study.to_bytes()).hexdigest()

    def test_every_part_changes_the_digest(self) -> None:
        study = two_questions()
        first, second = study.questions
        others = [
            replace(study, title="Other"),
            replace(study, opens="2026-11-15T00:00:00Z"),
            replace(study, closes="2026-11-15T00:00:00Z"),
            replace(study, contact="someone"),
            replace(study, questions=(second, first)),
            replace(study, questions=(replace(first, epsilon="1.10"), second)),
            replace(study, questions=(replace(first, target="means"), second)),
            replace(study, questions=(replace(first, design="other"), second)),
            replace(study, questions=(replace(first, metric=Metric("recall", "0", "2")), second)),
            replace(study, questions=(replace(first, attribute=replace(SEX, shares=None)), second)),
        ]
        assert len({other.digest for other in [study, *others]}) == len(others) + 1


class TestPrivacy:
    def test_epsilon_is_the_largest_not_the_sum(self) -> None:
        study = two_questions()
        assert study.epsilon == max(question.channel.epsilon for question in study.questions)
        assert study.epsilon < 1.0987

    def test_a_table_above_its_epsilon_is_parsed_but_not_accepted(self) -> None:
        data = sample_study(sample_question(), sample_question(Metric("f1", "0", "1"), epsilon="1.09")).to_bytes()
        study = parse(data)
        assert [question.private for question in study.questions] == [True, False]
        with pytest.raises(NotPrivate) as caught:
            Study.from_bytes(data)
        assert "questions[1] (f1 by sex) declares epsilon 1.09 but its table has epsilon 1.098" in str(caught.value)

    def test_a_hair_above_is_above(self) -> None:
        # The table's loss is a little under 3; no declared value below its exact logarithm will do.
        exact = sample_channel().epsilon
        Study.from_bytes(sample_study(sample_question(epsilon=NEARLY_LN_3)).to_bytes())
        with pytest.raises(NotPrivate):
            Study.from_bytes(
                sample_study(sample_question(epsilon=f"{Decimal(exact) - Decimal('1e-15'):.20f}")).to_bytes()
            )

    def test_no_declared_epsilon_allows_a_symbol_that_excludes_an_input(self) -> None:
        document = json.loads(sample_study().to_bytes())
        document["questions"][0]["epsilon"] = "1000000"
        document["questions"][0]["table"][0] = [ROW_SUM // 2, ROW_SUM // 2, 0, 0]
        with pytest.raises(NotPrivate, match="declares epsilon 1000000 but its table has no finite epsilon"):
            Study.from_bytes(json.dumps(document).encode())


def put(*path: str | int, value: object) -> Callable[[Document], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


def drop(*path: str | int) -> Callable[[Document], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        del document[path[-1]]

    return change


Q: tuple[str | int, ...] = ("questions", 0)
ATTRIBUTE, METRIC = (*Q, "attribute"), (*Q, "metric")
PLAIN = 'must be a plain decimal in quotes, such as "0.25"'
MOMENT = "must be a moment in UTC such as 2026-11-15T00:00:00Z"
TEXT = "must be text of 1 to 200 characters"
LINE = "must be on one line, without space around it or control characters"


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        # format and members
        (put("format", value=2), BadStudy, "metrics=nothing: must be given"),
        (put("format", value=3), BadStudy, "format=3: must be 1 or 2"),
        (put("format", value=True), BadStudy, "format=True: must be 1 or 2"),
        (put("format", value="1"), BadStudy, "format=1: must be 1 or 2"),
        (drop("format"), BadStudy, "format=nothing: must be 1 or 2"),
        (drop("title"), BadStudy, "title=nothing: must be given"),
        (drop("contact"), BadStudy, "contact=nothing: must be given"),
        (put("colour", value="red"), BadStudy, "colour=red: is not a field of this format"),
        (drop(*Q, "levels"), BadStudy, "questions[0].levels=nothing: must be given"),
        (put(*Q, "colour", value=1), BadStudy, "questions[0].colour=1: is not a field"),
        (drop(*METRIC, "low"), BadStudy, "questions[0].metric.low=nothing: must be given"),
        (put(*METRIC, "unit", value="%"), BadStudy, "questions[0].metric.unit=%: is not a field"),
        (drop(*ATTRIBUTE, "shares"), BadStudy, "questions[0].attribute.shares=nothing: must be given"),
        # types
        (put("title", value=7), BadStudy, f"title=7: {TEXT}"),
        (put("contact", value=7), BadStudy, f"contact=7: {TEXT}"),
        (put("questions", value={}), BadStudy, "questions={}: must be an array"),
        (put(*Q, value=[]), BadStudy, "questions[0]=[]: must be an object"),
        (put(*METRIC, value="recall"), BadStudy, "questions[0].metric=recall: must be an object"),
        (put(*ATTRIBUTE, value=None), BadStudy, "questions[0].attribute=None: must be an object"),
        (
            put(*ATTRIBUTE, "groups", value="ab"),
            BadStudy,
            "questions[0].attribute.groups=ab: must be an array",
        ),
        (
            put(*ATTRIBUTE, "shares", value="ab"),
            BadStudy,
            "questions[0].attribute.shares=ab: must be an array",
        ),
        (
            put(*Q, "target", value=["gap"]),
            BadStudy,
            'questions[0].target=[\'gap\']: must be "gap" or "means"',
        ),
        (put(*Q, "target", value="Gap"), BadStudy, "questions[0].target=Gap: must be"),
        (put(*Q, "design", value=None), BadStudy, f"questions[0].design=None: {TEXT}"),
        (put(*Q, "abstain", value=0), BadTable, "questions[0].abstain=0: must be true or false"),
        (put(*Q, "levels", value=5), BadStudy, "questions[0].levels=5: must be an array"),
        (put(*Q, "table", value=None), BadStudy, "questions[0].table=None: must be an array"),
        (put(*Q, "table", 1, value=5), BadStudy, "questions[0].table[1]=5: must be an array"),
        (
            put(*Q, "table", 1, 2, value="5"),
            BadTable,
            "questions[0].table[1][2]=5: must be an integer from 0 up",
        ),
        (put(*Q, "levels", 1, value=None), BadTable, "questions[0].levels[1]=None: must be an integer"),
        # text
        (put("title", value=""), BadStudy, f"title='': {TEXT}"),
        (put("title", value="x" * 201), BadStudy, f"title={'x' * 57}...: {TEXT}"),
        (put("title", value=" a"), BadStudy, f"title= a: {LINE}"),
        (put("title", value="a\nb"), BadStudy, f"title='a\\nb': {LINE}"),
        (put("title", value="a\x1b[31m"), BadStudy, f"title='a\\x1b[31m': {LINE}"),
        (put("title", value="a\u202eb"), BadStudy, f"title='a\\u202eb': {LINE}"),
        (put("title", value="a\ud800"), BadStudy, f"title='a\\ud800': {LINE}"),
        # decimals
        *(
            (put(*METRIC, "low", value=low), BadStudy, f"questions[0].metric.low={shown}: {PLAIN}")
            for low, shown in [
                ("1e0", "1e0"),
                ("+1", "+1"),
                ("01", "01"),
                (".5", ".5"),
                ("1.", "1."),
                ("-0", "-0"),
                ("-0.00", "-0.00"),
                ("NaN", "NaN"),
                ("", "''"),
                (" 0", " 0"),
                ("0\n", "'0\\n'"),
                ("٣", "٣"),
                ("1_0", "1_0"),
                (0, "0"),
                (None, "None"),
                ("0." + "0" * 31, "0." + "0" * 31),
            ]
        ),
        (
            put(*METRIC, "high", value="0"),
            BadStudy,
            "questions[0].metric.high=0: must be above low, which is 0",
        ),
        (put(*Q, "epsilon", value="0"), BadStudy, "questions[0].epsilon=0: must be above 0"),
        (put(*Q, "epsilon", value="-1"), BadStudy, "questions[0].epsilon=-1: must be above 0"),
        (put(*Q, "epsilon", value=1), BadStudy, f"questions[0].epsilon=1: {PLAIN}"),
        # groups and shares
        (
            put(*ATTRIBUTE, "groups", value=["a"]),
            BadStudy,
            "questions[0].attribute.groups=1 groups: must be from 2 to 64",
        ),
        (
            put(*ATTRIBUTE, "groups", value=[str(i) for i in range(65)]),
            BadStudy,
            "questions[0].attribute.groups=65 groups: must be from 2 to 64",
        ),
        (
            put(*ATTRIBUTE, "groups", value=["a", "a"]),
            BadStudy,
            "questions[0].attribute.groups[1]=a: must be listed once",
        ),
        (
            put(*ATTRIBUTE, "groups", value=["a", ""]),
            BadStudy,
            f"questions[0].attribute.groups[1]='': {TEXT}",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["1"]),
            BadStudy,
            "questions[0].attribute.shares=1 shares: must be one for each of 2 groups",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["0.6", "0.5"]),
            BadStudy,
            "questions[0].attribute.shares=0.6, 0.5: must sum to exactly 1",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["1", "0"]),
            BadStudy,
            "questions[0].attribute.shares[1]=0: must be above 0",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["1.5", "-0.5"]),
            BadStudy,
            "questions[0].attribute.shares[1]=-0.5: must be above 0",
        ),
        (put(*ATTRIBUTE, "shares", 1, value=5), BadStudy, f"questions[0].attribute.shares[1]=5: {PLAIN}"),
        # table
        (drop(*Q, "table", 3), BadTable, "questions[0].table=3 rows: must have 4"),
        (put(*Q, "abstain", value=True), BadTable, "questions[0].table=4 rows: must have 5"),
        (
            put(*Q, "table", 2, 1, value=7),
            BadTable,
            "questions[0].table[2]=7505999378950833: must sum to exactly 2^53",
        ),
        (
            put(*Q, "levels", 0, value=0),
            BadTable,
            "questions[0].levels=(0, 1073741824): must go from -2^30 to 2^30",
        ),
        # questions and moments
        (put("questions", value=[]), BadStudy, "questions=0 questions: must be from 1 to 64"),
        (put("opens", value="2026-11-15"), BadStudy, f"opens=2026-11-15: {MOMENT}"),
        (
            put("opens", value="2026-11-15T00:00:00+00:00"),
            BadStudy,
            "opens=2026-11-15T00:00:00+00:00: must be a moment",
        ),
        (put("closes", value="2026-02-30T00:00:00Z"), BadStudy, f"closes=2026-02-30T00:00:00Z: {MOMENT}"),
        (put("closes", value=20261115), BadStudy, f"closes=20261115: {MOMENT}"),
    ],
)
def test_a_document_that_breaks_a_rule_is_refused(
    change: Callable[[Document], None], error: type[InvalidInput], text: str
) -> None:
    document = json.loads(two_questions().to_bytes())
    parse(json.dumps(document).encode())
    change(document)
    with pytest.raises(InvalidInput) as caught:
        parse(json.dumps(document).encode())
    assert type(caught.value) is error
    assert str(caught.value).startswith(text)


def test_a_question_is_asked_once() -> None:
    with pytest.raises(BadStudy) as caught:
        sample_study(sample_question(), sample_question(epsilon="2"))
    assert str(caught.value) == "questions[1]=recall by sex: must be asked once"


def test_closes_is_after_opens() -> None:
    with pytest.raises(BadStudy, match="closes=2026-11-15T00:00:00Z: must be after opens"):
        replace(sample_study(), opens="2026-11-15T00:00:00Z", closes="2026-11-15T00:00:00Z")


def test_the_channel_is_for_the_attribute() -> None:
    with pytest.raises(BadStudy, match=r"channel\.groups=3: must be 2"):
        Question(RECALL, SEX, "gap", "sample", "1.1", sample_channel(groups=3))


def test_sizes_are_capped() -> None:
    questions = tuple(sample_question(Metric(f"m{i}", "0", "1")) for i in range(65))
    sample_study(*questions[:64])
    with pytest.raises(BadStudy, match="questions=65 questions: must be from 1 to 64"):
        sample_study(*questions)
    wide = replace(sample_channel(), table=((1,) * 4096 + (ROW_SUM - 4096,),) * 4)
    with pytest.raises(BadStudy, match=f"table={MOST_SYMBOLS + 1} symbols: must be at most {MOST_SYMBOLS}"):
        Question(RECALL, SEX, "gap", "sample", "1.1", wide)


@pytest.mark.parametrize("value", ["1e-999999999", "1e999999999", Decimal("1e-401")])
def test_exponents_that_would_fill_the_memory_are_refused(value):
    with pytest.raises(CannotAnswer):
        Metric("recall", "0", "1").position(value)
