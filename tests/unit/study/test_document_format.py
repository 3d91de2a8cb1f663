"""The format of study documents: what they say, what their tables and symbols are, and all that one may get wrong."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fairgauge.errors import OF_BEFORE, BadStudy, BadTable, InvalidInput, NotPrivate
from fairgauge.study import (
    Attribute,
    Issuer,
    Metric,
    Model,
    NoisyCounts,
    Question,
    Release,
    Stratum,
    Study,
    counted,
    document_format,
    parse,
)
from fairgauge.study.mechanism import Registry
from tests.samples import (
    RECALL,
    SEX,
    full_study,
    joint_questions,
    sample_channel,
    sample_question,
    sample_study,
    site_study,
    two_questions,
    unlinked_study,
)

STUDIES = [full_study(), unlinked_study(), site_study(), site_study("levels"), Study("Joint", joint_questions())]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.title)
def test_a_table_has_the_member_that_tells_its_mechanism_and_no_others(study: Study) -> None:
    own = document_format._FORMATS[study.mechanism]
    for table in json.loads(study.to_bytes())["tables"]:
        assert [one for one in document_format._FORMATS if one.member in table] == [own]


def test_a_table_of_another_mechanism_is_read_by_what_that_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(NoisyCounts):
        """Noisy counts that stand in a document in another way."""

    def read(table: Any, metrics: Any, attributes: Any) -> tuple[Question, ...]:
        assert not metrics
        return counted(Other(attributes[table["of"]], "confusion", 1))

    def write(questions: tuple[Question, ...]) -> dict[str, Any]:
        return {"other": True, "of": questions[0].attribute.name}

    formats = Registry(dict(document_format._FORMATS._each))
    formats.register(Other, document_format.TableFormat("other", read, write))
    monkeypatch.setattr(document_format, "_FORMATS", formats)
    study = Study("Another", counted(Other(SEX, "confusion", 1)))
    assert json.loads(study.to_bytes())["tables"] == [{"other": True, "of": "sex"}]
    assert type(Study.from_bytes(study.to_bytes()).mechanism) is Other


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.title)
def test_round_trip(study: Study) -> None:
    data = study.to_bytes()
    assert Study.from_bytes(data) == study
    untidy = json.dumps(dict(reversed(json.loads(data).items())), indent=2).encode()
    assert Study.from_bytes(untidy).digest == study.digest
    assert b"null" not in data


def changed(**changes: Any) -> Study:
    return replace(sample_study(), **changes)


def asked(**changes: Any) -> Study:
    return Study("Sample", [replace(sample_question(), **changes)])


def each_says_one_thing() -> list[Study]:
    attributes = [
        replace(SEX, share_error="0.01"),
        replace(SEX, share_source="Census"),
        replace(SEX, help="As in your papers."),
        Attribute("sex", SEX.groups, comparisons=[("female", "male")]),
        Attribute("sex", SEX.groups, shares=[0.5, 0.5]),
    ]
    return [
        *(changed(**{name: text}) for name, text in [("language", "en"), ("purpose", "x"), ("operator", "x")]),
        *(changed(**{name: 100}) for name in ("retention", "planned", "epoch", "hourly")),
        changed(model=Model("m")),
        changed(stratum=Stratum("region", "north", "0.4")),
        changed(aim="0.5"),
        changed(admission="open"),
        changed(admission="blind", issuer=Issuer("i", "k")),
        changed(gateway="k"),
        changed(release=Release(1, "0.1", 1)),
        *(asked(**{name: "0.5"}) for name in ("expect", "spread", "weight")),
        asked(mechanism=sample_channel(abstain=True)),
        asked(mechanism=sample_channel(abstain=True), abstaining="0.01"),
        asked(metric=replace(RECALL, help="x")),
        *(asked(attribute=attribute) for attribute in attributes),
        Study("Sample", joint_questions()),
        site_study(),
    ]


def test_whatever_is_said_changes_the_digest_and_is_read_back() -> None:
    studies = [sample_study(), *each_says_one_thing()]
    assert len({study.digest for study in studies}) == len(studies)
    for study in studies:
        assert Study.from_bytes(study.to_bytes()) == study


class TestTables:
    def test_hold_the_questions_that_they_answer(self) -> None:
        study = full_study()
        assert [[question.metric.name for question in table] for table in study.tables] == [
            ["understood", "delay"],
            ["understood"],
        ]
        assert study.offsets == (0, 24, 31)
        assert [study.offset(index) for index in range(3)] == [0, 0, 24]
        assert [study.question_of(symbol) for symbol in (0, 23, 24, 30)] == [(0, 0), (0, 23), (2, 0), (2, 6)]

    def test_the_largest_epsilon_counts(self) -> None:
        study = Study("Mixed", [*joint_questions(), sample_question(Metric("f1", 0, 1))])
        assert study.epsilon == max(question.mechanism.epsilon for question in study.questions)

    def test_one_that_spends_too_much_is_refused(self) -> None:
        questions = [replace(question, epsilon="1.09") for question in joint_questions()]
        with pytest.raises(NotPrivate, match=r"questions\[0\] \(recall by sex\) declares epsilon 1.09"):
            Study.from_bytes(Study("Joint", questions).to_bytes())

    @pytest.mark.parametrize(
        "others",
        [
            lambda first, second: [first],
            lambda first, second: [first, sample_question(Metric("f1", 0, 1)), second],
            lambda first, second: [first, replace(second, epsilon="1.2")],
            lambda first, second: [first, replace(second, design="other")],
            lambda first, second: [first, replace(second, attribute=replace(SEX, shares=None, answering="any"))],
            lambda first, second: [first, replace(second, mechanism=sample_channel(), axis=0)],
        ],
    )
    def test_questions_stand_beside_those_that_are_answered_with_them(
        self, others: Callable[[Question, Question], list[Question]]
    ) -> None:
        with pytest.raises(BadStudy, match="must stand beside the others of the 2 that its mechanism answers at once"):
            Study("Joint", others(*joint_questions()))


def test_a_name_means_one_thing() -> None:
    other = replace(sample_question(Metric("recall", 0, 2), Attribute("age", ["young", "old"])), weight="2")
    with pytest.raises(BadStudy, match=r"questions\[1\].metric=recall: must be the same metric wherever"):
        Study("Sample", [sample_question(), other])
    sexes = replace(sample_question(Metric("f1", 0, 1), replace(SEX, shares=None, answering="any")), weight="2")
    with pytest.raises(BadStudy, match=r"questions\[1\].attribute=sex: must be the same attribute wherever"):
        Study("Sample", [sample_question(), sexes])


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: changed(release=(10, "0.1", 1)), "release=a tuple: must be a Release"),
    (lambda: changed(model="m"), "model=m: must be a Model"),
    (lambda: changed(translations={"de": {}}), "language=nothing: must be given where there are tr"),
    (lambda: changed(translations=["de"], language="en"), "translations=a list: must be an object"),
]


@pytest.mark.parametrize(("mistake", "text"), MISTAKES, ids=[text[:40] for _, text in MISTAKES])
def test_a_mistake_gets_one_line(mistake: Callable[[], Any], text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        mistake()
    assert str(caught.value).startswith(text)


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


T: tuple[str | int, ...] = ("tables", 0)
Q: tuple[str | int, ...] = (*T, "questions", 0)
ATTRIBUTE: tuple[str | int, ...] = ("attributes", 0)
METRIC: tuple[str | int, ...] = ("metrics", 0)
PLAIN = 'must be a plain decimal in quotes, such as "0.25"'
MOMENT = "must be a moment in UTC such as 2026-11-15T00:00:00Z"
TEXT = "must be text of 1 to 200 characters"
LINE = "must be on one line, without space around it or control characters"


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        # format and members
        (put("format", value=2), BadStudy, f"format=2: {OF_BEFORE}"),
        (put("questions", value=[]), BadStudy, f"format=1: {OF_BEFORE}"),
        (put("format", value=3), BadStudy, "format=3: must be 1"),
        (put("format", value=True), BadStudy, "format=True: must be 1"),
        (put("format", value="1"), BadStudy, "format=1: must be 1"),
        (drop("format"), BadStudy, "format=nothing: must be 1"),
        (drop("title"), BadStudy, "title=nothing: must be given"),
        (drop("metrics"), BadStudy, "metrics=nothing: must be given"),
        (put("contact", value=None), BadStudy, "contact=null: must be left out if there is nothing to say"),
        (put("colour", value="red"), BadStudy, "colour=red: is not a field of this format"),
        (drop(*Q, "levels"), BadStudy, "tables[0].questions[0].levels=nothing: must be given"),
        (put(*Q, "colour", value=1), BadStudy, "tables[0].questions[0].colour=1: is not a field"),
        (drop(*METRIC, "low"), BadStudy, "metrics[0].low=nothing: must be given"),
        (put(*METRIC, "colour", value=1), BadStudy, "metrics[0].colour=1: is not a field"),
        (put(*METRIC, "better", value="higher"), BadStudy, "metrics[0].better=higher: must be lower, or left out"),
        (put(*METRIC, "unit", value=""), BadStudy, "metrics[0].unit='': must be text of 1 to 200 characters"),
        (drop(*ATTRIBUTE, "shares"), BadStudy, "attributes[0].shares=nothing: must be given with answering"),
        (drop(*ATTRIBUTE, "answering"), BadStudy, "attributes[0].answering=nothing: must be given with shares"),
        # types
        (put("title", value=7), BadStudy, f"title=7: {TEXT}"),
        (put("contact", value=7), BadStudy, f"contact=7: {TEXT}"),
        (put("tables", value={}), BadStudy, "tables={}: must be an array"),
        (put(*T, value=[]), BadStudy, "tables[0]=[]: must be an object"),
        (put(*T, "questions", value={}), BadStudy, "tables[0].questions={}: must be an array"),
        (put(*T, "questions", value=[]), BadStudy, "tables[0].questions=0 questions: must be at least 1"),
        (put(*Q, value=[]), BadStudy, "tables[0].questions[0]=[]: must be an object"),
        (put(*Q, "metric", value="f1"), BadStudy, "tables[0].questions[0].metric=f1: must be one of the metrics"),
        (put(*T, "attribute", value=None), BadStudy, "tables[0].attribute=None: must be one of the attributes"),
        (put(*METRIC, value="recall"), BadStudy, "metrics[0]=recall: must be an object"),
        (put(*ATTRIBUTE, value=None), BadStudy, "attributes[0]=None: must be an object"),
        (
            put(*ATTRIBUTE, "groups", value="ab"),
            BadStudy,
            "attributes[0].groups=ab: must be an array",
        ),
        (
            put(*ATTRIBUTE, "shares", value="ab"),
            BadStudy,
            "attributes[0].shares=ab: must be an array",
        ),
        (
            put(*Q, "target", value=["gap"]),
            BadStudy,
            'tables[0].questions[0].target=[\'gap\']: must be "gap" or "means"',
        ),
        (put(*Q, "target", value="Gap"), BadStudy, "tables[0].questions[0].target=Gap: must be"),
        (put(*T, "design", value=None), BadStudy, f"tables[0].design=None: {TEXT}"),
        (put(*T, "abstain", value=0), BadTable, "tables[0].abstain=0: must be true or false"),
        (put(*Q, "levels", value=5), BadStudy, "tables[0].questions[0].levels=5: must be an array"),
        (put(*T, "table", value=None), BadStudy, "tables[0].table=None: must be an array"),
        (put(*T, "table", 1, value=5), BadStudy, "tables[0].table[1]=5: must be an array"),
        (
            put(*T, "table", 1, 2, value="5"),
            BadTable,
            "tables[0].table[1][2]=5: must be an integer from 0 up",
        ),
        (put(*Q, "levels", 1, value=None), BadTable, "tables[0].questions[0].levels[1]=None: must be an integer"),
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
            (put(*METRIC, "low", value=low), BadStudy, f"metrics[0].low={shown}: {PLAIN}")
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
            "metrics[0].high=0: must be above low, which is 0",
        ),
        (put(*T, "epsilon", value="0"), BadStudy, "tables[0].epsilon=0: must be above 0"),
        (put(*T, "epsilon", value="-1"), BadStudy, "tables[0].epsilon=-1: must be above 0"),
        (put(*T, "epsilon", value=1), BadStudy, f"tables[0].epsilon=1: {PLAIN}"),
        # groups and shares
        (
            put(*ATTRIBUTE, "groups", value=["a"]),
            BadStudy,
            "attributes[0].groups=1 groups: must be from 2 to 64",
        ),
        (
            put(*ATTRIBUTE, "groups", value=[str(i) for i in range(65)]),
            BadStudy,
            "attributes[0].groups=65 groups: must be from 2 to 64",
        ),
        (
            put(*ATTRIBUTE, "groups", value=["a", "a"]),
            BadStudy,
            "attributes[0].groups[1]=a: must be listed once",
        ),
        (
            put(*ATTRIBUTE, "groups", value=["a", ""]),
            BadStudy,
            f"attributes[0].groups[1]='': {TEXT}",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["1"]),
            BadStudy,
            "attributes[0].shares=1 shares: must be one for each of 2 groups",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["0.6", "0.5"]),
            BadStudy,
            "attributes[0].shares=0.6, 0.5: must sum to exactly 1",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["1", "0"]),
            BadStudy,
            "attributes[0].shares[1]=0: must be above 0",
        ),
        (
            put(*ATTRIBUTE, "shares", value=["1.5", "-0.5"]),
            BadStudy,
            "attributes[0].shares[1]=-0.5: must be above 0",
        ),
        (put(*ATTRIBUTE, "shares", 1, value=5), BadStudy, f"attributes[0].shares[1]=5: {PLAIN}"),
        # table
        (drop(*T, "table", 3), BadTable, "tables[0].table=3 rows: must have 4"),
        (put(*T, "abstain", value=True), BadTable, "tables[0].table=4 rows: must have 5"),
        (
            put(*T, "table", 2, 1, value=7),
            BadTable,
            "tables[0].table[2]=7505999378950833: must sum to exactly 2^53",
        ),
        (
            put(*Q, "levels", 0, value=0),
            BadTable,
            "tables[0].questions[0].levels=(0, 1073741824): must go from -2^30 to 2^30",
        ),
        # questions and moments
        (put("tables", value=[]), BadStudy, "questions=0 questions: must be from 1 to 64"),
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
