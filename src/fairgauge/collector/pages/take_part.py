"""Taking part in a browser: a page that randomises its visitor's answer on the visitor's own device.

The page is the same for every study and every visitor, but for the language.  What it says about a study comes from the
study's own bytes, after the browser has checked their digest, so nothing that is shown rests on the collector's word.
"""

import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from shlex import quote

from starlette.requests import Request
from starlette.responses import Response

from fairgauge.collector.access import collector_of
from fairgauge.collector.pages.embedding import bundle
from fairgauge.collector.pages.html import address_of, templates
from fairgauge.collector.pages.speaking import voice_of
from fairgauge.languages import Voice, names
from fairgauge.reports.naming import title_in
from fairgauge.study import Study

_PAGES = Path(__file__).parent
_STATIC = _PAGES.parent / "static"
_KINDS = {"css": "text/css", "js": "text/javascript", "ts": "text/plain"}
# What is served as /static/...: modules, which other sites may import, and what the page has around them.
_MODULES = (
    *(f"fairgauge-{part}.js" for part in ("client", "crowd", "envelopes", "inclusion", "passes")),
    "fairgauge-client.d.ts",
)
_FILES = ("take-part-page.js", "take-part.css")
ASSETS: dict[str, Callable[[], bytes]] = {
    **{name: (_STATIC / name).read_bytes for name in _MODULES},
    **{name: (_PAGES / name).read_bytes for name in _FILES},
    "fairgauge-study.js": bundle,
}
_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


def policy(issuer: str = "") -> str:
    """Return what the page may do: with blind tickets, also ask the issuer that the study names.

    >>> "connect-src 'self' https://issuer.example;" in policy("issuer.example")
    True
    >>> policy("evil; script-src *") == POLICY
    True
    """
    if not _HOST.fullmatch(issuer):
        return POLICY
    return POLICY.replace("connect-src 'self'", f"connect-src 'self' https://{issuer}")


async def show(request: Request) -> Response:
    """Show the page to anyone, for a study that there is, in the language that they ask for."""
    entry = await collector_of(request).entry(request.path_params["digest"])
    tag = voice_of(request).tag
    headers = {
        "Cache-Control": "no-store",  # nothing of what a person types may be kept with the page
        "Content-Security-Policy": policy("" if entry.gate is None else entry.gate.issuer),
        "Content-Language": tag,
        "Vary": "Accept-Language",
    }
    if entry.contributors_known:  # sites answer with a command
        study = await collector_of(request).study(entry.digest)
        title, _ = title_in(study, Voice(tag))
        text = _render(tag, title=title, command=site_command(study, address_of(request)))
    else:
        text = _page(tag)
    return Response(text, 200, headers, "text/html; charset=utf-8")


def site_command(study: Study, address: str) -> str:
    """Return what a contributor who has a ticket types to answer a study."""
    factors = study.questions[0].attribute.factors
    columns = [f"--group-column {'' if len(factors) == 1 else f'{quote(one.name)}='}COLUMN" for one in factors]
    named = study.questions[0].named
    columns += ["--value-column COLUMN"] if named else ["--truth-column COLUMN", "--prediction-column COLUMN"]
    lines = [
        f"fairgauge answer {address}/studies/{study.digest}",
        "--records patients.csv --person-column COLUMN",
        " ".join(columns),
        f"--send {address} --ticket TICKET",
    ]
    return " \\\n    ".join(lines)


@cache
def _page(tag: str) -> str:
    return _render(tag)


def _render(tag: str, *, title: str = "", command: str = "") -> str:
    found = templates().get_template("take_part.html")
    return found.render(voice=Voice(tag), languages=names(), title=title, command=command)


async def asset(request: Request) -> Response:
    """Give a script or a style sheet to anyone, on any site: they hold nothing private."""
    name = request.url.path.rpartition("/")[2]
    data, digest = _read(name)
    headers = {
        "ETag": f'"{digest}"',
        "Cache-Control": "no-cache",
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(None, 304, headers)
    return Response(data, 200, headers, f"{_KINDS[name.rpartition('.')[2]]}; charset=utf-8")


@cache
def _read(name: str) -> tuple[bytes, str]:
    data = ASSETS[name]()
    return data, sha256(data).hexdigest()
