"""What a study tries to estimate, known to those who know the population."""

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from fairgauge.simulation.clients import table_input
from fairgauge.simulation.population import Population
from fairgauge.study import Question, Study, Table
from fairgauge.study.margins import margins, planned, side_name


@dataclass(frozen=True, slots=True)
class Truth:
    """What a study tries to estimate, about those who gave both a group and a value, in the metric's units.

    Groups without such clients are absent.  A gap is the first side's mean less the second's, for all that the study
    compares; where attributes cross, ``margins`` has the means of their groups.
    """

    metric: str
    attribute: str
    shares: dict[str, float]
    means: dict[str, float]
    gaps: dict[tuple[str, str], float]
    overall: float | None
    margins: dict[str, float] = field(default_factory=dict)


def true_values(study: Study, population: Population) -> tuple[Truth, ...]:
    """Return, for every question, what the study would find without noise."""
    return tuple(_truth(table, question, population) for table in study.tables for question in table)


def _truth(table: Table, question: Question, population: Population) -> Truth:
    attribute, metric = question.attribute, question.metric
    sizes: dict[str, int] = defaultdict(int)
    sums: dict[str, Fraction] = defaultdict(Fraction)
    for cell in population.cells_of(metric.name):
        group, *positions = table_input(table, cell)
        value = cell.value_of(metric.name)
        # Whoever lacks one value of a table that answers several abstains from all.
        if group is not None and value is not None and None not in positions and cell.count:
            sizes[attribute.groups[group]] += cell.count
            sums[attribute.groups[group]] += cell.count * Fraction(value)
    total = sum(sizes.values())

    def mean(side: tuple[str, ...]) -> Fraction | None:
        size = sum(sizes[group] for group in side)
        return sum((sums[group] for group in side), Fraction(0)) / size if size else None

    def told(sides: dict[str, tuple[str, ...]]) -> dict[str, float]:
        return {name: float(found) for name, side in sides.items() if (found := mean(side)) is not None}

    gaps = {}
    for one in planned(attribute):
        first, second = mean(one.of), mean(one.against)
        if first is not None and second is not None:
            gaps[side_name(attribute, one.of), side_name(attribute, one.against)] = float(first - second)
    overall = mean(attribute.groups)
    return Truth(
        metric=metric.name,
        attribute=attribute.name,
        shares={group: sizes[group] / total for group in attribute.groups if sizes[group]},
        means=told({group: (group,) for group in attribute.groups}),
        gaps=gaps,
        overall=None if overall is None else float(overall),
        margins=told(margins(attribute)),
    )
