"""How often intervals hold the truth however often each group answers: a table in docs/coverage.md.

    python -m bench.response --write                                  measure, and rewrite the table (`make coverage`)
    python -m bench.response --keep FOLDER --draws 100 --seconds 400  measure more, beside what FOLDER keeps

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
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
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
from bench.results import commit
from fairgauge.cli import main as command
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import Asked, estimands_for, estimands_of
from fairgauge.estimation.gap_score import Thrown
from fairgauge.estimation.inference import shares_among
from fairgauge.estimation.interval_readers import READERS, Reader, counts_of
from fairgauge.estimation.sensitivity import gap_ratios
from fairgauge.simulation import Cell as People
from fairgauge.simulation import Population, Truth, true_values
from fairgauge.simulation.clients import Clients
from fairgauge.simulation.drawing import InputLaws
from fairgauge.study import Attribute, Metric, Study
from fairgauge.tallies import Tally
from fairgauge.targets.comparisons import pair_names
from fairgauge.targets.scores import Scores

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
BEGIN, END = "<!-- response table: begin -->", "<!-- response table: end -->"
SEED = 20261116
CONFIDENCE = 0.9
CELLS = 60
# So many tallies of each cell are read by the command.
COMMANDS = 20
# Of one tally in so many the response ratios are decided, too.
RATIOS = 10
# With so many answers it is the law that decides, and not chance: what divides by a wrong share must fail.
PLENTY = 10**12
# An estimate shows a bias if its standard deviation is at most so many points.
CLOSE = 5.0
# What all cells together may fail by chance.
FALSE_POSITIVE_RATE = 1e-3
# A cell that fails is to be found so often.
POWER = 0.9
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
        people, laws = Clients.of(self.study, self.population), InputLaws(self.study)
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
        told: In how many of these the answers tell a gap.
        missed: In how many some gap was rejected at the truth.
        ratios: In how many a response ratio was asked for.
        ratio_missed: In how many some response ratio was rejected at the truth.
        off: The sum of how far the estimate of the first gap is off, in points of a hundred.
        squares: The sum of its squares.
        read: How many were read by the command.
        read_missed: In how many of these some gap that was printed does not hold the truth.
    """

    draws: int = 0
    told: int = 0
    missed: int = 0
    ratios: int = 0
    ratio_missed: int = 0
    off: float = 0.0
    squares: float = 0.0
    read: int = 0
    read_missed: int = 0

    def __add__(self, other: "Found") -> "Found":
        return Found(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def bias(self) -> tuple[float, float]:
        """How far the estimate of the first gap is off on average, and the standard error of that."""
        mean = self.off / self.draws
        return mean, math.sqrt(max(self.squares / self.draws - mean**2, 0.0) / self.draws)


def measure(cell: Cell, draws: int, *, batch: int = 0, commands: int = 0) -> Found:
    """Decide tallies of a cell at the truth, and read some by the command; every batch draws others."""
    found, rng = Found(), np.random.default_rng([SEED, batch, cell.clients, len(str(cell))])
    for counts in rng.multinomial(cell.clients, cell.law, size=draws):
        tally = Tally(cell.study.digest, tuple(counts.tolist()))
        found.draws += 1
        if not sum(tally.for_question(cell.study, 0)):
            continue
        reader = reader_at(cell.study, tally)
        holds = gaps_hold(cell, reader)
        found.missed += holds is False
        found.told += holds is not None
        if found.draws % RATIOS == 0 or found.read < commands:
            ratio_holds = response_holds(cell, reader)
            found.ratios += ratio_holds is not None
            found.ratio_missed += ratio_holds is False
        off = 50 * _point(reader) - 100 * next(iter(cell.truth.gaps.values()))
        found.off += off
        found.squares += off**2
        if found.read < commands:
            found.read += 1
            found.read_missed += not read(cell, tally, accepts=holds)
    return found


def reader_at(study: Study, tally: Tally) -> Reader:
    """Return what reads the first question, as an estimate does."""
    estimands, counts = estimands_of(study.questions[0]), counts_of(tally.for_question(study, 0))
    return READERS["population"](estimands, counts, None, Thrown(f"{study.seed} 0"))


def gaps_hold(cell: Cell, reader: Reader) -> bool | None:
    """Tell whether all gaps accept the truth; None where the answers tell none."""
    told = []
    for pair, name in pair_names(cell.study.questions[0]).items():
        with contextlib.suppress(CannotEstimate):
            told.append(reader.believes_gap(pair, 2 * cell.truth.gaps[name], 1 - CONFIDENCE))
    return (False not in told) if told else None


def response_holds(cell: Cell, reader: Reader) -> bool | None:
    """Tell whether all response ratios accept the truth; None where none is told."""
    question, told = cell.study.questions[0], []
    names = pair_names(question)
    for pair, (free, among) in shares_among(reader, question.attribute).items():
        odds = cell.true_response[names[pair]] * free.estimands.band.odds(pair)[0]
        with contextlib.suppress(CannotEstimate):
            told.append(free.believes(among, odds / (1 + odds), (1 - CONFIDENCE) / len(names)))
    return (False not in told) if told else None


def _point(reader: Reader) -> float:
    """Return the estimate of the first gap."""
    return sum(ratio.value(reader.law) for ratio in gap_ratios(reader.estimands, reader.estimands.compared[0]))


def divided(cell: Cell) -> float | None:
    """Return how far dividing by the stated shares leads from some gap, in standard errors of many answers.

    None where that is not wrong, or cannot be done because the table's scores hold for no stated shares.
    """
    if not shows(cell):
        return None
    question = cell.study.questions[0]
    scores = Scores.of(question).asking(shares_known=True, ratio=1.0)
    names, law = pair_names(question), cell.law[: question.channel.symbols] * len(cell.study.tables)
    gaps = estimands_for(scores, question.channel, Asked(tuple(names), question.attribute.groups)).gaps
    if gaps is None:
        return None
    off = [abs(ratio.value(law) - 2 * cell.truth.gaps[names[pair]]) for pair, ratio in gaps.items()]
    deviations = [math.sqrt(ratio.influence(law) ** 2 @ law / PLENTY) for ratio in gaps.values()]
    return max(one / deviation for one, deviation in zip(off, deviations, strict=True))


def read(cell: Cell, tally: Tally, *, accepts: bool | None) -> bool:
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


def table(found: Mapping[Cell, Found], at: Iterable[str]) -> str:
    """Return the page's table; what was measured at which commits."""
    every, draws = sum(found.values(), Found()), [each.draws for each in found.values()]
    read_, fails = [each.read for each in found.values()], [far for cell in found if (far := divided(cell)) is not None]
    some = f"{min(draws):,}" if min(draws) == max(draws) else f"{min(draws):,} to {max(draws):,}"
    by_command = ""
    if every.read:
        by_command = f"; in {sum(map(bool, read_))} cells {every.read:,} are read by the command, and come to the same"
    off, errors = np.array([each.bias for cell, each in found.items() if places(cell, each)]).T
    weights = 1 / errors**2 / np.sum(1 / errors**2)
    near = errors <= CLOSE / 100
    held, read_held = (
        100 * (1 - a / max(b, 1)) for a, b in ((every.missed, every.draws), (every.read_missed, every.read))
    )
    by_hand = f", and of those that the command read {read_held:.1f} %" if every.read else ""
    ratios = 100 * (1 - every.ratio_missed / max(every.ratios, 1))
    worst = min(map(p_value, found.values()))
    parts = [
        _text(
            f"{len(found)} cells, {some} tallies in each ({every.draws:,} in all), at a confidence of "
            f"{CONFIDENCE:.0%}. Each is decided at the truth{by_command}. Every second group answers so many times as "
            "often as the others as stands first. "
            "The study states the population's shares, and says `any`, a true ratio, or `alike`, where that is so. "
            "Tables are those that `design` makes."
        ),
        _text(
            f"{held:.1f} % held the truth of all gaps{by_hand}. The "
            f"smallest p-value of a cell for holding too seldom is {worst:.2g}; {len(broken(found)) or 'none'} is "
            f"below what chance explains (Holm's method over all cells, at {FALSE_POSITIVE_RATE}). A cell that held "
            f"{noticed(min(draws), len(found)):.1%} or less would be found nine times of ten. Response ratios "
            f"held in {ratios:.1f} %. Measured at commit {', '.join(sorted(at))}."
        ),
        _text(
            f"In the {len(off)} cells where an estimate of the first gap has a standard deviation of at most {CLOSE:g} "
            "points of 100, and does not rest on stated shares that are wrong, estimates are off by "
            f"{weights @ off:+.4f} points on average (standard error {math.sqrt(1 / np.sum(1 / errors**2)):.4f}); in "
            f"one cell by at most {np.abs(off / errors).max():.1f} standard errors, and where that is at most "
            f"{CLOSE / 100:g} points, by {np.abs(off[near]).max(initial=0):.2f} points. Whoever divides by the stated "
            f"shares instead is off by {min(fails, default=0.0):,.0f} and more standard errors of a trillion answers, "
            f"in all {len(fails)} cells where groups answer unequally often and not everyone is in the middle of the "
            "range, where shares do not matter."
        ),
        _row("cell", "tallies", "held, %", "told, %", "off, points"),
        _row(*["---"] * 5),
    ]
    for cell, each in found.items():
        part, told = f"{100 * (1 - each.missed / each.draws):.1f}", f"{100 * each.told / each.draws:.0f}"
        parts.append(_row(str(cell), f"{each.draws:,}", part, told, "{:+.3g} ± {:.2g}".format(*each.bias)))
    return "\n".join(parts).strip()


def places(cell: Cell, each: Found) -> bool:
    """Tell whether estimates are near enough to each other to show a bias, and rest on nothing that is wrong."""
    estimands = estimands_of(cell.study.questions[0])
    rests = estimands.gaps is not None and cell.response != "1"
    return not rests and each.bias[1] * math.sqrt(each.draws) <= CLOSE


def noticed(draws: int, cells: int) -> float:
    """Return how seldom a cell must hold so that it is found nine times of ten, among so many cells.

    >>> round(noticed(2000, 60), 3)
    0.859
    """
    level = FALSE_POSITIVE_RATE / cells / 2
    least = next(missed for missed in range(draws + 1) if binom.sf(missed - 1, draws, 1 - CONFIDENCE) <= level)
    parts = np.linspace(1 - CONFIDENCE, 1, 2000)
    return 1 - float(parts[np.argmax(binom.sf(least - 1, draws, parts) >= POWER)])


def shows(cell: Cell) -> bool:
    """Tell whether dividing by the stated shares can be seen to be wrong."""
    return cell.response != "1" and (cell.mean, cell.gap) != ("0.5", "none")


def p_value(each: Found) -> float:
    """Return how likely so many misses are at least, if the interval keeps its promise; of gaps or of ratios."""
    alpha = 1 - CONFIDENCE
    both = [(each.missed, each.draws), (each.ratio_missed, max(each.ratios, 1))]
    return min(2 * min(float(binom.sf(missed - 1, asked, alpha)) for missed, asked in both), 1.0)


def broken(found: Mapping[Cell, Found]) -> list[Cell]:
    """Return the cells that chance does not explain, by Holm's method."""
    ordered = sorted(found, key=lambda cell: p_value(found[cell]))
    worst = []
    for number, cell in enumerate(ordered):
        if p_value(found[cell]) > FALSE_POSITIVE_RATE / (len(ordered) - number):
            break
        worst.append(cell)
    return worst


def _now() -> str:
    return f"{commit()} on {datetime.now(UTC):%Y-%m-%d}"


def _text(paragraph: str) -> str:
    return f"\n{fill(paragraph, 118, break_long_words=False, break_on_hyphens=False)}\n"


def _row(*entries: str) -> str:
    return f"| {' | '.join(entries)} |"


class Kept:
    """A folder that keeps what was measured, and the studies.

    Args:
        folder: The folder; nothing is kept unless given.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def found(self) -> list[tuple[Cell, Found]]:
        """Return what was measured, batch by batch."""
        return [(Cell(**each["cell"]), Found(**each["found"])) for each in self._lines()]

    def _lines(self) -> list[dict[str, Any]]:
        if self._folder is None or not (self._folder / "found.jsonl").exists():
            return []
        return [json.loads(line) for line in (self._folder / "found.jsonl").read_text(encoding="utf-8").splitlines()]

    def commits(self) -> set[str]:
        """Return at which commits it was measured, with the days."""
        return {each["at"] for each in self._lines()}

    def keep(self, cell: Cell, found: Found) -> None:
        """Keep what a batch came to."""
        if self._folder is not None:
            with (self._folder / "found.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps({"cell": asdict(cell), "found": asdict(found), "at": _now()}) + "\n")

    def with_study(self, number: int, cell: Cell) -> Cell:
        """Return a cell whose study is taken from the folder, or put there: making tables takes long."""
        if self._folder is not None:
            path = self._folder / f"study-{number}.json"
            if path.exists():
                cell.__dict__["study"] = Study.load(path)
            else:
                cell.study.save(path)
        return cell


def main() -> int:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000, help="tallies in each cell")
    parser.add_argument("--commands", type=int, default=COMMANDS, help="of these, read by the command")
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no cell after so many")
    parser.add_argument("--keep", type=Path, help="a folder that keeps what was measured, which is added to")
    parser.add_argument("--groups", default="two three six crossed", help="which cells to measure")
    parser.add_argument("--write", action="store_true", help="rewrite the table in docs/coverage.md")
    options = parser.parse_args()
    kept, started = Kept(options.keep), process_time()
    every = [kept.with_study(number, cell) for number, cell in enumerate(cells())]
    batches = kept.found()
    for cell in sorted(every, key=lambda cell: sum(each.draws for one, each in batches if one == cell)):
        mine = [each for one, each in batches if one == cell]
        if cell.groups not in options.groups or process_time() - started > options.seconds:
            continue
        more = sum(each.read for each in mine) < options.commands and options.commands
        found = measure(cell, options.draws, batch=len(mine), commands=more)
        kept.keep(cell, found)
        batches.append((cell, found))
    measured = {cell: sum((each for one, each in batches if one == cell), Found()) for cell in every}
    measured = {cell: each for cell, each in measured.items() if each.draws}
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        text = f"{before}{BEGIN}\n{table(measured, kept.commits() or {_now()})}\n{END}{rest.partition(END)[2]}"
        PAGE.write_text(text, encoding="utf-8")
    elif measured:
        print(table(measured, kept.commits() or {_now()}))
    for cell in broken(measured):
        print(f"held too seldom: {cell}", file=sys.stderr)
    return 1 if broken(measured) else 0


if __name__ == "__main__":
    sys.exit(main())
