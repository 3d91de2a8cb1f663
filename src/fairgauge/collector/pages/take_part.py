"""Taking part in a browser: a page that randomises its visitor's answer on the visitor's own device.

The page is the same for every study and every visitor, but for the language.  What it says about a study comes from the
study's own bytes, after the browser has checked their digest, so nothing that is shown rests on the collector's word.

The page's form is also one script, for other sites: a custom element that brings its words and its looks along.  One
file can be copied and pinned as a whole: the attribute ``integrity`` of a script covers that file, and nothing that it
imports.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256, sha384
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from fairgauge import __version__
from fairgauge.collector.access import collector_of
from fairgauge.collector.pages.html import address_of, templates, voice_of
from fairgauge.languages import Voice, catalogue, names
from fairgauge.reports.display import display_of
from fairgauge.reports.translated_names import title_in

_PAGES = Path(__file__).parent
_STATIC = _PAGES.parent / "static"
_KINDS = {"css": "text/css", "js": "text/javascript", "ts": "text/plain"}
_ENTRY = "take-part.js"
_CLIENT = "fairgauge-client.js"
_IMPORT = re.compile(r'^import (?:\{([^}]*)\}|\* as (\w+)) from "\./([\w.-]+)";\n', re.MULTILINE)
_LATER = re.compile(r'\bimport\("\./([\w.-]+)"\)')
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) (\w+))", re.MULTILINE)
# What the scripts of the page need where a person takes part; the rest is put into pages here.
_FOR_SCRIPTS = (
    "page", "asks", "state", "who", "privacy", "crowd", "checks", "limits", "form", "group", "value", "ticket", "ready",
    "sending", "thanks", "refused", "memory", "stop", "error", "rate",
)  # fmt: skip
_ABOUT = ("language.name", "language.direction")
_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


def _policy(issuer: str = "") -> str:
    """Return what the page may do: with blind tickets, also ask the issuer that the study names.

    >>> "connect-src 'self' https://issuer.example;" in _policy("issuer.example")
    True
    >>> _policy("evil; script-src *") == _POLICY
    True
    """
    if not _HOST.fullmatch(issuer):
        return _POLICY
    return _POLICY.replace("connect-src 'self'", f"connect-src 'self' https://{issuer}")


async def show(request: Request) -> Response:
    """Show the page to anyone, for a study that there is, in the language that they ask for."""
    collector, digest = collector_of(request), request.path_params["digest"]
    await collector.shown(digest)  # or another process removed it
    entry = await collector.entry(digest)
    tag = voice_of(request).tag
    headers = {
        "Cache-Control": "no-store",  # nothing of what a person types may be kept with the page
        "Content-Security-Policy": _policy("" if entry.gate is None else entry.gate.issuer),
        "Content-Language": tag,
        "Vary": "Accept-Language",
    }
    study = await collector.study(digest)
    command = display_of(study.mechanism).command(study, address_of(request))
    text = _page(tag) if command is None else _render(tag, title=title_in(study, Voice(tag))[0], command=command)
    return Response(text, 200, headers, "text/html; charset=utf-8")


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


@cache
def bundle() -> bytes:
    """Return the custom element and all that it needs, as one module."""
    order: list[str] = []
    _visit(_ENTRY, order, ())
    about = f"""/**
 * <fairgauge-study>: take part in a fairgauge study, on any page.  Version {__version__}.  Apache-2.0.
 *
 * Made from the modules below, unchanged but for how they import each other; no dependencies.
 */"""
    parts = [
        about,
        "const modules = {};",
        *(_wrapped(name) for name in order),
        *(f'export const {{ {", ".join(_exports(name))} }} = modules["{name}"];' for name in (_CLIENT, _ENTRY)),
    ]
    return "\n\n".join(parts).encode() + b"\n"


def types() -> bytes:
    """Return the types of what :func:`bundle` exports, for TypeScript."""
    return (_STATIC / "fairgauge-client.d.ts").read_bytes()


def integrity(data: bytes) -> str:
    """Return what the attribute ``integrity`` of a script says of its bytes.

    >>> integrity(b"alert('Hello, world.');")
    'sha384-H8BRh8j48O9oYatfu5AZzq6A9RINhZO5H16dQZngK7T62em8MUt1FLm52t+eX6xO'
    """
    return f"sha384-{b64encode(sha384(data).digest()).decode()}"


def _source(name: str) -> str:
    """Return a module: a file, or one that is made from the catalogue of words or the style sheet."""
    if name == "languages.js":
        return _script().decode()
    if name == "style.js":
        css = (_PAGES / "take-part.css").read_text(encoding="utf-8")
        return f"export const STYLE = {json.dumps(css, ensure_ascii=False)};\n"
    found = _PAGES / name if name.startswith("take-part") else _STATIC / name
    return found.read_text(encoding="utf-8")


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    """List a module after those that it needs at once, and before those that it loads later."""
    if name in above:
        raise ValueError(f"{' imports '.join((*above, name))}: modules must not import each other in a circle")
    if name in order:
        return
    text = _source(name)
    for _, _, needed in _IMPORT.findall(text):
        _visit(needed, order, (*above, name))
    order.append(name)
    for needed in _LATER.findall(text):
        if needed not in above:
            _visit(needed, order, ())


def _exports(name: str) -> list[str]:
    return [str(found) for found in _EXPORT.findall(_source(name))]


def _wrapped(name: str) -> str:
    """Return a module as a function that is called at once, so that its names stay its own."""
    text = _source(name)

    def imported(match: re.Match[str]) -> str:
        names, whole, module = match.groups()
        what = whole or "{" + names.replace(" as ", ": ") + "}"
        return f'const {what} = modules["{module}"];\n'

    text = _IMPORT.sub(imported, text)
    text = _LATER.sub(lambda match: f'Promise.resolve(modules["{match[1]}"])', text)
    text = _EXPORT.sub("", text)
    if left := re.search(r"^(?:import|export)\b.*|\bimport\(.*", text, re.MULTILINE):
        raise ValueError(f"{name}: cannot put this into one file: {left[0]}")
    return f'modules["{name}"] = (() => {{\n{text}\nreturn {{ {", ".join(_exports(name))} }};\n}})();'


@cache
def _for_scripts() -> dict[str, dict[str, object]]:
    """Return the part of the catalogue that scripts use, by language."""
    return {
        tag: {key: text for key, text in texts.items() if key in _ABOUT or key.partition(".")[0] in _FOR_SCRIPTS}
        for tag, texts in catalogue().items()
    }


@cache
def _script() -> bytes:
    """Return the words of scripts as a module for browsers."""
    return f"export const LANGUAGES = {json.dumps(_for_scripts(), ensure_ascii=False, indent=1)};\n".encode()


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
