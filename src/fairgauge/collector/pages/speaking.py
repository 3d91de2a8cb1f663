"""Who speaks to whom: the language of a request, and the words of the page's scripts.

The texts are in ``fairgauge.languages``, one file for each language.
"""

import json
from functools import cache

from markupsafe import Markup, escape
from starlette.requests import Request

from fairgauge.languages import Voice, accepted, catalogue

ENGLISH = Voice()
# What the scripts of the page need where a person takes part; the rest is put into pages here.
_FOR_SCRIPTS = (
    "page", "asks", "state", "who", "privacy", "crowd", "checks", "limits", "form", "group", "value", "ticket", "ready",
    "sending", "thanks", "refused", "memory", "stop", "error",
)  # fmt: skip
_ABOUT = ("language.name", "language.direction")


def voice_of(request: Request) -> Voice:
    """Return the voice that a browser asks for: ``?lang=`` first, then Accept-Language."""
    wanted = [*chosen(request), *accepted(request.headers.get("accept-language", ""))]
    return Voice.of(tag[:35] for tag in wanted[:20])  # a tag has at most 35 letters (RFC 5646)


def chosen(request: Request) -> list[str]:
    """Return the language that an address names, if it names one."""
    return [tag for tag in request.query_params.getlist("lang")[:1] if tag]


def carried(request: Request) -> str:
    """Return what a link needs at its end, so that the next page keeps a language that was chosen.

    Only one of the catalogue is carried on: an address can name anything.
    """
    return f"?lang={voice_of(request).tag}" if chosen(request) else ""


def markup(voice: Voice, key: str, **parts: Markup | str) -> Markup:
    """Return a text with its parts put in, as markup; what is no markup is escaped."""
    held = {name: f"\N{OBJECT REPLACEMENT CHARACTER}{number}\N{OBJECT REPLACEMENT CHARACTER}"
            for number, name in enumerate(parts)}  # fmt: skip
    text = escape(voice.say(key, **held))
    for name, place in held.items():
        text = text.replace(voice.apart(place), escape(parts[name]))
    return text


@cache
def for_scripts() -> dict[str, dict[str, object]]:
    """Return the part of the catalogue that scripts use, by language."""
    return {
        tag: {key: text for key, text in texts.items() if key in _ABOUT or key.partition(".")[0] in _FOR_SCRIPTS}
        for tag, texts in catalogue().items()
    }


@cache
def script() -> bytes:
    """Return the words of scripts as a module for browsers."""
    return f"export const LANGUAGES = {json.dumps(for_scripts(), ensure_ascii=False, indent=1)};\n".encode()
