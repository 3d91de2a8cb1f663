r"""Audit how a site answers, from outside: does its noise have the law that the study's epsilon needs?

Records are made whose true counts are known: some people with one record in each cell, and one person with more records
than may count.  What comes out less these counts must be discrete Laplace noise,

.. math:: P(Z = z) = \frac{1 - q}{1 + q}\, q^{|z|} , \qquad q = e^{-\varepsilon / 2r} ,

each size as often as its law says, by exact binomial tests.  Noise that is too small, clamped at zero, or a float that
was rounded is caught, and so is a person who counts more often than the study allows.  An audit can catch a site that
leaks; it cannot prove that one does not.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from fairgauge.client import Answer
from fairgauge.client.answer import answer
from fairgauge.client.limits import UNLIMITED
from fairgauge.client.records import Columns, Records
from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.study import Metric, NoisyCounts, Study

try:
    from scipy.special import bdtr, bdtrc
except ImportError:
    raise MissingExtra("auditing needs scipy", "lab") from None

# A column of entries for each name, as a data frame has them; "person" is who a record is of.
Table = Mapping[str, list[object]]
Answers = Callable[[Study, Table], Answer]

_PERSON = "person"
# People with one record in each cell.
_SINGLES = 3
# Sizes whose chance is below this are put together.
_RARE = 0.005


@dataclass(frozen=True)
class SiteFinding:
    """What an audit of a site found.

    Args:
        p_value: How likely noise as odd as this is if it has its law.
        confidence: How sure one wants to be before one speaks of a leak.
        runs: How often the site answered.
    """

    p_value: float
    confidence: float
    runs: int

    @property
    def caught(self) -> bool:
        """Whether the noise is not what the study promises."""
        return self.p_value < 1 - self.confidence


def audit_site(
    study: Study, answers: Answers | None = None, *, runs: int = 2000, confidence: float = 0.99
) -> SiteFinding:
    """Let a site answer many times, and compare its noise with its law.

    Guarantee: a site whose noise has its law is caught with probability at most 1 - confidence.

    Args:
        study: A study for sites.
        answers: How the site answers from a table whose column ``person`` says of whom a record is; as this package
            does, unless given.
        runs: How often.
        confidence: How sure one wants to be before one speaks of a leak.

    Raises:
        InvalidInput: If the study is for devices, or an argument is out of range.
    """
    counts = study.questions[0].counts
    if runs < 1:
        raise InvalidInput("runs", runs, "must be at least 1")
    answers = answers or _ours
    table, expected = _known(counts)
    met: Counter[int] = Counter()
    for _ in range(runs):
        given = answers(study, table).payload
        met.update(seen - count for seen, count in zip(given, expected, strict=True))
    return SiteFinding(_p_value(counts, met), confidence, runs)


def _ours(study: Study, table: Table) -> Answer:
    return answer(study, Records.of(study.questions[0].counts, table, Columns(person=_PERSON)), limit=UNLIMITED)


def _known(site: NoisyCounts) -> tuple[Table, list[int]]:
    """Return records, and how many of them count in each cell."""
    size = site.size // len(site.attribute.groups)
    outcomes = ("truth", "prediction") if site.metric is None else (site.metric.name,)
    names = (_PERSON, *(factor.name for factor in site.attribute.factors), *outcomes)
    rows: list[tuple[object, ...]] = []
    for cell in range(site.size):
        groups, rest = [], cell // size
        for factor in reversed(site.attribute.factors):
            groups.append(factor.groups[rest % len(factor.groups)])
            rest //= len(factor.groups)
        given = (*reversed(groups), *_outcome(site, cell % size))
        rows += [(f"single {cell} {number}", *given) for number in range(_SINGLES)]
        rows += [(f"often {cell}", *given)] * (site.records + 2)
    table = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    return table, [_SINGLES + site.records] * site.size


def _outcome(site: NoisyCounts, cell: int) -> tuple[object, ...]:
    if site.metric is None or site.levels is None:
        return cell // 2, cell % 2
    return (_value(site.metric, site.levels[cell]),)


def _value(metric: Metric, level: int) -> Fraction:
    low, high = Fraction(metric.low), Fraction(metric.high)
    return low + (high - low) * (Fraction(level, 2**30) + 1) / 2


def _p_value(site: NoisyCounts, met: Counter[int]) -> float:
    """Return the smallest p-value of all sizes, times how many there are (Bonferroni)."""
    q = math.exp(-float(Fraction(site.declared) / (2 * site.records)))
    far = max(1, math.ceil(math.log(_RARE) / math.log(q)))
    chances = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-far, far + 1)}
    chances |= {-far - 1: q ** (far + 1) / (1 + q), far + 1: q ** (far + 1) / (1 + q)}
    counts: Counter[int] = Counter()
    for z, count in met.items():
        counts[max(-far - 1, min(far + 1, z))] += count
    total = counts.total()
    tails = [min(bdtr(counts[z], total, chance), bdtrc(counts[z] - 1, total, chance)) for z, chance in chances.items()]
    return float(min(1.0, 2 * len(tails) * min(tails)))
