"""The languages that there are, one file of texts for each, and which of them somebody gets."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

OWN = "en"  # for whoever reads none of the others
FOLDER = Path(__file__).parent

Texts = Mapping[str, Any]


@cache
def catalogue() -> dict[str, Texts]:
    """Return every text in every language, by the language's tag; the one that texts are written in comes first."""
    files = sorted(FOLDER.glob("*.json"), key=lambda path: (path.stem != OWN, path.stem))
    return {path.stem: json.loads(path.read_bytes()) for path in files}


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


def region_of(tag: str, wanted: Iterable[str]) -> str:
    """Return the region of the first wanted tag that says more about the same language: it decides about digits.

    >>> region_of("ar", ["ar", "en-GB", "ar-MA"]), region_of("de", ["de-Latn-AT"]), region_of("de", ["en-GB"])
    ('MA', 'AT', '')
    """
    language = tag.partition("-")[0].lower()
    for one in wanted:
        first, *rest = one.split("-")
        if first.lower() == language:
            for part in rest:
                if len(part) == 2 and part.isalpha():
                    return part.upper()
    return ""
