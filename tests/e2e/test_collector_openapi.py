"""Strange but well-described requests, made from the collector's own OpenAPI document: never a 5xx."""

import asyncio
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from fairgauge.collector.routes import openapi
from fairgauge.unlinkable.oblivious_http import REQUEST_TYPE
from tests.collecting.servers import ServerProcess
from tests.collecting.wire import Wire
from tests.samples import sample_study

STUDY = sample_study()
OPERATIONS = [
    (path, method)
    for path, methods in openapi()["paths"].items()
    for method in methods
    if method in ("get", "post") and not path.endswith("/events")  # which never ends: tests of the pages listen to it
]
# A request without parameters and body can only be right.
CASES = [(path, method, "positive") for path, method in OPERATIONS]
CASES += [(path, method, "negative") for path, method in OPERATIONS if "{digest}" in path or method == "post"]
GENEROUS = "\n".join(
    ["[rates]", *(f"{name} = 1e6" for name in ("readers", "operators", "refused", "open", "visitors"))]
)


@schemathesis.serializer(REQUEST_TYPE)
def envelope(_context: object, value: object) -> bytes:
    """Any text does for an envelope; what is in good ones has tests of its own."""
    return str(value).encode(errors="replace")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("openapi")
    with ServerProcess(folder, f"sqlite:///{folder / 'gauge.db'}", settings=GENEROUS) as found:

        async def publish() -> None:
            async with Wire(found.port) as wire:
                assert (await wire.request("POST", "/studies", STUDY.to_bytes(), token=found.token))[0] == 201

        asyncio.run(publish())
        yield found


@pytest.mark.parametrize(
    ("path", "method", "mode"), CASES, ids=[f"{mode} {method} {path}" for path, method, mode in CASES]
)
def test_no_request_breaks_the_collector(server: ServerProcess, path: str, method: str, mode: str):
    schema = schemathesis.openapi.from_dict(openapi())
    cases = schema[path][method].as_strategy(generation_mode=schemathesis.GenerationMode(mode))

    @given(case=cases)
    @settings(
        max_examples=6, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None, database=None
    )
    def ask(case: Any) -> None:
        if "digest" in case.path_parameters and crc32(str(case.body).encode()) % 2:
            case.path_parameters["digest"] = STUDY.digest
        headers = {"Authorization": f"Bearer {server.token}"}
        case.call_and_validate(
            base_url=f"http://127.0.0.1:{server.port}",
            headers=headers,
            checks=[not_a_server_error, status_code_conformance, response_schema_conformance],
        )

    ask()


NAMES = ("Accept", "Origin", "Cookie", "If-None-Match", "Sec-Fetch-Site", "Authorization", "Content-Type", "X")
ODD = ("http://[", "[::1", "text/html;q=x,*", "fairgauge-session=..", "bearer", '"', "=;,", "same-origin", "\xff", "/")
FIELDS = st.dictionaries(
    st.sampled_from(NAMES),
    st.sampled_from(ODD) | st.text(st.characters(min_codepoint=33, max_codepoint=255, exclude_characters="\x7f")),
    max_size=4,
)


@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=[f"{method} {path}" for path, method in OPERATIONS])
def test_no_header_breaks_the_collector(server: ServerProcess, path: str, method: str):
    schema = schemathesis.openapi.from_dict(openapi())
    cases = schema[path][method].as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)

    @given(case=cases, fields=FIELDS)
    @settings(
        max_examples=6, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None, database=None
    )
    def ask(case: Any, fields: dict[str, str]) -> None:
        if "digest" in case.path_parameters:
            case.path_parameters["digest"] = STUDY.digest
        sent = {name: value.encode("latin-1") for name, value in fields.items()}
        found = case.call(base_url=f"http://127.0.0.1:{server.port}", headers=sent)
        assert found.status_code < 500 or found.status_code == 503, fields

    ask()
