"""Parameters are declared once: what the OpenAPI document allows is what the collector takes."""

import re
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.collector.admission import PublishingTerms
from fairgauge.collector.query_parameters import EstimateQuery, ExportQuery, Query, read_values, rule_of
from fairgauge.collector.routes import openapi
from fairgauge.errors import InvalidInput
from fairgauge.estimation import KINDS
from tests.collecting.desk import Desk
from tests.samples import sample_study

STUDY = sample_study()
ONE = f"/studies/{STUDY.digest}"


def described(path: str, method: str) -> dict[str, Any]:
    """Return the schema of each parameter, as the document has it."""
    return {one["name"]: one["schema"] for one in openapi()["paths"][path][method]["parameters"]}


ESTIMATE = described("/studies/{digest}/estimate", "get")
PUBLISH = described("/studies", "post")
SHAPES: list[tuple[type[Query], dict[str, Any]]] = [
    (EstimateQuery, ESTIMATE),
    (PublishingTerms, PUBLISH),
    (ExportQuery, described("/studies/{digest}/export", "get")),
]


def taken(shape: type[Query], name: str, text: str) -> bool:
    try:
        read_values({name: text}, shape)
    except InvalidInput:
        return False
    return True


def allowed(schema: dict[str, Any], text: str) -> bool:
    value: Any = text
    if schema.get("type") in ("integer", "number"):  # as JSON writes them
        part = "" if schema["type"] == "integer" else r"(\.[0-9]+)?([eE][+-]?[0-9]+)?"
        if re.fullmatch(rf"-?(0|[1-9][0-9]*){part}", text) is None:
            return False
        value = int(text) if schema["type"] == "integer" else float(text)
    return jsonschema_rs.is_valid(schema, value)


@pytest.mark.parametrize(
    ("name", "text", "good"),
    [
        ("confidence", "0.3", False), ("confidence", "0.5", True), ("confidence", "0.999", True),
        ("confidence", "1", False), ("confidence", "nan", False), ("confidence", "0.9x", False),
        ("interval", "guess", False), *(("interval", name, True) for name in KINDS),
    ],
)  # fmt: skip
def test_an_estimate_takes_what_its_description_allows(name: str, text: str, good: bool):
    assert taken(EstimateQuery, name, text) == allowed(ESTIMATE[name], text) == good


@pytest.mark.parametrize(
    ("name", "text", "good"),
    [
        ("aim", "0.10", True), ("aim", "0.01", True), ("aim", "0.000001", True), ("aim", "0.0000001", False),
        ("aim", "0.0", False), ("aim", "0", False), ("aim", "1.0", False), ("aim", "", False), ("aim", "-0.1", False),
        ("admission", "tickets", True), ("admission", "ticket", False), ("results", "public", True),
        ("hourly", "0", True), ("hourly", "20000", True), ("hourly", "-1", False), ("hourly", "1.5", False),
        ("hourly", "10000000000", False), ("hourly", "many", False),
    ],
)  # fmt: skip
def test_publishing_takes_what_its_description_allows(name: str, text: str, good: bool):
    assert taken(PublishingTerms, name, text) == allowed(PUBLISH[name], text) == good


@given(st.sampled_from(SHAPES), st.data())
def test_whatever_is_typed_the_two_agree(pair: tuple[type[Query], dict[str, Any]], data: st.DataObject):
    shape, schemas = pair
    name = data.draw(st.sampled_from(sorted(schemas)))
    text = data.draw(
        st.from_regex(r"\A0?\.?[0-9]{0,9}\Z") | st.text(st.characters(min_codepoint=33, max_codepoint=126))
    )
    assert taken(shape, name, text) == allowed(schemas[name], text)


def test_a_line_end_after_a_good_value_is_refused():
    assert not taken(PublishingTerms, "aim", "0.01\n")


def test_a_rule_is_told_in_words():
    with pytest.raises(InvalidInput, match=r"^confidence=0.3: must be a number from 0.5 to below 1$"):
        read_values({"confidence": "0.3"}, EstimateQuery)
    with pytest.raises(InvalidInput, match=r"^aim=2: must be a decimal above 0 and below 1 of at most 8 characters"):
        read_values({"aim": "2"}, PublishingTerms)
    assert [rule_of(schema)[:8] for _, schemas in SHAPES for schema in schemas.values()] == ["must be "] * 7


def test_a_request_is_refused_by_the_same_rules(ask):
    async def scene(desk: Desk) -> None:
        assert (await desk.post("/studies?aim=0.10", STUDY.to_bytes())).json()["aim"] == "0.10"
        for query, told in (
            ("confidence=0.3", "confidence=0.3: must be a number from 0.5 to below 1"),
            ("sure=1", "query=sure: is not a parameter of this request"),
            ("confidence=0.9&confidence=0.9", "query=confidence: must be given once"),
            ("interval=normal&confidence=0.9&confidence=0.9", "query=confidence: must be given once"),
        ):
            found = await desk.get(f"{ONE}/estimate?{query}")
            assert (found.status_code, found.json()["detail"]) == (400, told)
        assert (await desk.get(f"{ONE}/estimate?confidence=0.5")).status_code == 200

    ask(scene)


def test_the_aim_that_a_study_states_is_published_with_it(ask):
    async def scene(desk: Desk) -> None:
        stated = replace(STUDY, aim="0.05")
        assert (await desk.publish(stated)).status_code == 201
        (shown,) = (await desk.get("/studies")).json()["studies"]
        assert shown["aim"] == "0.05"

    ask(scene)


def test_the_aim_unless_given_is_the_same_terms(ask):
    async def scene(desk: Desk) -> None:
        assert (await desk.publish(STUDY)).status_code == 201
        assert (await desk.post("/studies?aim=0.01", STUDY.to_bytes())).status_code == 200
        other = await desk.post("/studies?aim=0.02", STUDY.to_bytes())
        assert (other.status_code, "aim=0.01" in other.json()["detail"]) == (409, True)

    ask(scene)
