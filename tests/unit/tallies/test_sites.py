"""Sums of what sites sent: one answer counts once, and what is none of this study's is refused.

Covers: fairgauge.tallies.site_files
"""

from math import isqrt
from pathlib import Path

import pytest

from fairgauge.client import Answer
from fairgauge.errors import BadTally, InvalidInput
from fairgauge.tallies import Tally
from fairgauge.tallies.site_files import from_site_files
from tests.sites import confusion_study

STUDY = confusion_study()
ONE = Answer(STUDY.digest, "1" * 32, (1, -2, 0, 0, 0, 0, 0, 3))
TWO = Answer(STUDY.digest, "2" * 32, (1, 1, 1, 1, 1, 1, 1, 1))


def test_sums_and_products() -> None:
    tally = Tally.of(STUDY, [TWO, ONE, TWO])
    assert tally.counts == (2, -1, 1, 1, 1, 1, 1, 4)
    assert tally.contributors == 2
    assert "1" * 32 not in tally.to_bytes().decode()  # which may be a ticket
    assert tally.products[:3] == (1 + 1, -2 + 1, 1)
    assert tally.products[-1] == 9 + 1


def test_products_of_two_sites_would_tell_what_each_of_them_counted() -> None:
    tally = Tally.of(STUDY, [ONE, TWO])
    squares = [tally.products[place] for place in (0, 8, 15, 21, 26, 30, 33, 35)]
    roots = [isqrt(2 * square - count**2) for square, count in zip(squares, tally.counts, strict=True)]
    pairs = [{(count + root) // 2, (count - root) // 2} for count, root in zip(tally.counts, roots, strict=True)]
    assert pairs == [set(cells) for cells in zip(ONE.payload, TWO.payload, strict=True)]
    assert tally.shown.products == ()
    assert Tally.from_bytes(tally.shown.to_bytes()) == tally.shown


def test_bytes_and_back() -> None:
    tally = Tally.of(STUDY, [ONE, TWO])
    assert Tally.from_bytes(tally.to_bytes()) == tally


def test_two_answers_of_one_id() -> None:
    with pytest.raises(InvalidInput, match="must have the same payload whenever it comes"):
        Tally.of(STUDY, [ONE, Answer(ONE.study, ONE.id, TWO.payload)])


@pytest.mark.parametrize("answer", [Answer("0" * 64, ONE.id, ONE.payload), Answer(ONE.study, ONE.id, (1, 2, 3))])
def test_an_answer_to_something_else(answer: Answer) -> None:
    with pytest.raises(InvalidInput, match="must be"):
        Tally.of(STUDY, [answer])


@pytest.mark.parametrize(
    "text",
    [
        '{"contributors":-1,"counts":[1],"products":[1],"study":"x"}',
        '{"contributors":1,"counts":[1],"products":[1,1],"study":"x"}',
        '{"contributors":1,"counts":[1],"products":[],"study":"x"}',
        '{"contributors":1,"counts":[1.5],"products":[1],"study":"x"}',
        '{"contributors":"1","counts":[1],"products":[1],"study":"x"}',
        '{"contributors":1,"counts":1,"products":[1],"study":"x"}',
        '{"counts":[1],"products":[1],"study":"x"}',
    ],
)
def test_what_is_no_tally(text: str) -> None:
    with pytest.raises(BadTally):
        Tally.from_bytes(text.encode())


def test_files_folders_and_patterns(tmp_path: Path) -> None:
    ONE.save(tmp_path / "one.json")
    (tmp_path / "more.ndjson").write_bytes(ONE.to_bytes() + b"\n" + TWO.to_bytes() + b"\n")
    whole = Tally.of(STUDY, [ONE, TWO])
    assert from_site_files(STUDY, [tmp_path]) == whole
    assert from_site_files(STUDY, [str(tmp_path / "*.ndjson")]) == whole
    assert from_site_files(STUDY, [tmp_path / "one.json"]).contributors == 1
    with pytest.raises(InvalidInput, match="must name a file"):
        from_site_files(STUDY, [tmp_path / "none"])
    (tmp_path / "more.ndjson").write_bytes(b'{"study":1}')
    with pytest.raises(InvalidInput, match="line 1"):
        from_site_files(STUDY, [tmp_path / "more.ndjson"])
