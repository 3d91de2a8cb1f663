"""The words that people read who take part: one catalogue, one file for each language, and who gets which.

The page's scripts use the same catalogue, as the module ``languages.js``.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from markupsafe import Markup, escape

OWN = "en"  # for whoever reads none of the others
FOLDER = Path(__file__).parent / "languages"

Texts = Mapping[str, str | Mapping[str, str]]


@cache
def catalogue() -> dict[str, Texts]:
    """Return every text in every language, by the language's tag; the one that texts are written in comes first."""
    files = sorted(FOLDER.glob("*.json"), key=lambda path: (path.stem != OWN, path.stem))
    return {path.stem: json.loads(path.read_bytes()) for path in files}


@cache
def script() -> bytes:
    """Return the catalogue as a module for browsers."""
    return f"export const LANGUAGES = {json.dumps(catalogue(), ensure_ascii=False, indent=1)};\n".encode()


def names() -> list[tuple[str, str]]:
    """Return the languages, each with its own name for itself."""
    return [(tag, str(texts["language.name"])) for tag, texts in catalogue().items()]


def lookup(wanted: Iterable[str]) -> str:
    """Return the first wanted language that there is: "de-AT" also finds "de" (RFC 4647, lookup).

    >>> lookup(["fr", "de-AT", "en"]), lookup(["tlh"])
    ('de', 'en')
    """
    known = {tag.lower(): tag for tag in catalogue()}
    for tag in wanted:
        left = tag.lower()
        while left:
            if left in known:
                return known[left]
            left = left.rpartition("-")[0]
    return OWN


def accepted(header: str) -> list[str]:
    """Return the languages of an Accept-Language header, the best first.

    >>> accepted("en;q=0.5, de-AT, ar;q=0.9, fr;q=0, *;q=0.1")
    ['de-AT', 'ar', 'en']
    """
    found = []
    for part in header.split(","):
        tag, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((p[2:] for p in parameters if p.lower().startswith("q=")), "1")
        try:
            weight = float(quality)
        except ValueError:
            weight = 0.0
        if weight > 0 and tag and tag != "*":
            found.append((weight, tag))
    return [tag for _, tag in sorted(found, key=lambda one: -one[0])]


def say(tag: str, key: str, **parts: str) -> Markup:
    """Return a text in a language with its parts put in; what is no markup is escaped."""
    text = catalogue()[tag][key]
    if not isinstance(text, str):
        raise TypeError(f"{key} depends on a count")
    return escape(text).format(**parts)
