r"""Audit a randomiser from outside: a lower confidence bound on its epsilon, from its outputs alone.

An event that is likelier for one input than for another by a factor r shows that epsilon is at least ln r.  Half of the
samples are searched for the event that shows most; the other half measures that one event, so the search costs no
confidence.  An audit can catch a randomiser that leaks more than it promises; it cannot prove that one does not, which
is what :attr:`fairgauge.channel.Channel.epsilon` is for.

>>> import random
>>> coin = random.Random(7)
>>> def tell_the_truth_three_times_in_four(bit):
...     return bit if coin.random() < 0.75 else 1 - bit
>>> finding = audit(tell_the_truth_three_times_in_four, 0, 1, samples=20_000)
>>> 1.0 < finding.epsilon < 1.0987  # ln 3 = 1.0986
True

A site is audited (:func:`audit_site`) by whether its noise has the law that the study's epsilon needs.  Records are
made whose true counts are known: some people with one record in each cell, and one person with more records than may
count.  What comes out less these counts must be discrete Laplace noise,

.. math:: P(Z = z) = \frac{1 - q}{1 + q}\, q^{|z|} , \qquad q = e^{-\varepsilon / 2r} ,

each size as often as its law says, by exact binomial tests.  Noise that is too small, clamped at zero, or a float that
was rounded is caught, and so is a person who counts more often than the study allows.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fairgauge.channel import LEVEL_UNIT, Channel
from fairgauge.client import Answer, answer
from fairgauge.client.budget import UNLIMITED
from fairgauge.client.site_records import RecordColumns, Records
from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.study import Metric, NoisyCounts, Study, Table

try:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.special import bdtr, bdtrc, betaincinv
except ImportError:
    raise MissingExtra("auditing needs numpy and scipy", "lab") from None

_Codes = NDArray[np.int64]
_Outputs = list[Any] | NDArray[Any]

# Numbers with more distinct values than this are sorted into bins.
_DISTINCT = 64
_BINS = 32
# A bin at the edge holds at least this many samples: rarer events show nothing.
_RARE = 30


@dataclass(frozen=True)
class Finding:
    """What an audit found.

    Args:
        epsilon: The randomiser's epsilon is at least this; 0 if nothing was found.
        confidence: How often such a bound is right.
        likelier: The number (0 or 1) of the input for which the event is likelier.
        event: The outputs that make up the event, as far as they can be listed.
        hits: How often the event occurred for the likelier input and for the other one, in the measuring half.
        samples: How many outputs of each input the measuring half has.
    """

    epsilon: float
    confidence: float
    likelier: int
    event: str
    hits: tuple[int, int]
    samples: int


def audit(
    randomiser: Callable[[Any], Hashable],
    first: Any,
    second: Any,
    *,
    samples: int = 100_000,
    confidence: float = 0.99,
) -> Finding:
    """Return a lower confidence bound on a randomiser's epsilon, from so many outputs of each of two inputs.

    Guarantee: exact; whatever the randomiser is, the bound exceeds its epsilon with probability 1 - confidence at most,
    if its outputs are independent.

    Args:
        randomiser: Gives one output for an input: a number, a name, or a tuple of those.
        first: An input.
        second: Another input.
        samples: How many outputs to draw for each input.
        confidence: How often the bound is to be right.

    Raises:
        InvalidInput: If there are too few samples, or the confidence is not between 0 and 1.
    """
    return lower_bound(
        [randomiser(first) for _ in range(samples)], [randomiser(second) for _ in range(samples)], confidence=confidence
    )


def lower_bound(first: _Outputs, second: _Outputs, *, confidence: float = 0.99) -> Finding:
    """Return the same from outputs that were drawn already; a numpy array of numbers, one column each, is fastest."""
    if not 0 < confidence < 1:
        raise InvalidInput("confidence", confidence, "must be between 0 and 1")
    columns = [_columns(outputs) for outputs in (first, second)]
    size = min(len(outputs[0]) for outputs in columns)
    if size < 2:
        raise InvalidInput("samples", size, "must be 2 or more for each input")
    if len(columns[0]) != len(columns[1]):
        raise InvalidInput("outputs", len(columns[1]), f"must have {len(columns[0])} parts like those of the first")
    half = size // 2
    cells = _Cells([np.concatenate([a[:half], b[:half]]) for a, b in zip(*columns, strict=True)])
    searched = [cells.counts([column[:half] for column in outputs]) for outputs in columns]
    measured = [cells.counts([column[half:size] for column in outputs]) for outputs in columns]
    alpha = 1 - confidence
    likelier, chosen = _best_event(searched[0], searched[1], half, alpha)
    hits = int(measured[likelier][chosen].sum()), int(measured[1 - likelier][chosen].sum())
    bound = max(0.0, float(_log_ratio(np.array(hits[0]), np.array(hits[1]), size - half, alpha)))
    return Finding(bound, confidence, likelier, cells.describe(chosen), hits, size - half)


def _best_event(first: _Codes, second: _Codes, samples: int, alpha: float) -> tuple[int, _Codes]:
    """Return which input is likelier, and the cells of the event that shows most.

    Cells are taken in order of their ratio, as many as give the highest bound: few show a high ratio, many show it
    surely.
    """
    tried = []
    for likelier, (likely, unlikely) in enumerate([(first, second), (second, first)]):
        order = np.argsort(-(likely + 0.5) / (unlikely + 0.5), kind="stable")
        bounds = _log_ratio(np.cumsum(likely[order]), np.cumsum(unlikely[order]), samples, alpha)
        top = int(np.argmax(bounds))
        tried.append((float(bounds[top]), likelier, order[: top + 1]))
    _, likelier, chosen = max(tried, key=lambda one: one[0])
    return likelier, chosen


def _log_ratio(likely: _Codes, unlikely: _Codes, samples: int, alpha: float) -> NDArray[np.float64]:
    """Return a lower bound on the log ratio of two probabilities: Clopper-Pearson with half of alpha for each."""
    low = np.where(likely > 0, betaincinv(likely, samples - likely + 1, alpha / 2), 0.0)
    high = np.where(unlikely < samples, betaincinv(unlikely + 1, samples - unlikely, 1 - alpha / 2), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(low) - np.log(high), dtype=np.float64)


def _columns(outputs: _Outputs) -> list[NDArray[Any]]:
    """Return outputs as columns, one for each part of a tuple."""
    if isinstance(outputs, np.ndarray):
        return list(outputs.T) if outputs.ndim == 2 else [outputs]
    if outputs and isinstance(outputs[0], tuple):
        return [_column(part) for part in zip(*outputs, strict=True)]
    return [_column(outputs)]


def _column(parts: Iterable[Any]) -> NDArray[Any]:
    listed = list(parts)
    if all(isinstance(part, int | float) for part in listed):
        return np.asarray(listed)
    return np.asarray([str(part) for part in listed])


class _Cells:
    """A partition of the outputs, fixed by the searching half: what it did not see belongs to no cell."""

    def __init__(self, columns: list[NDArray[Any]]) -> None:
        self._edges = [_edges(column) for column in columns]
        self._known = [np.unique(_binned(c, e)) for c, e in zip(columns, self._edges, strict=True)]
        self._cells = np.unique(self._codes(columns))

    def _codes(self, columns: list[NDArray[Any]]) -> _Codes:
        """Return one number for each output, -1 for outputs with a part that is not known."""
        codes = np.zeros(len(columns[0]), dtype=np.int64)
        unknown = np.zeros(len(columns[0]), dtype=bool)
        for column, edges, known in zip(columns, self._edges, self._known, strict=True):
            binned = _binned(column, edges)
            place = np.minimum(np.searchsorted(known, binned), len(known) - 1)
            unknown |= known[place] != binned
            codes = codes * len(known) + place
        return np.where(unknown, -1, codes)

    def counts(self, columns: list[NDArray[Any]]) -> _Codes:
        """Return how many outputs fall into each cell."""
        codes = self._codes(columns)
        place = np.minimum(np.searchsorted(self._cells, codes), len(self._cells) - 1)
        return np.bincount(place[self._cells[place] == codes], minlength=len(self._cells))

    def describe(self, chosen: _Codes) -> str:
        """Say which outputs the cells hold."""
        texts = []
        for code in sorted(int(c) for c in self._cells[chosen]):
            parts, rest = [], code
            for edges, known in zip(reversed(self._edges), reversed(self._known), strict=True):
                rest, place = divmod(rest, len(known))
                parts.append(_part(known[place], edges))
            texts.append(", ".join(reversed(parts)))
        return " or ".join(texts[:8]) + (f" or {len(texts) - 8} more" if len(texts) > 8 else "")


def _edges(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return where to cut a column of numbers into bins, finer towards both ends; None if it is taken as it is."""
    if column.dtype.kind != "f" or len(np.unique(column)) <= _DISTINCT:
        return None
    tail = 1 / _BINS / 2.0 ** np.arange(1, max(2, int(np.log2(len(column) / _BINS / _RARE)) + 1))
    inner = np.arange(1, _BINS) / _BINS
    return np.unique(np.quantile(column, np.sort(np.concatenate([tail, inner, 1 - tail]))))


def _binned(column: NDArray[Any], edges: NDArray[np.float64] | None) -> NDArray[Any]:
    return column if edges is None else np.searchsorted(edges, column)


def _part(known: Any, edges: NDArray[np.float64] | None) -> str:
    if edges is None:
        return str(known)
    low = "-inf" if known == 0 else f"{edges[known - 1]:.4g}"
    high = "inf" if known == len(edges) else f"{edges[known]:.4g}"
    return f"({low}, {high}]"


@dataclass(frozen=True)
class QuestionAudit:
    """An audit of the client's own answers, with the inputs that one question's table tells apart best."""

    metric: str
    attribute: str
    declared: float
    exact: float
    finding: Finding

    @property
    def caught(self) -> bool:
        """Whether the answers leak more than the question declares."""
        return self.finding.epsilon > self.declared


def audit_study(
    study: Study,
    *,
    samples: int = 100_000,
    confidence: float = 0.99,
    progress: Callable[[float], object] = lambda _: None,
) -> tuple[QuestionAudit, ...]:
    """Audit the client's own path: answers to the study, drawn as a device draws them.

    Guarantee: all bounds hold together with the confidence given.

    Args:
        study: The study to answer.
        samples: How many answers to draw for each of two inputs, for each pair of them that is tried.
        confidence: How often the bounds are to be right together.
        progress: Called for every answer, with the part of the work that it is.

    Raises:
        NotPrivate: If a table spends more than declared: the client refuses to answer at all.
        InvalidInput: If there are too few samples, or the confidence is not between 0 and 1.
    """
    # People audit a study before it opens, after it has closed, and without a ticket.
    study = replace(study, opens=None, closes=None, admission=None, issuer=None)
    pairs = [(index, pair) for index, table in enumerate(study.tables) for pair in _worst_profiles(study, table)]
    each = 1 - (1 - confidence) / len(pairs)

    def symbol(profile: Mapping[str, Any]) -> int:
        progress(1 / (2 * samples * len(pairs)))
        found: Answer = answer(study, profile, limit=UNLIMITED)
        return found.payload[0]

    findings: dict[int, Finding] = {}
    for index, (first, second) in pairs:
        finding = audit(symbol, first, second, samples=samples, confidence=each)
        if index not in findings or finding.epsilon > findings[index].epsilon:
            findings[index] = finding
    return tuple(
        QuestionAudit(q.metric.name, q.attribute.name, float(q.epsilon), q.mechanism.epsilon, findings[index])
        for index, table in enumerate(study.tables)
        for q in table
    )


def _worst_profiles(study: Study, table: Table) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return pairs of profiles to try."""
    return [(_profile(study, table, x), _profile(study, table, z)) for x, z in _worst_rows(table[0].channel)]


def _worst_rows(channel: Channel) -> set[tuple[int, int]]:
    """Return the two rows that the table tells apart best, and the best two that differ in both group and level.

    A program that leaks the group alone, or the value alone, shows it only for people who differ in that.
    """
    logs = np.log(np.maximum(np.array(channel.table, dtype=np.float64), 0.5))
    losses = np.array([(row - logs).max(axis=1) for row in logs])
    group, level = np.divmod(np.arange(channel.rows), math.prod(map(len, channel.axes)))
    differ = (group[:, None] != group) & (level[:, None] != level)
    masked = (losses, np.where(differ, losses, -np.inf))
    worst = [np.unravel_index(np.argmax(each), losses.shape) for each in masked]
    if losses[worst[1]] >= losses[worst[0]] * (1 - 1e-6):
        worst = worst[1:]
    return {(int(x), int(z)) for x, z in worst}


def _profile(study: Study, table: Table, row: int) -> dict[str, Any]:
    """Return a profile that gives one row of a table; elsewhere a first group and a lowest value."""
    groups = {factor.name: factor.groups[0] for attribute in study.attributes for factor in attribute.factors}
    values: dict[str, Any] = {metric.name: metric.low for metric in study.metrics}
    channel, attribute = table[0].channel, table[0].attribute
    if row == channel.rows - 1 and channel.abstain:
        return {"group": groups, "values": {**values, table[0].metric.name: None}}
    for question, levels in reversed(list(zip(table, channel.axes, strict=True))):
        row, level = divmod(row, len(levels))
        low, high = Fraction(question.metric.low), Fraction(question.metric.high)
        values[question.metric.name] = low + (high - low) * (Fraction(levels[level], LEVEL_UNIT) + 1) / 2
    for factor in reversed(attribute.factors):
        row, group = divmod(row, len(factor.groups))
        groups[factor.name] = factor.groups[group]
    return {"group": groups, "values": values}


# A column of entries for each name, as a data frame has them; "person" is who a record is of.
SiteTable = Mapping[str, list[object]]
_Answers = Callable[[Study, SiteTable], Answer]

_PERSON = "person"
# People with one record in each cell.
_SINGLES = 3
# Sizes whose chance is below this are put together.
_RARE_SIZE = 0.005


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
    study: Study, answers: _Answers | None = None, *, runs: int = 2000, confidence: float = 0.99
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


def _ours(study: Study, table: SiteTable) -> Answer:
    return answer(study, Records.of(study.questions[0].counts, table, RecordColumns(person=_PERSON)), limit=UNLIMITED)


def _known(site: NoisyCounts) -> tuple[SiteTable, list[int]]:
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
    far = max(1, math.ceil(math.log(_RARE_SIZE) / math.log(q)))
    chances = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-far, far + 1)}
    chances |= {-far - 1: q ** (far + 1) / (1 + q), far + 1: q ** (far + 1) / (1 + q)}
    counts: Counter[int] = Counter()
    for z, count in met.items():
        counts[max(-far - 1, min(far + 1, z))] += count
    total = counts.total()
    tails = [min(bdtr(counts[z], total, chance), bdtrc(counts[z] - 1, total, chance)) for z, chance in chances.items()]
    return float(min(1.0, 2 * len(tails) * min(tails)))
