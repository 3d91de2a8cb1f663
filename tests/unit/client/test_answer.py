"""Answering: what a device sends, when it refuses, and that neither depends on what the person has."""

import logging
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from fairgauge.channel import LEVEL_UNIT, Channel
from fairgauge.client import Answer, answer
from fairgauge.client.randomiser import group_index
from fairgauge.errors import CannotAnswer, FairgaugeError, InvalidInput, NotPrivate
from fairgauge.study import Attribute, Metric, Release, Study, parse
from tests.samples import (
    full_study,
    joint_questions,
    sample_question,
    sample_study,
    site_study,
    two_questions,
    unlinked_study,
)
from tests.silence import LACKING, NOT_LISTED, PEOPLE, Person, groups_read, narrowed, person, silent, value_read

DIGEST, ID = "0123456789abcdef" * 4, "fedcba9876543210" * 2
FEMALE = {"group": "female", "values": {"recall": 0.8377}}
BOTH = {"group": {"sex": "female", "age": "old"}, "values": {"recall": 0.8377, "error": 1}}

# Neither a symbol nor several counts, in documents that are whole otherwise.
ODD = [
    f'{{"id":"{ID}","study":"{DIGEST}",{more}}}'.encode()
    for more in ('"counts":[1]', '"counts":1', '"counts":[1,2],"symbol":1', '"symbol":[1]')
]


class TestAnswerDocument:
    def test_round_trip(self) -> None:
        data = b'{"id":"fedcba9876543210fedcba9876543210","study":"' + DIGEST.encode() + b'","symbol":17}'
        assert Answer(DIGEST, ID, (17,)).to_bytes() == data
        assert Answer.from_bytes(data) == Answer(DIGEST, ID, (17,))

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"study": DIGEST.upper()}, "study="),
            ({"study": DIGEST[1:]}, "study="),
            ({"study": 5}, "study=5: must be 64 lower-case hexadecimal digits"),
            ({"id": ID + "0"}, "id="),
            ({"id": ID[:-1] + "\n"}, "id="),
            ({"id": None}, "id=None: must be 32 lower-case hexadecimal digits"),
            ({"payload": (-1,)}, "symbol=-1: must be an integer from 0 up"),
            ({"payload": (True,)}, "symbol=True: must be an integer from 0 up"),
            ({"payload": ("1",)}, "symbol=1: must be an integer from 0 up"),
        ],
    )
    def test_bad_members_are_refused(self, change: dict[str, Any], text: str) -> None:
        good: dict[str, Any] = {"study": DIGEST, "id": ID, "payload": (1,)}
        Answer(**good)
        with pytest.raises(InvalidInput) as caught:
            Answer(**(good | change))
        assert str(caught.value).startswith(text)

    @pytest.mark.parametrize("data", [b"{}", b'{"symbol":1,"symbol":1}', b"x", b"[]", *ODD])
    def test_bad_documents_are_refused(self, data: bytes) -> None:
        with pytest.raises(InvalidInput):
            Answer.from_bytes(data)


class TestAnswer:
    def test_names_the_study_and_a_symbol_of_it(self) -> None:
        study = two_questions()
        for _ in range(50):
            sent = answer(study, BOTH)
            assert sent.study == study.digest
            assert 0 <= sent.payload[0] < study.symbols
            assert Answer.from_bytes(sent.to_bytes()) == sent

    def test_ids_never_repeat(self) -> None:
        assert len({answer(sample_study(), FEMALE).id for _ in range(200)}) == 200

    def test_every_question_gets_answered_with_its_own_symbols(self, monkeypatch: pytest.MonkeyPatch) -> None:
        study = two_questions()
        for picked, symbols in ((0, range(4)), (1, range(4, 14))):
            with monkeypatch.context() as patch:
                patch.setattr("secrets.randbelow", lambda count, picked=picked: picked)
                assert {answer(study, BOTH).payload[0] for _ in range(400)} == set(symbols)

    def test_the_coin_is_tossed_among_all_questions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []

        def toss(count: int) -> int:
            asked.append(count)
            return 0

        monkeypatch.setattr("secrets.randbelow", toss)
        answer(two_questions(), BOTH)
        assert asked == [2]

    def test_extra_values_are_nobodys_business(self) -> None:
        answer(sample_study(), {"group": "female", "values": {"recall": 0.5, "shoe size": 44}})

    def test_a_mapping_serves_a_study_of_one_attribute_too(self) -> None:
        answer(sample_study(), {"group": {"sex": "female"}, "values": {"recall": 0.5}})


ABSTAIN = sample_study(sample_question(abstain=True))


@pytest.mark.parametrize(
    "profile",
    [
        {"group": None, "values": {"recall": 0.5}},
        {"group": {}, "values": {"recall": 0.5}},
        {"group": {"sex": None}, "values": {"recall": 0.5}},
        {"group": "female", "values": {"recall": None}},
        {"group": "female", "values": {}},
        {"group": None, "values": {}},
    ],
)
def test_who_lacks_group_or_value_abstains_where_allowed(
    profile: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def draw(channel: object, group: object, position: object) -> int:
        drawn.append((group, position))
        return 0

    monkeypatch.setattr("fairgauge.client.randomiser.draw_symbol", draw)
    answer(ABSTAIN, profile)
    assert any(part is None for part in drawn[0])


def asked(who: Person) -> Callable[[Study], bool]:
    def answers(study: Study) -> bool:
        try:
            return answer(study, who).study == study.digest
        except FairgaugeError:
            return False

    return answers


class TestSilence:
    """Whoever picks the study learns nothing from who answers: everybody does."""

    def test_everyone_answers_every_study(self) -> None:
        assert silent(asked) == []

    def test_a_group_cannot_be_read_from_who_answers(self) -> None:
        """Before, the list was the person's own group, and the ledger had spent nothing on the others."""
        for sex in ("female", "male", NOT_LISTED, None):
            assert groups_read(asked(person(sex))) == ["female", "male"]

    def test_a_value_cannot_be_read_from_who_answers(self) -> None:
        """Before, this was the value to nine digits after thirty questions."""
        assert {value_read(asked(person(recall=recall))) for recall in ("0.8125390625", 0, 76, None)} == {2.0**-31}

    @pytest.mark.parametrize(
        ("refuses", "sex", "read"),
        [(lambda group: group is not None, "female", ["female"]), (lambda group: group is None, None, [])],
        ids=["not listed", "missing"],
    )
    def test_a_device_that_refuses_a_group_is_caught(
        self, refuses: Callable[[object], bool], sex: Any, read: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The mutants: refuse a group that the study does not list, as it was; refuse one that is missing."""

        def refusing(attribute: Attribute, group: object) -> int | None:
            found = group_index(attribute, group)
            if found is None and refuses(group):
                raise CannotAnswer("no")
            return found

        monkeypatch.setattr(sys.modules["fairgauge.client.randomiser"], "group_index", refusing)
        assert silent(asked) != []
        assert groups_read(asked(person(sex))) == read

    def test_a_device_that_refuses_values_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The mutant: refuse a value out of range, as it was."""
        monkeypatch.setattr(Metric, "nearest", Metric.position)
        assert value_read(asked(person())) == pytest.approx(0.8125390625, abs=1e-9)
        assert silent(asked) != []

    def test_what_each_of_them_sends_has_the_law_of_the_channel(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What reaches the channel; that every such input is within epsilon is for the channel's own tests."""
        seen: list[Any] = []

        def draw(_: Channel, *given: Any) -> int:
            seen.append(given)
            return 0

        monkeypatch.setattr("fairgauge.client.randomiser.draw_symbol", draw)
        for who in PEOPLE.values():
            answer(sample_study(), who)
        half = Fraction(LEVEL_UNIT) * (2 * Fraction("0.8125390625") - 1)
        own, unlisted, nothing = (0, half), (None, half), (0, None)
        ends = [(0, LEVEL_UNIT), (0, -LEVEL_UNIT), (0, LEVEL_UNIT)]
        assert seen == [own, (1, half), *[unlisted] * 4, nothing, nothing, (None, None), *ends, *[nothing] * 3]

    def test_no_exception_is_made_on_the_way_that_could_be_shown(self, caplog: pytest.LogCaptureFixture) -> None:
        class Odd:
            def as_integer_ratio(self) -> Any:
                raise RuntimeError(NOT_LISTED)

        with caplog.at_level(logging.DEBUG):
            answer(sample_study(), person(Odd(), Odd()))
        assert caplog.text == ""


REFUSALS: list[tuple[Any, str]] = [
    ({"group": "secret", "value": 8377, "values": {}}, 'a profile has two parts, "group" and "values"'),
    ("secret", 'a profile has two parts, "group" and "values"'),
    ({"group": "secret", "values": 0.8377}, '"values" must give a value for each metric\'s name'),
]


@pytest.mark.parametrize("profile", LACKING)
def test_a_part_of_a_profile_that_is_missing_is_what_the_person_lacks(profile: Any) -> None:
    """An app that leaves out what a person has not would otherwise be silent for them alone."""
    study = narrowed(0, 1, "yyy", "zzz")
    os.urandom._stream.seed("lacking")  # type: ignore[attr-defined]
    expected = answer(study, person())
    os.urandom._stream.seed("lacking")  # type: ignore[attr-defined]
    assert answer(study, profile) == expected


@pytest.fixture
def no_randomness(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise AssertionError("randomness was used before every question was checked")

    monkeypatch.setattr("secrets.randbelow", refuse)
    monkeypatch.setattr("secrets.token_hex", refuse)


@pytest.mark.usefixtures("no_randomness")
class TestRefusals:
    @pytest.mark.parametrize(("profile", "text"), REFUSALS, ids=[str(i) for i in range(len(REFUSALS))])
    def test_come_before_the_coin_and_tell_nothing(self, profile: Any, text: str) -> None:
        """What is no profile, whatever is in it, is a mistake of the program."""
        with pytest.raises(CannotAnswer) as caught:
            answer(sample_study(), profile)
        assert str(caught.value) == text
        report = "".join(traceback.format_exception(caught.value))
        assert "8377" not in report
        assert "secret" not in report
        assert caught.value.__context__ is None

    def test_a_study_that_is_not_private(self) -> None:
        study = parse(sample_study(sample_question(epsilon="1.09")).to_bytes())
        with pytest.raises(NotPrivate):
            answer(study, FEMALE)


class TestOpen:
    """A study is answered from when it opens until it closes, by the device's clock."""

    NOON = "2026-11-15T12:00:00Z"

    @pytest.fixture(autouse=True)
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        noon = datetime(2026, 11, 15, 12, 0, 0, 999_999, tzinfo=UTC)
        stopped = SimpleNamespace(now=noon.astimezone)
        monkeypatch.setattr(sys.modules["fairgauge.client.answer"], "datetime", stopped)

    @pytest.mark.parametrize(
        ("opens", "closes"),
        [(None, None), (NOON, None), ("2026-11-15T11:59:59Z", "2026-11-15T12:00:01Z"), (None, "9999-12-31T23:59:59Z")],
    )
    def test_while_it_is_open(self, opens: str | None, closes: str | None) -> None:
        study = replace(sample_study(), opens=opens, closes=closes)
        assert answer(study, FEMALE).study == study.digest

    @pytest.mark.parametrize(
        ("opens", "closes", "said"),
        [
            ("2026-11-15T12:00:01Z", None, "opens at 2026-11-15T12:00:01Z"),
            ("2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z", "opens at 2026-12-01T00:00:00Z"),
            (None, NOON, "closed at 2026-11-15T12:00:00Z"),
            ("1999-01-01T00:00:00Z", "2001-01-01T00:00:00Z", "closed at 2001-01-01T00:00:00Z"),
        ],
    )
    def test_at_other_times_nothing_is_drawn(
        self, opens: str | None, closes: str | None, said: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("secrets.randbelow", lambda _: pytest.fail("a coin was tossed"))
        with pytest.raises(CannotAnswer) as caught:
            answer(replace(sample_study(), opens=opens, closes=closes), FEMALE)
        assert str(caught.value) == f"the study {said}, and this device's clock says {self.NOON}"


class TestDrafts:
    """Studies that say more than their questions."""

    draft = replace(full_study(), opens=None, closes=None, admission=None)
    person: ClassVar[dict[str, Any]] = {
        "group": {"sex": "male", "age": "18–29", "region": "west"},
        "values": {"understood": 1, "delay": 0},
    }

    def test_a_table_answers_several_questions_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("secrets.randbelow", lambda tables: 0)
        seen: list[object] = []

        def draw(channel: Channel, *inputs: object) -> int:
            seen.append(inputs)
            return 7

        monkeypatch.setattr("fairgauge.client.randomiser.draw_symbol", draw)
        assert answer(self.draft, self.person).payload[0] == 7
        other = self.person | {"group": {"sex": "female", "age": "30+", "region": "west"}}
        assert answer(self.draft, other).payload[0] == 7
        assert seen == [(2, LEVEL_UNIT, -LEVEL_UNIT), (1, LEVEL_UNIT, -LEVEL_UNIT)]  # of 4 cells; ends of both ranges

    def test_the_coin_picks_a_table(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def second(tables: int) -> int:
            assert tables == 2
            return 1

        monkeypatch.setattr("secrets.randbelow", second)
        assert all(24 <= answer(self.draft, self.person).payload[0] < 31 for _ in range(50))

    @pytest.mark.parametrize(
        "group", ["male, 18–29", {"sex by age": "male, 18–29"}, {"sex": "male", "age": "29"}, {"sex": "male"}, None]
    )
    def test_who_lacks_a_group_of_an_attribute_that_is_crossed_has_no_cell(
        self, group: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("secrets.randbelow", lambda tables: 0)
        monkeypatch.setattr(
            "fairgauge.client.randomiser.draw_symbol",
            lambda _, *inputs: 7 if inputs[0] is None else pytest.fail("a cell"),
        )
        assert answer(self.draft, {**self.person, "group": group}).payload[0] == 7

    def test_who_lacks_one_of_a_tables_values_has_an_answer(self) -> None:
        study = Study("Joint", joint_questions())
        assert answer(study, FEMALE).study == study.digest

    @pytest.mark.parametrize(
        ("study", "text"),
        [
            (site_study(), "the study is for sites that hold many people, and this is a device of one person"),
            (unlinked_study(), "the study takes answers with a ticket only"),
            (replace(sample_study(), admission="tickets"), "the study takes answers with a ticket only"),
        ],
    )
    @pytest.mark.usefixtures("no_randomness")
    def test_what_a_device_cannot_do_it_refuses(self, study: Study, text: str) -> None:
        with pytest.raises(CannotAnswer) as caught:
            answer(study, FEMALE)
        assert str(caught.value).startswith(text)

    def test_what_it_can_do_it_does(self) -> None:
        study = replace(sample_study(), admission="tickets", purpose="To know.", hourly=5, planned=10, aim="0.1")
        assert answer(study, FEMALE, ticket=ID).id == ID
        assert answer(replace(study, admission="open"), FEMALE).study != study.digest


def test_in_the_crowd_no_ticket_is_the_id_of_an_answer():
    """A leaf of the tree is a digest of id and symbol, on an open route: who sent out the id would try all symbols."""
    crowd = replace(sample_study(), release=Release(100, "0.00000001", 50))
    ticket, profile = "0123456789abcdef" * 2, {"group": "female", "values": {"recall": "0.5"}}
    for study in (crowd, replace(crowd, admission="open")):
        with pytest.raises(CannotAnswer, match="who gave out this ticket could read the answer"):
            answer(study, profile, ticket=ticket)
    assert answer(crowd, profile).id != ticket


def test_what_is_no_ticket_is_refused_and_not_shown() -> None:
    with pytest.raises(InvalidInput, match="ticket=not shown: must be 32 lower-case hexadecimal digits") as refused:
        answer(sample_study(), {"group": "female", "values": {"recall": 0.5}}, ticket="5e" * 15 + "XY")
    assert "5e5e" not in str(refused.value)
