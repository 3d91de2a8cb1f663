"""What a study tries to estimate, known to those who know the population."""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from fairgauge.simulation.clients import channel_input
from fairgauge.simulation.population import Population
from fairgauge.study import Question, Study


@dataclass(frozen=True, slots=True)
class Truth:
    """What a study tries to estimate, about those who gave both a group and a value, in the metric's units.

    Groups without such clients are absent.  A gap is the first group's mean less the second's.
    """

    metric: str
    attribute: str
    shares: dict[str, float]
    means: dict[str, float]
    gaps: dict[tuple[str, str], float]
    overall: float | None


def true_values(study: Study, population: Population) -> tuple[Truth, ...]:
    """Return, for every question, what the study would find without noise."""
    return tuple(_truth(question, population) for question in study.questions)


def _truth(question: Question, population: Population) -> Truth:
    groups = question.attribute.groups
    sizes: dict[str, int] = defaultdict(int)
    sums: dict[str, Fraction] = defaultdict(Fraction)
    for cell in population.cells_of(question.metric.name):
        channel_input(question, cell)
        if cell.group is not None and cell.value is not None and cell.count:
            sizes[cell.group] += cell.count
            sums[cell.group] += cell.count * Fraction(cell.value)
    present = [group for group in groups if group in sizes]
    total = sum(sizes.values())
    means = {group: sums[group] / sizes[group] for group in present}
    return Truth(
        metric=question.metric.name,
        attribute=question.attribute.name,
        shares={group: sizes[group] / total for group in present},
        means={group: float(mean) for group, mean in means.items()},
        gaps={(a, b): float(means[a] - means[b]) for a, b in combinations(present, 2)},
        overall=float(sum(sums.values()) / total) if total else None,
    )
