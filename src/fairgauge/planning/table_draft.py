"""The draft of a study from somebody's own table: what of it could be groups and metrics, as a file with comments.

A study goes out into the world, and its own file may go with it.  So nothing enters the file that is about few
people: no count, shares and means rounded, no label that few have, and no column that looks like a name or an
identifier, unless it is asked for.
"""

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any

from fairgauge.errors import InvalidInput
from fairgauge.planning.draft import Draft
from fairgauge.simulation.people import COUNT, EVERY_OTHER, LEAVE_OUT
from fairgauge.simulation.table import MISSING, Progress, label, number, open_table
from fairgauge.study.numbers import as_count, plain

# A label that fewer people have is not written down unless it is asked for.
FEW_PEOPLE, FEW_OF = 10, 200
_MOST_GROUPS = 12
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
_SEX = {"f": "female", "female": "female", "w": "female", "woman": "female", "m": "male", "male": "male", "man": "male"}
_SAYS_NOTHING = {"unknown", "not known", "not stated", "prefer not to say", "undisclosed", "missing"}
_YES = {"yes": "1", "true": "1", "y": "1", "no": "0", "false": "0", "n": "0"}
# Of a column's entries: nearly all of them.
_MOSTLY = 0.9
_FRACTION = re.compile(r"[.,%]")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass
class _Span:
    """How many numbers there are, their sum, the least and the largest."""

    count: int = 0
    total: float = 0.0
    low: Decimal | None = None
    high: Decimal | None = None

    def add(self, value: Decimal, times: int) -> None:
        self.count += times
        self.total += times * float(value)
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
        common = {one for one, same in spelled.items() if sum(told[each] for each in same) >= least}
        sexes = common <= set(_SEX) and len({_SEX[one] for one in common}) > 1
        found: dict[str, list[str]] = {}
        for one, same in spelled.items():
            if one in common:
                found.setdefault(_SEX[one] if sexes else same[0], []).extend(same)
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
        texts = {one.casefold() for one in self.labels}
        return not self.many and len(texts) > 1 and texts <= set(_YES)

    @property
    def is_metric(self) -> bool:
        """Whether it can be measured: numbers, at least two different ones, or yes and no."""
        return (self._numeric and self.low != self.high) or self.yes_or_no

    @property
    def is_part(self) -> bool:
        """Whether it is measured in parts of a whole: with percent signs, or from 0 to 1."""
        return self.yes_or_no or self.percent > 0 or "%" in self.name or self.range[1] == 1

    @property
    def range(self) -> tuple[Decimal, Decimal]:
        """Its least and its largest value, rounded outward: nobody's own value stands there."""
        return (Decimal(0), Decimal(1)) if self.yes_or_no else _outward(self.low, self.high)

    @property
    def expected(self) -> Decimal:
        """Its mean, rounded to a twentieth of the range."""
        low, high = self.range
        if self.yes_or_no:
            mean = sum(times for one, times in self.labels.items() if _YES[one.casefold()] == "1") / max(self.known, 1)
        else:
            mean = (self._bare.total + float(self._sign) * self._signed.total) / max(self.numbers, 1)
        return low + (high - low) * Decimal(round(20 * (mean - float(low)) / float(high - low))) / 20


def _outward(low: Decimal, high: Decimal) -> tuple[Decimal, Decimal]:
    if low >= 0 and high <= 1:
        return Decimal(0), Decimal(1)
    step = Decimal(10) ** math.floor(math.log10(max(abs(low), abs(high))))
    least = Decimal(0) if low >= 0 else math.floor(low / step) * step
    return least, Decimal(0) if high <= 0 else math.ceil(high / step) * step


@dataclass(frozen=True)
class Look:
    """What a table holds.

    Args:
        columns: Its columns, those without a name left out.
        rows: How many people it is about: a row is one, or as many as its ``count`` says.
    """

    columns: tuple[Column, ...]
    rows: int

    def column(self, name: str, *, field: str) -> Column:
        """Return a column that is asked for.

        Raises:
            InvalidInput: If there is none of that name.
        """
        found = [one for one in self.columns if one.name == name]
        if len(found) != 1:
            there = ", ".join(one.name for one in self.columns)
            raise InvalidInput(field, name, "must be there once" if found else f"must be one of {there}")
        return found[0]

    @property
    def groups(self) -> list[Column]:
        """The columns that can be groups, the likeliest first."""
        found = [one for one in self.columns if one.is_group and not one.names_people]
        return sorted(found, key=lambda one: (_likely(one.name, _GROUPS), one.is_metric))

    @property
    def metrics(self) -> list[Column]:
        """The columns that can be metrics, the likeliest first."""
        found = [one for one in self.columns if one.is_metric and not one.names_people]
        return sorted(
            found, key=lambda one: (_likely(one.name, _METRICS), one.is_group and not one.yes_or_no, not one.is_part)
        )


def _likely(name: str, words: Sequence[str]) -> int:
    plain_name = re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()
    tokens = plain_name.split()
    return next((at for at, word in enumerate(words) if word == plain_name or word in tokens), len(words))


def look(given: Any, *, progress: Progress | None = None) -> Look:
    """Look at a table: a CSV or Parquet file, a data frame, or a mapping from columns to entries.

    Raises:
        InvalidInput: If it cannot be read, or has no rows.
    """
    table = open_table(given, progress=progress)
    names = [name for name in dict.fromkeys(table.names) if name and table.names.count(name) == 1]
    columns = [Column(name, table.decimal_comma) for name in names]
    counted = names.index(COUNT) if COUNT in names else None
    rows = (row for _, row in table.picked(names) if row is not None)
    while some := list(islice(rows, _SOME)):
        people = None if counted is None else [int(number(row[counted]) or 0) for row in some]
        for column, entries in zip(columns, zip(*some, strict=True), strict=True):
            column.add(entries, people)
    if not columns or not columns[0].rows:
        raise InvalidInput("table", "no rows", "must have a row for each person below the names of its columns")
    total = columns[0].rows
    return Look(tuple(column for column in columns if column.name != COUNT), total)


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


def draft_text(found: Look, wish: Wish) -> str:
    """Return the text of a draft, with comments that say what was seen.

    Raises:
        InvalidInput: If a column is not there, or cannot be what it is asked for.
    """
    groups = [_as_groups(found.column(name, field="group-column"), wish) for name in wish.groups]
    groups = groups or _likeliest(found.groups, "group-column", found, _TWO_GROUPS)
    metrics = [_as_metric(found.column(name, field="metric-column")) for name in wish.metrics]
    if not metrics:
        others = [one for one in found.metrics if one not in groups]
        metrics = _likeliest(others, "metric-column", found, _NUMBERS)
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
    lines += ["", *_attribute_lines(groups, wish), "", *_table_lines(groups, metrics, wish)]
    lines += _other_lines(found, groups, metrics)
    text = "\n".join(lines) + "\n"
    _check_draft(text)
    return text


def _check_draft(text: str) -> None:
    Draft.read(tomllib.loads(text, parse_float=Decimal))


def _as_groups(column: Column, wish: Wish) -> Column:
    if wish.labels:
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


_TWO_GROUPS = (
    f"two to {_MOST_GROUPS} labels that {FEW_PEOPLE} people and one in {FEW_OF} have each. A study compares groups: "
    "name the column, and labels that fewer have: --group-column COLUMN --group LABEL --group LABEL"
)


_NUMBERS = (
    "two different numbers and looks like no identifier, or yes and no. A study compares what is measured: name the "
    "column (--metric-column COLUMN)"
)


def _likeliest(found: Sequence[Column], field: str, whole: Look, what: str) -> list[Column]:
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
    expected = one.expected
    return [
        "[[metrics]]",
        f"name = {_text(one.name)}  # {'; '.join(notes)}",
        f"low = {plain(low)}",
        f"high = {plain(high)}",
        f"expect = {plain(expected)}  # the mean to reckon with, as in the table; a wrong guess costs only precision",
    ]


def _rounded(value: Decimal, ends: tuple[Decimal, Decimal]) -> str:
    """Return an end of what was seen, to a tenth of the range: nobody's own value."""
    low, high = ends
    step = (high - low) / 10
    return plain(low + round((value - low) / step) * step)


def _groups_of(one: Column, wish: Wish) -> dict[str, list[str]]:
    if not wish.labels:
        return one.groups
    there = [text for text in wish.labels if text in one.labels]
    if len(there) < 2:
        rule = f"must name at least two labels of {one.name}, as the table has them"
        raise InvalidInput("group", ", ".join(wish.labels), rule)
    return {text: [text] for text in there}


def _attribute_lines(groups: Sequence[Column], wish: Wish) -> list[str]:
    if len(groups) == 1:
        return ["[attribute]", *_group_lines(groups[0], wish), *_answering()]
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


def _table_lines(groups: Sequence[Column], metrics: Sequence[Column], wish: Wish) -> list[str]:
    lines = [
        "[table]  # how your own table is read; nothing of it is published with the study",
        f'missing = "{LEAVE_OUT}"  # people who lack a group or a value; "abstain" if abstain = true stands above',
    ]
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
    for one in metrics:
        meant = [f"{_key(text)} = {_YES[text.casefold()]}" for text in sorted(one.labels)] if one.yes_or_no else []
        if not one.yes_or_no and one.numbers < one.known:
            meant.append(f'{_text(EVERY_OTHER)} = ""  # every text that is no number counts as missing')
        if meant:
            lines += ["", f"[table.labels.{_key(one.name)}]", *meant]
    return lines


def _other_lines(found: Look, groups: Sequence[Column], metrics: Sequence[Column]) -> list[str]:
    used = {one.name for one in (*groups, *metrics)}
    lines = []
    for what, columns in (("groups", found.groups), ("metrics", found.metrics)):
        if names := [one.name for one in columns if one.name not in used]:
            lines.append(f"# Columns that could be {what}, too: {', '.join(names)}")
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
