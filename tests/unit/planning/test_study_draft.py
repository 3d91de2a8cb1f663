"""Drafts: a study's own file, read field by field, and the study that it makes.

Covers: fairgauge.planning.draft_fields.
"""

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import fairgauge as fg
from fairgauge.errors import InvalidInput
from fairgauge.planning import make_study
from fairgauge.planning.draft_fields import FIELDS, names_under
from fairgauge.planning.study_draft import Draft, draft
from fairgauge.study import Attribute, Comparison, Metric, Model

TEXT = """
title = "Falls found, by sex"
epsilon = 1
design = "randomized-response"
model = "fall-detector@3.1"
opens = 2027-01-01T00:00:00Z
planned = 2e5

[[metrics]]
name = "recall"
expect = 0.9

[attribute]
name = "sex"
groups = ["female", "male"]
shares = [0.52, 0.48]

[plan]
confidence = 0.95

[table]
missing = "leave out"
[table.labels.sex]
F = "female"
"*" = ""
"""
SEX = {"name": "sex", "groups": ["female", "male"]}


def load(folder: Path, text: str) -> Draft:
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return Draft.load(folder / "study.toml")


def test_a_file_makes_the_study_that_its_values_make(tmp_path: Path):
    found = load(tmp_path, TEXT)
    attribute = Attribute("sex", ["female", "male"], ["0.52", "0.48"])
    questions = fg.planning.input.ask([Metric("recall", 0, 1)], attribute, expect={"recall": "0.9"})
    terms = {"model": Model("fall-detector", "3.1"), "opens": "2027-01-01T00:00:00Z", "planned": 200_000}
    made = make_study(
        "Falls found, by sex", questions, Decimal(1), design="randomized-response", **terms
    )  # fmt: skip
    assert found.study().to_bytes() == made.to_bytes()
    assert found.clients == 200_000
    assert found.table.labels == {"sex": {"F": "female", "*": ""}}
    assert (found.table.missing, found.plan) == ("leave out", {"confidence": Decimal("0.95")})


def test_keywords_say_the_same_and_win_over_the_file(tmp_path: Path):
    document = tomllib.loads(TEXT, parse_float=Decimal)
    path = tmp_path / "study.toml"
    path.write_text(TEXT)
    assert draft(**document) == draft(path) == fg.Study.draft(path) == fg.Study.draft(**document)
    other = draft(path, epsilon=2, metrics=[Metric("fpr", 0, 1)], contact="ada@example.org")
    assert (str(other.epsilon), [metric.name for metric in other.metrics], dict(other.expect)) == ("2", ["fpr"], {})
    assert other.terms["contact"] == "ada@example.org"
    assert other.terms["planned"] == 200_000
    assert other.attribute == draft(path).attribute


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"tite": "x"}, "tite=x: is no field here; perhaps title"),
        ({"metrics": [{"name": "recall", "hihg": 1}]}, "metrics[0].hihg=1: is no field here; perhaps high"),
        ({"metrics": [{"name": "a"}, {"name": "a"}]}, "metrics[1].name=a: must be listed once"),
        ({"metrics": {"name": "a"}}, "metrics=a dict: must be a list of tables, each headed [[metrics]]"),
        ({"metrics": ["recall"]}, "metrics[0]=recall: must be a table"),
        ({"metrics": [{"name": "a", "low": 2}]}, "metrics[0].high=1: must be above low"),
        ({"metrics": [{"name": "a", "expect": 7}]}, "metrics[0].expect=7: must be from 0 to 1"),
        ({"epsilon": -1}, "epsilon=-1: must be above 0"),
        ({"abstain": "yes"}, "abstain=yes: must be true or false"),
        ({"attribute": {"name": "sex"}}, "attribute.groups=None: must be a list"),
        ({"attribute": SEX | {"shares": [0.5]}}, "attribute.shares=1 shares: must be one for each of 2 groups"),
        ({"attribute": SEX | {"shares": "half"}}, "attribute.shares=half: must be a list of numbers"),
        ({"attribute": SEX | {"shares": [0.5, 0.4]}}, "attribute.shares=0.5, 0.4: must sum to exactly 1"),
        ({"attribute": SEX | {"cross": []}}, "attribute.groups=groups: must not be given beside cross"),
        ({"attribute": SEX | {"comparisons": "all"}}, "attribute.comparisons=all: must be a list, or the word cells"),
        (
            {"attribute": SEX | {"comparisons": [{"of": "f", "against": "male"}]}},
            "attribute.comparisons[0].of=f: must be one of female, male, or a list of groups",
        ),
        ({"attribute": SEX | {"comparisons": {"against": "x"}}}, "attribute.comparisons=x: must be { against"),
        ({"model": 7}, "model=7: must be a table"),
        ({"issuer": {"name": "x"}}, "issuer=name: must have name, key"),
        ({"plan": {"client": 7}}, "plan.client=7: is no field here; perhaps clients"),
        ({"plan": {"confidence": "high"}}, "plan.confidence=high: must be a number"),
        ({"table": {"columns": {"sex": "s"}}}, "table.columns.sex=s: must be of one of"),
        ({"attribute": SEX, "table": {"columns": {"sex": 7}}}, "table.columns.sex=7: must be the name of a column"),
        (
            {"attribute": SEX, "table": {"labels": {"sex": {"F": "women"}}}},
            'table.labels.sex.F=women: must be one of female, male, or "" for what counts as missing',
        ),
        ({"table": {"missing": "drop"}}, 'table.missing=drop: must be "leave out" or "abstain"'),
        ({"table": 7}, "table=7: must be a table"),
    ],
)
def test_an_error_names_the_field_the_value_and_the_rule(stated: dict[str, Any], said: str):
    with pytest.raises(InvalidInput) as caught:
        Draft.read(stated)
    assert str(caught.value).startswith(said)


def test_what_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(InvalidInput, match=r"study=.*: cannot be read: No such file"):
        Draft.load(tmp_path / "nowhere.toml")
    with pytest.raises(InvalidInput, match="must be TOML: Invalid value"):
        load(tmp_path, "title =")
    (tmp_path / "study.toml").write_bytes(b"\xff")
    with pytest.raises(InvalidInput, match="must be TOML in UTF-8"):
        Draft.load(tmp_path / "study.toml")


@pytest.mark.parametrize(
    ("stated", "planned"),
    [
        ("cells", (Comparison("a", "b"), Comparison("a", "c"), Comparison("b", "c"))),
        ({"against": "b"}, (Comparison("a", "b"), Comparison("c", "b"))),
        ([{"of": ["a", "b"], "against": "c", "weight": 2}], (Comparison(("a", "b"), "c", 2),)),
    ],
)
def test_what_is_compared(stated: Any, planned: tuple[Comparison, ...]):
    found = Draft.read({"attribute": {"name": "kind", "groups": ["a", "b", "c"], "comparisons": stated}}).attribute
    assert found is not None
    assert found.comparisons == planned


def test_attributes_cross_with_shares_of_their_own_or_from_a_file(tmp_path: Path):
    ages = '[[attribute.cross]]\nname = "age"\ngroups = ["18-49, town", "50+"]\n{}'
    crossing = '[attribute]\n{}[[attribute.cross]]\nname = "sex"\ngroups = ["f", "m"]\n{}' + ages
    own = load(tmp_path, crossing.format("", "shares = [0.6, 0.4]\n", "shares = [0.5, 0.5]\n")).attribute
    assert own is not None
    assert own.shares == ("0.3", "0.3", "0.2", "0.2")
    assert own.comparisons is not None
    (tmp_path / "cells.csv").write_text(
        'sex,age,share\nf,"18-49, town",0.1\nf,50+,0.2\nm,"18-49, town",0.3\nm,50+,0.4\n'
    )
    read = load(tmp_path, crossing.format('shares = "cells.csv"\n', "", "")).attribute
    assert read is not None
    assert read.shares == ("0.1", "0.2", "0.3", "0.4")
    with pytest.raises(InvalidInput, match=r"attribute\.cross=shares of some: give every attribute shares, or none"):
        load(tmp_path, crossing.format("", "shares = [0.6, 0.4]\n", ""))


def test_sites_have_what_they_count():
    asked = {"title": "T", "epsilon": 1, "attribute": SEX, "outcome": "confusion"}
    assert Draft.read(asked).study().mechanism.counts_people
    assert Draft.read(asked | {"outcome": "levels", "metrics": [{"name": "m"}]}).study().metrics[0].name == "m"
    with pytest.raises(InvalidInput, match="design=laplace: must not be given with outcome"):
        Draft.read(asked | {"design": "laplace"}).study()
    with pytest.raises(InvalidInput, match="metric=m: must not be given where the outcome is confusion"):
        Draft.read(asked | {"metrics": [{"name": "m"}]}).study()


@pytest.mark.parametrize("lacking", ["title", "epsilon", "attribute", "metrics"])
def test_what_a_study_cannot_do_without_is_named(lacking: str):
    asked = {"title": "T", "epsilon": 1, "attribute": SEX, "metrics": [{"name": "m"}], "design": "randomized-response"}
    assert Draft.read(asked).study().title == "T"
    with pytest.raises(InvalidInput, match=lacking.removesuffix("s")):
        Draft.read({name: value for name, value in asked.items() if name != lacking}).study()


def test_a_draft_plans_with_what_it_says():
    asked = Draft.read({"epsilon": 1, "attribute": SEX, "metrics": [{"name": "m"}], "planned": 10_000})
    terms = {"designs": ["randomized-response"], "interval": "normal"}
    found = asked.plans(**terms)["m"].rows[0]
    assert (found.clients, found.epsilon) == (10_000, 1)
    assert asked.plans(**terms, clients=40_000)["m"].rows[0].clients == 40_000


@pytest.mark.parametrize("field", FIELDS, ids=lambda one: f"{one.place}.{one.name}".strip("."))
def test_every_field_that_is_listed_is_read_and_its_example_is_one(field: Any):
    if field.name == "cross":
        return
    value = tomllib.loads(f"x = {field.example}", parse_float=Decimal)["x"]
    stated: dict[str, Any] = {"metrics": [{"name": "recall"}], "attribute": dict(SEX)}
    if field.name in ("share_error", "share_source"):
        stated["attribute"] |= {"shares": [0.5, 0.5], "answering": "alike"}
    if field.name == "answering":
        stated["attribute"] |= {"shares": [0.5, 0.5]}
    if field.place == "attribute.cross":
        both: list[dict[str, Any]] = [{"name": "age", "groups": ["18-49", "50+"]}, dict(SEX)]
        if field.name == "shares":
            both[1]["shares"] = [0.5, 0.5]
        both[0][field.name] = value
        stated["attribute"] = {"cross": both}
    elif field.place == "metrics":
        stated["metrics"][0][field.name] = value
    elif field.place:
        stated.setdefault(field.place, {})[field.name] = value
    else:
        stated[field.name] = value
    before, after = Draft.read({"metrics": [{"name": "recall"}], "attribute": dict(SEX)}), Draft.read(stated)
    assert after != before or (field.place, field.name) in SAME


# Examples that say what is so without them.
SAME = {("metrics", "name"), ("metrics", "low"), ("metrics", "high"), ("attribute", "name"), ("attribute", "groups")}


def test_names_are_listed_by_their_place():
    assert "labels" in names_under("table")
    assert {"metrics", "attribute", "plan", "table"} <= set(names_under(""))
