"""The draft of a study from somebody's own table: what of it could be groups and metrics, as a file with comments.

A study goes out into the world, and its own file may go with it.  So nothing enters the file that is about few
people: no count, shares and means rounded, no label that few have, and no column that looks like a name or an
identifier, unless it is asked for.
"""

import json
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import combinations, islice
from typing import Any

from fairgauge.errors import InvalidInput
from fairgauge.planning.study_draft import Draft
from fairgauge.simulation.people import COUNT, EVERY_OTHER, LEAVE_OUT
from fairgauge.simulation.table import MISSING, PeopleTable, Progress, Row, label, number, open_table
from fairgauge.study.numbers import as_count, plain
from fairgauge.study.question import ANY_VALUES
from fairgauge.targets.assumed_values import USUAL_SPREAD

# A label that fewer people have is not written down unless it is asked for.
FEW_PEOPLE, FEW_OF = 10, 200
_MOST_GROUPS = 12
_MOST_LABELS = 2_000  # labels of a column that are counted one by one
_MOST_TOLD = 3  # labels that perhaps mean what another means
_SOME = 2**16  # rows at a time
_SMALL, _MOST_LARGE = 0.05, 4  # a group that makes gaps dear, and how many others may be listed two by two
_IDENTIFIER = {
    "account", "address", "birth", "birthday", "birthdate", "dob", "email", "guid", "iban", "id", "index", "ip", "key",
    "mail", "mrn", "name", "nhs", "nr", "nummer", "passport", "patient", "phone", "plz", "postcode", "ssn",
    "street", "surname", "tel", "timestamp", "url", "user", "username", "uuid", "zip",
}  # fmt: skip
_GROUPS = ("sex", "gender", "race", "ethnicity", "age group", "agegroup", "age", "religion", "disability", "region")
_METRICS = (
    "recall",
    "tpr",
    "accuracy",
    "precision",
    "f1",
    "auc",
    "score",
    "fpr",
    "error",
    "correct",
    "rate",
    "approved",
)
# How people call a column that says how many people a row stands for, where they do not call it count.
_COUNTS = {
    "count", "counts", "freq", "frequency", "n", "number", "people", "persons", "anzahl", "häufigkeit", "effectif",
    "effectifs", "nombre", "cantidad", "frecuencia", "conteggio", "aantal", "antal", "number of people",
}  # fmt: skip
# How people write the two sexes.  No letter that stands for the one here and for the other there: H, or M for mujer.
_FEMALE = (
    "female", "f", "w", "woman", "women", "girl", "weiblich", "frau", "femme", "feminin", "mujer", "femenino", "donna",
    "femmina", "mulher", "feminino", "vrouw", "kvinna", "kvinne", "kvinde", "kobieta",
)  # fmt: skip
_MALE = (
    "male", "m", "man", "men", "boy", "mannlich", "mann", "homme", "masculin", "hombre", "masculino", "uomo", "maschio",
    "homem", "mand", "mezczyzna",
)  # fmt: skip
_SEX = dict.fromkeys(_FEMALE, "female") | dict.fromkeys(_MALE, "male")
_ANOTHER_SEX = {"d", "x", "nb", "divers", "diverse", "non-binary", "non binary", "nonbinary", "other", "intersex"}
_SEX_COLUMNS = {"sex", "gender", "geschlecht", "sexe", "sexo", "genero", "sesso", "geslacht", "kon"}
_SAYS_NOTHING = {
    "unknown", "not known", "not stated", "prefer not to say", "undisclosed", "missing", "k.a.", "k. a.",
    "keine angabe", "unbekannt", "inconnu", "desconocido", "sconosciuto",
}  # fmt: skip
_SAYS_YES = ("yes", "true", "y", "oui", "vrai", "ja", "wahr", "sí", "si", "sì", "sim", "1")
_SAYS_NO = ("no", "false", "n", "non", "faux", "nein", "falsch", "nee", "nej", "não", "0")
_YES = dict.fromkeys(_SAYS_YES, "1") | dict.fromkeys(_SAYS_NO, "0")
# Of a column's entries: nearly all of them.
_MOSTLY = 0.9
_FRACTION = re.compile(r"[.,%]")
_DASH = re.compile(r"\s*[-‐-―−]\s*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass
class _Span:
    """How many numbers there are, their sum, that of their squares, the least and the largest."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    low: Decimal | None = None
    high: Decimal | None = None

    def add(self, value: Decimal, times: int) -> None:
        self.count += times
        self.total += times * float(value)
        self.squares += times * float(value) ** 2
        self.low = value if self.low is None else min(self.low, value)
        self.high = value if self.high is None else max(self.high, value)


@dataclass
class Column:
    """What a column holds, as far as a draft needs it."""

    name: str
    decimal_comma: bool = False
    rows: int = 0
    missing: int = 0
    many: bool = False
    differing: float = 0.0
    _fractions: bool = False
    _bare: _Span = field(default_factory=_Span)
    _signed: _Span = field(default_factory=_Span)
    labels: Counter[str] = field(default_factory=Counter)

    def add(self, entries: Iterable[Any], people: Iterable[int] | None = None) -> None:
        """Count some entries, each as many times as there are people."""
        counts: Counter[Any] = Counter(entries if people is None else ())
        for entry, many in zip(entries, people or (), strict=people is not None):
            counts[entry] += many
        for entry, times in counts.items():
            self.rows += times
            text = label(entry)
            if text.casefold() in MISSING:
                self.missing += times
                continue
            self._add_number(entry, text, times)
            if not self.many:
                self.labels[text] += times
        if not self.many:
            self.differing = len(self.labels) / max(self.known, 1)
            self._fractions = self._numeric and any(_FRACTION.search(one) for one in self.labels)
        if len(self.labels) > _MOST_LABELS:
            self.labels, self.many = Counter(), True

    def _add_number(self, entry: Any, text: str, times: int) -> None:
        value = number(entry, decimal_comma=self.decimal_comma, hundred=True)
        if value is not None:
            (self._signed if text.endswith("%") else self._bare).add(value, times)

    @property
    def numbers(self) -> int:
        """How many entries are numbers."""
        return self._bare.count + self._signed.count

    @property
    def percent(self) -> int:
        """How many numbers have a percent sign."""
        return self._signed.count

    def _ends(self, sign: Decimal) -> tuple[Decimal, Decimal]:
        """Return the least and the largest number, if a percent sign stands for so much."""
        given = ((self._bare, Decimal(1)), (self._signed, sign))
        found = [worth * end for span, worth in given for end in (span.low, span.high) if end is not None]
        return min(found, default=Decimal(0)), max(found, default=Decimal(1))

    @property
    def _sign(self) -> Decimal:
        """What a percent sign stands for: a hundredth, or 1 where values run beyond 1, as a table is read."""
        hundredth = Decimal("0.01")
        return hundredth if _outward(*self._ends(hundredth))[1] <= 1 else Decimal(1)

    @property
    def low(self) -> Decimal:
        """Its least value."""
        return self._ends(self._sign)[0]

    @property
    def high(self) -> Decimal:
        """Its largest value."""
        return self._ends(self._sign)[1]

    @property
    def known(self) -> int:
        """How many entries there are."""
        return self.rows - self.missing

    @property
    def names_people(self) -> bool:
        """Whether it looks like a name or an identifier: by its own name, or because nearly everyone has another."""
        words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.name).lower())
        alone = self.known >= FEW_PEOPLE and self.differing > _MOSTLY and not self._fractions
        return bool(_IDENTIFIER & set(words)) or alone or (self.many and not self.is_metric)

    @property
    def _numeric(self) -> bool:
        return self.numbers >= _MOSTLY * max(self.known, 1)

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The groups that its labels make, the most people first, each with its labels; rare ones are left out."""
        if self.many:
            return {}
        told = {one: times for one, times in self.labels.items() if one.casefold() not in _SAYS_NOTHING}
        least = max(FEW_PEOPLE, self.known / FEW_OF)
        spelled: dict[str, list[str]] = {}
        for one in sorted(told, key=lambda one: (-told[one], one)):
            spelled.setdefault(one.casefold(), []).append(one)
        common = {same[0]: same for same in spelled.values() if sum(told[each] for each in same) >= least}
        people = {one: sum(told[each] for each in same) for one, same in common.items()}
        sexes = _sexes(people, sure=_folded(self.name) in _SEX_COLUMNS)
        found: dict[str, list[str]] = {}
        alike: dict[str, str] = {}
        for one, same in common.items():
            found.setdefault(sexes.get(one) or alike.setdefault(_folded(one), one), []).extend(same)
        return found

    @property
    def rare(self) -> int:
        """How many entries have a label that is left out."""
        kept = {one for same in self.groups.values() for one in same}
        return sum(times for one, times in self.labels.items() if one not in kept)

    @property
    def is_group(self) -> bool:
        """Whether it can say which group a person is in."""
        few = 2 <= len(self.groups) <= _MOST_GROUPS
        measured = len(self.groups) > 2 and self._fractions
        return few and not measured and self.rare <= self.known / 2

    @property
    def yes_or_no(self) -> bool:
        """Whether its labels are yes and no."""
        told = self._told
        both = len({_YES[one.casefold()] for one in told}) == 2
        return both and not self._numeric and sum(told.values()) >= _MOSTLY * self.known

    @property
    def _told(self) -> dict[str, int]:
        """Its labels that say yes or no, and how many people have each."""
        return {one: times for one, times in self.labels.items() if one.casefold() in _YES}

    @property
    def is_metric(self) -> bool:
        """Whether it can be measured: numbers, at least two different ones, or yes and no."""
        return (self._numeric and self.low != self.high) or self.yes_or_no

    @property
    def looks_counted(self) -> bool:
        """Whether it looks like how many people each row stands for."""
        return self.name.casefold() in _COUNTS and self._numeric and not self._fractions and self.low >= 0

    @property
    def is_part(self) -> bool:
        """Whether it is measured in parts of a whole: with percent signs, or from 0 to 1."""
        return self.yes_or_no or self.percent > 0 or "%" in self.name or self.range[1] == 1

    @property
    def range(self) -> tuple[Decimal, Decimal]:
        """Its least and its largest value, rounded outward: nobody's own value stands there."""
        return (Decimal(0), Decimal(1)) if self.yes_or_no else _outward(self.low, self.high)

    @property
    def _mean(self) -> float:
        if self.yes_or_no:
            yes = sum(times for one, times in self._told.items() if _YES[one.casefold()] == "1")
            return yes / sum(self._told.values())
        return (self._bare.total + float(self._sign) * self._signed.total) / max(self.numbers, 1)

    @property
    def expected(self) -> Decimal:
        """Its mean, rounded to a twentieth of the range."""
        low, high = self.range
        return low + (high - low) * Decimal(round(20 * (self._mean - float(low)) / float(high - low))) / 20

    @property
    def spread(self) -> str | None:
        """Its standard deviation, rounded up to a twentieth of the range, or the most; None where it is usual."""
        (low, high), mean = self.range, self._mean
        if self.yes_or_no:
            return ANY_VALUES
        squares = (self._bare.squares + float(self._sign) ** 2 * self._signed.squares) / max(self.numbers, 1)
        variance, most = squares - mean**2, (mean - float(low)) * (float(high) - mean)
        if variance >= _MOSTLY * most:
            return ANY_VALUES
        twentieths = math.ceil(20 * math.sqrt(max(variance, 0)) / float(high - low))
        return plain((high - low) * twentieths / 20) if twentieths > 10 * USUAL_SPREAD else None


def _folded(text: str) -> str:
    """Return what spellings of one label have in common: capitals, accents, spaces and the kind of dash do not count.

    >>> _folded("Féminin"), _folded("18 – 29") == _folded("18-29"), _folded("<18") == _folded("18")
    ('feminin', True, False)
    """
    bare = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return " ".join(_DASH.sub("-", bare).split())


def _sexes(people: Mapping[str, int], *, sure: bool = False) -> dict[str, str]:
    """Return what letters and words for the two sexes are to be called; nothing where labels are about something else.

    They are about the sexes where the column is called so (``sure``), where a word for one is among them, or where
    nearly everyone has a letter.  In the table's own words where it has one for each, the word that most people have.

    >>> _sexes({"w": 50, "m": 45, "divers": 3})
    {'w': 'female', 'm': 'male'}
    >>> _sexes({"w": 50, "männlich": 40, "weiblich": 3, "m": 2, "nainen": 30})
    {'w': 'weiblich', 'männlich': 'männlich', 'weiblich': 'weiblich', 'm': 'männlich'}
    >>> _sexes({"W": 60, "B": 20, "M": 20})
    {}
    """
    known = {one: _SEX[_folded(one)] for one in people if _folded(one) in _SEX}
    nearly_all = sum(people[one] for one in known) >= _MOSTLY * sum(people.values())
    if len(set(known.values())) < 2 or not (sure or nearly_all or any(len(one) > 1 for one in known)):
        return {}
    words: dict[str, str] = {}
    for one, sex in known.items():
        if len(one) > 1:
            words.setdefault(sex, one)
    if len(words) == len(known):
        return {}  # one word for each: as the table writes it
    if len({word[0].isupper() for word in words.values()}) > 1:
        words = {sex: word.casefold() for sex, word in words.items()}
    return {one: words[sex] if len(words) > 1 else sex for one, sex in known.items()}


def _outward(low: Decimal, high: Decimal) -> tuple[Decimal, Decimal]:
    if low >= 0 and high <= 1:
        return Decimal(0), Decimal(1)
    step = Decimal(10) ** math.floor(math.log10(max(abs(low), abs(high)) / 2))
    least = Decimal(0) if low >= 0 else math.floor(low / step) * step
    return least, Decimal(0) if high <= 0 else math.ceil(high / step) * step


@dataclass(frozen=True)
class TableSummary:
    """What a table holds.

    Args:
        columns: Its columns, those without a name left out.
        rows: How many people it is about: a row is one, or as many as its ``count`` says.
        counted_by: The column that says how many people a row stands for, where it is called otherwise.
    """

    columns: tuple[Column, ...]
    rows: int
    counted_by: str | None = None

    def column(self, name: str, *, field: str) -> Column:
        """Return a column that is asked for.

        Raises:
            InvalidInput: If there is none of that name.
        """
        exact = [one for one in self.columns if one.name == name]
        found = exact or [one for one in self.columns if one.name.casefold() == name.casefold()]
        if len(found) != 1:
            there = ", ".join(one.name for one in self.columns)
            raise InvalidInput(field, name, "must be there once" if found else f"must be one of {there}")
        return found[0]

    def without(self, columns: Sequence[Column]) -> "TableSummary":
        """Return the table without some columns."""
        return replace(self, columns=tuple(one for one in self.columns if one not in columns))

    @property
    def groups(self) -> list[Column]:
        """The columns that can be groups, the likeliest first."""
        found = [one for one in self.columns if one.is_group and not one.names_people]
        return sorted(found, key=lambda one: (_likely(one.name, _GROUPS), one.is_metric))

    @property
    def metrics(self) -> list[Column]:
        """The columns that can be metrics, the likeliest first."""
        found = [one for one in self.columns if one.is_metric and not one.names_people]

        def rank(one: Column) -> tuple[bool, int, bool, bool]:
            measured_less = one.is_group and not one.yes_or_no
            return one.looks_counted, _likely(one.name, _METRICS), measured_less, not one.is_part

        return sorted(found, key=rank)


def _likely(name: str, words: Sequence[str]) -> int:
    plain_name = re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()
    tokens = plain_name.split()
    return next((at for at, word in enumerate(words) if word == plain_name or word in tokens), len(words))


def look(given: Any, *, progress: Progress | None = None) -> TableSummary:
    """Look at a table: a CSV or Parquet file, a data frame, or a mapping from columns to entries.

    Raises:
        InvalidInput: If it cannot be read, or has no rows.
    """
    table = open_table(given, progress=progress)
    if COUNT in table.names:
        return _looked(table, COUNT)
    found = _looked(table, None)
    counts = [one for one in found.columns if one.looks_counted]
    if len(counts) != 1 or not _is_histogram(found, counts[0], table):
        return found
    return replace(_looked(table, counts[0].name), counted_by=counts[0].name)


def _is_histogram(found: TableSummary, counts: Column, table: PeopleTable) -> bool:
    """Tell whether a table counts people: no two rows are alike, and most that could be are there."""
    others = [one for one in found.columns if one is not counts]
    if found.rows > _MOST_LABELS or any(one.many for one in others):
        return False
    could_be = math.prod(len(one.labels) + (one.missing > 0) for one in others)
    if len(others) < 2 or found.rows <= could_be / 2:
        return False
    rows = [row for _, row in table.picked([one.name for one in others])]
    return len(set(rows)) == len(rows)


def _looked(table: PeopleTable, counted_by: str | None) -> TableSummary:
    names = [name for name in table.names if name]
    columns = [Column(name, table.decimal_comma) for name in names]
    counted = None if counted_by is None else names.index(counted_by)
    ragged: list[int] = []  # the first row that has another number of entries than there are names

    def whole() -> Iterator[Row]:
        for place, row in table.picked(names):
            if row is not None:
                yield row
            elif not ragged:
                ragged.append(place)

    rows = whole()
    while some := list(islice(rows, _SOME)):
        people = None if counted is None else [int(number(row[counted]) or 0) for row in some]
        for column, entries in zip(columns, zip(*some, strict=True), strict=True):
            column.add(entries, people)
    if ragged and not any(column.rows for column in columns):
        rule = (
            f"must have the names of the columns, as many as line {ragged[0]} has entries: take away what is above them"
        )
        raise InvalidInput("table", "line 1", rule)
    if not columns or not columns[0].rows:
        raise InvalidInput("table", "no rows", "must have a row for each person below the names of its columns")
    total = columns[0].rows
    return TableSummary(tuple(column for column in columns if column.name != counted_by), total)


@dataclass(frozen=True)
class Wish:
    """What a draft is to be about.

    Args:
        groups: The columns of the groups; several cross.
        metrics: The columns of the metrics.
        labels: Labels that are to be groups, however few people have them; those that are common unless given.
        title: What the study is about; made from the columns unless given.
        epsilon: The privacy loss of one answer.
        clients: How many will answer, if that is known.
    """

    groups: Sequence[str] = ()
    metrics: Sequence[str] = ()
    labels: Sequence[str] = ()
    title: str | None = None
    epsilon: Any = 1
    clients: Any = None


def draft_text(found: TableSummary, wish: Wish) -> str:
    """Return the text of a draft, with comments that say what was seen.

    Raises:
        InvalidInput: If a column is not there, or cannot be what it is asked for.
    """
    groups = [_as_groups(found.column(name, field="group-column"), wish) for name in wish.groups]
    metrics = [_as_metric(found.column(name, field="metric-column")) for name in wish.metrics]
    if not groups:
        # What alone can be measured is no group.
        rest = found.without(metrics or (found.metrics if len(found.metrics) == 1 else []))
        groups = _likeliest(rest.groups, "group-column", rest, _two_groups(rest))
    _check_labels(groups, wish)
    if not metrics:
        rest = found.without(groups)
        metrics = _likeliest(rest.metrics, "metric-column", rest, _NUMBERS)
    _check_apart(groups, metrics)
    by = " and ".join(one.name for one in groups)
    title = wish.title or f"{' and '.join(one.name for one in metrics)} by {by}"
    lines = [
        "# A study, as people write it: fairgauge plan, design and simulate read this file.",
        f"title = {_text(title[0].upper() + title[1:])}",
        f"epsilon = {plain(Decimal(str(wish.epsilon)))}  # privacy loss of one answer; the smaller the more private",
    ]
    if wish.clients is not None:
        lines.append(f"planned = {as_count('clients', wish.clients)}  # how many answers are planned")
    for one in metrics:
        lines += ["", *_metric_lines(one)]
    lines += ["", *_attribute_lines(groups, wish), "", *_table_lines(groups, metrics, wish, found.counted_by)]
    lines += _other_lines(found, groups, metrics)
    text = "\n".join(lines) + "\n"
    _check_draft(text)
    return text


def _check_draft(text: str) -> None:
    Draft.read(tomllib.loads(text, parse_float=Decimal))


def _as_groups(column: Column, wish: Wish) -> Column:
    if any(_called(column, text) for text in wish.labels):
        return column
    if column.many or len(column.groups) > _MOST_GROUPS:
        rule = f"must have at most {_MOST_GROUPS} labels: make a column of fewer, such as groups of ages"
        raise InvalidInput("group-column", column.name, rule)
    if len(column.groups) < 2:
        rule = (
            f"must have two labels that {FEW_PEOPLE} people and one in {FEW_OF} have; rarer ones are not written down "
            f"unless they are asked for (--group LABEL), and one group has nothing beside it"
        )
        raise InvalidInput("group-column", column.name, rule)
    return column


def _as_metric(column: Column) -> Column:
    if not column.is_metric:
        why = "must have numbers, at least two different ones, or yes and no, in nine of ten rows that have an entry"
        raise InvalidInput("metric-column", column.name, why)
    return column


def _two_groups(found: TableSummary) -> str:
    """Return what no column has that could be groups, and what helps: naming rare labels, or people of two groups."""
    common = f"two to {_MOST_GROUPS} labels that {FEW_PEOPLE} people and one in {FEW_OF} have each"
    rule = f"{common}. A study compares groups: "
    if any(len(one.labels) > 1 and not one.names_people and not one.is_metric for one in found.columns):
        return f"{rule}name the column, and labels that fewer have: --group-column COLUMN --group LABEL --group LABEL"
    return f"{rule}take a table with people of at least two, or write the study's own file by hand"


_NUMBERS = (
    "two different numbers and looks like no identifier, or yes and no. A study compares what is measured: name the "
    "column (--metric-column COLUMN)"
)


def _likeliest(found: Sequence[Column], field: str, whole: TableSummary, what: str) -> list[Column]:
    if not found:
        there = ", ".join(one.name for one in whole.columns)
        raise InvalidInput(field, "nothing", f"must be given: no column of {there} has {what}")
    return [found[0]]


def _check_apart(groups: Sequence[Column], metrics: Sequence[Column]) -> None:
    names = [one.name for one in (*groups, *metrics)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput("metric-column", twice, "must be a column of its own: it is there twice")


def _metric_lines(one: Column) -> list[str]:
    low, high = one.range
    seen = "yes and no" if one.yes_or_no else f"about {_rounded(one.low, one.range)} to {_rounded(one.high, one.range)}"
    notes = [f"values seen: {seen}"]
    if one.percent:
        notes.append("percent signs: 76.5% is read as " + ("76.5" if high > 1 else "0.765"))
    elif high == 100:
        notes.append("it looks like 0 to 100")
    if one.missing:
        notes.append(f"missing in {_about(one.missing, one.rows)}")
    expected, spread = one.expected, one.spread
    lines = [
        "[[metrics]]",
        f"name = {_text(one.name)}  # {'; '.join(notes)}",
        f"low = {plain(low)}",
        f"high = {plain(high)}",
        f"expect = {plain(expected)}  # the mean to reckon with, as in the table; a wrong guess costs only precision",
    ]
    if spread is not None:
        told = _text(spread) if spread == ANY_VALUES else spread
        lines.append(f"spread = {told}  # how far values lie from it: the standard deviation, or any values")
    return lines


def _rounded(value: Decimal, ends: tuple[Decimal, Decimal]) -> str:
    """Return an end of what was seen, to a tenth of the range: nobody's own value."""
    low, high = ends
    step = (high - low) / 10
    return plain(low + round((value - low) / step) * step)


def _groups_of(one: Column, wish: Wish) -> dict[str, list[str]]:
    named = {text: same for text in wish.labels if (same := _called(one, text))}
    # Where attributes cross, one whose labels nobody named keeps those that are common.
    return named or one.groups


def _called(one: Column, text: str) -> list[str]:
    """Return the labels of a column that somebody calls so, in any capitals, or those of a group of the draft."""
    alike = [each for each in one.labels if each.casefold() == text.strip().casefold()]
    return alike or one.groups.get(text, [])


def _check_labels(groups: Sequence[Column], wish: Wish) -> None:
    """Refuse labels that no column has, that are named twice, or that stand alone."""
    for text in wish.labels:
        if not any(_called(one, text) for one in groups):
            there = "; ".join(f"{one.name} has {', '.join(one.groups) or 'none that many have'}" for one in groups)
            raise InvalidInput("group", text, f"must be a label of the table ({there}), a rare one as the table has it")
    for one in groups:
        found = _groups_of(one, wish)
        named = [each for same in found.values() for each in same]
        if len(found) < 2 or len(set(named)) < len(named):
            rule = f"must name at least two labels of {one.name}, each once: one group has nothing beside it"
            raise InvalidInput("group", ", ".join(wish.labels), rule)


def _attribute_lines(groups: Sequence[Column], wish: Wish) -> list[str]:
    if len(groups) == 1:
        one = groups[0]
        found = {name: sum(one.labels[text] for text in same) for name, same in _groups_of(one, wish).items()}
        return ["[attribute]", *_group_lines(one, wish), *_answering(), *_without_small(found)]
    lines = ["[attribute]  # these cross: female of 18-29 is a group of its own", *_answering()]
    for one in groups:
        lines += ["", "[[attribute.cross]]", *_group_lines(one, wish)]
    return lines


def _answering() -> list[str]:
    return ['answering = "any"  # nothing is assumed of how often each group answers']


def _group_lines(one: Column, wish: Wish) -> list[str]:
    found = _groups_of(one, wish)
    counts = [sum(one.labels[text] for text in same) for same in found.values()]
    notes = [f"missing in {_about(one.missing, one.rows)}"] if one.missing else []
    if not wish.labels and one.rare:
        notes.append(f"labels that few have, or that say nothing, are left out: {_about(one.rare, one.rows)}")
    return [
        f"name = {_text(one.name)}" + (f"  # {'; '.join(notes)}" if notes else ""),
        f"groups = [{', '.join(map(_text, found))}]",
        f"shares = [{', '.join(_shares(counts))}]  # rounded, as in the table; who is asked may be others",
    ]


def _without_small(found: Mapping[str, int]) -> list[str]:
    """Return a line for who would not ask for gaps of groups that are so small that these need most of the people."""
    total = sum(found.values())
    large = [name for name, count in found.items() if count >= _SMALL * total]
    small = [name for name in found if name not in large]
    if not small or not 2 <= len(large) <= _MOST_LARGE:
        return []
    pairs = (f"{{ of = {_text(of)}, against = {_text(other)} }}" for of, other in combinations(large, 2))
    return [f"# comparisons = [{', '.join(pairs)}]  # gaps with {' or '.join(small)} take many times the people"]


def _shares(counts: Sequence[int]) -> list[str]:
    """Return rounded shares that sum to 1: to hundredths, and to twentieths where few people would show."""
    total = sum(counts)
    parts = 100 if total >= 2_000 or len(counts) > 10 else 20
    exact = [count * parts / total for count in counts]
    whole = [max(1, int(part)) for part in exact]
    while sum(whole) != parts:
        short = sum(whole) < parts
        at = (max if short else min)(
            (index for index in range(len(whole)) if short or whole[index] > 1), key=lambda i: exact[i] - whole[i]
        )
        whole[at] += 1 if short else -1
    return [plain(Decimal(part) / parts) for part in whole]


def _table_lines(groups: Sequence[Column], metrics: Sequence[Column], wish: Wish, counted_by: str | None) -> list[str]:
    lines = [
        "[table]  # how your own table is read; nothing of it is published with the study",
        f'missing = "{LEAVE_OUT}"  # people who lack a group or a value; "abstain" if abstain = true stands above',
    ]
    if counted_by is not None:
        lines.append(f"count = {_text(counted_by)}  # a row stands for so many people: it looks so, see that it is so")
    for one in groups:
        found = _groups_of(one, wish)
        # A label is read whatever its capitals: the spelling that few have need not be written down.
        spelled = {(text.casefold(), group): text for group, same in found.items() for text in reversed(same)}
        told = [(text, group) for (folded, group), text in reversed(spelled.items()) if folded != group.casefold()]
        meant = [f"{_key(text)} = {_text(group)}" for text, group in told]
        if any(text not in {each for same in found.values() for each in same} for text in one.labels):
            meant.append(f'{_text(EVERY_OTHER)} = ""  # every other label counts as missing')
        if meant:
            lines += ["", f"[table.labels.{_key(one.name)}]", *meant]
        if len(found) > 2:
            lines += [*([] if meant else ["", f"# [table.labels.{_key(one.name)}]"]), *_perhaps_alike(found)]
    for one in metrics:
        answers = [text for text in sorted(one.labels) if text.casefold() in _YES] if one.yes_or_no else []
        meant = [f"{_key(text)} = {_YES[text.casefold()]}" for text in answers]
        if (len(answers) < len(one.labels)) if answers else (one.numbers < one.known):
            what = "every other text" if answers else "every text that is no number"
            meant.append(f'{_text(EVERY_OTHER)} = ""  # {what} counts as missing')
        if meant:
            lines += ["", f"[table.labels.{_key(one.name)}]", *meant]
    return lines


def _perhaps_alike(found: Mapping[str, list[str]]) -> list[str]:
    """Return lines that who knows better may take: labels that nobody knows here may mean the same as others."""
    largest, *others = found
    about_sexes, known = any(_folded(one) in _SEX for one in found), _SEX.keys() | _ANOTHER_SEX
    unknown = [one for one in others if _folded(one) not in known] if about_sexes else []
    why = "  # if both mean the same: take it out of groups, and add its share to the other's"
    return [f"# {_key(one)} = {_text(largest)}{why}" for one in unknown[:_MOST_TOLD] or others[-1:]]


def _other_lines(found: TableSummary, groups: Sequence[Column], metrics: Sequence[Column]) -> list[str]:
    used = {one.name for one in (*groups, *metrics)}
    lines = []
    for what, columns in (("groups", found.groups), ("metrics", found.metrics)):
        if names := [one.name for one in columns if one.name not in used]:
            lines.append(f"# Columns that could be {what}, too: {', '.join(names)}")
    lines += [
        f"# Does {one.name} say how many people a row stands for? Call the column count, and run new again."
        for one in found.columns
        if one.looks_counted and one.name not in used
    ]
    return ["", *lines] if lines else []


def _about(some: int, rows: int) -> str:
    """Return a part of all rows in round words.

    >>> _about(4, 1000), _about(31, 1000), _about(400, 1000)
    ('a few rows', 'about 1 row in 30', 'about 40 % of the rows')
    """
    if some < FEW_PEOPLE:
        return "a few rows"
    part = some / rows
    if part >= 0.1:
        return f"about {round(20 * part) * 5} % of the rows"
    return f"about 1 row in {round(0.1 / part) * 10}" if part > 1 / FEW_OF else "fewer than 1 row in 100"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _key(text: str) -> str:
    return text if _BARE.fullmatch(text) else _text(text)


def new(  # noqa: PLR0913 - what a draft is about, each by its name
    table: Any,
    *,
    groups: Sequence[str] | str = (),
    metrics: Sequence[str] | str = (),
    title: str | None = None,
    epsilon: Any = 1,
    clients: Any = None,
) -> Draft:
    """Draft a study from a table: a data frame of any library, or the path of a CSV or Parquet file.

    Args:
        table: People, a row for each.
        groups: The column of the groups, or several that cross; the likeliest unless given.
        metrics: The column of the metric, or several; the likeliest unless given.
        title: What the study is about.
        epsilon: The privacy loss of one answer.
        clients: How many will answer.

    Raises:
        InvalidInput: If a column is not there, or cannot be what it is asked for.

    >>> people = {"sex": ["F", "M"] * 50, "recall": ["76.5%", "80%"] * 50}
    >>> new(people).attribute.groups
    ('female', 'male')
    """
    of, measured = ([one] if isinstance(one, str) else list(one) for one in (groups, metrics))
    text = draft_text(look(table), Wish(of, measured, title=title, epsilon=epsilon, clients=clients))
    return Draft.read(tomllib.loads(text, parse_float=Decimal))
