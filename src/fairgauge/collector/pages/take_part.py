"""Taking part in a browser: a page that randomises its visitor's answer on the visitor's own device.

The page is the same for every study and every visitor.  What it says about a study comes from the study's own bytes,
after the browser has checked their digest, so nothing that is shown rests on the collector's word.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from fairgauge.collector.access import collector_of

_PAGES = Path(__file__).parent
_STATIC = _PAGES.parent / "static"
_KINDS = {".css": "text/css", ".js": "text/javascript"}
# What is served as /static/...: modules, which other sites may import, and what the page needs beside it.
_SCRIPTS = tuple(f"take-part{part}.js" for part in ("", "-fields", "-study", "-answer"))
_FILES = (*_SCRIPTS, "take-part.css")
_MODULES = ("fairgauge-client.js", "fairgauge-crowd.js", "fairgauge-passes.js", "fairgauge-envelopes.js")
ASSETS = {name: _STATIC / name for name in _MODULES} | {name: _PAGES / name for name in _FILES}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


async def show(request: Request) -> Response:
    """Show the page to anyone, for a study that there is."""
    await collector_of(request).document(request.path_params["digest"])
    page = _read(_PAGES / "take_part.html")[0]
    # Nothing of what a person types may be kept with the page.
    headers = {"Cache-Control": "no-store", "Content-Security-Policy": POLICY}
    return Response(page, 200, headers, "text/html; charset=utf-8")


async def asset(request: Request) -> Response:
    """Give a script or a style sheet to anyone, on any site: they hold nothing private."""
    path = ASSETS[request.url.path.rpartition("/")[2]]
    data, digest = _read(path)
    headers = {
        "ETag": f'"{digest}"',
        "Cache-Control": "no-cache",
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(None, 304, headers)
    return Response(data, 200, headers, f"{_KINDS[path.suffix]}; charset=utf-8")


@cache
def _read(path: Path) -> tuple[bytes, str]:
    data = path.read_bytes()
    return data, sha256(data).hexdigest()
