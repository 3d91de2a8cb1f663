"""People's own tables, read for a study: which columns, what labels mean, and what to do where something is missing.

A table has a row for each person, or rows that count people.  All that is wrong with it is said at once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from fairgauge.errors import BadRecords, InvalidInput
from fairgauge.simulation.population import Cell, Population
from fairgauge.simulation.table import MISSING, UNICODE, WINDOWS, PeopleTable, Progress, Row, label, number, open_table
from fairgauge.study import Attribute, Metric, Study

Missing = Literal["leave out", "abstain"]

LEAVE_OUT: Missing = "leave out"
_ABSTAIN: Missing = "abstain"
# In the labels of an attribute: every label that is not listed.
EVERY_OTHER = "*"
COUNT = "count"
_MOST_NAMED = 12
_MOST_TOLD = 20  # problems of a table that are said one by one


@dataclass(frozen=True)
class Reading:
    """How a table is read: what a study's own file says of it under ``table``, and a published study does not.

    Args:
        columns: The column of each attribute and metric whose name it has not itself.
        labels: For each attribute what its labels mean: ``{"sex": {"F": "female"}}``; empty text for what counts as
            missing, and ``"*"`` for every label that is not listed.  For a metric: the number that a text stands for;
            ``"*"`` makes every other text that is no number count as missing.
        missing: ``"leave out"`` people who lack a group or a value, or let them ``"abstain"``.  Unless given they
            abstain where the study lets them, and are refused where it does not.
        count: The column that says how many people a row stands for.  Unless given it is ``count`` if there is one, and
            else each row is one person.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Missing | None = None
    count: str | None = None

    def __post_init__(self) -> None:
        if self.missing not in (None, LEAVE_OUT, _ABSTAIN):
            raise InvalidInput("missing", self.missing, f'must be "{LEAVE_OUT}" or "{_ABSTAIN}"')


@dataclass(frozen=True)
class People:
    """The people of a table, as a study asks for them.

    Args:
        population: Their histogram.
        left_out: How many people were left out because they lack a group or a value.
        abstaining: How many of the population lack one, and so abstain.
        ignored: Columns that the study does not ask for.
        counted_by: The column that says how many people a row stands for; None if each row is one.
        encoding: How the table's text is written.
    """

    population: Population
    left_out: int = 0
    abstaining: int = 0
    ignored: tuple[str, ...] = ()
    counted_by: str | None = None
    encoding: str = UNICODE

    def sentences(self) -> list[str]:
        """Return what was done with the table, for people: whom and what it left out."""
        said = [f"{self.population.clients:,} people" + (f", counted by {self.counted_by}" if self.counted_by else "")]
        if self.left_out:
            said[0] += f"; {self.left_out:,} more lack a group or a value and are left out"
        if self.abstaining:
            said[0] += f"; {self.abstaining:,} of them lack a group or a value and abstain"
        said[0] += "."
        if self.ignored:
            named = ", ".join(self.ignored[:_MOST_NAMED])
            more = f" and {len(self.ignored) - _MOST_NAMED} more" if len(self.ignored) > _MOST_NAMED else ""
            said.append(f"Columns that the study does not ask for: {named}{more}.")
        if self.encoding == WINDOWS:
            said.append("It is no UTF-8, and is read as Windows-1252.")
        return said


def read_people(study: Study, given: Any, how: Reading | None = None, *, progress: Progress | None = None) -> People:
    """Read a table for a study.

    Args:
        study: The study, which says what is asked.
        given: The path of a CSV or Parquet file, a data frame of any library that narwhals knows, or a mapping from
            columns to entries.
        how: Which columns, labels and counts; each column has the name of what it holds unless this says otherwise.
        progress: Hears how far reading is.

    Raises:
        InvalidInput: If it cannot be read, or a column is missing.
        BadRecords: If rows cannot be used: every problem, with how many rows have it and which is the first.

    >>> from fairgauge.study import Attribute, Metric
    >>> from fairgauge.planning import design
    >>> sex = Attribute("sex", {"female": 0.5, "male": 0.5})
    >>> study = Study("Recall", design(Metric("recall", 0, 1), sex, epsilon=1, design="randomized-response"))
    >>> table = {"sex": ["F", "male"], "recall": ["76.5%", 0.8], "name": ["Ada", "Alan"]}
    >>> found = read_people(study, table, Reading(labels={"sex": {"F": "female"}}))
    >>> print(found.population, found.ignored)
    Population of 2 clients in 2 cells ('name',)
    """
    how = how or Reading()
    table = open_table(given, progress=progress)
    if {"metric", "value", COUNT} <= set(table.names) and not how.columns:
        return People(Population.of_rows(_named_rows(table)))
    may_abstain = all(question.mechanism.abstain for question in study.questions)
    return TableColumns(study.attributes, study.metrics, how, may_abstain=may_abstain).read(table)


def _named_rows(table: PeopleTable) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for row, entries in table.picked(table.names):
        if entries is None:
            raise InvalidInput(f"row {row}", "entries", f"must be {len(table.names)}, as many as there are columns")
        yield row, dict(zip(table.names, entries, strict=True))


class _Problems:
    """What is wrong with a table, each thing once: how often, and where first."""

    def __init__(self) -> None:
        self.noted = 0
        self._found: dict[tuple[str, str], tuple[int, int, str, str]] = {}

    def add(self, column: str, rule: str, entry: str, at: tuple[int, int]) -> None:
        """Note an entry that breaks a rule, its first row, and how many rows have it."""
        row, rows = at
        self.noted += 1
        before = self._found.get((column, rule))
        if before is None:
            self._found[column, rule] = (row, rows, entry, rule)
        else:
            first = min(row, before[0])
            self._found[column, rule] = (first, before[1] + rows, entry if first == row else before[2], rule)

    def refuse(self) -> None:
        """Raise everything that is wrong, the first row first."""
        if not self._found:
            return
        told = []
        for (column, _), (row, rows, entry, rule) in sorted(self._found.items(), key=lambda item: item[1][0]):
            more = f" ({rows:,} rows)" if rows > 1 else ""
            told.append(InvalidInput(f"row {row}: {column}", entry or "nothing", rule + more))
        if len(told) > _MOST_TOLD:
            more = f"{len(told) - _MOST_TOLD:,} more"
            told = [
                *told[:_MOST_TOLD],
                InvalidInput("problems", more, "is it the right column? These are like the last"),
            ]
        first, *others = told
        raise BadRecords(first.field, first.value, first.rule, *others)


@dataclass(frozen=True)
class TableColumns:
    """What is asked of a table.

    Args:
        attributes: How people are grouped.
        metrics: What is measured.
        how: How the table is read.
        may_abstain: Whether people who lack something may abstain.
        beside: A further column, whose labels are kept as they are: the site that a person came to.
        whole: Whether values must be whole numbers: 0 or 1.
    """

    attributes: Sequence[Attribute]
    metrics: Sequence[Metric]
    how: Reading = field(default_factory=Reading)
    may_abstain: bool = False
    beside: str | None = None
    whole: bool = False

    def read(self, table: PeopleTable) -> People:
        """Read all rows of a table.

        Raises:
            InvalidInput: If a column is missing, or people shall abstain whom the study does not let.
            BadRecords: If rows cannot be used.
        """
        if self.how.missing == _ABSTAIN and not self.may_abstain:
            raise InvalidInput("missing", _ABSTAIN, f'must be "{LEAVE_OUT}": the study lets nobody abstain')
        return _Opened(self, table).people()


class _Opened:
    """A table and what is asked of it."""

    def __init__(self, asked: TableColumns, table: PeopleTable) -> None:
        self.asked, self.table, self.how = asked, table, asked.how
        self.factors = list({one.name: one for whole in asked.attributes for one in self._factors(whole)}.values())
        self.columns = self._columns()
        self.count = self._count()
        self.beside = asked.beside if asked.beside in table.names else None
        self.problems = _Problems()

    def _factors(self, attribute: Attribute) -> tuple[Attribute, ...]:
        """Return the attributes that rows have a column for: those that cross, unless one column names their cells."""
        one_column = self.how.columns.get(attribute.name, attribute.name) in self.table.names
        return (attribute,) if one_column else attribute.factors

    def _columns(self) -> dict[str, str]:
        """Return the column of each attribute and metric, or refuse those that are not there, all at once."""
        metrics = self.asked.metrics
        several = {"group": len(self.factors) > 1, "value": len(metrics) > 1}
        found, lacking = dict[str, str](), dict[str, str]()
        things = [(one.name, "group") for one in self.factors] + [(one.name, "value") for one in metrics]
        for thing, usual in things:
            name = self._column(thing, None if several[usual] else usual)
            if name is None:
                lacking[thing] = self.how.columns.get(thing, thing)
            else:
                found[thing] = name
        if lacking:
            there = ", ".join(filter(None, self.table.names)) or "none"
            where = f'table.columns = {{ {next(iter(lacking))} = "…" }}'
            rule = f"must be there; the table has {there}. Where else, the study file says: {where}"
            raise InvalidInput("column", ", ".join(lacking.values()), rule)
        return found

    def _column(self, name: str, usual: str | None) -> str | None:
        stated = self.how.columns.get(name)
        if stated is not None:
            return stated if stated in self.table.names else None
        for wanted in filter(None, (name, usual)):
            if wanted in self.table.names:
                return wanted
        alike = [one for one in self.table.names if one.casefold() == name.casefold()]
        return alike[0] if len(alike) == 1 else None

    def _count(self) -> str | None:
        if self.how.count is not None and self.how.count not in self.table.names:
            raise InvalidInput("column", self.how.count, f"must be there; the table has {', '.join(self.table.names)}")
        usual = COUNT if COUNT in self.table.names and COUNT not in self.columns.values() else None
        return self.how.count or usual

    def people(self) -> People:
        """Read all rows."""
        cells, left_out, abstaining = list[Cell](), 0, 0
        for entries, (first, rows, people) in self._kinds().items():
            before = self.problems.noted
            found = self._read(entries, (first, rows))
            if self.problems.noted > before:
                continue
            if self.beside:
                found[self.beside] = label(entries[-1])
            if None not in found.values():
                cells.append(Cell(None, None, people, columns=tuple(found.items()), row=first))
            elif self.how.missing == LEAVE_OUT:
                left_out += people
            elif self.asked.may_abstain:
                abstaining += people
                cells.append(Cell(None, None, people, columns=tuple(found.items()), row=first))
            else:
                lacks = self.columns[next(name for name, entry in found.items() if entry is None)]
                rule = (
                    f'must be given: the study lets nobody abstain; say missing = "{LEAVE_OUT}" under table in its '
                    f'file (or --missing "{LEAVE_OUT}"), or abstain = true'
                )
                self.problems.add(lacks, rule, "", (first, rows))
        self.problems.refuse()
        if not sum(cell.count for cell in cells):
            raise InvalidInput("table", "no row", "must have somebody with a group and a value")
        used = {*self.columns.values(), self.count, self.beside}
        ignored = tuple(name for name in self.table.names if name and name not in used)
        whom = Population(tuple(_together(cells)))
        return People(whom, left_out, abstaining, ignored, self.count, self.table.encoding)

    def _kinds(self) -> dict[Row, tuple[int, int, int]]:
        """Return people who are alike together: the first row, how many rows, and how many people."""
        wanted = [*dict.fromkeys(self.columns.values()), *filter(None, (self.beside, self.count))]
        found: dict[Row, tuple[int, int, int]] = {}
        for row, entries in self.table.picked(wanted):
            if entries is None:
                whole = len(self.table.names)
                rule = f"must be {whole}, as many as there are columns: mend it; is a comma not in quotes?"
                self.problems.add("entries", rule, "another number", (row, 1))
                continue
            people = 1
            if self.count:
                people = self._people(entries[-1], row)
            kind = entries[:-1] if self.count else entries
            before = found.get(kind)
            found[kind] = (row, 1, people) if before is None else (before[0], before[1] + 1, before[2] + people)
        return found

    def _people(self, entry: Any, row: int) -> int:
        many = number(entry)
        if many is None or many != many.to_integral_value() or many < 0:
            rule = "must be an integer from 0 up, how many people a row stands for: else give the column another name"
            self.problems.add(str(self.count), rule, label(entry), (row, 1))
            return 0
        return int(many)

    def _read(self, entries: Row, at: tuple[int, int]) -> dict[str, str | None]:
        """Return the group of each attribute and the value of each metric; None for what is missing."""
        by_column = dict(zip(dict.fromkeys(self.columns.values()), entries, strict=False))
        found: dict[str, str | None] = {}
        for factor in self.factors:
            found[factor.name] = self._group(factor, label(by_column[self.columns[factor.name]]), at)
        for metric in self.asked.metrics:
            value = self._value(metric, by_column[self.columns[metric.name]], at)
            found[metric.name] = None if value is None else str(value)
        if self.beside and not label(entries[-1]):
            self.problems.add(self.beside, "must be the name of a site", "", at)
        return found

    def _group(self, factor: Attribute, entry: str, at: tuple[int, int]) -> str | None:
        labels = self.how.labels.get(factor.name, {})
        if entry in labels:
            return labels[entry] or None
        if entry in factor.groups:
            return entry
        alike = [group for group in factor.groups if group.casefold() == entry.casefold()]
        alike += [group for one, group in labels.items() if one != EVERY_OTHER and one.casefold() == entry.casefold()]
        if len(set(alike)) == 1:
            return alike[0] or None
        if entry.casefold() in MISSING:
            return None
        if EVERY_OTHER in labels:
            return labels[EVERY_OTHER] or None
        rule = f"must be one of {', '.join(factor.groups)}"
        if len(factor.groups) <= _MOST_NAMED:
            rule += f'; the study file says what another label means: [table.labels.{factor.name}] "{entry}" = "…"'
        self.problems.add(self.columns[factor.name], rule, entry, at)
        return None

    def _value(self, metric: Metric, entry: Any, at: tuple[int, int]) -> Decimal | None:
        labels, text = self.how.labels.get(metric.name, {}), label(entry)
        if text in labels:
            text = entry = labels[text]
        if text.casefold() in MISSING:
            return None
        low, high = Fraction(metric.low), Fraction(metric.high)
        value = number(entry, decimal_comma=self.table.decimal_comma, hundred=high > 1)
        if value is None and EVERY_OTHER in labels:
            return None
        if value is None:
            means = f'[table.labels.{metric.name}] "{EVERY_OTHER}" = ""'
            rule = (
                f"must be a number, or empty where it is not known; the study file says that texts are missing: {means}"
            )
            self.problems.add(self.columns[metric.name], rule, text, at)
        elif self.asked.whole and value not in (0, 1):
            self.problems.add(self.columns[metric.name], f"{metric.name} must be 0 or 1, or empty", text, at)
        elif not low <= Fraction(value) <= high:
            rule = f"{metric.name} must be a number from {metric.low} to {metric.high}"
            if high == 1 and 1 < value <= 100:
                rule += "; percentages need a sign (76.5%), or a metric with high = 100"
            self.problems.add(self.columns[metric.name], rule, text, at)
        else:
            return value
        return None


def _together(cells: Iterable[Cell]) -> Iterator[Cell]:
    """Put people who are alike into one cell, in the order in which they first come: F and female are."""
    found: dict[tuple[tuple[str, str | None], ...] | None, tuple[Cell, int]] = {}
    for cell in cells:
        before = found.get(cell.columns)
        found[cell.columns] = (cell, cell.count) if before is None else (before[0], before[1] + cell.count)
    for cell, count in found.values():
        yield Cell(None, None, count, columns=cell.columns, row=cell.row)
