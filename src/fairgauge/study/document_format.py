"""The format of study documents: what is read from one, and what is written.

What is not said is left out: there is no null in it, so that nothing can be said in two ways.  Metrics and attributes
are listed once, in the order in which the tables name them, and tables hold their questions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from fairgauge.channel import Channel, check_levels
from fairgauge.errors import OF_BEFORE, BadStudy
from fairgauge.study.attribute import ALIKE, ANY, Attribute, Comparison, cells
from fairgauge.study.field_checks import at, check_name, check_text, named
from fairgauge.study.mechanism import Registry
from fairgauge.study.metric import Metric
from fairgauge.study.noisy_counts import NoisyCounts
from fairgauge.study.numbers import check_decimal, positive
from fairgauge.study.question import ANY_VALUES, Question, check_symbols, counted
from fairgauge.study.terms import Issuer, Model, Release, Stratum

if TYPE_CHECKING:
    from fairgauge.study.document import Study

_FORMAT = 1
_DRAFT = 2  # the number that this format had before the first release

# Fields of a study that stand in the document as they are.
_PLAIN = (
    "language", "purpose", "operator", "contact", "retention", "opens", "closes", "planned", "aim",
    "admission", "gateway", "epoch", "hourly", "order",
)  # fmt: skip

_T = TypeVar("_T")
_Document = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- reading
def read(document: Mapping[str, Any]) -> _Document:
    """Return the parts of a study."""
    _check_format(document)
    optional = (*_PLAIN, "model", "stratum", "issuer", "release", "translations")
    parts = _members(document, ("format", "title", "metrics", "attributes", "tables"), optional)
    metrics = _named(parts, "metrics", _read_metric)
    attributes = _named(parts, "attributes", _read_attribute)
    study: _Document = {name: parts.get(name) for name in ("title", *_PLAIN)}
    if "aim" in parts:
        check_decimal("aim", parts["aim"])
    objects = ("model", _read_model), ("stratum", _read_stratum), ("issuer", _read_issuer), ("release", _read_release)
    for name, reader in objects:
        if name in parts:
            with at(name):
                study[name] = reader(parts[name])
    known = (metrics, attributes)
    study["questions"] = []
    for index, table in enumerate(_array("tables", parts["tables"])):
        with at(f"tables[{index}]"):
            study["questions"] += _format_of(table).read(table, *known)
    return {**study, "translations": parts.get("translations")}


def check(study: "Study", document: Mapping[str, Any]) -> None:
    """Refuse a document that says what it says in another way than :func:`write` does."""
    for field, used in (("metrics", study.metrics), ("attributes", study.attributes)):
        names = [item["name"] for item in document[field]]
        if names != [thing.name for thing in used]:
            raise BadStudy(field, ", ".join(names), "must be those that are asked for, in that order")


def _check_format(document: Mapping[str, Any]) -> None:
    number = document.get("format", "nothing")
    if type(number) is int and (number == _DRAFT or (number == _FORMAT and "questions" in document)):
        raise BadStudy("format", number, OF_BEFORE)
    if type(number) is not int or number != _FORMAT:
        raise BadStudy("format", number, f"must be {_FORMAT}")


def _members(document: object, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> _Document:
    found = _object(document, "")
    for name in required:
        if name not in found:
            raise BadStudy(name, "nothing", "must be given")
    for name, value in found.items():
        if name not in required and name not in optional:
            raise BadStudy(name, value, "is not a field of this format")
        if value is None and name in optional:
            raise BadStudy(name, "null", "must be left out if there is nothing to say")
    return dict(found)


def _object(document: object, field: str) -> _Document:
    if not isinstance(document, dict):
        raise BadStudy(field, document, "must be an object")
    return document


def _array(field: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise BadStudy(field, value, "must be an array")
    return tuple(value)


def _named(parts: _Document, field: str, reader: Callable[[object], _T]) -> dict[str, _T]:
    """Read a list of things that have different names."""
    found: dict[str, _T] = {}
    for index, item in enumerate(_array(field, parts[field])):
        with at(f"{field}[{index}]"):
            thing: Any = reader(item)
            if thing.name in found:
                raise BadStudy("name", thing.name, "must be listed once")
            found[thing.name] = thing
    return found


def _read_metric(document: object) -> Metric:
    parts = _members(document, ("name", "low", "high"), ("help", "better", "unit"))
    check_name("name", parts["name"])
    for end in ("low", "high"):
        check_decimal(end, parts[end])
    return Metric(**parts)


def _read_attribute(document: object) -> Attribute:
    optional = ("groups", "cross", "help", "shares", "answering", "share_error", "share_source", "comparisons")
    parts = _members(document, ("name",), optional)
    if ("groups" in parts) == ("cross" in parts):
        raise BadStudy("groups", "nothing" if "groups" not in parts else "groups", "must be given, or cross, not both")
    if "cross" in parts:
        parts["cross"] = tuple(_named(parts, "cross", _read_factor).values())
        parts["groups"] = cells(parts["cross"])
    else:
        parts["groups"] = _array("groups", parts["groups"])
    if ("shares" in parts) != ("answering" in parts):
        lacking, there = ("answering", "shares") if "shares" in parts else ("shares", "answering")
        raise BadStudy(lacking, "nothing", f"must be given with {there}")
    if "shares" in parts:
        parts["shares"] = _array("shares", parts["shares"])
        for index, share in enumerate(parts["shares"]):
            check_decimal(f"shares[{index}]", share)
    if isinstance(parts.get("answering"), dict):
        with at("answering"):
            parts["answering"] = _members(parts["answering"], ("ratio",))["ratio"]
            check_decimal("ratio", parts["answering"])
    elif "answering" in parts and parts["answering"] not in (ANY, ALIKE):
        raise BadStudy("answering", named(parts["answering"]), f"must be {ANY}, {ALIKE} or an object with a ratio")
    if "share_error" in parts:
        check_decimal("share_error", parts["share_error"])
    if "comparisons" in parts:
        listed = enumerate(_array("comparisons", parts["comparisons"]))
        parts["comparisons"] = [_read_comparison(f"comparisons[{index}]", item) for index, item in listed]
    return Attribute(**parts)


def _read_factor(document: object) -> Attribute:
    parts = _members(document, ("name", "groups"), ("help",))
    return Attribute(**{**parts, "groups": _array("groups", parts["groups"])})


def _read_comparison(place: str, document: object) -> Comparison:
    with at(place):
        parts = _members(document, ("of", "against"), ("weight",))
        if "weight" in parts:
            check_decimal("weight", parts["weight"])
        return Comparison(**{**parts, **{side: _array(side, parts[side]) for side in ("of", "against")}})


def _read_channel(
    document: object, metrics: Mapping[str, Metric], attributes: Mapping[str, Attribute]
) -> tuple[Question, ...]:
    parts = _members(document, ("attribute", "questions", "design", "epsilon", "abstain", "table"))
    attribute = _known("attribute", parts["attribute"], attributes)
    asked = []
    for index, item in enumerate(_array("questions", parts["questions"])):
        with at(f"questions[{index}]"):
            asked.append(_read_question(item, metrics))
    if not asked:
        raise BadStudy("questions", "0 questions", "must be at least 1")
    rows = tuple(_array(f"table[{i}]", row) for i, row in enumerate(_array("table", parts["table"])))
    first, *further = (one.pop("levels") for one in asked)
    channel = Channel(rows, first, len(attribute.groups), parts["abstain"], tuple(further))
    check_symbols(channel)
    check_text("design", parts["design"])
    check_decimal("epsilon", parts["epsilon"])
    epsilon = positive("epsilon", parts["epsilon"])
    found = []
    for index, one in enumerate(asked):
        with at(f"questions[{index}]"):
            asked_for = {"attribute": attribute, "design": parts["design"], "epsilon": epsilon, "mechanism": channel}
            found.append(Question(**one, **asked_for, axis=index))
    return tuple(found)


# What a question reckons with, which a table is made for and no estimate rests on.
_RECKONED = ("expect", "spread", "weight", "abstaining")


def _read_question(document: object, metrics: Mapping[str, Metric]) -> _Document:
    parts = _members(document, ("metric", "target", "levels"), _RECKONED)
    parts["metric"] = _known("metric", parts["metric"], metrics)
    parts["levels"] = _array("levels", parts["levels"])
    check_levels(parts["levels"])
    for field in _RECKONED:
        if field in parts and (field, parts[field]) != ("spread", ANY_VALUES):
            check_decimal(field, parts[field])
    return parts


def _read_counts(
    document: object, metrics: Mapping[str, Metric], attributes: Mapping[str, Attribute]
) -> tuple[Question, ...]:
    parts = _members(document, ("attribute", "outcome", "epsilon", "records"), ("metric", "levels", "person"))
    parts["attribute"] = _known("attribute", parts["attribute"], attributes)
    if "metric" in parts:
        parts["metric"] = _known("metric", parts["metric"], metrics)
    if "levels" in parts:
        parts["levels"] = _array("levels", parts["levels"])
    check_decimal("epsilon", parts["epsilon"])
    return counted(NoisyCounts(declared=parts.pop("epsilon"), **parts))


def _known(field: str, name: object, known: Mapping[str, _T]) -> _T:
    if not isinstance(name, str) or name not in known:
        raise BadStudy(field, name, f"must be one of the {field}s of the study")
    return known[name]


def _read_model(document: object) -> Model:
    return Model(**_members(document, ("name",), ("version",)))


def _read_stratum(document: object) -> Stratum:
    parts = _members(document, ("of", "name", "share"))
    check_decimal("share", parts["share"])
    return Stratum(**parts)


def _read_issuer(document: object) -> Issuer:
    return Issuer(**_members(document, ("name", "key")))


def _read_release(document: object) -> Release:
    parts = _members(document, ("batch", "delta", "draws"))
    check_decimal("delta", parts["delta"])
    return Release(**parts)


# ---------------------------------------------------------------------------------------------------- writing
def write(study: "Study") -> _Document:
    """Return the document of a study."""
    document = {
        "format": _FORMAT,
        "title": study.title,
        **{name: getattr(study, name) for name in _PLAIN},
        "metrics": [_said(metric, "name", "low", "high", "help", "better", "unit") for metric in study.metrics],
        "attributes": [_write_attribute(attribute) for attribute in study.attributes],
        "model": _said(study.model, "name", "version"),
        "stratum": _said(study.stratum, "of", "name", "share"),
        "issuer": _said(study.issuer, "name", "key"),
        "release": _said(study.release, "batch", "delta", "draws"),
        "tables": [_FORMATS[table[0].mechanism].write(table) for table in study.tables],
        "translations": study.translations and {tag: dict(texts) for tag, texts in study.translations.items()},
    }
    return {name: value for name, value in document.items() if value is not None}


def _said(thing: object, *names: str) -> _Document | None:
    """Return what something says of these fields."""
    if thing is None:
        return None
    return {name: getattr(thing, name) for name in names if getattr(thing, name) is not None}


def _write_attribute(attribute: Attribute) -> _Document:
    document = _said(attribute, "name", "help", "shares", "share_error", "share_source") or {}
    if attribute.shares is not None:
        named_so = attribute.answering in (ANY, ALIKE)
        document["answering"] = attribute.answering if named_so else {"ratio": attribute.answering}
    if attribute.cross:
        document["cross"] = [_said(factor, "name", "groups", "help") for factor in attribute.cross]
    else:
        document["groups"] = attribute.groups
    if attribute.comparisons is not None:
        document["comparisons"] = [_said(one, "of", "against", "weight") for one in attribute.comparisons]
    return document


def _write_channel(questions: tuple[Question, ...]) -> _Document:
    first, mechanism = questions[0], questions[0].channel
    asked = [
        {
            **(_said(question, "target", *_RECKONED) or {}),
            "metric": question.metric.name,
            "levels": levels,
        }
        for question, levels in zip(questions, mechanism.axes, strict=True)
    ]
    return {
        "attribute": first.attribute.name,
        "questions": asked,
        "design": first.design,
        "epsilon": first.epsilon,
        "abstain": mechanism.abstain,
        "table": mechanism.table,
    }


def _write_counts(questions: tuple[Question, ...]) -> _Document:
    mechanism = questions[0].counts
    document = _said(mechanism, "outcome", "records", "levels", "person") or {}
    document |= {"attribute": mechanism.attribute.name, "epsilon": mechanism.declared}
    return document | ({} if mechanism.metric is None else {"metric": mechanism.metric.name})


@dataclass(frozen=True)
class TableFormat:
    """How the tables of a mechanism stand in a document.

    Args:
        member: What only such a table has.
        read: Reads one, given the metrics and the attributes by name.
        write: Writes the one that answers some questions.
    """

    member: str
    read: Callable[[object, Mapping[str, Metric], Mapping[str, Attribute]], tuple[Question, ...]]
    write: Callable[[tuple[Question, ...]], _Document]


_FORMATS: Registry[TableFormat] = Registry(
    {
        Channel: TableFormat("table", _read_channel, _write_channel),
        NoisyCounts: TableFormat("outcome", _read_counts, _write_counts),
    }
)


def _format_of(table: object) -> TableFormat:
    """Return what reads a table: by the member that only such a one has; a channel's says what is wrong with others."""
    first, *others = _FORMATS
    return next((one for one in others if isinstance(table, dict) and one.member in table), first)
