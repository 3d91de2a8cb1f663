"""What web pages of other origins may do here (CORS): what a device needs, and nothing else.

A device in a browser fetches a study and sends an answer.  Neither takes a token or a cookie, so pages of any origin
may do both.  Browsers keep them away from everything else.
"""

import re

from starlette.responses import Response

_SHARED = re.compile(r"(GET|OPTIONS) /studies/[^/]+|(POST|OPTIONS) /studies/[^/]+/answers")

# With every response, also to a request that names no origin: then a cache needs one copy for everyone.  And with
# problems too, or a page could not tell an answer that is refused for good from a network that is down.
SHARED = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Fairgauge-Admission, Fairgauge-Signature, Retry-After"),
]


def is_shared(method: str, path: str) -> bool:
    """Tell whether pages of other origins may make this request.

    >>> is_shared("POST", "/studies/1f0c/answers"), is_shared("POST", "/studies")
    (True, False)
    """
    return _SHARED.fullmatch(f"{method} {path}") is not None


def preflight(method: str) -> Response:
    """Answer a browser that asks, before a page makes a request, whether it may."""
    headers = {
        "Access-Control-Allow-Methods": method,
        "Access-Control-Allow-Headers": "Content-Type",
        "Access-Control-Max-Age": "86400",
    }
    return Response(None, 204, headers)
