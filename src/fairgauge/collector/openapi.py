"""This interface as an OpenAPI 3.1 document, from which docs/collector-api.md is made."""

import re
from collections.abc import Mapping
from typing import Any

from fairgauge import __version__
from fairgauge.collector.pages.described import PAGES
from fairgauge.collector.pages.take_part import ASSETS
from fairgauge.collector.problems import KINDS, MEDIA_TYPE, URN

Document = dict[str, Any]

_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_COUNT = {"type": "integer", "minimum": 0}
_MOMENT = {"type": "string", "format": "date-time"}
_ANY_ORIGIN = "Web pages of any origin may do this (CORS), without credentials."
_NUMBERS = {"type": "object", "required": ["estimate", "low", "high"]}


def openapi() -> Document:
    """Return the document."""
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
        "paths": {path: _with_parameters(path, methods) for path, methods in _paths().items()},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
            "responses": {kind: _problem(kind) for kind in KINDS},
        },
    }


def _paths() -> dict[str, Document]:
    one = "/studies/{digest}"
    return {
        "/studies": {"post": _publish(), "get": _list()},
        one: {
            "get": _operation(
                "showStudy",
                "Show a study",
                "Anyone may ask. The body is the exact bytes that the digest is of. The header Fairgauge-Signature "
                "has the collector's signature, and Fairgauge-Admission says whether a ticket is needed. A browser, "
                f"which prefers text/html, gets the study's page. {_ANY_ORIGIN}",
                {"200": _json({"type": "object"}), "304": {"description": "Not changed."}},
                "no-study", "too-many",
            )
        },
        f"{one}/answers": {"post": _answers()},
        f"{one}/take-part": {
            "get": _operation(
                "takePart",
                "Show the page where a person takes part in a browser",
                "Anyone may ask. The browser randomises the answer and sends it as a device does.",
                {"200": _text("text/html", "The page.")},
                "no-study", "too-many",
            )
        },
        f"{one}/close": {
            "post": _operation(
                "closeStudy",
                "Close a study and seal it",
                "No answer is taken after this. Closing again changes nothing.",
                {"200": _json(_ref("Summary"))},
                "not-allowed", "no-study", "too-many", "full",
                role="operator",
            )
        },
        f"{one}/sealed": {"get": _result("sealed", "Show the seal of a closed study", "Sealed", "not-sealed")},
        f"{one}/tally": {"get": _result("tally", "Show how often each symbol was sent", "Tally")},
        f"{one}/arrivals": {"get": _result("arrivals", "Show how many answers came in each hour", "Arrivals")},
        f"{one}/estimate": {"get": _estimate()},
        f"{one}/export": {"get": _export()},
        **{f"/static/{name}": {"get": _asset(name)} for name in ASSETS},
        "/key": {
            "get": _operation(
                "key", "Show the collector's public key", "Anyone may ask.", {"200": _json(_ref("Key"))}, "bad-request"
            )
        },
        "/healthz": {"get": _operation("alive", "Is it alive?", "", {"200": _json(_ref("Status"))})},
        "/readyz": {"get": _operation("ready", "Can it take answers?", "", {"200": _json(_ref("Status"))})},
        "/metrics": {
            "get": _operation(
                "metrics",
                "Numbers for Prometheus",
                "",
                {"200": _text("text/plain", "Metrics.")},
                "bad-request", "too-many",
                role="reader",
            )
        },
        "/openapi.json": {
            "get": _operation("openapi", "This document", "", {"200": _json({"type": "object"})})
        },
        **_pages(),
    }  # fmt: skip


def _asset(name: str) -> Document:
    words = {".js": ("text/javascript", "A script"), ".css": ("text/css", "A style sheet")}
    kind, what = words[name[name.rindex(".") :]]
    described = (
        "The client as one module without dependencies, for any web app: any site may import it. "
        "The header ETag has the SHA-256 of its bytes."
        if name == "fairgauge-client.js"
        else ""
    )
    good = {"200": _text(kind, f"{what}."), "304": {"description": "Not changed."}}
    return _operation(re.sub(r"\W", "_", name), f"{what} of the page where a person takes part", described, good)


def _publish() -> Document:
    found = _operation(
        "publishStudy",
        "Publish a study",
        "The study's tables are checked. It cannot be changed afterwards; its name is the SHA-256 of its bytes.",
        {
            "201": _json(_ref("Summary"), "Published."),
            "200": _json(_ref("Summary"), "It was published before."),
        },
        "bad-study", "not-allowed", "other-admission", "too-large", "bad-media-type", "too-many", "full",
        role="operator",
    )  # fmt: skip
    found["parameters"] = [
        _query("admission", {"enum": ["open", "tickets"], "default": "open"}, "Who may answer."),
        _query("results", {"enum": ["readers", "public"], "default": "readers"}, "Who may see results."),
        _query(
            "aim",
            {"type": "string", "pattern": r"^0\.[0-9]{0,5}[1-9]$", "default": "0.01"},
            "The error that the study aims at, as a part of the metric's range.",
        ),
    ]
    found["requestBody"] = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
    return found


def _list() -> Document:
    schema = {
        "type": "object",
        "required": ["studies"],
        "properties": {"studies": {"type": "array", "items": _ref("Summary")}},
    }
    return _operation(
        "listStudies", "List the studies", "The newest first. A browser gets the page `/`.",
        {"200": _json(schema)}, "bad-request", "too-many", role="reader",
    )  # fmt: skip


def _answers() -> Document:
    found = _operation(
        "sendAnswers",
        "Send one answer, or a batch",
        "One answer as application/json gives `{\"status\": \"accepted\"}`, or `duplicate` if the same answer was "
        "counted before. A batch as application/x-ndjson has one answer a line and gives counts, and an error for each "
        f"line that was refused. The response comes after what it acknowledges is stored durably. {_ANY_ORIGIN}",
        {"200": _json({"oneOf": [_ref("Receipt"), _ref("BatchReceipt")]})},
        "bad-answer", "bad-ticket", "no-study", "too-slow", "conflict", "closed", "too-large", "bad-media-type",
        "too-early", "too-many",
    )  # fmt: skip
    found["responses"]["503"] = _ref_response("busy")
    found["responses"]["507"] = _ref_response("full")
    found["requestBody"] = {
        "required": True,
        "content": {
            "application/json": {"schema": _ref("Answer")},
            "application/x-ndjson": {"schema": {"type": "string"}},
        },
    }
    return found


def _estimate() -> Document:
    found = _result("estimate", "Estimate gaps and means from the answers so far", "Estimate", "cannot-estimate")
    found["parameters"] = [
        _query(
            "confidence",
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.99},
            "How often each interval is to hold the truth.",
        ),
        _query(
            "interval",
            {"enum": ["finite", "anytime", "normal", "chebyshev"], "default": "finite"},
            "The kind of interval.",
        ),
    ]
    return found


def _export() -> Document:
    found = _result("export", "Download all answers, sorted by id", "Answer")
    found["parameters"] = [_query("format", {"enum": ["ndjson", "parquet"], "default": "ndjson"}, "The file format.")]
    found["responses"]["200"] = {
        "description": "One canonical answer a line, or a Parquet file with the columns id and symbol.",
        "content": {
            "application/x-ndjson": {"schema": {"type": "string"}},
            "application/vnd.apache.parquet": {"schema": {"type": "string"}},
        },
    }
    return found


def _result(name: str, summary: str, schema: str, *problems: str) -> Document:
    described = "" if name == "arrivals" else "Anyone may ask if results are public."
    return _operation(
        name, summary, described, {"200": _json(_ref(schema))}, "bad-request", "no-study", "too-many", *problems,
        role="reader",
    )  # fmt: skip


def _operation(
    name: str, summary: str, description: str, good: Document, *problems: str, role: str | None = None
) -> Document:
    """Return an operation; its responses are the good ones and, for each problem, one of that status."""
    if role is not None:
        needs = "Needs the token of an operator." if role == "operator" else "Needs the token of a reader or operator."
        description, problems = f"{needs} {description}".strip(), ("no-token", *problems)
    responses = dict(good)
    for kind in problems:
        responses.setdefault(str(KINDS[kind][0]), _ref_response(kind))
    responses["503"] = _ref_response("store-away")
    found: Document = {"operationId": name, "summary": summary, "responses": responses}
    if description:
        found["description"] = description
    if role is not None:
        found["security"] = [{"token": []}]
    return found


def _with_parameters(path: str, methods: Document) -> Document:
    if "{digest}" not in path:
        return methods
    digest = {"name": "digest", "in": "path", "required": True, "schema": _DIGEST, "description": "The study's name."}
    return {"parameters": [digest], **methods}


def _query(name: str, schema: Document, description: str) -> Document:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": description}


def _json(schema: Document, description: str = "Fine.") -> Document:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _text(kind: str, description: str) -> Document:
    return {"description": description, "content": {kind: {"schema": {"type": "string"}}}}


def _problem(kind: str) -> Document:
    return {"description": KINDS[kind][1], "content": {MEDIA_TYPE: {"schema": _ref("Problem")}}}


def _ref(name: str) -> Document:
    return {"$ref": f"#/components/schemas/{name}"}


def _ref_response(kind: str) -> Document:
    return {"$ref": f"#/components/responses/{kind}"}


def _object(**properties: Mapping[str, Any]) -> Document:
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}


def _pages() -> dict[str, Document]:
    paths: dict[str, Document] = {}
    for one in PAGES:
        good = {status: _shown(kind) for status, kind in one.gives.items()}
        found = _operation(one.name, one.summary, one.description, good, *one.problems)
        if one.fields is not None:
            schema = {"type": "object", "properties": {name: {"type": "string"} for name in one.fields}}
            found["requestBody"] = {"content": {"application/x-www-form-urlencoded": {"schema": schema}}}
        paths.setdefault(one.path, {})[one.method] = found
    return paths


def _shown(kind: str) -> Document:
    if not kind:
        return {"description": "Look there, or it has not changed."}
    return {"description": "Fine.", "content": {kind: {"schema": {"type": "string"}}}}


def _schemas() -> Document:
    text, integer = {"type": "string"}, {"type": "integer"}
    problem = _object(type={"enum": [URN + kind for kind in KINDS]}, title=text, status=integer, detail=text)
    seal = _object(
        study=_DIGEST,
        answers=_COUNT,
        answers_sha256=_DIGEST,
        tally={"type": "array", "items": _COUNT},
        closed=_MOMENT,
        format=integer,
    )
    question = {
        "type": "object",
        "required": ["metric", "attribute", "answers", "headline", "gaps", "means", "overall", "warnings"],
        "properties": {"headline": {"type": "object", "required": ["kind"]}},
    }
    estimate = {
        "type": "object",
        "required": ["study", "confidence", "interval", "guarantee", "questions"],
        "properties": {"study": _DIGEST, "questions": {"type": "array", "items": question}},
    }
    return {
        "Answer": _object(
            study=_DIGEST,
            id={"type": "string", "pattern": "^[0-9a-f]{32}$"},
            symbol={"type": "integer", "minimum": 0, "maximum": 2**18 - 1},
        ),
        "Receipt": _object(status={"enum": ["accepted", "duplicate"]}),
        "BatchReceipt": _object(
            accepted=_COUNT,
            duplicates=_COUNT,
            errors={"type": "array", "items": _object(line=integer, type=text, status=integer, detail=text)},
        ),
        "Summary": _object(
            study=_DIGEST,
            title=text,
            admission={"enum": ["open", "tickets"]},
            results={"enum": ["readers", "public"]},
            aim=text,
            published=_MOMENT,
            status={"enum": ["open", "closed", "sealed"]},
            closed={"anyOf": [_MOMENT, {"type": "null"}]},
            key=text,
            signature=text,
        ),
        "Tally": _object(study=_DIGEST, counts={"type": "array", "items": _COUNT}),
        "Arrivals": _object(
            study=_DIGEST,
            bucket_seconds=integer,
            arrivals={"type": "array", "items": _object(start=_MOMENT, answers=_COUNT)},
        ),
        "Estimate": estimate,
        "Sealed": _object(seal=seal, key=text, signature=text, estimate=_ref("Estimate")),
        "Key": _object(algorithm={"const": "Ed25519"}, key=text),
        "Status": _object(status=text),
        "Problem": {**problem, "additionalProperties": True},
    }
