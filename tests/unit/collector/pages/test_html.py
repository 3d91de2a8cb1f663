"""Who gets which language: the address first, then the browser; and links that keep what was chosen."""

import pytest
from markupsafe import Markup
from starlette.requests import Request

from fairgauge.collector.pages.html import _markup, carried, voice_of
from fairgauge.languages import Voice


def asking(query: str = "", header: str = "") -> Request:
    headers = [(b"accept-language", header.encode())] if header else []
    return Request({"type": "http", "method": "GET", "path": "/", "query_string": query.encode(), "headers": headers})


@pytest.mark.parametrize(
    ("query", "header", "tag", "link"),
    [
        ("", "", "en", ""),
        ("", "de-AT,en;q=0.5", "de", ""),
        ("lang=ar", "de-AT,en;q=0.5", "ar", "?lang=ar"),
        ("lang=fr", "de", "de", "?lang=de"),
        ("lang=", "de", "de", ""),
        ('lang="><script>', "", "en", "?lang=en"),
    ],
)
def test_the_address_comes_before_the_browser(query: str, header: str, tag: str, link: str) -> None:
    assert voice_of(asking(query, header)).tag == tag
    assert carried(asking(query, header)) == link


def test_a_chosen_language_is_written_as_the_browsers_region_does() -> None:
    assert voice_of(asking("lang=ar", "en,ar-MA;q=0.5")) == Voice.of(["ar-MA"])


def test_parts_are_escaped_unless_they_are_markup() -> None:
    assert "<b>" not in _markup(Voice(), "page.source", file="<b>")
    for tag in ("en", "ar"):
        link = Markup("<a href=x>file</a>")
        assert link in _markup(Voice(tag), "page.source", file=link)
