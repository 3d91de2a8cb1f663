"""What web pages of other origins may do here (CORS): what a device needs, and nothing else.

A device in a browser fetches a study and sends an answer.  Neither takes a token or a cookie, so pages of any origin
may do both.  Browsers keep them away from everything else.
"""

import re
from collections.abc import Iterable

from starlette.responses import Response

# With every response, also to a request that names no origin: then a cache needs one copy for everyone.  And with
# problems too, or a page could not tell an answer that is refused for good from a network that is down.
SHARED = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Fairgauge-Admission, Fairgauge-Key, Fairgauge-Signature, Retry-After"),
]


def pattern_of(operations: Iterable[tuple[str, str]]) -> re.Pattern[str]:
    """Return what matches the requests that pages of other origins may make, as ``METHOD path``.

    >>> found = pattern_of([("POST", "/studies/{digest}/answers")])
    >>> [found.fullmatch(text) is not None for text in ("POST /studies/1f0c/answers", "POST /studies")]
    [True, False]
    """
    paths = [f"({method}|OPTIONS) " + re.sub(r"\{[a-z]+\}", "[^/]+", path) for method, path in operations]
    return re.compile("|".join(paths))


def preflight(method: str) -> Response:
    """Answer a browser that asks, before a page makes a request, whether it may."""
    headers = {
        "Access-Control-Allow-Methods": method,
        "Access-Control-Allow-Headers": "Authorization, Content-Type",
        "Access-Control-Max-Age": "86400",
    }
    return Response(None, 204, headers)
