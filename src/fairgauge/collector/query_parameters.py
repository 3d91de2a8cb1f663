"""Parameters of requests: declared once as a struct, from which the check and the OpenAPI document are made."""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request

from fairgauge.errors import InvalidInput
from fairgauge.estimation.interval_kinds import DEFAULT, KINDS, SITE_KINDS, IntervalKind

_Q = TypeVar("_Q", bound="Query")
FORMATS = {"ndjson": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}


def _abouts(kinds: dict[str, IntervalKind]) -> str:
    return ", ".join(f"{kind.name}, {kind.about}" for kind in kinds.values())


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No parameter at all; others have the ones that they declare."""


class Language(Query, frozen=True):
    """In which language a page is asked for; the browser's own unless given."""

    lang: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,3}$",
            title="a language tag",
            examples=["de"],
            description="The language of the page, before those of the header Accept-Language.",
        ),
    ] = ""


class EstimateQuery(Query, frozen=True):
    """What an estimate is asked for with."""

    confidence: Annotated[float, Meta(ge=0.5, lt=1, description="How often each interval is to hold the truth.")] = 0.99
    interval: Annotated[
        Literal[tuple(dict.fromkeys((*KINDS, *SITE_KINDS)))],  # type: ignore[valid-type]
        Meta(description=f"What an interval is about: {_abouts(KINDS)}. In a study for sites: {_abouts(SITE_KINDS)}."),
    ] = DEFAULT


class ExportQuery(Query, frozen=True):
    """What an export is asked for with."""

    format: Annotated[
        Literal[tuple(FORMATS)],  # type: ignore[valid-type]
        Meta(description="The file format."),
    ] = "ndjson"


class ReportQuery(Query, frozen=True):
    """What a report is asked for with."""

    asked: Annotated[
        int,
        Meta(
            ge=0,
            le=10**12,
            description="How many were asked to answer, for the response that the report states; 0 if nobody says. An "
            "operator's to say, and no other's.",
        ),
    ] = 0


class InclusionQuery(Query, frozen=True):
    """Which part of a sealed study's answers a device wants to look for its own in."""

    bucket: Annotated[
        int,
        Meta(ge=-1, lt=2**40, description="The bucket that the first bits of an id name; -1 for none, only the root."),
    ] = -1


def parameters_of(shape: type[Query]) -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each parameter."""
    _, found = msgspec.json.schema_components([shape], ref_template="{name}")
    schemas: dict[str, dict[str, Any]] = found[shape.__name__]["properties"]
    return schemas


def rule_of(schema: dict[str, Any]) -> str:
    """Return in words what a schema asks of a value.

    >>> rule_of({"enum": ["open", "tickets"]})
    'must be open or tickets'
    >>> rule_of({"type": "number", "minimum": 0.5, "exclusiveMaximum": 1})
    'must be a number from 0.5 to below 1'
    """
    if "enum" in schema:
        return "must be " + " or ".join(map(str, schema["enum"]))
    if "pattern" in schema:
        return f"must be {schema['title']}, such as {schema['examples'][0]}"
    what = "a whole number" if schema["type"] == "integer" else "a number"
    high = f"below {schema['exclusiveMaximum']}" if "exclusiveMaximum" in schema else schema["maximum"]
    return f"must be {what} from {schema['minimum']} to {high}"


def read_query(request: Request, shape: type[_Q]) -> _Q:
    """Read the parameters of a request.

    Raises:
        InvalidInput: If one is unknown, given twice, or breaks its rule: nothing is ignored.
    """
    typed = request.query_params.multi_items()
    given = dict(typed)
    for name in given:
        if name not in shape.__struct_fields__:
            raise InvalidInput("query", name, "is not a parameter of this request")
    if len(given) < len(typed):
        raise InvalidInput("query", _repeated(typed), "must be given once")
    return read_values(given, shape)


def read_values(given: dict[str, str], shape: type[_Q]) -> _Q:
    """Read values that were typed, each by the rule of its name.

    >>> read_values({"format": "parquet"}, ExportQuery).format
    'parquet'
    >>> read_values({"confidence": "0.3"}, EstimateQuery)
    Traceback (most recent call last):
    ...
    fairgauge.errors.InvalidInput: confidence=0.3: must be a number from 0.5 to below 1
    """
    read: dict[str, Any] = {}
    for name, text in given.items():
        try:
            # Patterns end with $, which a line end may follow.
            if not text.isprintable():
                raise msgspec.ValidationError
            read[name] = getattr(msgspec.convert({name: text}, shape, strict=False), name)
        except msgspec.ValidationError:
            raise InvalidInput(name, text, rule_of(parameters_of(shape)[name])) from None
    return shape(**read)


def _repeated(typed: list[tuple[str, str]]) -> str:
    names = [name for name, _ in typed]
    return next(name for name in names if names.count(name) > 1)
