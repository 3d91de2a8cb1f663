"""The study: exact values, numbering of symbols, canonical bytes, and all that a document may get wrong."""

import json
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256
from typing import Any

import pytest

from fairgauge.channel import ROW_SUM
from fairgauge.errors import BadStudy, CannotAnswer, InvalidInput, NotPrivate
from fairgauge.study import MOST_SYMBOLS, Metric, Question, Study, parse
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
            replace(study, questions=(replace(first, attribute=replace(SEX, shares=None, answering="any")), second)),
        ]
        assert len({other.digest for other in [study, *others]}) == len(others) + 1


class TestPrivacy:
    def test_epsilon_is_the_largest_not_the_sum(self) -> None:
        study = two_questions()
        assert study.epsilon == max(question.mechanism.epsilon for question in study.questions)
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
        document["tables"][0]["epsilon"] = "1000000"
        document["tables"][0]["table"][0] = [ROW_SUM // 2, ROW_SUM // 2, 0, 0]
        with pytest.raises(NotPrivate, match="declares epsilon 1000000 but its table has no finite epsilon"):
            Study.from_bytes(json.dumps(document).encode())


def test_a_question_is_asked_once() -> None:
    with pytest.raises(BadStudy) as caught:
        sample_study(sample_question(), sample_question(epsilon="2"))
    assert str(caught.value) == "questions[1]=recall by sex: must be asked once"


def test_closes_is_after_opens() -> None:
    with pytest.raises(BadStudy, match="closes=2026-11-15T00:00:00Z: must be after opens"):
        replace(sample_study(), opens="2026-11-15T00:00:00Z", closes="2026-11-15T00:00:00Z")


def test_the_channel_is_for_the_attribute() -> None:
    with pytest.raises(BadStudy, match=r"mechanism\.groups=3: must be 2"):
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
