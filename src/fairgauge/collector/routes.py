"""Everything that can be asked of a collector, in one table: routes and the OpenAPI document are made from it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairgauge import __version__
from fairgauge.collector import documents, gateway, result_endpoints, study_endpoints
from fairgauge.collector.access import Access, Door, read_form
from fairgauge.collector.admission import PublishingTerms
from fairgauge.collector.answer_endpoint import AnswersEndpoint
from fairgauge.collector.documents import DOCUMENTS, Digest, ProblemDocument
from fairgauge.collector.pages import html, take_part
from fairgauge.collector.pages import operator_page as operator
from fairgauge.collector.pages import study_pages as pages
from fairgauge.collector.pages.html import wants_html
from fairgauge.collector.query_parameters import (
    FORMATS,
    EstimateQuery,
    ExportQuery,
    InclusionQuery,
    Language,
    Query,
    ReportQuery,
    parameters_of,
    read_query,
)
from fairgauge.collector.result_endpoints import MEDIA_TYPE as ZIP
from fairgauge.server.problems import KINDS, MEDIA_TYPE
from fairgauge.unlinkable.oblivious_http import KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE, WELL_KNOWN

_Handler = Callable[..., Awaitable[Response]]
_Shape = type[msgspec.Struct]


@dataclass(frozen=True)
class Gives:
    """A good response: its media types (none if it has no body), and the documents that it may be."""

    words: str = "Fine."
    kinds: tuple[str, ...] = ("application/json",)
    shapes: tuple[_Shape, ...] = ()


@dataclass(frozen=True)
class Page:
    """What a browser is given instead, which prefers HTML."""

    handler: _Handler
    access: Access


@dataclass(frozen=True)
class Operation:
    """One request: who may make it, what it takes, what it gives, and who answers it.

    Args:
        method: The HTTP method.
        path: The path.
        name: The name, for programs that are made from the OpenAPI document.
        summary: What it does, in a line.
        handler: Answers the request; is given the parameters or the form, where there are any.
        access: Who may make it.
        gives: Good responses by status.
        description: More for people.
        problems: Kinds of problems beside those that access, parameters and form bring with them.
        query: The parameters; None lets any pass unread.
        form: The fields of a form.
        body: The media types of a body, each with the documents that it may be.
        shared: Whether web pages of other origins may make it.
        page: What a browser is given instead.
    """

    method: str
    path: str
    name: str
    summary: str
    handler: _Handler | AnswersEndpoint
    access: Access = Door.FREE
    gives: Mapping[int, Gives] = field(default_factory=lambda: {200: Gives()})
    description: str = ""
    problems: tuple[str, ...] = ()
    query: type[Query] | None = Query
    form: tuple[str, ...] | None = None
    body: Mapping[str, tuple[_Shape, ...]] = field(default_factory=dict)
    shared: bool = False
    page: Page | None = None

    async def answer(self, request: Request) -> Response:
        """Let a request in, read what it brings, and answer it."""
        access, handler, query = self.access, self.handler, self.query
        if self.page is not None and wants_html(request):
            access, handler, query = self.page.access, self.page.handler, Language
        if isinstance(handler, AnswersEndpoint):
            raise TypeError("answers are taken by an application of their own")
        await access.enter(request)
        given: list[Any] = []
        if query is not None:
            read = read_query(request, query)
            given += [read] if query not in (Query, Language) else []  # a page asks the request for its language
        if self.form is not None:
            given.append(await read_form(request, self.form, access.form_bytes))
        return await handler(request, *given)


_JSON = "application/json"
_HTML = "text/html"
_ONE = "/studies/{digest}"
_ANY_ORIGIN = "Web pages of any origin may do this (CORS), without credentials."


def _of(shape: type[msgspec.Struct], words: str = "Fine.") -> Gives:
    return Gives(words, shapes=(shape,))


def _file(kind: str, words: str = "Fine.") -> Gives:
    return Gives(words, (kind,))


_UNCHANGED = Gives("Not changed.", ())
_ELSEWHERE = Gives("Look there.", ())
_PAGE = {200: _file(_HTML)}


def _asset(name: str) -> Operation:
    kind, what = (
        ("text/javascript", "A script") if name.endswith(".js") else ("text/css", "A style sheet")
    )  # fmt: skip
    described = (
        "The client as one module without dependencies, for any web app: any site may import it. "
        "The header ETag has the SHA-256 of its bytes."
    )
    return Operation(
        "GET", f"/static/{name}", name.replace("-", "_").replace(".", "_"),
        f"{what} of the page where a person takes part", take_part.asset,
        gives={200: _file(kind, f"{what}."), 304: _UNCHANGED},
        description=described if name == "fairgauge-client.js" else "",
        query=None,
    )  # fmt: skip


TABLE: tuple[Operation, ...] = (
    Operation(
        "POST", "/studies", "publishStudy", "Publish a study", study_endpoints.publish, Door.OPERATOR,
        {201: _of(documents.Publication, "Published."), 200: _of(documents.Publication, "It was published before.")},
        "The study's tables are checked. It cannot be changed afterwards; its name is the SHA-256 of its bytes.",
        ("bad-study", "other-admission", "contradicted", "too-large", "bad-media-type", "full"),
        query=PublishingTerms,
        body={_JSON: ()},
    ),
    Operation(
        "GET", "/studies", "listStudies", "List the studies", study_endpoints.listing, Door.READER,
        {200: _of(documents.Listing)},
        "The newest first. A browser gets the page `/`, in the language that `lang` names.",
        page=Page(pages.index, Door.BROWSER),
    ),
    Operation(
        "GET", "/studies/directory", "directory", "Name the studies that hide who answers",
        study_endpoints.directory, Door.DEVICE,
        {200: _of(documents.Directory)},
        "The digests of studies that name the gateway and are not over. A device asks through a relay, where nobody "
        f"knows who asks, and answers no study that is missing here. {_ANY_ORIGIN}",
        shared=True,
    ),
    Operation(
        "GET", _ONE, "showStudy", "Show a study", study_endpoints.show, Door.DEVICE,
        {200: Gives(), 304: _UNCHANGED},
        "The body is the exact bytes that the digest is of. The header Fairgauge-Signature has the collector's "
        "signature, Fairgauge-Key the key that made it, and Fairgauge-Admission says whether a ticket is needed. A "
        "browser, which prefers text/html, gets "
        f"the study's page, in the language that `lang` names. {_ANY_ORIGIN}",
        shared=True,
        page=Page(pages.study, Door.VISITOR),
    ),
    Operation(
        "GET", f"{_ONE}/status", "studyStatus", "Say whether a study takes answers now", study_endpoints.status,
        Door.DEVICE, {200: _of(documents.Standing)},
        "A client asks before it draws, so that nobody spends privacy on a study that its operator closed early. "
        f"{_ANY_ORIGIN}",
        shared=True,
    ),
    Operation(
        "POST", f"{_ONE}/answers", "sendAnswers", "Send one answer, or a batch", AnswersEndpoint(),
        gives={200: Gives(shapes=(documents.Receipt, documents.BatchReceipt))},
        description=(
            'One answer as application/json gives `{"status": "accepted"}`, or `duplicate` if the same answer was '
            "counted before. A batch as application/x-ndjson has one answer a line and gives counts, and an error for "
            "each line that was refused. Where sites answer, each has a ticket. The response comes after what it "
            "acknowledges is stored durably. "
            f"{_ANY_ORIGIN}"
        ),
        problems=(
            "bad-answer", "bad-ticket", "too-slow", "conflict", "closed", "too-large", "bad-media-type", "too-early",
            "too-many", "busy", "full",
        ),
        body={_JSON: (documents.AnswerDocument, documents.NoisyAnswer), "application/x-ndjson": ()},
        shared=True,
    ),
    Operation(
        "GET", WELL_KNOWN, "gatewayKeys", "Show the key configuration of the gateway", gateway.show_keys, Door.DEVICE,
        {200: _file(KEYS_TYPE, "The key configuration (RFC 9458).")},
        "A relay hands it to devices that do not know the study yet; answers are sealed with the key in the study.",
    ),
    Operation(
        "POST", WELL_KNOWN, "openEnvelope", "Take a request in an envelope", gateway.take_envelope, Door.ENVELOPE,
        {200: _file(RESPONSE_TYPE, "The response, in an envelope, of one size but for documents.")},
        "Oblivious HTTP (RFC 9458): a relay sends here what devices sealed. An envelope holds one answer, or asks for "
        "a study, its status, or the directory; what comes of it, also a refusal, is in the envelope that comes back.",
        ("bad-request", "too-large", "bad-media-type", "too-slow"),
        body={REQUEST_TYPE: ()},
    ),
    Operation(
        "GET", f"{_ONE}/take-part", "takePart", "Show the page where a person takes part in a browser",
        take_part.show, Door.DEVICE, {200: _file(_HTML, "The page.")},
        "The browser randomises the answer and sends it as a device does.",
        query=None,
    ),
    Operation(
        "POST", f"{_ONE}/close", "closeStudy", "Close a study and seal it", study_endpoints.close, Door.OPERATOR,
        {200: _of(documents.Summary)}, "No answer is taken after this. Closing again changes nothing.",
        ("full", "contradicted"),
    ),
    Operation(
        "GET", f"{_ONE}/sealed", "sealed", "Show the seal of a closed study", study_endpoints.sealed, Door.RESULTS,
        {200: _of(documents.SealedDocument)}, problems=("not-sealed",),
    ),
    Operation(
        "GET", f"{_ONE}/inclusion", "inclusion", "Prove that an answer is among those that were sealed",
        result_endpoints.inclusion, Door.DEVICE, {200: _of(documents.Inclusion)},
        "For studies in the crowd. A device asks for the bucket that the first bits of its id name, some 256 answers "
        "or more, and looks for its own leaf there: SHA-256 of a zero byte and the answer's canonical bytes. "
        f"{_ANY_ORIGIN}",
        ("not-sealed", "answers-gone"), query=InclusionQuery, shared=True,
    ),
    Operation(
        "GET", f"{_ONE}/tally", "tally", "Show the sum of what answers hold", result_endpoints.tally, Door.RESULTS,
        {200: _of(documents.TallyDocument)},
        "How often each symbol was sent; of sites the sum of what they counted, and nothing before the study closes.",
    ),
    Operation(
        "GET", f"{_ONE}/arrivals", "arrivals", "Show how many answers came in each hour", result_endpoints.arrivals,
        Door.READER, {200: _of(documents.Arrivals)},
    ),
    Operation(
        "GET", f"{_ONE}/estimate", "estimate", "Estimate gaps and means from the answers so far",
        result_endpoints.estimate, Door.RESULTS, {200: _of(documents.EstimateDocument)}, problems=("cannot-estimate",),
        query=EstimateQuery,
    ),
    Operation(
        "GET", f"{_ONE}/export", "export", "Download all answers, sorted by id", result_endpoints.export, Door.IDS,
        {200: Gives("One canonical answer a line, or a Parquet file with the columns id and symbol, or counts.",
                    tuple(FORMATS.values()))},
        "Of a study in the crowd, or for sites, for operators only, when it is sealed. Sites' answers are NDJSON.",
        ("answers-gone", "not-sealed"), query=ExportQuery,
    ),
    Operation(
        "GET", f"{_ONE}/bundle", "bundle", "Download everything of a sealed study that belongs together, as one zip",
        result_endpoints.bundle, Door.RESULTS, {200: _file(ZIP, "Study, signature, tally, seal, report and answers.")},
        "`fairgauge verify` takes it as it is. The answers are in it for those who may download them, until they are "
        "removed.",
        ("not-sealed", "busy"), query=ReportQuery,
    ),
    *(_asset(name) for name in take_part.ASSETS),
    Operation(
        "GET", "/key", "key", "Show the collector's public key", study_endpoints.key, gives={200: _of(documents.Key)},
        description="Anyone may ask.",
    ),
    Operation(
        "GET", "/healthz", "alive", "Is it alive?", study_endpoints.alive, gives={200: _of(documents.Status)},
        query=None
    ),
    Operation(
        "GET", "/readyz", "ready", "Can it take answers?", study_endpoints.ready,
        gives={200: _of(documents.Status)}, query=None,
    ),
    Operation(
        "GET", "/metrics", "metrics", "Numbers for Prometheus", study_endpoints.metrics, Door.READER,
        {200: _file("text/plain", "Metrics.")},
    ),
    Operation("GET", "/openapi.json", "openapi", "This document", study_endpoints.describe, query=None),
    Operation(
        "GET", "/", "index", "List studies as a page", pages.index, Door.BROWSER, _PAGE,
        "Everyone sees studies with public results; whoever has signed in sees all.", query=Language,
    ),
    Operation(
        "GET", f"{_ONE}/events", "events", "Send results as they change, as server-sent events", pages.events,
        Door.RESULTS, {200: _file("text/event-stream")},
        "Each event `results` has HTML for the study's page; `over` says that no more will come.", ("busy",),
        query=Language,
    ),
    Operation(
        "GET", f"{_ONE}/report", "report", "Send the report of a study as one HTML file", pages.report,
        Door.RESULTS, _PAGE,
        "With anytime intervals and 0.99 confidence, as on the study's page; where answers come in waves, with "
        "population intervals when the study is over.",
        problems=("cannot-estimate",), query=ReportQuery,
    ),
    Operation("GET", "/sign-in", "signInPage", "Ask for a token", operator.sign_in_page, gives=_PAGE, query=Language),
    Operation(
        "POST", "/sign-in", "signIn", "Sign a browser in", operator.sign_in,
        gives={303: _ELSEWHERE, 403: _file(_HTML)},
        description="Takes a token, and sets a cookie that is signed, HttpOnly and SameSite=Strict, for eight hours.",
        problems=("too-many",), query=None, form=("token",),
    ),
    Operation(
        "POST", "/sign-out", "signOut", "Sign a browser out", operator.sign_out, gives={303: _ELSEWHERE},
        problems=("not-allowed",), query=None, form=("proof",),
    ),
    Operation(
        "GET", "/operator", "operatorPage", "Show the operator's page", operator.desk, Door.FREE,
        {200: _file(_HTML), 303: _ELSEWHERE}, "Needs the session of an operator.", ("not-allowed", "too-many"),
        query=Language,
    ),
    Operation(
        "POST", "/operator/publish", "operatorPublish", "Plan or publish a study", operator.publish, Door.FORM,
        {200: _file(_HTML), 303: _ELSEWHERE}, problems=("other-admission", "contradicted"), query=None,
        form=("proof", "action", *operator.FIELDS),
    ),
    Operation(
        "POST", "/operator/close", "operatorClose", "Close a study", operator.close, Door.FORM, {303: _ELSEWHERE},
        problems=("no-study", "contradicted"), query=None, form=("proof", "study", "sure"),
    ),
    Operation(
        "POST", "/operator/tokens", "operatorTokens", "Make or revoke a token", operator.tokens, Door.FORM,
        {200: _file(_HTML), 303: _ELSEWHERE}, query=None, form=("proof", "action", "name", "role"),
    ),
    Operation(
        "POST", "/operator/tickets", "operatorTickets", "Make tickets", operator.tickets, Door.FORM,
        {200: _file("text/plain")}, problems=("no-study",), query=None, form=("proof", "study", "count", "sites"),
    ),
    Operation(
        "GET", "/style.css", "style", "The style sheet of the pages", html.asset,
        gives={200: _file("text/css"), 304: _UNCHANGED}, query=None,
    ),
    Operation(
        "GET", "/live.js", "live", "The script that keeps a study's page up to date, and copies commands", html.asset,
        gives={200: _file("text/javascript"), 304: _UNCHANGED}, query=None,
    ),
)  # fmt: skip


_Document = dict[str, Any]

_SCHEMAS = "#/components/schemas/"
_FORM = "application/x-www-form-urlencoded"
_TYPES = {"application/json": "object"}


def openapi(table: Iterable[Operation] = TABLE) -> _Document:
    """Return the document."""
    paths: dict[str, _Document] = {}
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


def _operation(one: Operation) -> _Document:
    responses = {str(status): _good(gives) for status, gives in one.gives.items()}
    for kind in _problems(one):
        responses.setdefault(str(KINDS[kind][0]), {"$ref": f"#/components/responses/{kind}"})
    found: _Document = {"operationId": one.name, "summary": one.summary, "responses": responses}
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


def _good(gives: Gives) -> _Document:
    if not gives.kinds:
        return {"description": gives.words}
    schema = _one_of(gives.shapes, "object" if gives.kinds == ("application/json",) else "string")
    return {"description": gives.words, "content": {kind: {"schema": schema} for kind in gives.kinds}}


def _one_of(shapes: tuple[_Shape, ...], otherwise: str) -> _Document:
    """Return that a body is one of some documents, or of a type if none are named."""
    references = [_ref(shape) for shape in shapes]
    if len(references) > 1:
        return {"oneOf": references}
    return references[0] if references else {"type": otherwise}


def _parameter(name: str, schema: _Document) -> _Document:
    described = schema.pop("description")
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": described}


def _digest() -> _Document:
    schema = msgspec.json.schema(Digest)
    return {"name": "digest", "in": "path", "required": True, "schema": schema, "description": "The study's name."}


def _problem(kind: str) -> _Document:
    return {"description": KINDS[kind][1], "content": {MEDIA_TYPE: {"schema": _ref(ProblemDocument)}}}


def _ref(shape: _Shape) -> _Document:
    return {"$ref": _SCHEMAS + shape.__name__}
