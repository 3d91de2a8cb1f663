"""Everything that can be asked of a collector, in one table: routes and the OpenAPI document are made from it."""

import msgspec

from fairgauge.collector import shapes
from fairgauge.collector.access import BROWSER, DEVICE, ENVELOPE, FORM, FREE, IDS, OPERATOR, READER, RESULTS, VISITOR
from fairgauge.collector.bundle import MEDIA_TYPE
from fairgauge.collector.export import FORMATS
from fairgauge.collector.operations import Gives, Operation, Page
from fairgauge.collector.pages import html, operator, take_part
from fairgauge.collector.pages import studies as pages
from fairgauge.collector.queries import EstimateQuery, ExportQuery, InclusionQuery, Language, ReportQuery, Terms
from fairgauge.collector.routes import envelopes, health, results, studies
from fairgauge.collector.routes.answers import AnswersEndpoint
from fairgauge.collector.routes.inclusion import inclusion
from fairgauge.unlinkable.oblivious import KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE, WELL_KNOWN

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
        "POST", "/studies", "publishStudy", "Publish a study", studies.publish, OPERATOR,
        {201: _of(shapes.Summary, "Published."), 200: _of(shapes.Summary, "It was published before.")},
        "The study's tables are checked. It cannot be changed afterwards; its name is the SHA-256 of its bytes.",
        ("bad-study", "other-admission", "contradicted", "too-large", "bad-media-type", "full"),
        query=Terms,
        body={_JSON: ()},
    ),
    Operation(
        "GET", "/studies", "listStudies", "List the studies", studies.listing, READER,
        {200: _of(shapes.Listing)}, "The newest first. A browser gets the page `/`, in the language that `lang` names.",
        page=Page(pages.index, BROWSER),
    ),
    Operation(
        "GET", "/studies/directory", "directory", "Name the studies that hide who answers", studies.directory, DEVICE,
        {200: _of(shapes.Directory)},
        "The digests of studies that name the gateway and are not over. A device asks through a relay, where nobody "
        f"knows who asks, and answers no study that is missing here. {_ANY_ORIGIN}",
        shared=True,
    ),
    Operation(
        "GET", _ONE, "showStudy", "Show a study", studies.show, DEVICE,
        {200: Gives(), 304: _UNCHANGED},
        "The body is the exact bytes that the digest is of. The header Fairgauge-Signature has the collector's "
        "signature, Fairgauge-Key the key that made it, and Fairgauge-Admission says whether a ticket is needed. A "
        "browser, which prefers text/html, gets "
        f"the study's page, in the language that `lang` names. {_ANY_ORIGIN}",
        shared=True,
        page=Page(pages.study, VISITOR),
    ),
    Operation(
        "GET", f"{_ONE}/status", "studyStatus", "Say whether a study takes answers now", studies.status, DEVICE,
        {200: _of(shapes.Standing)},
        "A client asks before it draws, so that nobody spends privacy on a study that its operator closed early. "
        f"{_ANY_ORIGIN}",
        shared=True,
    ),
    Operation(
        "POST", f"{_ONE}/answers", "sendAnswers", "Send one answer, or a batch", AnswersEndpoint(),
        gives={200: Gives(shapes=(shapes.Receipt, shapes.BatchReceipt))},
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
        body={_JSON: (shapes.Answer, shapes.NoisyAnswer), "application/x-ndjson": ()},
        shared=True,
    ),
    Operation(
        "GET", WELL_KNOWN, "gatewayKeys", "Show the key configuration of the gateway", envelopes.keys, DEVICE,
        {200: _file(KEYS_TYPE, "The key configuration (RFC 9458).")},
        "A relay hands it to devices that do not know the study yet; answers are sealed with the key in the study.",
    ),
    Operation(
        "POST", WELL_KNOWN, "openEnvelope", "Take a request in an envelope", envelopes.take, ENVELOPE,
        {200: _file(RESPONSE_TYPE, "The response, in an envelope, of one size but for documents.")},
        "Oblivious HTTP (RFC 9458): a relay sends here what devices sealed. An envelope holds one answer, or asks for "
        "a study, its status, or the directory; what comes of it, also a refusal, is in the envelope that comes back.",
        ("bad-request", "too-large", "bad-media-type", "too-slow"),
        body={REQUEST_TYPE: ()},
    ),
    Operation(
        "GET", f"{_ONE}/take-part", "takePart", "Show the page where a person takes part in a browser",
        take_part.show, DEVICE, {200: _file(_HTML, "The page.")},
        "The browser randomises the answer and sends it as a device does.",
        query=None,
    ),
    Operation(
        "POST", f"{_ONE}/close", "closeStudy", "Close a study and seal it", studies.close, OPERATOR,
        {200: _of(shapes.Summary)}, "No answer is taken after this. Closing again changes nothing.",
        ("full", "contradicted"),
    ),
    Operation(
        "GET", f"{_ONE}/sealed", "sealed", "Show the seal of a closed study", studies.sealed, RESULTS,
        {200: _of(shapes.Sealed)}, problems=("not-sealed",),
    ),
    Operation(
        "GET", f"{_ONE}/inclusion", "inclusion", "Prove that an answer is among those that were sealed",
        inclusion, DEVICE, {200: _of(shapes.Inclusion)},
        "For studies in the crowd. A device asks for the bucket that the first bits of its id name, some 256 answers "
        "or more, and looks for its own leaf there: SHA-256 of a zero byte and the answer's canonical bytes. "
        f"{_ANY_ORIGIN}",
        ("not-sealed", "answers-gone"), query=InclusionQuery, shared=True,
    ),
    Operation(
        "GET", f"{_ONE}/tally", "tally", "Show the sum of what answers hold", results.tally, RESULTS,
        {200: _of(shapes.Tally)},
        "How often each symbol was sent; of sites the sum of what they counted, and nothing before the study closes.",
    ),
    Operation(
        "GET", f"{_ONE}/arrivals", "arrivals", "Show how many answers came in each hour", results.arrivals, READER,
        {200: _of(shapes.Arrivals)},
    ),
    Operation(
        "GET", f"{_ONE}/estimate", "estimate", "Estimate gaps and means from the answers so far", results.estimate,
        RESULTS, {200: _of(shapes.Estimate)}, problems=("cannot-estimate",), query=EstimateQuery,
    ),
    Operation(
        "GET", f"{_ONE}/export", "export", "Download all answers, sorted by id", results.export, IDS,
        {200: Gives("One canonical answer a line, or a Parquet file with the columns id and symbol, or counts.",
                    tuple(FORMATS.values()))},
        "Of a study in the crowd, or for sites, for operators only, when it is sealed. Sites' answers are NDJSON.",
        ("answers-gone", "not-sealed"), query=ExportQuery,
    ),
    Operation(
        "GET", f"{_ONE}/bundle", "bundle", "Download everything of a sealed study that belongs together, as one zip",
        results.bundle, RESULTS, {200: _file(MEDIA_TYPE, "Study, signature, tally, seal, report and answers.")},
        "`fairgauge verify` takes it as it is. The answers are in it for those who may download them, until they are "
        "removed.",
        ("not-sealed", "busy"), query=ReportQuery,
    ),
    *(_asset(name) for name in take_part.ASSETS),
    Operation(
        "GET", "/key", "key", "Show the collector's public key", studies.key, gives={200: _of(shapes.Key)},
        description="Anyone may ask.",
    ),
    Operation(
        "GET", "/healthz", "alive", "Is it alive?", health.alive, gives={200: _of(shapes.Status)}, query=None
    ),
    Operation(
        "GET", "/readyz", "ready", "Can it take answers?", health.ready, gives={200: _of(shapes.Status)}, query=None
    ),
    Operation(
        "GET", "/metrics", "metrics", "Numbers for Prometheus", health.metrics, READER,
        {200: _file("text/plain", "Metrics.")},
    ),
    Operation("GET", "/openapi.json", "openapi", "This document", health.describe, query=None),
    Operation(
        "GET", "/", "index", "List studies as a page", pages.index, BROWSER, _PAGE,
        "Everyone sees studies with public results; whoever has signed in sees all.", query=Language,
    ),
    Operation(
        "GET", f"{_ONE}/events", "events", "Send results as they change, as server-sent events", pages.events, RESULTS,
        {200: _file("text/event-stream")},
        "Each event `results` has HTML for the study's page; `over` says that no more will come.", ("busy",),
        query=Language,
    ),
    Operation(
        "GET", f"{_ONE}/report", "report", "Send the report of a study as one HTML file", pages.report, RESULTS, _PAGE,
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
        "GET", "/operator", "operatorPage", "Show the operator's page", operator.desk, FREE,
        {200: _file(_HTML), 303: _ELSEWHERE}, "Needs the session of an operator.", ("not-allowed", "too-many"),
    ),
    Operation(
        "POST", "/operator/publish", "operatorPublish", "Plan or publish a study", operator.publish, FORM,
        {200: _file(_HTML), 303: _ELSEWHERE}, problems=("other-admission", "contradicted"), query=None,
        form=("proof", "action", *operator.FIELDS),
    ),
    Operation(
        "POST", "/operator/close", "operatorClose", "Close a study", operator.close, FORM, {303: _ELSEWHERE},
        problems=("no-study", "contradicted"), query=None, form=("proof", "study", "sure"),
    ),
    Operation(
        "POST", "/operator/tokens", "operatorTokens", "Make or revoke a token", operator.tokens, FORM,
        {200: _file(_HTML), 303: _ELSEWHERE}, query=None, form=("proof", "action", "name", "role"),
    ),
    Operation(
        "POST", "/operator/tickets", "operatorTickets", "Make tickets", operator.tickets, FORM,
        {200: _file("text/plain")}, problems=("no-study",), query=None, form=("proof", "study", "count", "sites"),
    ),
    Operation(
        "GET", "/style.css", "style", "The style sheet of the pages", html.style_sheet,
        gives={200: _file("text/css"), 304: _UNCHANGED}, query=None,
    ),
    Operation(
        "GET", "/live.js", "live", "The script that keeps a study's page up to date", html.live_script,
        gives={200: _file("text/javascript"), 304: _UNCHANGED}, query=None,
    ),
)  # fmt: skip
