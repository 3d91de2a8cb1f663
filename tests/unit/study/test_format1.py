"""Study format 1: all that a document may get wrong, and how it is told."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from fairgauge.errors import BadStudy, BadTable, InvalidInput
from fairgauge.study import parse
from tests.samples import two_questions

Document = dict[str, Any]


def put(*path: str | int, value: object) -> Callable[[Document], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


def drop(*path: str | int) -> Callable[[Document], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        del document[path[-1]]

    return change


Q: tuple[str | int, ...] = ("questions", 0)
ATTRIBUTE, METRIC = (*Q, "attribute"), (*Q, "metric")
PLAIN = 'must be a plain decimal in quotes, such as "0.25"'
MOMENT = "must be a moment in UTC such as 2026-11-15T00:00:00Z"
TEXT = "must be text of 1 to 200 characters"
LINE = "must be on one line, without space around it or control characters"


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        # format and members
        (put("format", value=2), BadStudy, "metrics=nothing: must be given"),
        (put("format", value=3), BadStudy, "format=3: must be 1 or 2"),
        (put("format", value=True), BadStudy, "format=True: must be 1 or 2"),
        (put("format", value="1"), BadStudy, "format=1: must be 1 or 2"),
        (drop("format"), BadStudy, "format=nothing: must be 1 or 2"),
        (drop("title"), BadStudy, "title=nothing: must be given"),
        (drop("contact"), BadStudy, "contact=nothing: must be given"),
        (put("colour", value="red"), BadStudy, "colour=red: is not a field of this format"),
        (drop(*Q, "levels"), BadStudy, "questions[0].levels=nothing: must be given"),
        (put(*Q, "colour", value=1), BadStudy, "questions[0].colour=1: is not a field"),
        (drop(*METRIC, "low"), BadStudy, "questions[0].metric.low=nothing: must be given"),
        (put(*METRIC, "unit", value="%"), BadStudy, "questions[0].metric.unit=%: is not a field"),
        (drop(*ATTRIBUTE, "shares"), BadStudy, "questions[0].attribute.shares=nothing: must be given"),
        # types
        (put("title", value=7), BadStudy, f"title=7: {TEXT}"),
        (put("contact", value=7), BadStudy, f"contact=7: {TEXT}"),
        (put("questions", value={}), BadStudy, "questions={}: must be an array"),
        (put(*Q, value=[]), BadStudy, "questions[0]=[]: must be an object"),
        (put(*METRIC, value="recall"), BadStudy, "questions[0].metric=recall: must be an object"),
        (put(*ATTRIBUTE, value=None), BadStudy, "questions[0].attribute=None: must be an object"),
        (
            put(*ATTRIBUTE, "groups", value="ab"),
            BadStudy,
            "questions[0].attribute.groups=ab: must be an array",
        ),
        (
            put(*ATTRIBUTE, "shares", value="ab"),
            BadStudy,
            "questions[0].attribute.shares=ab: must be an array",
        ),
        (
            put(*Q, "target", value=["gap"]),
            BadStudy,
            'questions[0].target=[\'gap\']: must be "gap" or "means"',
        ),
        (put(*Q, "target", value="Gap"), BadStudy, "questions[0].target=Gap: must be"),
        (put(*Q, "design", value=None), BadStudy, f"questions[0].design=None: {TEXT}"),
        (put(*Q, "abstain", value=0), BadTable, "questions[0].abstain=0: must be true or false"),
        (put(*Q, "levels", value=5), BadStudy, "questions[0].levels=5: must be an array"),
        (put(*Q, "table", value=None), BadStudy, "questions[0].table=None: must be an array"),
        (put(*Q, "table", 1, value=5), BadStudy, "questions[0].table[1]=5: must be an array"),
        (
            put(*Q, "table", 1, 2, value="5"),
            BadTable,
            "questions[0].table[1][2]=5: must be an integer from 0 up",
        ),
        (put(*Q, "levels", 1, value=None), BadTable, "questions[0].levels[1]=None: must be an integer"),
        # text
        (put("title", value=""), BadStudy, f"title='': {TEXT}"),
        (put("title", value="x" * 201), BadStudy, f"title={'x' * 57}...: {TEXT}"),
        (put("title", value=" a"), BadStudy, f"title= a: {LINE}"),
        (put("title", value="a\nb"), BadStudy, f"title='a\\nb': {LINE}"),
        (put("title", value="a\x1b[31m"), BadStudy, f"title='a\\x1b[31m': {LINE}"),
        (put("title", value="a\u202eb"), BadStudy, f"title='a\\u202eb': {LINE}"),
        (put("title", value="a\ud800"), BadStudy, f"title='a\\ud800': {LINE}"),
        # decimals
        *(
            (put(*METRIC, "low", value=low), BadStudy, f"questions[0].metric.low={shown}: {PLAIN}")
            for low, shown in [
                ("1e0", "1e0"),
                ("+1", "+1"),
                ("01", "01"),
                (".5", ".5"),
                ("1.", "1."),
                ("-0", "-0"),
                ("-0.00", "-0.00"),
                ("NaN", "NaN"),
                ("", "''"),
                (" 0", " 0"),
                ("0\n", "'0\\n'"),
                ("٣", "٣"),
                ("1_0", "1_0"),
                (0, "0"),
                (None, "None"),
                ("0." + "0" * 31, "0." + "0" * 31),
            ]
        ),
        (
            put(*METRIC, "high", value="0"),
            BadStudy,
            "questions[0].metric.high=0: must be above low, which is 0",
        ),
        (put(*Q, "epsilon", value="0"), BadStudy, "questions[0].epsilon=0: must be above 0"),
        (put(*Q, "epsilon", value="-1"), BadStudy, "questions[0].epsilon=-1: must be above 0"),
        (put(*Q, "epsilon", value=1), BadStudy, f"questions[0].epsilon=1: {PLAIN}"),
        # groups and shares
        (
            put(*ATTRIBUTE, "groups", value=["a"]),
            BadStudy,
            "questions[0].attribute.groups=1 groups: must be from 2 to 64",
        ),
        (
            put(*ATTRIBUTE, "groups", value=[str(i) for i in range(65)]),
            BadStudy,
            "questions[0].attribute.groups=65 groups: must be from 2 to 64",
        ),
        (
            put(*ATTRIBUTE, "groups", value=["a", "a"]),
            BadStudy,
            "questions[0].attribute.groups[1]=a: must be listed once",
        ),
        (
            put(*ATTRIBUTE, "groups", value=["a", ""]),
            BadStudy,
            f"questions[0].attribute.groups[1]='': {TEXT}",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["1"]),
            BadStudy,
            "questions[0].attribute.shares=1 shares: must be one for each of 2 groups",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["0.6", "0.5"]),
            BadStudy,
            "questions[0].attribute.shares=0.6, 0.5: must sum to exactly 1",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["1", "0"]),
            BadStudy,
            "questions[0].attribute.shares[1]=0: must be above 0",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["1.5", "-0.5"]),
            BadStudy,
            "questions[0].attribute.shares[1]=-0.5: must be above 0",
        ),
        (put(*ATTRIBUTE, "shares", 1, value=5), BadStudy, f"questions[0].attribute.shares[1]=5: {PLAIN}"),
        # table
        (drop(*Q, "table", 3), BadTable, "questions[0].table=3 rows: must have 4"),
        (put(*Q, "abstain", value=True), BadTable, "questions[0].table=4 rows: must have 5"),
        (
            put(*Q, "table", 2, 1, value=7),
            BadTable,
            "questions[0].table[2]=7505999378950833: must sum to exactly 2^53",
        ),
        (
            put(*Q, "levels", 0, value=0),
            BadTable,
            "questions[0].levels=(0, 1073741824): must go from -2^30 to 2^30",
        ),
        # questions and moments
        (put("questions", value=[]), BadStudy, "questions=0 questions: must be from 1 to 64"),
        (put("opens", value="2026-11-15"), BadStudy, f"opens=2026-11-15: {MOMENT}"),
        (
            put("opens", value="2026-11-15T00:00:00+00:00"),
            BadStudy,
            "opens=2026-11-15T00:00:00+00:00: must be a moment",
        ),
        (put("closes", value="2026-02-30T00:00:00Z"), BadStudy, f"closes=2026-02-30T00:00:00Z: {MOMENT}"),
        (put("closes", value=20261115), BadStudy, f"closes=20261115: {MOMENT}"),
    ],
)
def test_a_document_that_breaks_a_rule_is_refused(
    change: Callable[[Document], None], error: type[InvalidInput], text: str
) -> None:
    document = json.loads(two_questions().to_bytes())
    parse(json.dumps(document).encode())
    change(document)
    with pytest.raises(InvalidInput) as caught:
        parse(json.dumps(document).encode())
    assert type(caught.value) is error
    assert str(caught.value).startswith(text)
