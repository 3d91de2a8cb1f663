"""What the crowd's number means, in two sentences that are true.

"A factor e^epsilon except with probability delta" would not be: that takes a larger epsilon.
"""

import math
from decimal import ROUND_CEILING, Context, Decimal

from fairgauge.crowd.crowd_epsilon import Crowd
from fairgauge.study import Study

_LOOSE = Decimal("1e-5")
_UPWARD = Context(prec=28, rounding=ROUND_CEILING)


def factor_sentence(crowd: Crowd) -> str:
    """Say how much any conclusion depends on one person."""
    return (
        "Whatever anyone concludes from the published counts, had you answered otherwise its probability would differ "
        f"by at most a factor {shown(factor_of(crowd), 3)}, plus at most {shown_delta(crowd.delta)}."
    )


def guess_sentence(crowd: Crowd) -> str:
    """Say how well anyone can guess one person's answer."""
    return (
        "Someone who must guess which of two answers was yours, 50 to 50 beforehand, is right at most "
        f"{shown(right_at_most(crowd), 3)} % of the time."
    )


def runners_sentence(study: Study) -> str:
    """Say what those who run a study may learn at most."""
    spent = Context(prec=4, rounding=ROUND_CEILING).create_decimal_from_float(study.epsilon)
    linked = "" if study.gateway is not None else " They can link it to the connection that it came over."
    return f"Towards those who run the study, who see your answer by itself: epsilon {spent:f}.{linked}"


def readers_sentence(crowd: Crowd) -> str:
    """Say what those who read the released counts may learn at most, and on what that rests."""
    return (
        "Towards everyone who reads the counts, even someone who knows every answer but yours: epsilon "
        f"{shown(crowd.epsilon, 4)} at delta {shown_delta(crowd.delta)}, if you answer once. {rests_on(crowd)}"
    ) + (f" {loose_sentence(crowd)}" if is_loose(crowd) else "")


def rests_on(crowd: Crowd) -> str:
    """Say what a promise to readers rests on, which no device can check."""
    answers = "1 secret random answer" if crowd.draws == 1 else f"{crowd.draws:,} secret random answers"
    return f"It rests on the collector adding {answers} before it shows counts, and on nobody publishing symbols."


def is_loose(crowd: Crowd) -> bool:
    """Tell whether delta is so large that a promise with it would hardly be one.

    >>> is_loose(Crowd(1000, Decimal("0.001"), Decimal(1)))
    True
    """
    return crowd.delta > _LOOSE


def loose_sentence(crowd: Crowd) -> str:
    """Say what a promise with so large a delta would allow."""
    return (
        f"This delta is large: publishing one of {one_in(crowd):,} answers as it is, picked at random, would keep a "
        "promise with it, too."
    )


def one_in(crowd: Crowd) -> int:
    """Return one in how many answers a promise with this delta would let somebody publish."""
    return math.ceil(1 / crowd.delta)


def shown_delta(delta: Decimal) -> str:
    """Return delta as people write it, rounded up.

    >>> shown_delta(Decimal("0.00000001")), shown_delta(Decimal("0.00012"))
    ('1e-8', '1.2e-4')
    """
    rounded = Context(prec=3, rounding=ROUND_CEILING).plus(delta)
    exponent = rounded.adjusted()
    digits = rounded.scaleb(-exponent).normalize()
    return f"{digits:f}e{exponent}"


def factor_of(crowd: Crowd) -> Decimal:
    """Return the factor of a promise, rounded up."""
    return _UPWARD.next_plus(_UPWARD.exp(crowd.epsilon))


def right_at_most(crowd: Crowd) -> Decimal:
    """Return in how many of 100 cases a guess between two answers is right, at most."""
    factor = factor_of(crowd)
    return _UPWARD.multiply(_UPWARD.divide(_UPWARD.add(factor, crowd.delta), 1 + factor), Decimal(100))


def shown(number: Decimal, digits: int) -> str:
    """Return a number with so many digits, rounded up: nobody is told too little."""
    return f"{Context(prec=digits, rounding=ROUND_CEILING).plus(number):f}"
