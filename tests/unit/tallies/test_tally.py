"""The tally: counting, adding, keeping, and refusing what belongs to another study."""

from dataclasses import replace
from typing import Any

import pytest

from fairgauge.client import Answer
from fairgauge.errors import OF_BEFORE, BadTally, InvalidInput
from fairgauge.study import Release
from fairgauge.tallies import Tally
from tests.samples import sample_study, two_questions

STUDY = two_questions()
FOURTEEN = tuple(range(14))


def sent(symbol: int, digest: str = STUDY.digest, *, name: int | None = None) -> Answer:
    return Answer(digest, f"{symbol if name is None else name:032x}", (symbol,))


def test_counts_every_symbol() -> None:
    tally = Tally.of(STUDY, [sent(0), sent(13), sent(4), sent(13), sent(13, name=99)])
    assert tally == Tally(STUDY.digest, (1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2))
    assert tally.contributors == 4


def test_an_id_that_comes_with_two_symbols_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must have the same payload whenever it comes"):
        Tally.of(STUDY, [sent(3), sent(4, name=3)])


def test_empty_is_the_tally_of_no_answers() -> None:
    assert Tally.empty(STUDY) == Tally.of(STUDY, []) == Tally(STUDY.digest, (0,) * 14)


def test_refuses_answers_to_another_study() -> None:
    with pytest.raises(InvalidInput, match="^study=0000.*: must be " + STUDY.digest):
        Tally.of(STUDY, [sent(0), sent(0, "0" * 64)])


def test_refuses_symbols_that_the_study_does_not_have() -> None:
    with pytest.raises(InvalidInput, match="symbol=14: must be from 0 to 13"):
        Tally.of(STUDY, [sent(14)])


def test_merging_is_addition() -> None:
    a, b = Tally(STUDY.digest, FOURTEEN), Tally(STUDY.digest, (1,) * 14)
    assert a + b == b + a == Tally(STUDY.digest, tuple(range(1, 15)))
    assert a + Tally.empty(STUDY) == a


def test_merging_refuses_another_study() -> None:
    with pytest.raises(BadTally, match=r"^study="):
        Tally.empty(STUDY) + Tally.empty(sample_study())


def test_merging_refuses_another_length() -> None:
    with pytest.raises(BadTally, match="counts=1 counts: must be 14"):
        Tally.empty(STUDY) + Tally(STUDY.digest, (1,))


def test_questions_have_their_own_counts() -> None:
    tally = Tally(STUDY.digest, FOURTEEN)
    assert tally.for_question(STUDY, 0) == (0, 1, 2, 3)
    assert tally.for_question(STUDY, 1) == tuple(range(4, 14))


def test_is_not_taken_for_the_tally_of_another_study() -> None:
    tally = Tally.empty(STUDY)
    tally.check(STUDY)
    for use in (lambda: tally.check(sample_study()), lambda: tally.for_question(sample_study(), 0)):
        with pytest.raises(BadTally, match="the digest of this study"):
            use()
    with pytest.raises(BadTally, match="counts=13 counts: must be 14, as the study has"):
        Tally(STUDY.digest, (0,) * 13).check(STUDY)


def test_round_trip() -> None:
    tally = Tally(STUDY.digest, FOURTEEN)
    data = b'{"contributors":91,"counts":[0,1,2,3,4,5,6,7,8,9,10,11,12,13],"study":"' + STUDY.digest.encode() + b'"}'
    assert tally.to_bytes() == data
    assert Tally.from_bytes(data) == tally


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"study":"a"}', "counts=nothing: must be given"),
        (b'{"study":"a","counts":[1]}', f"contributors=nothing: must be given: a tally without it {OF_BEFORE}"),
        (b'{"study":"a","counts":[],"contributors":0,"more":1}', "more=1: is not a field"),
        (b'{"study":7,"counts":[],"contributors":0}', "study=7: must be the digest of a study"),
        (b'{"study":"a","counts":{},"contributors":0}', "counts={}: must be an array"),
        (b'{"study":"a","counts":[1],"contributors":-1}', "contributors=-1: must be an integer from 0 to 2^53 - 1"),
        (b'{"study":"a","counts":[1],"contributors":true}', "contributors=True: must be an integer"),
        (
            b'{"study":"a","counts":[9007199254740992],"contributors":0}',
            "counts[0]=9007199254740992: must be an integer",
        ),
        (b'{"study":"a","counts":[true],"contributors":0}', "counts[0]=True: must be an integer"),
        (b'{"study":"a","counts":["1"],"contributors":0}', "counts[0]=1: must be an integer"),
        (b'{"study":"a","counts":[1.0]}', "document=1.0: must hold no number but integers"),
    ],
)
def test_bad_tallies_are_refused(data: bytes, text: str) -> None:
    with pytest.raises(BadTally) as caught:
        Tally.from_bytes(data)
    assert str(caught.value).startswith(text)


def test_sums_that_no_devices_can_have_sent() -> None:
    for counts, contributors, text in (
        ((-1, 1, *(0,) * 12), 0, r"counts\[0\]=-1: must be an integer from 0"),
        ((1,) * 14, 13, "contributors=13: must be 14, the sum of the counts"),
    ):
        with pytest.raises(BadTally, match=text):
            Tally(STUDY.digest, counts, contributors).check(STUDY)


def test_counts_are_checked_however_a_tally_is_made() -> None:
    bad: Any = (1.5,)
    with pytest.raises(BadTally, match=r"counts\[0\]=1.5"):
        Tally(STUDY.digest, bad)


def test_a_tally_has_whole_batches_of_draws():
    study = replace(sample_study(), release=Release(10, "0.001", 3))
    for contributors, counts, drawn in ((0, (0, 0, 0, 0), 0), (10, (10, 1, 1, 1), 3), (25, (25, 6, 0, 0), 6)):
        tally = Tally(study.digest, counts, contributors)
        tally.check(study)
        assert tally.draws(study) == drawn
    for contributors, counts in ((10, (10, 1, 1, 0)), (2, (2, 9, 0, 0)), (11, (10, 0, 0, 0)), (0, (3, 0, 0, 0))):
        with pytest.raises(BadTally, match="less 3 for each batch"):
            Tally(study.digest, counts, contributors).check(study)
    assert Tally(sample_study().digest, (1, 2, 3, 4)).draws(sample_study()) == 0
