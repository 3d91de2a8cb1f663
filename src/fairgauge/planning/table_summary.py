"""What a table of people holds, column by column: what can be groups, what can be measured, and what names people."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any

from fairgauge.errors import InvalidInput
from fairgauge.simulation.people import COUNT
from fairgauge.simulation.table import MISSING, PeopleTable, Progress, Row, label, number, open_table
from fairgauge.study.numbers import plain
from fairgauge.study.question import ANY_VALUES
from fairgauge.targets.assumed_values import USUAL_SPREAD

# A label that fewer people have is not written down unless it is asked for.
FEW_PEOPLE, FEW_OF = 10, 200
MOST_GROUPS = 12
_MOST_LABELS = 2_000  # labels of a column that are counted one by one
_SOME = 2**16  # rows at a time
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
_DASH = re.compile(r"\s*[-‐-―−]\s*")


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
            self._fractions = self._numeric and any(map(self._is_fraction, self.labels))
        if len(self.labels) > _MOST_LABELS:
            self.labels, self.many = Counter(), True

    def _is_fraction(self, text: str) -> bool:
        """Return whether an entry is written as a fraction: 0.5, 50% or 0,5, and not 1,204 people."""
        value = number(text, decimal_comma=self.decimal_comma, hundred=True)
        return value is not None and ("%" in text or value != value.to_integral_value() or "." in text)

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
        few = 2 <= len(self.groups) <= MOST_GROUPS
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
    def answers(self) -> dict[str, str]:
        """The number that each of its labels stands for that says yes or no; nothing unless it says these."""
        return {one: _YES[one.casefold()] for one in sorted(self._told)} if self.yes_or_no else {}

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


def unknown_labels(groups: Iterable[str]) -> list[str]:
    """Return which groups are no sex that is known here, where others are: each may be another spelling of one.

    >>> unknown_labels(["female", "male", "nainen", "non-binary"]), unknown_labels(["18-39", "40+"])
    (['nainen'], [])
    """
    folded = {one: _folded(one) for one in groups}
    about_sexes = not _SEX.keys().isdisjoint(folded.values())
    return [one for one, word in folded.items() if about_sexes and word not in _SEX.keys() | _ANOTHER_SEX]


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
