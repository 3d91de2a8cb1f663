"""Answers in parts: everyone finds the same ones, and every way to deal them out is equally likely."""

from collections import defaultdict
from fractions import Fraction
from itertools import accumulate, product
from math import comb, prod

import numpy as np
import pytest

from fairgauge.estimation.gap_score import _BYTES, FRACTIONS, InProportion, Thrown
from tests.statistical.exact import FALSE_POSITIVE_RATE, two_sided


def test_vector():
    """What any other program must find: also where a symbol came more than 2^20 times, and takes a second stream."""
    assert Thrown("a study 0").parts(np.array([100.0, 50.0, 0.0])).astype(int).tolist() == [
        [4, 1, 0],
        [14, 7, 0],
        [34, 12, 0],
        [22, 21, 0],
        [26, 9, 0],
    ]
    many = Thrown("sha256:0 1").parts(np.array([2.0**20 + 5]))
    assert many.astype(int).ravel().tolist() == [52907, 155438, 315416, 316390, 208430]


def test_more_answers_than_can_be_thrown_one_by_one_are_drawn_in_one_go():
    """A tally may say 2^53: a byte for each answer would take a year, and anyone may hand one in."""
    counts = np.array([2.0**53 - 1, 0.0, 2.0**52 + 1])
    found = Thrown("a study 0").parts(counts)
    assert found.sum(axis=0).tolist() == counts.tolist()
    assert (found == Thrown("a study 0").parts(counts)).all()
    assert (found != Thrown("a study 1").parts(counts)).any()
    # Six standard deviations; in exact proportion, c would know the answers that it is used on.
    deviation = np.sqrt(np.multiply.outer(FRACTIONS * (1 - FRACTIONS), counts))
    assert (np.abs(found - np.multiply.outer(FRACTIONS, counts)) <= 6 * deviation).all()
    assert (np.abs(found - np.multiply.outer(FRACTIONS, counts))[:, 0] > 1e5).any()


def test_other_studies_and_other_questions_have_other_parts():
    counts = np.array([1000.0, 2000.0])
    assert (Thrown("x 0").parts(counts) != Thrown("x 1").parts(counts)).any()
    assert (Thrown("x 0").parts(counts) == Thrown("x 0").parts(counts)).all()
    assert (Thrown("x 0").parts(counts).sum(axis=0) == counts).all()


def test_only_whole_answers_are_dealt_out():
    with pytest.raises(ValueError, match="whole"):
        Thrown("x").parts(np.array([0.5]))


def test_given_their_sizes_the_parts_are_multivariate_hypergeometric(monkeypatch: pytest.MonkeyPatch):
    """Exactly: all outcomes of three throws, each as likely as its bytes are among the 256."""
    first_bytes = [0, *accumulate(_BYTES)][: len(_BYTES)]
    counts = np.array([2.0, 1.0])
    found: dict[tuple[int, ...], dict[tuple[int, ...], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for thrown in product(range(len(_BYTES)), repeat=3):
        likely = prod((Fraction(_BYTES[part], 256) for part in thrown), start=Fraction(1))
        stream = {"x 0 0": thrown[:2], "x 1 0": thrown[2:]}
        monkeypatch.setattr(
            Thrown, "_bytes", staticmethod(lambda text, _, stream=stream: bytes(first_bytes[b] for b in stream[text]))
        )
        parts = Thrown("x").parts(counts).astype(int)
        found[tuple(parts.sum(axis=1).tolist())][tuple(parts[:, 0].tolist())] += likely
    assert sum(sum(of.values()) for of in found.values()) == 1
    for sizes, of in found.items():
        total = sum(of.values())
        for own, likely in of.items():
            ways = prod(comb(size, each) for size, each in zip(sizes, own, strict=True))
            assert likely / total == Fraction(ways, comb(3, 2))


def drawn(split: type[Thrown]) -> list[float]:
    """Return p-values of how many answers of a symbol go to each part, over many names."""
    sums = np.sum([split(f"name {number}").parts(np.array([50.0, 7.0]))[:, 0] for number in range(400)], axis=0)
    return [two_sided(int(count), [(20_000, float(part))]) for count, part in zip(sums, FRACTIONS, strict=True)]


def test_throws_follow_their_law():
    assert min(drawn(Thrown)) >= FALSE_POSITIVE_RATE


def test_a_mutant_whose_throws_are_not_uniform_is_caught():
    class Lazy(Thrown):
        @staticmethod
        def _bytes(text: str, count: int) -> bytes:
            return bytes(byte & 0xF7 for byte in Thrown._bytes(text, count))

    assert min(drawn(Lazy)) < FALSE_POSITIVE_RATE


def test_a_plan_has_every_part_like_the_whole():
    parts = InProportion().parts(np.array([256.0, 512.0]))
    assert parts[:, 0].tolist() == list(_BYTES)
    assert InProportion().stray == pytest.approx(np.abs(np.random.default_rng(1).normal(size=10**6)).mean(), rel=5e-3)
