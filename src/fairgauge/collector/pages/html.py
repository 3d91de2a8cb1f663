"""HTML over HTTP: who wants it and in which language, with which headers it is sent, and how a problem looks."""

from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from fairgauge.collector.access import session_of
from fairgauge.collector.audit_log import done_words
from fairgauge.languages import Voice, accepted, names
from fairgauge.reports.templating import environment, style
from fairgauge.server.problems import Problem

ENGLISH = Voice()
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A report has its style sheet inside: it must look the same when it is saved and opened as a file.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # so that a form says which site it is from
    "Vary": "Accept, Accept-Language, Cookie",
}


def wants_html(request: Request) -> bool:
    """Tell whether a request prefers HTML to JSON: browsers say so, and devices and programs do not."""
    wanted = dict(_ranges(request.headers.get("accept", "")))
    return wanted.get("text/html", 0.0) > wanted.get("application/json", 0.0)


def _ranges(accept: str) -> list[tuple[str, float]]:
    found = []
    for part in accept.split(","):
        kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            found.append((kind, float(quality)))
        except ValueError:
            found.append((kind, 0.0))
    return found


def page(
    request: Request, template: str, *, status: int = 200, voice: Voice | None = None, **values: object
) -> Response:
    """Return a page made from a template, in a language or the one that is asked for; it learns who is signed in."""
    languages = names() if voice is None else []
    voice = voice or voice_of(request)
    # What follows a form has an address that takes forms alone: in another language it is the page of the form.
    place = "/operator" if request.url.path.startswith("/operator/") else ""
    told = {
        "place": place,
        "voice": voice,
        "carried": carried(request),
        "session": session_of(request),
        "languages": languages,
    }
    text = templates().get_template(template).render(**told | values)
    headers = {**_HEADERS, "Content-Language": voice.tag}
    return Response(text, status, headers, "text/html; charset=utf-8")


def on_loopback(request: Request) -> bool:
    """Tell whether a browser asks its own machine, where there is no network that needs TLS."""
    host = request.headers.get("host", "")
    return host.removesuffix(f":{request.url.port}") in ("127.0.0.1", "localhost", "[::1]")


def address_of(request: Request) -> str:
    """Return the address of this collector as a browser knows it, for commands that people copy."""
    return f"{'http' if on_loopback(request) else 'https'}://{request.headers.get('host', 'collector')}"


def see_other(address: str) -> Response:
    """Send a browser elsewhere after it has sent a form."""
    return Response(None, 303, {**_HEADERS, "Location": address})


def problem_page(request: Request, problem: Problem) -> Response:
    """Return a problem as a page."""
    title = voice_of(request).say(f"problem.{problem.kind}")
    found = page(request, "problem.html", status=problem.status, problem=problem, title=title)
    found.headers.update({name: value for name, value in problem.headers.items() if name != "WWW-Authenticate"})
    return found


@lru_cache(maxsize=1)
def templates() -> Environment:
    """Return the templates of the pages."""
    found = environment(__package__)
    found.filters["markup"] = _markup
    found.filters["done"] = done_words
    return found


async def asset(request: Request) -> Response:
    """Give the style sheet, or the script that keeps a page up to date, to anyone."""
    if request.url.path.endswith(".css"):
        data, kind = style().encode(), "text/css; charset=utf-8"
    else:
        data, kind = files(__package__).joinpath("live.js").read_bytes(), "text/javascript; charset=utf-8"
    headers = {"ETag": f'"{sha256(data).hexdigest()}"', "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(None, 304, headers)
    return Response(data, 200, headers, kind)


def voice_of(request: Request) -> Voice:
    """Return the voice that a browser asks for: ``?lang=`` first, then Accept-Language."""
    wanted = [*_chosen(request), *accepted(request.headers.get("accept-language", ""))]
    return Voice.of(tag[:35] for tag in wanted[:20])  # a tag has at most 35 letters (RFC 5646)


def _chosen(request: Request) -> list[str]:
    """Return the language that an address names, if it names one."""
    return [tag for tag in request.query_params.getlist("lang")[:1] if tag]


def carried(request: Request) -> str:
    """Return what a link needs at its end, so that the next page keeps a language that was _chosen.

    Only one of the catalogue is carried on: an address can name anything.
    """
    return f"?lang={voice_of(request).tag}" if _chosen(request) else ""


def _markup(voice: Voice, key: str, **parts: Markup | str) -> Markup:
    """Return a text with its parts put in, as _markup; what is no _markup is escaped."""
    held = {name: f"\N{OBJECT REPLACEMENT CHARACTER}{number}\N{OBJECT REPLACEMENT CHARACTER}"
            for number, name in enumerate(parts)}  # fmt: skip
    text = escape(voice.say(key, **held))
    for name, place in held.items():
        text = text.replace(voice.apart(place), escape(parts[name]))
    return text
