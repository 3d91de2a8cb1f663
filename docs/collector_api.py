"""Make docs/collector-api.md from the collector's OpenAPI document.

``python docs/collector_api.py --check`` exits with 1 if the page is not what the document says today, and
``--write`` writes it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fairgauge.collector.query_parameters import rule_of
from fairgauge.collector.routes import openapi
from fairgauge.server.problems import OTHER_KEY, URN

OTHER_KEY_MEANS = "The envelope is for a key that this gateway has not (RFC 9458)"
PAGE = Path(__file__).parent / "collector-api.md"


def page() -> str:
    """Return the page."""
    document = openapi()
    return "\n".join(_lines(document)).rstrip() + "\n"


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield "# Collector API"
    yield ""
    yield "<!-- Made from the OpenAPI document by docs/collector_api.py: edit fairgauge.collector.routes. -->"
    yield ""
    yield document["info"]["description"] + " A running collector shows this as `/openapi.json`."
    yield ""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method != "parameters":
                yield from _operation(document, f"{method.upper()} {path}", operation)
    yield from _documents(document)
    yield from _problems(document)


def _operation(document: dict[str, Any], title: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"## `{title}`"
    yield ""
    yield f"{operation['summary'].rstrip('.?')}{'?' if operation['summary'].endswith('?') else '.'} " + operation.get(
        "description", ""
    )
    yield ""
    if "parameters" in operation:
        yield "| parameter | values | meaning |"
        yield "|---|---|---|"
        for one in operation["parameters"]:
            schema = one["schema"]
            values = " or ".join(f"`{v}`" for v in schema["enum"]) if "enum" in schema else rule_of(schema)[8:]
            yield f"| `{one['name']}` | {values}; `{schema['default']}` unless given | {one['description']} |"
        yield ""
    yield "| status | meaning |"
    yield "|---|---|"
    for status, response in sorted(operation["responses"].items()):
        name = response.get("$ref", "").rpartition("/")[2]
        found = document["components"]["responses"][name] if name else response
        yield f"| {status} | {found['description'].rstrip('.')}{_shape(found)} |"
    yield ""


def _shape(response: dict[str, Any]) -> str:
    for content in response.get("content", {}).values():
        schema = content["schema"]
        names = [one["$ref"].rpartition("/")[2] for one in schema.get("oneOf", [schema]) if "$ref" in one]
        if names and names != ["ProblemDocument"]:
            return ": " + " or ".join(names)
    return ""


def _documents(document: dict[str, Any]) -> Iterator[str]:
    yield "## Documents"
    yield ""
    yield "| document | fields |"
    yield "|---|---|"
    for name, schema in document["components"]["schemas"].items():
        yield f"| {name} | {', '.join(f'`{field}`' for field in schema['required'])} |"
    yield ""


def _problems(document: dict[str, Any]) -> Iterator[str]:
    yield "## Problems"
    yield ""
    yield "The `type` of a problem is one of these and never changes its meaning; the sentences may."
    yield ""
    yield "| type | meaning |"
    yield "|---|---|"
    for urn in document["components"]["schemas"]["ProblemDocument"]["properties"]["type"]["enum"]:
        kind = urn.removeprefix(URN)
        meaning = OTHER_KEY_MEANS if kind == OTHER_KEY else document["components"]["responses"][kind]["description"]
        yield f"| `{urn}` | {meaning} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="exit 1 if the page is out of date")
    mode.add_argument("--write", action="store_true", help="write the page")
    if parser.parse_args(arguments).write:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    return int(PAGE.read_text(encoding="utf-8") != page())


if __name__ == "__main__":
    sys.exit(main())
