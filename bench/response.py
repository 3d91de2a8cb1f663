"""How often intervals hold the truth however often each group answers: a table in docs/coverage.md.

    python -m bench.response --draws 2000 --results FILE    measure the cells that FILE has not, and append to it
    python -m bench.response --results FILE --write         rewrite the page's table from what FILE has

Groups answer unequally often, and a study states the population's shares.  In each of 60 cells many tallies are drawn
from the law of its answers, and the test whose accepted gaps are the interval is asked at the truth: an interval holds
the truth exactly if that is accepted.  Some tallies are read by the command, as people do, which must come to the same.
Beside it stands a reader that divides by the stated shares, and must fail.

Exit status 1 if an interval held less often than it promises, by more than chance explains.
"""

import argparse
import contextlib
import json
import math
import sys
import tempfile
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from functools import cached_property
from io import StringIO
from pathlib import Path
from textwrap import fill
from time import process_time
from typing import Any

import numpy as np
from scipy.stats import binom

import fairgauge as fg
from bench.conditions import covering
from fairgauge.cli import main as command
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import Asked, estimands_for, estimands_of
from fairgauge.estimation.reader import Reader, counts_of
from fairgauge.estimation.readers import READERS
from fairgauge.estimation.response import shares_among
from fairgauge.estimation.sensitivity import gap_ratios
from fairgauge.estimation.splitting import Thrown
from fairgauge.goals.goal import Goal
from fairgauge.goals.sides import Pair, pair_names
from fairgauge.simulation import Cell as People
from fairgauge.simulation import Population, Truth, true_values
from fairgauge.simulation.clients import Clients
from fairgauge.simulation.drawing import _Laws
from fairgauge.study import Attribute, Metric, Study
from fairgauge.tallies import Tally

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
BEGIN, END = "<!-- response table: begin -->", "<!-- response table: end -->"
SEED = 20261116
CONFIDENCE = 0.9
CELLS = 60
# So many tallies of each cell are read by the command.
COMMANDS = 20
# With so many answers it is the law that decides, and not chance: what divides by a wrong share must fail.
PLENTY = 10**10
# What all cells together may fail by chance.
FALSE_POSITIVE_RATE = 1e-3
RATIO = "a ratio"
# The values of the first group and of the others, by the first group's mean, and whether there is a gap of ten points.
VALUES: dict[tuple[str, str], tuple[dict[str, int], dict[str, int]]] = {
    ("0.9", "none"): ({"1": 3, "0.6": 1}, {"1": 3, "0.6": 1}),
    ("0.9", "0.1"): ({"1": 3, "0.6": 1}, {"1": 1, "0.6": 1}),
    ("0.5", "none"): ({"0.35": 1, "0.65": 1}, {"0.35": 1, "0.65": 1}),
    ("0.5", "0.1"): ({"0.35": 1, "0.65": 1}, {"0.25": 1, "0.55": 1}),
}
CONDITIONS: dict[str, tuple[object, ...]] = {
    "response": ("1", "1.05", "1.1", "1.5", "2"),
    "share": ("0.5", "0.2", "0.05"),
    "epsilon": ("0.5", "1", "2", "4", "8"),
    "mean": ("0.9", "0.5"),
    "gap": ("none", "0.1"),
    "groups": ("two", "three", "six", "crossed"),
    "metrics": (1, 2),
    "answering": ("any", RATIO, "alike"),
    "expected": (True, False),
    "clients": (300, 3000, 10**4, 10**5, 10**6),
}


@dataclass(frozen=True)
class Cell:
    """A study, and the people who answer it: the first group so many times as often as the next."""

    response: str
    share: str
    epsilon: str
    mean: str
    gap: str
    groups: str
    metrics: int
    answering: str
    expected: bool
    clients: int

    @cached_property
    def attribute(self) -> Attribute:
        """The groups with their shares of the population, and what the study says of how often they answer."""
        answering = max(self.response, "1.1", key=Decimal) if self.answering == RATIO else self.answering
        if self.groups == "crossed":
            sex, age = Attribute("sex", ["f", "m"]), Attribute("age", ["young", "old"])
            return Attribute.crossed(sex, age, shares=self._shares, answering=answering)
        return Attribute("group", list("abcdef")[: len(self._shares)], self._shares, answering=answering)

    @property
    def _shares(self) -> list[Decimal]:
        first, others = Decimal(self.share), {"two": 1, "three": 2, "six": 5, "crossed": 1}[self.groups]
        if self.groups == "crossed":
            return [first / 2, first / 2, (1 - first) / 2, (1 - first) / 2]
        return [first] + [(1 - first) / others] * others

    @cached_property
    def study(self) -> Study:
        """The study, with the tables that the command makes for it."""
        names = ["one", "two"][: self.metrics]
        asked = fg.design(
            [Metric(name, 0, 1) for name in names],
            self.attribute,
            epsilon=self.epsilon,
            clients=self.clients,
            expect=dict.fromkeys(names, self.mean) if self.expected else None,
        )
        return Study("Who answers", asked)

    @cached_property
    def population(self) -> Population:
        """Those who answer: every second group so many times as often as the others."""
        cells = []
        for number, (group, share) in enumerate(zip(self.attribute.groups, self._shares, strict=True)):
            often = share * (1 if number % 2 else Decimal(self.response))
            values = VALUES[self.mean, self.gap][number >= (2 if self.groups == "crossed" else 1)]
            for value, count in values.items():
                held = (self.attribute.name, group), ("one", value), ("two", value)
                people = often * count * 10**8 / sum(values.values())
                cells.append(People(None, None, int(people), columns=held[: 1 + self.metrics]))
        return Population(tuple(cells))

    @cached_property
    def truth(self) -> Truth:
        """What the first question asks for."""
        return true_values(self.study, self.population)[0]

    @cached_property
    def law(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """How likely each symbol is."""
        people, laws = Clients.of(self.study, self.population), _Laws(self.study)
        law = sum(count / people.total * laws.of(inputs) for inputs, count in people.kinds)
        return np.asarray(law / np.sum(law))

    @property
    def true_response(self) -> dict[tuple[str, str], float]:
        """How many times as often one side of a comparison answered as the other."""
        rates = {}
        stated = dict(zip(self.attribute.groups, map(float, self._shares), strict=True))
        for side in {side for pair in self.truth.gaps for side in pair}:
            groups = [g for g in stated if g == side or side in g.split(", ")]
            rates[side] = sum(self.truth.shares[g] for g in groups) / sum(stated[g] for g in groups)
        return {pair: rates[pair[0]] / rates[pair[1]] for pair in self.truth.gaps}

    def __str__(self) -> str:
        gap = "no gap" if self.gap == "none" else "a gap"
        said = {RATIO: f"a ratio of {self.attribute.answering} stated"}.get(self.answering, f"`{self.answering}`")
        return (
            f"{self.response} times as often, {said}; {self.groups} groups, the first {self.share}; epsilon "
            f"{self.epsilon}, {self.clients:,} answers; mean {self.mean}, {'' if self.expected else 'not '}expected; "
            f"{gap}; {self.metrics} asked"
        )


def possible(each: Mapping[str, object]) -> bool:
    """Tell whether a study may say so truthfully: that groups answer alike only where they do."""
    return each.get("answering") != "alike" or each.get("response", "1") == "1"


def cells() -> list[Cell]:
    """Return sixty cells in which every two conditions meet that can."""
    return [Cell(**each) for each in covering(CONDITIONS, possible=possible, least=CELLS)]  # type: ignore[arg-type]


@dataclass
class Found:
    """What a cell's tallies came to.

    Args:
        draws: How many tallies were decided at the truth.
        told: In how many of them the answers tell a gap.
        missed: In how many some gap was rejected at the truth.
        ratios: In how many a response ratio was asked for.
        ratio_missed: In how many some response ratio was rejected at the truth.
        off: The mean of the first gap's estimate less the truth, in points of a hundred.
        error: The standard error of that.
        read: How many were read by the command.
        read_missed: In how many of these some gap that was printed does not hold the truth.
        divided: How far a reader that divides by the stated shares is off, in its standard errors of many answers.
    """

    draws: int = 0
    told: int = 0
    missed: int = 0
    ratios: int = 0
    ratio_missed: int = 0
    off: float = 0.0
    error: float = 0.0
    read: int = 0
    read_missed: int = 0
    divided: float | None = None
    seconds: float = 0.0


def measure(cell: Cell, draws: int, *, commands: int) -> Found:
    """Decide a cell's tallies at the truth, and read some by the command."""
    started, found = process_time(), Found(divided=divided(cell))
    rng, estimates = np.random.default_rng([SEED, cells().index(cell)]), []
    for counts in rng.multinomial(cell.clients, cell.law, size=draws):
        tally = Tally(cell.study.digest, tuple(counts.tolist()))
        holds, ratio_holds, estimate = decided(cell, tally)
        found.draws += 1
        found.told += holds is not None
        found.missed += holds is False
        found.ratios += ratio_holds is not None
        found.ratio_missed += ratio_holds is False
        estimates += [] if estimate is None else [estimate]
        if found.read < commands:
            found.read += 1
            found.read_missed += not read(cell, tally, holds)
    if len(estimates) > 1:
        off = 100 * (np.array(estimates) / 2 - next(iter(cell.truth.gaps.values())))
        found.off, found.error = float(off.mean()), float(off.std(ddof=1) / math.sqrt(len(off)))
    found.seconds = process_time() - started
    return found


def reader_at(study: Study, tally: Tally) -> Reader:
    """Return what reads the first question, as an estimate does."""
    estimands, counts = estimands_of(study.questions[0]), counts_of(tally.for_question(study, 0))
    return READERS["population"](estimands, counts, None, Thrown(f"{study.digest} 0"))


def decided(cell: Cell, tally: Tally) -> tuple[bool | None, bool | None, float | None]:
    """Tell whether all gaps accept the truth, and all response ratios, with the estimate of the first gap.

    None where the answers do not tell.
    """
    question, alpha = cell.study.questions[0], 1 - CONFIDENCE
    if not sum(tally.for_question(cell.study, 0)):
        return None, None, None
    reader, names = reader_at(cell.study, tally), pair_names(question)
    told = []
    for pair, name in names.items():
        try:
            told.append(reader.believes_gap(pair, 2 * cell.truth.gaps[name], alpha))
        except CannotEstimate:
            continue
    return (False not in told) if told else None, _response(cell, reader, alpha), _point(reader, next(iter(names)))


def _response(cell: Cell, reader: Reader, alpha: float) -> bool | None:
    """Tell whether all response ratios accept the truth; None where none is told."""
    question, told = cell.study.questions[0], []
    names = pair_names(question)
    for pair, (free, among) in shares_among(reader, question.attribute).items():
        odds = cell.true_response[names[pair]] * free.estimands.band.odds(pair)[0]
        try:
            told.append(free.believes(among, odds / (1 + odds), alpha / len(names)))
        except CannotEstimate:
            continue
    return (False not in told) if told else None


def _point(reader: Reader, pair: Pair) -> float:
    """Return the estimate of a gap."""
    ratios = gap_ratios(reader.estimands, pair)
    return sum(ratio.value(reader.law) for ratio in ratios)


def divided(cell: Cell) -> float | None:
    """Return how far dividing by the stated shares leads from the first gap, in standard errors of many answers."""
    question = cell.study.questions[0]
    goal = replace(Goal.of(question), shares_known=True, ratio=1.0)
    names = pair_names(question)
    found = estimands_for(goal, question.channel, Asked(tuple(names), question.attribute.groups))
    if found.gaps is None:
        return None
    pair, name = next(iter(names.items()))
    symbols = cell.law[: question.channel.symbols] * len(cell.study.tables)
    ratio = found.gaps[pair]
    off = ratio.value(symbols) - 2 * cell.truth.gaps[name]
    deviation = math.sqrt(float(ratio.influence(symbols) ** 2 @ symbols))
    return abs(off) * math.sqrt(PLENTY) / deviation


def read(cell: Cell, tally: Tally, accepts: bool | None) -> bool:
    """Tell whether all gaps that the command prints hold the truth.

    Raises:
        AssertionError: If the truth was accepted and is not in an interval that is printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        study, counts = Path(folder) / "study.json", Path(folder) / "tally.json"
        cell.study.save(study)
        tally.save(counts)
        said = _command("estimate", str(study), str(counts), "--confidence", str(CONFIDENCE), "--json")
    gaps = json.loads(said)["questions"][0]["gaps"]
    truth = cell.truth.gaps
    holds = all(gap["low"] - 1e-9 <= truth[tuple(gap["groups"])] <= gap["high"] + 1e-9 for gap in gaps)
    if accepts and not holds:
        raise AssertionError(f"the truth is accepted and not in what is printed: {cell}")
    return holds


def _command(*arguments: str) -> str:
    """Return what a command prints, in this process."""
    before, sys.argv, printed = sys.argv, ["fairgauge", *arguments], StringIO()
    try:
        with redirect_stdout(printed), contextlib.suppress(SystemExit):
            command()
    finally:
        sys.argv = before
    return printed.getvalue()


def table(found: Mapping[Cell, Found]) -> str:
    """Return the page's table."""
    draws, read_ = [each.draws for each in found.values()], [each.read for each in found.values()]
    missed, told = sum(each.missed for each in found.values()), sum(each.told for each in found.values())
    off = [(each.off, each.error) for each in found.values() if each.error]
    weights = np.array([1 / error**2 for _, error in off])
    worst = max((abs(one) / error for one, error in off), default=0.0)
    some = f"{min(draws):,}" if min(draws) == max(draws) else f"{min(draws):,} to {max(draws):,}"
    fails = [each.divided for cell, each in found.items() if shows(cell) and each.divided is not None]
    parts = [
        _text(
            f"{len(found)} cells, {some} tallies in each, at a confidence of {CONFIDENCE:.0%}. Each tally is decided at "
            f"the truth; {min(read_)} to {max(read_)} of each cell are read by the command, which comes to the same. "
            "Groups answer unequally often, by the factor that stands first: every second group answers so many times "
            "as often as the others. The study states the population's shares, and says `any`, a ratio that is true, "
            "or `alike`, where that is. Tables are those that `design` makes."
        ),
        _text(
            f"In all {100 * (1 - missed / sum(draws)):.1f} % held the truth of all gaps ({told:,} told one). The "
            f"smallest p-value of a cell, for holding less often than promised, is {min(map(p_value, found.values())):.2g} "
            f"({len(broken(found))} cells are below what chance explains, by Holm's method at {FALSE_POSITIVE_RATE}). "
            f"Response ratios held in {_part(found, 'ratios', 'ratio_missed')} %. The estimate of the first gap is off "
            f"by {float(weights @ [one for one, _ in off] / weights.sum()):+.4f} points on average (standard error "
            f"{1 / math.sqrt(weights.sum()):.4f}), and by at most {worst:.1f} of its standard errors in a cell. Whoever "
            f"divides by the stated shares is off by {min(fails, default=0.0):,.0f} standard errors and more of ten "
            f"billion answers in all {len(fails)} cells where groups answer unequally often and not everyone is in the "
            "middle of the range, where shares do not matter."
        ),
        _row("cell", "held", "told", "response held", "off, points"),
        _row(*["---"] * 5),
    ]
    for cell, each in found.items():
        held = f"{100 * (1 - each.missed / each.draws):.1f}"
        ratio = f"{100 * (1 - each.ratio_missed / each.ratios):.1f}" if each.ratios else ""
        off_by = f"{each.off:+.3g} ± {each.error:.2g}" if each.error else ""
        parts.append(_row(str(cell), held, f"{100 * each.told / each.draws:.0f}", ratio, off_by))
    return "\n".join(parts).strip()


def shows(cell: Cell) -> bool:
    """Tell whether dividing by the stated shares can be seen to be wrong."""
    return cell.response != "1" and (cell.mean, cell.gap) != ("0.5", "none")


def p_value(each: Found) -> float:
    """Return how likely so many misses are at least, if the interval keeps its promise; of gaps or of ratios."""
    alpha = 1 - CONFIDENCE
    both = binom.sf([each.missed - 1, each.ratio_missed - 1], [each.draws, max(each.ratios, 1)], alpha)
    return float(min(2 * both.min(), 1.0))


def broken(found: Mapping[Cell, Found]) -> list[Cell]:
    """Return the cells that chance does not explain, by Holm's method."""
    ordered = sorted(found, key=lambda cell: p_value(found[cell]))
    worst = []
    for number, cell in enumerate(ordered):
        if p_value(found[cell]) > FALSE_POSITIVE_RATE / (len(ordered) - number):
            break
        worst.append(cell)
    return worst


def _part(found: Mapping[Cell, Found], of: str, missed: str) -> str:
    asked = sum(getattr(each, of) for each in found.values())
    return f"{100 * (1 - sum(getattr(each, missed) for each in found.values()) / max(asked, 1)):.1f}"


def _text(paragraph: str) -> str:
    return f"\n{fill(paragraph, 118, break_long_words=False, break_on_hyphens=False)}\n"


def _row(*entries: str) -> str:
    return f"| {' | '.join(entries)} |"


def kept(results: Path | None) -> dict[Cell, Found]:
    """Return what a file of results has, in the cells' order."""
    lines = results.read_text(encoding="utf-8").splitlines() if results is not None and results.exists() else []
    found = {Cell(**each["cell"]): Found(**each["found"]) for each in map(json.loads, lines)}
    return {cell: found[cell] for cell in cells() if cell in found}


def main() -> int:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000, help="tallies in each cell")
    parser.add_argument("--commands", type=int, default=COMMANDS, help="of these, read by the command")
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no cell after so many")
    parser.add_argument("--results", type=Path, help="a file that keeps what was measured, and is not measured again")
    parser.add_argument("--write", action="store_true", help="rewrite the table in docs/coverage.md")
    options = parser.parse_args()
    found, started = kept(options.results), process_time()
    for cell in cells():
        if cell in found and found[cell].draws >= options.draws:
            continue
        if process_time() - started > options.seconds:
            break
        found[cell] = measure(cell, options.draws, commands=options.commands)
        print(f"{found[cell].seconds:.0f} s, {found[cell].missed} of {found[cell].draws}: {cell}", file=sys.stderr)
        if options.results is not None:
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"cell": asdict(cell), "found": asdict(found[cell])}) + "\n")
    found = {cell: found[cell] for cell in cells() if cell in found}
    text = table(found)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    else:
        print(text)
    for cell in broken(found):
        print(f"held too seldom: {cell}", file=sys.stderr)
    return 1 if broken(found) else 0


if __name__ == "__main__":
    sys.exit(main())
