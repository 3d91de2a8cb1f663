"""Read a site's records from a file or a data frame, without repeating any of them in an error."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairgauge.client.entries import name_text
from fairgauge.client.site import Record
from fairgauge.client.tables import read_columns
from fairgauge.errors import CannotAnswer
from fairgauge.study import NoisyCounts


@dataclass(frozen=True)
class Columns:
    """Where things stand in a site's records.

    Args:
        groups: The column of each attribute whose name it has not itself.
        truth: The column that says what was right, 0 or 1.
        prediction: The column that says what the model said, 0 or 1.
        value: The column of the metric, unless it has the metric's name.
        person: The column that tells people apart; without one each record is a person of its own.  With one, a record
            that names nobody is left out of the counts: nobody could say how many of one person there are.
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    truth: str = "truth"
    prediction: str = "prediction"
    value: str | None = None
    person: str | None = None

    def of(self, site: NoisyCounts) -> tuple[list[str], list[str]]:
        """Return the columns of the groups and those of the outcome."""
        groups = [self.groups.get(factor.name, factor.name) for factor in site.attribute.factors]
        if site.metric is None:
            return groups, [self.truth, self.prediction]
        return groups, [self.value or site.metric.name]


def records_of(site: NoisyCounts, given: Any, columns: Columns | None = None) -> Iterator[Record]:
    """Return the records of a file, or of a data frame of any engine that narwhals knows.

    Args:
        site: What is counted.
        given: The path of a CSV or Parquet file, a data frame, or a mapping from columns to entries; a list or an
            iterator holds records already, and they are passed on.
        columns: Where things stand; each has the name of what it holds unless this says otherwise.

    Raises:
        InvalidInput: If the file cannot be read, or a column is missing; never for what a record holds.
    """
    if isinstance(given, list | Iterator):
        return iter(given)
    columns = columns or Columns()
    groups, outcome = columns.of(site)
    wanted = [*groups, *outcome, *([columns.person] if columns.person else [])]
    table = read_columns(given, list(dict.fromkeys(wanted)))
    rows = zip(*(zip(*(table[name] for name in names), strict=True) for names in (groups, outcome)), strict=True)
    if columns.person is None:
        return ((None, *row) for row in rows)
    people = map(name_text, table[columns.person])
    # Without a person it has no group either: it is left out where records without one are, and not before.
    nobody = (None,) * len(groups)
    return (
        (who, nobody if who is None else of_groups, of_outcome)
        for who, (of_groups, of_outcome) in zip(people, rows, strict=True)
    )


def some_of(records: Iterable[Record], counts: Callable[[Record], bool], otherwise: str) -> Iterator[Record]:
    """Pass records on, and refuse at their end if none of them counts: the answer would be noise, and cost as much.

    Args:
        records: The records.
        counts: Whether a record counts; not asked any more once one does.  Where others see whether there is an answer,
            every record must count here: two sites that differ in one person's records have as many of them.
        otherwise: What to do if that is meant.

    Raises:
        CannotAnswer: If none counts.
    """
    found, any_row = False, False
    for record in records:
        any_row = True
        found = found or counts(record)
        yield record
    if not found:
        why = "every record lacks a group or an outcome" if any_row else "there is no record"
        raise CannotAnswer(f"{why}, so the answer would be noise alone; nothing was drawn or spent. {otherwise}")
