"""This interface as an OpenAPI 3.1 document, made from the table of operations; docs/collector-api.md is made of it."""

from collections.abc import Iterable
from typing import Any

import msgspec

from fairgauge import __version__
from fairgauge.collector.operations import Gives, Operation, Shape
from fairgauge.collector.queries import parameters_of
from fairgauge.collector.shapes import DOCUMENTS, Digest, Problem
from fairgauge.collector.table import TABLE
from fairgauge.server.problems import KINDS, MEDIA_TYPE

Document = dict[str, Any]

_SCHEMAS = "#/components/schemas/"
_FORM = "application/x-www-form-urlencoded"
_TYPES = {"application/json": "object"}


def openapi(table: Iterable[Operation] = TABLE) -> Document:
    """Return the document."""
    paths: dict[str, Document] = {}
    for one in table:
        known = paths.setdefault(one.path, {"parameters": [_digest()]} if "{digest}" in one.path else {})
        known[one.method.lower()] = _operation(one)
    _, schemas = msgspec.json.schema_components(DOCUMENTS, ref_template=_SCHEMAS + "{name}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "fairgauge collector",
            "version": __version__,
            "description": (
                "Takes randomised answers, counts each once, and shows what they say. "
                "Errors are problem documents (RFC 9457)."
            ),
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
            "responses": {kind: _problem(kind) for kind in KINDS},
        },
    }


def _operation(one: Operation) -> Document:
    responses = {str(status): _good(gives) for status, gives in one.gives.items()}
    for kind in _problems(one):
        responses.setdefault(str(KINDS[kind][0]), {"$ref": f"#/components/responses/{kind}"})
    found: Document = {"operationId": one.name, "summary": one.summary, "responses": responses}
    if described := f"{one.access.sentence} {one.description}".strip():
        found["description"] = described
    if one.access.token:
        found["security"] = [{"token": []}]
    if one.query is not None and (schemas := parameters_of(one.query)):
        found["parameters"] = [_parameter(name, dict(schema)) for name, schema in schemas.items()]
    if one.form is not None:
        fields = {"type": "object", "properties": {name: {"type": "string"} for name in one.form}}
        found["requestBody"] = {"content": {_FORM: {"schema": fields}}}
    elif one.body:
        content = {kind: {"schema": _one_of(shapes, _TYPES.get(kind, "string"))} for kind, shapes in one.body.items()}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _problems(one: Operation) -> list[str]:
    """Return the kinds of problems, the most telling one of each status first."""
    found = [*one.problems, *one.access.problems]
    if "{digest}" in one.path:
        found.append("no-study")
    if one.form is not None:
        found += ["bad-request", "not-allowed", "too-large", "bad-media-type"]
    if one.query is not None:
        found.append("bad-request")
    return [*found, "store-away"]


def _good(gives: Gives) -> Document:
    if not gives.kinds:
        return {"description": gives.words}
    schema = _one_of(gives.shapes, "object" if gives.kinds == ("application/json",) else "string")
    return {"description": gives.words, "content": {kind: {"schema": schema} for kind in gives.kinds}}


def _one_of(shapes: tuple[Shape, ...], otherwise: str) -> Document:
    """Return that a body is one of some documents, or of a type if none are named."""
    references = [_ref(shape) for shape in shapes]
    if len(references) > 1:
        return {"oneOf": references}
    return references[0] if references else {"type": otherwise}


def _parameter(name: str, schema: Document) -> Document:
    described = schema.pop("description")
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": described}


def _digest() -> Document:
    schema = msgspec.json.schema(Digest)
    return {"name": "digest", "in": "path", "required": True, "schema": schema, "description": "The study's name."}


def _problem(kind: str) -> Document:
    return {"description": KINDS[kind][1], "content": {MEDIA_TYPE: {"schema": _ref(Problem)}}}


def _ref(shape: Shape) -> Document:
    return {"$ref": _SCHEMAS + shape.__name__}
