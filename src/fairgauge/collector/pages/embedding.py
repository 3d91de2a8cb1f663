"""The page's form as one script, for other sites: a custom element that brings its words and its looks along.

One file can be copied and pinned as a whole: the attribute ``integrity`` of a script covers that file, and nothing that
it imports.  The collector's own page uses the same file.
"""

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha384
from pathlib import Path

from fairgauge import __version__
from fairgauge.collector.pages.speaking import script

_PAGES = Path(__file__).parent
_STATIC = _PAGES.parent / "static"
ENTRY = "take-part.js"
CLIENT = "fairgauge-client.js"
_IMPORT = re.compile(r'^import (?:\{([^}]*)\}|\* as (\w+)) from "\./([\w.-]+)";\n', re.MULTILINE)
_LATER = re.compile(r'\bimport\("\./([\w.-]+)"\)')
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) (\w+))", re.MULTILINE)


@cache
def bundle() -> bytes:
    """Return the custom element and all that it needs, as one module."""
    order: list[str] = []
    _visit(ENTRY, order, ())
    about = f"""/**
 * <fairgauge-study>: take part in a fairgauge study, on any page.  Version {__version__}.  Apache-2.0.
 *
 * Made from the modules below, unchanged but for how they import each other; no dependencies.
 */"""
    parts = [
        about,
        "const modules = {};",
        *(_wrapped(name) for name in order),
        *(f'export const {{ {", ".join(_exports(name))} }} = modules["{name}"];' for name in (CLIENT, ENTRY)),
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


def source(name: str) -> str:
    """Return a module: a file, or one that is made from the catalogue of words or the style sheet."""
    if name == "languages.js":
        return script().decode()
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
    text = source(name)
    for _, _, needed in _IMPORT.findall(text):
        _visit(needed, order, (*above, name))
    order.append(name)
    for needed in _LATER.findall(text):
        if needed not in above:
            _visit(needed, order, ())


def _exports(name: str) -> list[str]:
    return [str(found) for found in _EXPORT.findall(source(name))]


def _wrapped(name: str) -> str:
    """Return a module as a function that is called at once, so that its names stay its own."""
    text = source(name)

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
