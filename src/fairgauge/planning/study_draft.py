"""The draft of a study: one small file that a person writes, reads and keeps under version control.

It is TOML with the field names of the published document, without its tables; what is about planning and about people's
own tables stands under ``plan`` and ``table``, and is not published.  ``draft_fields.FIELDS``
lists every field.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fairgauge.errors import BadStudy, InvalidInput
from fairgauge.lazy import gives, late
from fairgauge.planning.attribute_input import CELLS, MARGINS, read_comparisons, read_shares
from fairgauge.planning.contributors import ABOUT_SITES, Contributors, contributors_of
from fairgauge.planning.draft_fields import names_under
from fairgauge.simulation.people import EVERY_OTHER, Missing, Reading
from fairgauge.study import Attribute, Comparison, Issuer, Metric, Model, Question, Stratum, Study
from fairgauge.study.attribute import ANY
from fairgauge.study.field_checks import at, named
from fairgauge.study.margins import named_side, usual_comparisons
from fairgauge.study.numbers import Number, as_count, as_epsilon, exact, plain, read_decimal

if TYPE_CHECKING:
    from fairgauge.planning.plans import Plans

_TERMS = (
    "language", "purpose", "operator", "contact", "retention", "opens", "closes", "planned", "aim", "admission",
    "gateway", "epoch", "hourly", "order", "model", "stratum", "issuer",
)  # fmt: skip


_PLAIN = ("title", "target", "design", "abstaining", "symbols", "outcome", "records", "person")


@dataclass(frozen=True)
class Draft:
    """What is known of a study before it is designed.

    Args:
        title: What the study is about, for the people who are asked.
        metrics: What is measured.
        attribute: How people are grouped; None where nobody said.
        epsilon: The privacy loss of one answer.
        expect: The overall mean to reckon with, by the metric's name.
        spread: The standard deviation about it, by the metric's name.
        weights: How much a metric matters beside the others, by its name.
        target: ``"gap"`` or ``"means"``.
        design: The design's name; the best unless given.
        abstain: Whether people may prefer not to say; None where nobody said.
        abstaining: The part of people who will have nothing to say.
        symbols: The most symbols of a channel for seven and more groups.
        outcome: For sites that hold many people: ``"confusion"`` or ``"levels"``.
        records: For sites: how many records of one person count at most.
        person: For sites: who counts as one person, in words.
        terms: The terms on which it is run, by their names in the document.
        plan: What plans are asked for: clients, error, confidence and so on.
        table: How people's own tables are read.
    """

    title: str | None = None
    metrics: tuple[Metric, ...] = ()
    attribute: Attribute | None = None
    epsilon: Decimal | None = None
    expect: Mapping[str, Number] = field(default_factory=dict)
    spread: Mapping[str, Number] = field(default_factory=dict)
    weights: Mapping[str, Number] = field(default_factory=dict)
    target: str | None = None
    design: str | None = None
    abstain: bool | None = None
    abstaining: Number | None = None
    symbols: int | None = None
    outcome: str | None = None
    records: int | None = None
    person: str | None = None
    terms: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)
    table: Reading = field(default_factory=Reading)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Draft":
        """Read a draft from a TOML file.

        Raises:
            InvalidInput: If it cannot be read, or a field breaks its rule; the error names the field.
        """
        path = Path(path)
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
        except OSError as reason:
            raise InvalidInput("study", path, f"cannot be read: {reason.strerror or reason}") from None
        except UnicodeDecodeError:
            raise InvalidInput("study", path, "must be TOML in UTF-8") from None
        except tomllib.TOMLDecodeError as reason:
            raise InvalidInput("study", path, f"must be TOML: {reason}") from None
        return cls.read(document, folder=path.parent)

    @classmethod
    def read(cls, document: Mapping[str, Any], *, folder: Path = Path()) -> "Draft":
        """Read the same from a mapping, as a TOML file has it.

        Args:
            document: The fields.
            folder: Where a file of shares is looked for.

        Raises:
            InvalidInput: If a field breaks its rule; the error names the field.

        >>> Draft.read({"metrics": [{"name": "recall", "expect": 0.9}]}).metrics[0].high
        '1'
        """
        _check_names("", document)
        found: dict[str, Any] = {name: document[name] for name in _PLAIN if name in document}
        if "abstain" in document:
            found["abstain"] = _boolean("abstain", document["abstain"])
        if "epsilon" in document:
            found["epsilon"] = as_epsilon(document["epsilon"])
        if "metrics" in document:
            found |= _metrics(_tables("metrics", document["metrics"]))
        if "attribute" in document:
            with at("attribute"):
                found["attribute"] = _attribute(document["attribute"], folder)
        found["terms"] = _terms({name: document[name] for name in _TERMS if name in document})
        found["plan"] = _plan(_table("plan", document.get("plan", {})))
        draft = cls(**found)
        stated = _table("table", document.get("table", {}))
        with at("table"):
            reading = _reading(stated, draft)
        return replace(draft, table=reading)

    @property
    def contributors(self) -> Contributors:
        """Who will answer."""
        return contributors_of(self.outcome)

    def questions(self) -> Sequence[Question]:
        """Return what is asked: not designed yet.

        Raises:
            InvalidInput: If something is missing or out of range, or would change nothing.
        """
        return self._questions(self.contributors.designed_with(self))

    def planned_questions(self) -> Sequence[Question]:
        """Return the same with all that a plan reckons with.

        Raises:
            InvalidInput: If something is missing or out of range, or would change nothing.
        """
        return self._questions(self.contributors.planned_with(self))

    def _questions(self, reckoned: Mapping[str, Any]) -> Sequence[Question]:
        attribute = self._given("attribute", self.attribute, 'give groups: groups = ["female", "male"]')
        self.check_heeded()
        if self.abstain is False and self.abstaining is not None:
            raise InvalidInput("abstaining", self.abstaining, "must not be given where nobody may abstain")
        return self.contributors.ask(list(self.metrics), attribute, {**self._said, **reckoned})

    def check_heeded(self) -> None:
        """Refuse what would change nothing: of sites where devices answer, and of devices where sites do.

        Raises:
            InvalidInput: If there is such a field; the error names it.
        """
        said = {name: getattr(self, name) for name in ("target", "design", "symbols", "abstain", "abstaining")}
        said |= {"records": self.records, "person": self.person, "weight": ", ".join(self.weights) or None}
        self.contributors.check_heeded(said | {f"plan.{name}": value for name, value in self.plan.items()})

    @property
    def _said(self) -> dict[str, Any]:
        """What is said of all questions beside metric and attribute."""
        return {
            "target": self.target, "abstain": self.abstain, "abstaining": self._abstaining,
            "weights": self.weights or None, "symbols": self.symbols, "records": self.records, "person": self.person,
        }  # fmt: skip

    @property
    def _abstaining(self) -> Number | None:
        """The part of people who will have nothing to say: a hundredth where everyone may answer, if nobody says."""
        from fairgauge.targets.channel_inputs import OUTSIDERS

        unsaid = self.abstain is None and self.abstaining is None
        return OUTSIDERS if unsaid and self.terms.get("admission") == "open" else self.abstaining

    def study(self) -> Study:
        """Design the study.  How a table of one's own is read stays in the draft: ``reading=draft.table``.

        Raises:
            InvalidInput: If something is missing or out of range.
            Impossible: If no design reaches it.
        """
        from fairgauge.designs import AUTO
        from fairgauge.planning.table_pairing import make_study

        title = self._given("title", self.title, "must be given: what the study is about, for people")
        epsilon = self._given("epsilon", self.epsilon, "must be given: the privacy loss of one answer")
        return make_study(title, self.questions(), epsilon, design=self.design or AUTO, **self.terms)

    _repr_html_ = late("_repr_html_")

    def plans(self, **asked: Any) -> "Plans":
        """Plan the study: two of clients, epsilon and error, as ``fairgauge.plan`` takes them, give the third.

        What is not given here is what the draft says.
        """
        from fairgauge.designs import AUTO
        from fairgauge.planning.crowd_plan import plan_asked

        if self.design not in (None, AUTO):
            asked = {"designs": [self.design]} | asked
        stated = {name: value for name, value in self.plan.items() if name not in ABOUT_SITES}
        given = {"epsilon": self.epsilon} | stated | {"clients": self.clients} | asked
        if given["clients"] is not None and given.get("error") is not None and "epsilon" not in asked:
            del given["epsilon"]
        return plan_asked(self.planned_questions(), **given)

    @property
    def clients(self) -> int | None:
        """How many will answer, devices or sites: as the plan says, or as many as are planned."""
        stated = self.plan.get(self.contributors.count, self.terms.get("planned"))
        return None if stated is None else as_count("clients", stated)

    def _given(self, name: str, value: Any, rule: str) -> Any:
        if value is None:
            raise InvalidInput(name, "nothing", rule)
        return value


@gives(Study, "draft")
def draft(given: "str | PathLike[str] | None" = None, /, **stated: Any) -> Draft:
    """Read the draft of a study from a TOML file, or take the same fields as keywords; keywords win over the file.

    >>> mine = draft(metrics=[{"name": "recall"}], attribute={"name": "sex", "groups": ["female", "male"]}, epsilon=1)
    >>> mine.attribute.groups, str(mine.epsilon)
    (('female', 'male'), '1')
    """
    if given is None:
        return Draft.read(stated)
    found, own = Draft.load(given), Draft.read(stated)
    named_ones = {one.name: getattr(own, one.name) for one in fields(Draft) if one.name in stated}
    if "metrics" in stated:
        named_ones |= {name: getattr(own, name) for name in ("expect", "spread", "weights")}
    return replace(found, **named_ones, terms={**found.terms, **own.terms})


# ------------------------------------------------------------------------------------------------------ reading
def _check_names(path: str, document: Mapping[str, Any]) -> None:
    """Refuse what is no field, and say which one was perhaps meant."""
    known = names_under(path)
    for name in document:
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            rule = f"is no field here; {f'perhaps {near[0]}' if near else 'the fields are ' + ', '.join(known)}"
            raise BadStudy(str(name), named(document[name]), rule)


def _table(field: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise BadStudy(field, named(value), f"must be a table, such as [{field}]")
    with at(field):
        _check_names(field, value)
    return dict(value)


def _tables(field: str, value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise BadStudy(field, named(value), f"must be a list of tables, each headed [[{field}]]")
    return list(value)


def _boolean(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadStudy(field, named(value), "must be true or false")
    return value


_TEXTS = ("help", "better", "unit")


def _metrics(given: Iterable[object]) -> dict[str, Any]:
    found: dict[str, Any] = {"metrics": [], "expect": {}, "spread": {}, "weights": {}}
    for index, one in enumerate(given):
        with at(f"metrics[{index}]"):
            if isinstance(one, Metric):
                parts: dict[str, Any] = {name: getattr(one, name) for name in ("name", "low", "high", *_TEXTS)}
            elif isinstance(one, Mapping):
                parts = dict(one)
                _check_names("metrics", parts)
            else:
                raise BadStudy("", named(one), 'must be a table, such as { name = "recall", low = 0, high = 1 }')
            texts = {name: parts.get(name) for name in _TEXTS}
            metric = Metric(parts.get("name", ""), parts.get("low", 0), parts.get("high", 1), **texts)
            if metric.name in [known.name for known in found["metrics"]]:
                raise BadStudy("name", metric.name, "must be listed once")
            found["metrics"].append(metric)
            for name, where in (("expect", "expect"), ("spread", "spread"), ("weight", "weights")):
                if parts.get(name) is not None:
                    found[where][metric.name] = parts[name]
            _check_known(metric, parts)
    return found | {"metrics": tuple(found["metrics"])}


def _check_known(metric: Metric, parts: Mapping[str, Any]) -> None:
    """Refuse an expectation or a weight that is out of range while its place in the file is known."""
    anybody = Attribute("group", ["one", "other"])
    Question(metric, anybody, expect=parts.get("expect"), spread=parts.get("spread"), weight=parts.get("weight"))


def _attribute(given: object, folder: Path) -> Attribute:
    if isinstance(given, Attribute):
        return given
    if not isinstance(given, Mapping):
        raise BadStudy("", named(given), 'must be a table, such as [attribute] with groups = ["female", "male"]')
    _check_names("attribute", given)
    more = {name: given[name] for name in ("help", "share_source", "share_error") if name in given}
    answering = given.get("answering", ANY)
    if "cross" in given:
        found = _crossed(given, folder, answering)
    else:
        groups, shares = _groups(given, answering)
        found = Attribute(given.get("name", "group"), groups, shares, answering=answering)
    if "share_source" not in more and found.share_source is not None:
        more["share_source"] = found.share_source
    found = replace(found, **more)
    return replace(found, comparisons=_comparisons(found, given))


def _groups(given: Mapping[str, Any], answering: object) -> tuple[list[Any], list[Any] | None]:
    groups = given.get("groups")
    if not isinstance(groups, list | tuple | Mapping) or not groups:
        raise BadStudy("groups", named(groups), 'must be a list such as ["female", "male"]')
    if isinstance(groups, Mapping):
        if "shares" in given:
            raise BadStudy("shares", named(given["shares"]), "must not be given where groups have shares")
        shares: Any = list(groups.values())
    else:
        shares = given.get("shares")
    if shares is None:
        return list(groups), None
    if not isinstance(shares, list | tuple):
        raise BadStudy("shares", named(shares), "must be a list of numbers, one for each group")
    numbers = [exact(share) for share in shares]
    if answering == ANY and len(shares) == len(groups) and None not in numbers:
        total = sum(map(Decimal, map(str, shares)))
        if Decimal("0.999") <= total <= Decimal("1.001"):
            # What nothing is divided by may be rounded, and the last group makes up for it.
            return list(groups), [*shares[:-1], 1 - sum(map(Decimal, map(str, shares[:-1])))]
    return list(groups), list(shares)


def _crossed(given: Mapping[str, Any], folder: Path, answering: Any) -> Attribute:
    if "groups" in given:
        raise BadStudy("groups", "groups", "must not be given beside cross, which names all groups")
    factors = []
    for index, one in enumerate(_tables("cross", given["cross"])):
        with at(f"cross[{index}]"):
            if isinstance(one, Attribute):
                factors.append(one)
                continue
            if not isinstance(one, Mapping):
                raise BadStudy("", named(one), 'must be a table, such as { name = "sex", groups = ["female", "male"] }')
            _check_names("attribute.cross", one)
            factors.append(Attribute(one.get("name", ""), *_groups(one, ANY), help=one.get("help")))
    stated = {factor.shares is not None for factor in factors}
    if len(stated) > 1:
        raise BadStudy("cross", "shares of some", "give every attribute shares, or none")
    shares = given.get("shares")
    more: dict[str, Any] = {"answering": answering}
    if "name" in given:
        more["name"] = given["name"]
    if isinstance(shares, str):
        more["shares"] = read_shares(folder / shares, factors)
    elif shares is not None:
        more["shares"] = shares
    if shares is not None and stated == {True}:
        raise BadStudy("shares", "shares", "must not be given where what crosses has shares")
    return Attribute.crossed(*factors, **more)


def _comparisons(attribute: Attribute, given: Mapping[str, Any]) -> tuple[Comparison, ...] | None:
    stated = given.get("comparisons")
    if stated is None:
        return usual_comparisons(attribute) if attribute.cross else None
    if isinstance(stated, Mapping):
        against = named_side(attribute, str(stated.get("against")))
        if set(stated) != {"against"} or against is None or len(against) > 1:
            rule = f'must be {{ against = "…" }} with one of {", ".join(attribute.groups)}'
            raise BadStudy("comparisons", named(stated.get("against", "a table")), rule)
        return tuple(Comparison(group, against) for group in attribute.groups if group not in against)
    if isinstance(stated, str):
        words = [MARGINS, CELLS] if attribute.cross else [CELLS]
        if stated not in words:
            raise BadStudy("comparisons", stated, f"must be a list, or the word {' or '.join(words)}")
        return read_comparisons(attribute, [stated])
    found = []
    for index, one in enumerate(_tables("comparisons", stated)):
        with at(f"comparisons[{index}]"):
            if not isinstance(one, Mapping) or not {"of", "against"} <= set(one) <= {"of", "against", "weight"}:
                raise BadStudy("", named(one), 'must be { of = "female", against = "male" }, and perhaps weight = 2')
            of, other = (_side(attribute, name, one[name]) for name in ("of", "against"))
            found.append(Comparison(of, other, one.get("weight")))
    return tuple(found)


def _side(attribute: Attribute, field: str, given: object) -> tuple[str, ...]:
    found: list[str] = []
    for one in [given] if isinstance(given, str) else _tables(field, given):
        side = named_side(attribute, str(one))
        if side is None:
            names = ", ".join(group for factor in attribute.factors for group in factor.groups)
            raise BadStudy(field, named(one), f"must be one of {names}, or a list of groups")
        found += side
    return tuple(found)


def _terms(given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in ("planned", "retention"):
            found[name] = as_count(name, value)
        elif name in ("opens", "closes"):
            found[name] = _moment(value)
        elif name == "model":
            found[name] = _of_table(name, value, Model)
        elif name == "stratum":
            found[name] = _of_table(name, value, Stratum)
        elif name == "issuer":
            found[name] = _of_table(name, value, Issuer)
        else:
            found[name] = value
    return found


def _moment(value: object) -> object:
    """Return a moment as documents have it: TOML has moments of its own."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
    return value.isoformat() if isinstance(value, date) else value


def _of_table(field: str, value: object, kind: type[Any]) -> Any:
    if isinstance(value, kind):
        return value
    with at(field):
        if kind is Model and isinstance(value, str):
            name, _, version = value.rpartition("@")
            return Model(name, version) if name else Model(value)
        if not isinstance(value, Mapping):
            raise BadStudy("", named(value), "must be a table")
        _check_names(field, value)
        try:
            return kind(**value)
        except TypeError:
            raise BadStudy("", ", ".join(value), f"must have {', '.join(one.name for one in fields(kind))}") from None


def _plan(given: dict[str, Any]) -> dict[str, Any]:
    for name, value in given.items():
        if name != "interval" and exact(value) is None:
            raise BadStudy(f"plan.{name}", named(value), "must be a number")
    return given


def _reading(given: Mapping[str, Any], draft: Draft) -> Reading:
    factors = {} if draft.attribute is None else {one.name: one for one in draft.attribute.factors}
    if draft.attribute is not None:
        factors[draft.attribute.name] = draft.attribute
    things = [*factors, *(metric.name for metric in draft.metrics), *draft.contributors.things]
    columns = _by_thing("columns", given.get("columns", {}), things)
    for name, column in columns.items():
        if not isinstance(column, str):
            raise BadStudy(f"columns.{name}", named(column), "must be the name of a column")
    labels = {}
    for name, meant in _by_thing("labels", given.get("labels", {}), things).items():
        with at(f"labels.{name}"):
            labels[name] = _labels(meant, factors.get(name))
    count, missing = given.get("count"), given.get("missing")
    if count is not None and not isinstance(count, str):
        raise BadStudy("count", named(count), "must be the name of a column")
    return Reading(columns, labels, cast("Missing | None", missing), count)


def _by_thing(field: str, given: object, things: Sequence[str]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise BadStudy(field, named(given), f"must be a table, such as [table.{field}]")
    for name in given:
        if name not in things:
            raise BadStudy(f"{field}.{name}", named(given[name]), f"must be of one of {', '.join(things)}")
    return dict(given)


def _labels(given: object, attribute: Attribute | None) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise BadStudy("", named(given), 'must be a table, such as { F = "female" }')
    for label, meant in given.items():
        if attribute is not None and meant != "" and meant not in attribute.groups:
            rule = f'must be one of {", ".join(attribute.groups)}, or "" for what counts as missing'
            raise BadStudy(str(label), named(meant), rule)
        other = label == EVERY_OTHER  # a metric's other texts can only be missing: one number for all would be made up
        if attribute is None and meant != "" and (other or exact(meant) is None):
            rule = 'must be "": every other text is missing' if other else 'must be a number, or "" for what is missing'
            raise BadStudy(str(label), named(meant), rule)
    return {
        str(label): meant if isinstance(meant, str) else plain(read_decimal("", str(meant)))
        for label, meant in given.items()
    }
