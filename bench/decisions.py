"""How often what is said of the truth is wrong: thousands of draws in each cell, decided at the truth.

    python -m bench.decisions --write          every cell, 2,000 draws each, and the table in docs (`make coverage`)
    python -m bench.decisions Holm sites       cells with such a text in their name
    python -m bench.decisions --draws 200      fewer draws
    python -m bench.decisions --keep FILE      keep what each cell came to, and go on where FILE ends

An interval holds the truth exactly if its test accepts it, and a sentence ("less than four fifths") is false exactly if
the interval that it reads excludes the truth.  So nothing is estimated here: counts are drawn from the exact law of
their sum, and what decides is asked at the truth.  That is quick enough for thousands of draws, with which a promise of
90 % that is kept in 87 % is noticed.  Every cell has twins that are wrong on purpose: alpha is doubled, or every answer
is taken for two, which halves the variance.  A cell that catches neither is one whose interval is wider than it needs
to be, and the table says how often it missed.

Exit status 1 if a cell missed more often than promised, by more than chance explains over all cells together (Holm), or
if a twin passes where it must be caught.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from bench import draws_coverage, groups_coverage, held, response, sites_coverage
from bench.results import commit
from fairgauge.designs import make_channel
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.inference import _ratio, reader_for
from fairgauge.estimation.interval_kinds import kind_of
from fairgauge.estimation.interval_readers import Reader
from fairgauge.simulation import Cell as People
from fairgauge.simulation import Population, Truth, simulate, true_values
from fairgauge.simulation.clients import Clients
from fairgauge.simulation.drawing import InputLaws
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.tallies import Tally
from fairgauge.targets.comparisons import margin_sides, pair_names
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
BEGIN, END = "<!-- decisions table: begin -->", "<!-- decisions table: end -->"
SEED = 20261118
ALPHA = 0.1
DRAWS = 2000
# What all cells together may fail by chance, once in so many versions of the code.
FALSE_POSITIVE_RATE = 1e-3
# The normal interval promises to be close to its confidence.
SLACK = 1.3

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Drawn:
    """A study whose answers are drawn from their law, and what is true of those who answer."""

    study: Study
    population: Population
    clients: int
    kind: str = "population"

    @cached_property
    def law(self) -> NDArray[np.float64]:
        """How likely each symbol is."""
        people, laws = Clients.of(self.study, self.population), InputLaws(self.study)
        law = sum(count / people.total * laws.of(inputs) for inputs, count in people.kinds)
        return np.asarray(law / np.sum(law))

    @cached_property
    def truths(self) -> Sequence[Truth]:
        """What is true of each question."""
        return true_values(self.study, self.population)

    def reader(self, counts: Counts, index: int = 0, times: int = 1) -> Reader:
        """Return what an estimate reads a question with."""
        tally = Tally(self.study.digest, tuple((times * counts).tolist()))
        return reader_for(self.study, tally, index, kind_of(self.kind))


@dataclass(frozen=True)
class Cell:
    """What is asked how often it is wrong.

    Args:
        name: What is decided, and under which conditions.
        draw: Draws from the law, and decides each at an alpha, with every answer taken for so many.
        promise: The largest part that may be wrong.
        twins: Which twins must be caught.
    """

    name: str
    draw: Callable[[int, float, int], Iterator[bool]]
    promise: float = ALPHA
    twins: tuple[str, ...] = ("alpha", "variance")

    def missed(self, draws: int, *, alpha: float = ALPHA, times: int = 1) -> int:
        """Return how many of so many draws are wrong."""
        return sum(self.draw(draws, alpha, times))

    def twin(self, name: str, draws: int) -> int:
        """Return how many of so many draws a twin has wrong."""
        return sum(self._decided(draws, name))

    def is_broken(self, draws: int, *, twin: str = "") -> bool:
        """Tell whether so many draws break the promise, as soon as the draws that are left cannot change that."""
        least = next(missed for missed in range(draws + 2) if held.is_broken(missed, draws, self.promise))
        missed = 0
        for left, wrong in zip(reversed(range(draws)), self._decided(draws, twin), strict=True):
            missed += wrong
            if missed >= least or missed + left < least:
                break
        return missed >= least

    def _decided(self, draws: int, twin: str) -> Iterator[bool]:
        return self.draw(draws, 2 * ALPHA if twin == "alpha" else ALPHA, 2 if twin == "variance" else 1)


def p_of(missed: int, draws: int, promise: float) -> float:
    """Return how likely so many misses are if the promise is just kept."""
    return float(binom.sf(missed - 1, draws, promise))


def noticed(draws: int, promise: float, cells: int) -> float:
    """Return how often a cell would have to be wrong to be noticed in 95 of 100 runs.

    >>> round(noticed(2000, 0.1, 60), 3)
    0.141
    """
    least = int(binom.isf(FALSE_POSITIVE_RATE / cells, draws, promise)) + 1
    return float(next((p for p in np.arange(promise, 1, 0.001) if binom.sf(least - 1, draws, p) >= 0.95), 1.0))


def _of(
    make: Callable[[], Drawn], decide: Callable[[Drawn, Reader, float], bool], *, readers: int = 1
) -> Callable[[int, float, int], Iterator[bool]]:
    """Return what draws answers to a study and decides each; a gap that is not told is not wrong."""
    made = cache(make)

    def draw(draws: int, alpha: float, times: int) -> Iterator[bool]:
        drawn, rng = made(), np.random.default_rng(SEED)
        for counts in rng.multinomial(drawn.clients, drawn.law, size=draws):
            yield any(
                _is_wrong(decide, drawn, drawn.reader(counts, index, times), alpha / readers)
                for index in range(readers)
            )

    return draw


def _is_wrong(decide: Callable[[Drawn, Reader, float], bool], drawn: Drawn, reader: Reader, alpha: float) -> bool:
    try:
        return decide(drawn, reader, alpha)
    except CannotEstimate:
        return False


def _question(drawn: Drawn, reader: Reader) -> tuple[Question, Truth]:
    """Return the question that a reader is about."""
    for question, truth in zip(drawn.study.questions, drawn.truths, strict=True):
        if reader.estimands.decoder.axis == question.axis:
            return question, truth
    return drawn.study.questions[0], drawn.truths[0]


def gap(drawn: Drawn, reader: Reader, alpha: float) -> bool:
    """Tell whether any gap excludes the truth: all of them hold together."""
    question, truth = _question(drawn, reader)
    return not all(
        reader.believes_gap(pair, truth.gaps[names] / question.metric.scale, alpha)
        for pair, names in pair_names(question).items()
    )


def beyond(drawn: Drawn, reader: Reader, alpha: float) -> bool:
    """Tell whether a gap is said to be beyond a tolerance that it just keeps."""
    question, truth = _question(drawn, reader)
    return any(
        reader.excludes(pair, abs(truth.gaps[names]) / question.metric.scale, alpha)
        for pair, names in pair_names(question).items()
    )


def holm(drawn: Drawn, reader: Reader, alpha: float) -> bool:
    """Tell whether any gap within the tolerance gets a p-value of alpha or less.

    The largest gap is far beyond the tolerance, the others just keep it.
    """
    question, truth = _question(drawn, reader)
    sizes = {pair: abs(truth.gaps[names]) / question.metric.scale for pair, names in pair_names(question).items()}
    within = min(sizes.values())
    if not any(reader.excludes(pair, within, alpha) for pair in sizes):
        return False  # then the smallest p-value is above alpha, and so are the others
    found = reader.p_values(list(sizes), within)
    return any(p <= alpha and sizes[pair] <= within + 1e-12 for pair, p in found.items())


def ratio(drawn: Drawn, reader: Reader, alpha: float) -> bool:
    """Tell whether the impact ratio excludes the truth, which is four fifths: then what is said of them is false."""
    question, truth = _question(drawn, reader)
    found, means = _ratio(question.metric, reader, alpha), truth.means.values()
    return found is not None and not found.low <= min(means) / max(means) <= found.high


def mean(drawn: Drawn, reader: Reader, alpha: float) -> bool:
    """Tell whether the mean of the first group excludes the truth."""
    question, truth = _question(drawn, reader)
    found = reader.mean(0, alpha)
    return not found.low <= question.metric.to_v(next(iter(truth.means.values()))) <= found.high


def overall(drawn: Drawn, reader: Reader, alpha: float) -> bool:
    """Tell whether the mean of all excludes the truth."""
    question, truth = _question(drawn, reader)
    assert reader.estimands.overall is not None
    assert truth.overall is not None
    return not reader.believes(reader.estimands.overall, question.metric.to_v(truth.overall), alpha)


def share(drawn: Drawn, reader: Reader, alpha: float) -> bool:
    """Tell whether the share of the first group among those who answer excludes the truth."""
    shares = reader.estimands.group_shares
    assert shares is not None
    return not reader.believes(shares[0], next(iter(_question(drawn, reader)[1].shares.values())), alpha)


def margin(drawn: Drawn, reader: Reader, alpha: float) -> bool:
    """Tell whether the mean of the first margin of crossed attributes excludes the truth."""
    question, truth = _question(drawn, reader)
    name, side = next(iter(margin_sides(question).items()))
    return not reader.believes(reader.estimands.mean_of(side), question.metric.to_v(truth.margins[name]), alpha)


def two(
    epsilon: str, clients: int, *, kind: str = "population", means: Sequence[str] = ("0.6", "0.8"), **said: Any
) -> Callable[[], Drawn]:
    """Return a study of groups of these means: half of each are so much above as the others are below.

    Args:
        epsilon: The privacy loss.
        clients: How many answer.
        kind: The kind of interval.
        means: The mean of each group.
        said: What the study says of its groups, and ``order``.
    """
    order = said.pop("order", None)
    spread = min(Decimal("0.2"), 1 - max(map(Decimal, means)))

    def make() -> Drawn:
        names = [f"group {n}" for n in range(len(means))]
        shares = tuple(map(float, said.get("shares", (1 / len(names),) * len(names))))
        known = said.get("answering") == "alike"
        target = Target(shares, known, kind="gap" if known and len(names) == 2 else "means")
        design, channel = make_channel(Scores(target), Decimal(epsilon))
        question = Question(
            Metric("rate", 0, 1), Attribute("group", names, **said), target.kind, design, epsilon, channel
        )
        cells = [
            People(name, Decimal(middle) + off, round(part * 10**6))
            for name, middle, part in zip(names, means, shares, strict=True)
            for off in (-spread, spread)
        ]
        return Drawn(Study("Decided", [question], order=order), Population(tuple(cells)), clients, kind)

    return make


ALIKE: dict[str, Any] = {"shares": ("0.5", "0.5"), "answering": "alike"}


def _off_by_its_error(epsilon: str, clients: int, kind: str) -> Callable[[], Drawn]:
    """Return a study that states shares which are wrong by as much as it says that they may be."""
    right = two(epsilon, clients, kind=kind, shares=("0.52", "0.48"), answering="alike")

    def make() -> Drawn:
        return replace(right(), study=two(epsilon, clients, share_error="0.02", **ALIKE)().study)

    return make


def _asked(setting: groups_coverage.Several) -> Callable[[], Drawn]:
    def make() -> Drawn:
        study, people = groups_coverage.asked(setting)
        return Drawn(study, people, setting.clients, setting.interval)

    return make


def _secret(number: int, kind: str) -> Callable[[int, float, int], Iterator[bool]]:
    """Return what draws answers and secret draws, and decides the gap."""
    cell = draws_coverage.cells()[number]

    def draw(draws: int, alpha: float, times: int) -> Iterator[bool]:
        assert times == 1
        rng, truth = np.random.default_rng(SEED), cell.truth()
        for _ in range(draws):
            tally = simulate(cell.study, cell.people, clients=cell.answers, seed=rng)
            reader = reader_for(cell.study, tally, 0, kind_of(kind))
            try:
                yield not reader.believes_gap((0, 1), truth, alpha)
            except CannotEstimate:
                yield False

    return draw


def _sites(setting: sites_coverage.Setting, quantity: str) -> Callable[[int, float, int], Iterator[bool]]:
    def draw(draws: int, alpha: float, times: int) -> Iterator[bool]:
        assert times == 1
        rng = np.random.default_rng(SEED)
        at = replace(setting, confidence=1 - alpha)
        for run in range(draws):
            yield next(not holds for name, holds in sites_coverage._study(at, run, rng) if name == quantity)

    return draw


def _who_answers(cell: response.Cell, what: str) -> Callable[[int, float, int], Iterator[bool]]:
    """Return what decides the gap, or how many times as often one group answers as the other."""
    decide = response.gaps_hold if what == "gap" else response.response_holds

    def draw(draws: int, alpha: float, times: int) -> Iterator[bool]:
        before, response.CONFIDENCE = response.CONFIDENCE, 1 - alpha
        try:
            rng = np.random.default_rng(SEED)
            for counts in rng.multinomial(cell.clients, cell.law, size=draws):
                reader = response.reader_at(cell.study, Tally(cell.study.digest, tuple((times * counts).tolist())))
                yield decide(cell, reader) is False
        finally:
            response.CONFIDENCE = before

    return draw


def grid() -> list[Cell]:
    """Return every cell: each kind and each quantity, from epsilon 0.1 to 8, from 300 people to a million."""
    return [*_kinds(), *_quantities(), *_groups(), *_elsewhere()]


_SIZES = (("0.1", 10**6), ("0.5", 10**5), ("1", 10**4), ("2", 10**4), ("4", 10**4), ("8", 10**4), ("1", 300))
# A cell whose interval has to allow for more than chance is wide: no twin need be caught.
_WIDE: tuple[str, ...] = ()


def _promise(kind: str) -> float:
    return ALPHA * (SLACK if kind == "normal" else 1)


def _kinds() -> Iterator[Cell]:
    """Yield the gap of two groups by every kind of interval, and what each kind says besides."""
    for kind in ("population", "normal", "anytime"):
        for epsilon, clients in _SIZES:
            few = clients < 10**4
            if kind == "normal" and few:
                continue  # where it promises nothing
            name, twins = f"gap, {kind}, epsilon {epsilon}, {clients:,} people", ("alpha", "variance")
            draw = _of(two(epsilon, clients, kind=kind, **ALIKE), gap)
            yield Cell(name, draw, _promise(kind), _WIDE if few or kind == "anytime" else twins)
    for kind in ("population", "normal"):
        promise, known, estimated = _promise(kind), two("2", 10**4, kind=kind, **ALIKE), two("2", 10**5, kind=kind)
        yield Cell(f"beyond a tolerance, {kind}", _of(known, beyond), promise, _WIDE)
        yield Cell(f"gap, split estimated, {kind}", _of(estimated, gap), promise)
        yield Cell(f"share of a group, {kind}", _of(estimated, share), promise)
        yield Cell(f"mean of a group, split estimated, {kind}", _of(estimated, mean), promise)
        yield Cell(f"mean of all, {kind}", _of(estimated, overall), promise)
        yield Cell(f"gap, share error, {kind}", _of(_off_by_its_error("2", 10**5, kind), gap), promise, _WIDE)
        yield Cell(
            f"ratio at four fifths, {kind}", _of(two("4", 10**5, kind=kind, means=_FIFTHS), ratio), promise, _WIDE
        )


_FIFTHS = ("0.6", "0.75")


def _quantities() -> Iterator[Cell]:
    known = two("4", 10**5, means=_FIFTHS, **ALIKE)
    yield Cell("ratio at four fifths, split known", _of(known, ratio), twins=_WIDE)
    yield Cell("gap, answers in waves", _of(two("2", 10**4, order="waves", **ALIKE), gap))


def _groups() -> Iterator[Cell]:
    """Yield what is about three and more groups, and about attributes that cross."""
    parts: dict[str, Any] = {"shares": ("0.4", "0.3", "0.3"), "answering": "alike"}
    alike, apart = ("0.8", "0.8", "0.5"), ("0.5", "0.55", "0.8")
    yield Cell("Holm, three groups", _of(two("4", 10**5, means=alike, **parts), holm), twins=_WIDE)
    yield Cell("gaps of three groups, all together", _of(two("4", 10**5, means=apart, **parts), gap), twins=_WIDE)
    yield Cell("means of 64 groups, the first", _of(two("4", 10**6, means=("0.7",) * 64), mean))
    at_once = _asked(groups_coverage.Several("at once", 10**5, "4", "population"))
    yield Cell("two metrics at once", _of(at_once, gap, readers=2), twins=_WIDE)
    for known in (True, False):
        crossed = _asked(groups_coverage.Several("cells", 10**5, "4", "population", known=known))
        split = "known" if known else "estimated"
        yield Cell(f"cells of two attributes, all gaps together, split {split}", _of(crossed, gap), twins=_WIDE)
        yield Cell(f"margin of crossed attributes, split {split}", _of(crossed, margin))


def _elsewhere() -> Iterator[Cell]:
    """Yield what has laws of its own: secret draws, sites, and groups that answer unequally often."""
    for number, cell in enumerate(draws_coverage.cells()):
        yield Cell(f"gap, secret draws, {cell.name}", _secret(number, "population"), twins=_WIDE)
    for setting in (
        sites_coverage.Setting(sites_coverage.USUAL, 20, 500, "1"),
        sites_coverage.Setting(sites_coverage.RARE, 5, 60, "0.1"),
        sites_coverage.Setting(sites_coverage.USUAL, 3, 120, "1", "records"),
    ):
        for quantity in ("rate", "gap", "ratio"):
            yield Cell(f"{quantity} of {setting.kind}, {setting}", _sites(setting, quantity), twins=_WIDE)
    base = response.Cell("1.5", "0.5", "2", "0.9", "0.1", "two", 1, "any", expected=True, clients=10**5)
    for each in (base, replace(base, answering=response.RATIO), replace(base, groups="three", epsilon="4")):
        said = "a ratio stated" if each.answering == response.RATIO else each.answering
        name = f"gap, groups answer unequally often, {said}, {each.groups} groups"
        yield Cell(name, _who_answers(each, "gap"), twins=_WIDE)
    yield Cell("how often groups answer", _who_answers(base, "response"))


@dataclass(frozen=True)
class Found:
    """What became of a cell: how many draws were wrong, with each twin how many, and where and when that was."""

    cell: Cell
    draws: int
    missed: int
    twins: dict[str, int]
    at: str

    @property
    def p(self) -> float:
        """How likely so many misses are if the promise is just kept."""
        return p_of(self.missed, self.draws, self.cell.promise)

    def to_json(self) -> str:
        """Return a line that is kept."""
        told = {"cell": self.cell.name, "draws": self.draws, "missed": self.missed, "twins": self.twins, "at": self.at}
        return json.dumps(told)


def kept_in(file: Path | None) -> dict[str, Found]:
    """Return what a file keeps, by the names of cells; of one with another name now nothing."""
    if file is None or not file.exists():
        return {}
    every = {cell.name: cell for cell in grid()}
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {line["cell"]: Found(**line | {"cell": every[line["cell"]]}) for line in lines if line["cell"] in every}


def measure(cell: Cell, draws: int) -> Found:
    """Decide so many draws of a cell, and of each of its twins."""
    missed, twins = cell.missed(draws), {name: cell.twin(name, draws) for name in cell.twins}
    return Found(cell, draws, missed, twins, f"{commit()} on {datetime.now(UTC):%Y-%m-%d}")


def broken(found: Sequence[Found]) -> list[str]:
    """Return what is wrong: cells that miss too often, all of them together, and twins that are not caught."""
    wrong, ordered = [], sorted(found, key=lambda each: each.p)
    for place, each in enumerate(ordered):
        if each.p > FALSE_POSITIVE_RATE / (len(ordered) - place):
            break
        wrong.append(f"{each.cell.name}: {each.missed} of {each.draws} wrong, {each.cell.promise:.0%} promised")
    for each in found:
        for name, missed in each.twins.items():
            if p_of(missed, each.draws, each.cell.promise) > FALSE_POSITIVE_RATE / len(found):
                wrong.append(f"{each.cell.name}: the twin with {name} wrong passes, {missed} of {each.draws}")
    return wrong


def table(found: Sequence[Found]) -> str:
    """Return the page's table."""
    draws, twins = min(each.draws for each in found), sum(len(each.twins) for each in found)
    least = {promise: noticed(draws, promise, len(found)) for promise in (ALPHA, ALPHA * SLACK)}
    worst = min(found, key=lambda each: each.p)
    said = (
        f"{len(found)} cells, {draws:,} draws in each. What is said may be wrong in {ALPHA:.0%} of them, with the "
        f"interval `normal` in {ALPHA * SLACK:.0%}; in 95 of 100 runs a cell is found that is wrong in "
        f"{least[ALPHA]:.1%} ({least[ALPHA * SLACK]:.1%}). The smallest p-value is {worst.p:.2g} "
        f"({worst.cell.name}); chance explains all of them together (Holm's method, at {FALSE_POSITIVE_RATE}). "
        f"All {twins} twins are caught. Measured at commit {' and '.join(sorted({each.at for each in found}))}."
    )
    rows = ["decided", "wrong, %", "with alpha doubled, %", "with half the variance, %"]
    lines = [_row(*rows), _row(*["---"] * len(rows))]
    for each in found:
        parts = (each.missed, each.twins.get("alpha"), each.twins.get("variance"))
        lines.append(_row(each.cell.name, *("" if n is None else f"{100 * n / each.draws:.2f}" for n in parts)))
    return "\n".join([fill(said, 118, break_long_words=False, break_on_hyphens=False), "", *lines])


def _row(*entries: str) -> str:
    return f"| {' | '.join(entries)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print, a line for each cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", help="only cells with one of these texts in their name")
    parser.add_argument("--without", nargs="*", default=[], metavar="TEXT", help="no cells with one of these texts")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--part", default="1/1", help="every n-th cell: 1/2 here and 2/2 on another core")
    parser.add_argument("--keep", type=Path, help="a file that keeps what was measured, which is not measured again")
    parser.add_argument("--write", action="store_true", help="rewrite the table in docs/coverage.md")
    typed = parser.parse_args(arguments)
    first, parts = map(int, typed.part.split("/"))
    chosen = [
        cell
        for cell in grid()
        if (not typed.texts or any(text in cell.name for text in typed.texts))
        and not any(text in cell.name for text in typed.without)
    ]
    found, kept = [], kept_in(typed.keep)
    for cell in chosen[first - 1 :: parts]:
        began = time.process_time()
        each = kept.get(cell.name) or measure(cell, typed.draws)
        found.append(each)
        if typed.keep and cell.name not in kept:
            with typed.keep.open("a", encoding="utf-8") as file:
                file.write(each.to_json() + "\n")
        twins = "".join(f", {name} {missed / each.draws:.1%}" for name, missed in each.twins.items())
        least = noticed(each.draws, cell.promise, len(chosen))
        print(
            f"{cell.name}: {each.missed / each.draws:.2%} of {each.draws} wrong, {cell.promise:.0%} promised, noticed "
            f"from {least:.1%} on; twins{twins or ' none'}; {time.process_time() - began:.0f} s",
            flush=True,
        )
    wrong = broken(found)
    if typed.write and not wrong:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table(found)}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    print("\n".join(wrong) or "every cell keeps its promise, and every twin is caught")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
