"""The two sentences, with numbers that are rounded up."""

from decimal import Decimal

import pytest

from fairgauge.crowd import Crowd, factor_sentence, guess_sentence, readers_sentence
from fairgauge.crowd.sentences import shown_delta


def crowd(epsilon: str, delta: str = "1e-8") -> Crowd:
    return Crowd(1000, Decimal(delta), Decimal(epsilon))


def test_the_factor() -> None:
    assert factor_sentence(crowd("0.0564")) == (
        "Whatever anyone concludes from the published counts, had you answered otherwise its probability would differ "
        "by at most a factor 1.06, plus at most 1e-8."
    )


@pytest.mark.parametrize(
    ("epsilon", "delta", "percent"), [("1", "1e-8", "73.2"), ("0.0560", "1e-8", "51.4"), ("0", "9e-3", "50.5")]
)
def test_the_guess(epsilon: str, delta: str, percent: str) -> None:
    assert guess_sentence(crowd(epsilon, delta)) == (
        "Someone who must guess which of two answers was yours, 50 to 50 beforehand, is right at most "
        f"{percent} % of the time."
    )


@pytest.mark.parametrize(("delta", "shown"), [("1e-8", "1e-8"), ("3.3333e-10", "3.34e-10"), ("0.05", "5e-2")])
def test_delta_as_people_write_it(delta: str, shown: str) -> None:
    assert shown_delta(Decimal(delta)) == shown


def test_what_readers_learn_and_what_that_rests_on() -> None:
    assert readers_sentence(crowd("0.14505")) == (
        "Towards everyone who reads the counts, even someone who knows every answer but yours: epsilon 0.1451 at delta "
        "1e-8, if you answer once. It rests on the collector adding 1,000 secret random answers before it shows "
        "counts, and on nobody publishing symbols."
    )


def test_a_large_delta_is_called_so() -> None:
    assert "publishing one of 10,000 answers as it is" in readers_sentence(crowd("0.1", "1e-4"))
    assert "large" not in readers_sentence(crowd("0.1", "1e-5"))
