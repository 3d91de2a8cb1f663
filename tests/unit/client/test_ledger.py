"""The ledger: one answer a study, what it costs, what the file holds, and files that it does not touch."""

import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from fairgauge.client import Answer, Ledger, Limits
from fairgauge.client import ledger as module
from fairgauge.client.budget import UNLIMITED, add_up
from fairgauge.client.durable_files import rename_to_free
from fairgauge.crowd import promised
from fairgauge.errors import OF_BEFORE, BadLedger, CannotAnswer, FairgaugeError, InvalidInput, NotPrivate
from fairgauge.study import Attribute, Release, Study, parse
from tests.samples import sample_question, sample_study, two_questions
from tests.silence import PEOPLE, Person, silent

PROFILE = {"group": "female", "values": {"recall": 0.5}}
NAMED = {"group": {"sex": "female", "age": "old"}, "values": {"recall": 0.5, "error": 1}}
STUDY = sample_study()
COST = STUDY.questions[0].mechanism.epsilon_bound


def numbered(number: int) -> Study:
    """A study like the sample, but another one."""
    return replace(STUDY, title=f"Study {number}")


def asked_about(name: str) -> Study:
    """A study like the sample, but about another attribute."""
    return sample_study(sample_question(attribute=Attribute(name, ("young", "old"))))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


class TestAnswer:
    def test_a_study_is_answered_once(self, ledger: Ledger) -> None:
        first = ledger.answer(STUDY, PROFILE)
        again = [Ledger(str(ledger.path)).answer(STUDY, PROFILE) for _ in range(20)]
        assert {answer.to_bytes() for answer in again} == {first.to_bytes()}
        assert ledger.spent() == {"sex": COST}

    def test_a_study_that_is_not_open_costs_nothing(self, ledger: Ledger) -> None:
        for study in (replace(STUDY, opens="2999-01-01T00:00:00Z"), replace(STUDY, closes="2001-01-01T00:00:00Z")):
            with pytest.raises(CannotAnswer, match="this device's clock"):
                ledger.answer(study, PROFILE)
        assert (ledger.spent(), ledger.pending()) == ({}, [])

    def test_an_answer_outlives_its_study(self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        study = replace(STUDY, closes="2999-01-01T00:00:00Z")
        first = ledger.answer(study, PROFILE)
        monkeypatch.setattr(module, "answer", lambda *_, **__: pytest.fail("it was drawn again"))
        assert ledger.answer(study, PROFILE) == first

    def test_what_is_remembered_needs_no_profile_and_no_budget(self, ledger: Ledger) -> None:
        first = ledger.answer(STUDY, PROFILE)
        laters: list[dict[str, Any]] = [{"group": None, "values": {}}, {"group": "male", "values": {"recall": 1}}]
        for later in laters:
            assert ledger.answer(STUDY, later, limit=Decimal(0)) == first

    def test_studies_are_told_apart_by_their_digest(self, ledger: Ledger) -> None:
        ids = {ledger.answer(numbered(i), PROFILE).id for i in range(5)}
        assert len(ids) == 5
        assert ledger.spent() == {"sex": add_up([COST] * 5)}

    def test_a_ticket_is_the_id(self, ledger: Ledger) -> None:
        ticket = "0123456789abcdef" * 2
        assert ledger.answer(STUDY, PROFILE, ticket=ticket).id == ticket
        assert ledger.answer(STUDY, PROFILE, ticket="f" * 32).id == ticket, "the same bytes"
        assert ledger.answer(STUDY, PROFILE).id == ticket

    @pytest.mark.parametrize("ticket", ["", "secret", "0" * 31, "F" * 32])
    def test_a_ticket_that_is_none_is_not_shown(self, ledger: Ledger, ticket: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            ledger.answer(STUDY, PROFILE, ticket=ticket)
        assert str(caught.value) == "ticket=not shown: must be 32 lower-case hexadecimal digits"

    @pytest.mark.parametrize(
        ("study", "profile", "limit", "error"),
        [
            (STUDY, {"group": "female", "value": 1}, None, CannotAnswer),
            (STUDY, "female", None, CannotAnswer),
            (STUDY, PROFILE, Decimal(1), CannotAnswer),
            (STUDY, PROFILE, Limits(study=Decimal(1)), NotPrivate),
            (parse(sample_study(sample_question(epsilon="1.09")).to_bytes()), PROFILE, None, NotPrivate),
        ],
    )
    def test_a_refusal_costs_nothing(
        self, ledger: Ledger, study: Study, profile: Any, limit: Any, error: type[FairgaugeError]
    ) -> None:
        with pytest.raises(error):
            ledger.answer(study, profile, limit=limit)
        assert ledger.spent() == {}
        assert ledger.pending() == []
        assert ledger.state(study.digest) is None

    def test_whoever_lacks_something_is_charged_as_anyone(self, tmp_path: Path) -> None:
        """Before, what was refused was free, and whoever picked the study could read the group from it."""
        spent = []
        for number, who in enumerate(PEOPLE.values()):
            ledger = Ledger(tmp_path / str(number))
            found = ledger.answer(STUDY, who)
            assert ledger.pending() == [found]
            assert ledger.answer(STUDY, NAMED) == found, "drawn once, as any"
            spent.append(ledger.spent())
        assert spent == [{"sex": COST}] * len(PEOPLE)

    def test_everyone_answers_every_study(self, tmp_path: Path) -> None:
        def ask(who: Person) -> Callable[[Study], bool]:
            ledger = Ledger(tmp_path / token_hex(8))
            return lambda study: ledger.answer(study, who, limit=UNLIMITED).study == study.digest

        assert silent(ask) == []

    def test_the_lifetime_limit_holds_across_studies_and_openings(self, ledger: Ledger) -> None:
        limit = add_up([COST] * 3)
        for i in range(3):
            Ledger(ledger.path).answer(numbered(i), PROFILE, limit=limit)
        with pytest.raises(CannotAnswer, match="the limit is"):
            Ledger(ledger.path).answer(numbered(3), PROFILE, limit=limit)
        ledger.answer(numbered(3), PROFILE, limit=Limits(add_up([COST] * 4), study=COST))

    def test_a_device_that_says_nothing_has_limits(self, ledger: Ledger) -> None:
        """Thirty studies under other titles: it answers as many as 8 pays for."""
        answered = 0
        for number in range(30):
            with suppress(CannotAnswer):
                ledger.answer(numbered(number), PROFILE)
                answered += 1
        assert answered == 7
        assert add_up([COST] * 7) == ledger.spent()["sex"] <= 8 < add_up([COST] * 8)
        costly = parse(sample_study(sample_question(loss=60, epsilon="4.2")).to_bytes())
        with pytest.raises(NotPrivate, match=r"spends epsilon 4\.0943\d+, and this device allows 4 a study"):
            ledger.answer(costly, PROFILE)
        ledger.answer(costly, PROFILE, limit=UNLIMITED)

    def test_attributes_with_names_have_accounts_of_their_own(self, ledger: Ledger) -> None:
        study = two_questions()
        ledger.answer(study, NAMED, limit=Decimal("1.1"))
        assert ledger.spent() == {
            "sex": study.questions[0].mechanism.epsilon_bound,
            "age": study.questions[1].mechanism.epsilon_bound,
        }


FORMS: list[Any] = [None, "female", "platypus", ">=65", {"sex": "female"}, {"sex": None}, {}, {"age": "old"}, 7, ["x"]]


@pytest.mark.parametrize("group", FORMS, ids=repr)
def test_what_pays_depends_on_the_study_alone(ledger: Ledger, group: Any) -> None:
    """Or who is refused later would tell what the person has, or in which form their program writes it."""
    profile = {"group": group, "values": {"recall": 0.5}}
    ledger.answer(STUDY, profile)
    assert ledger.spent() == {"sex": COST}
    ledger.answer(two_questions(), profile)
    assert ledger.spent().keys() == {"sex", "age"}
    with pytest.raises(CannotAnswer, match="sex has cost"):
        ledger.answer(numbered(1), profile, limit=add_up([COST, COST]))
    if isinstance(group, dict):
        ledger.answer(asked_about("creed"), profile, limit=COST)


@pytest.mark.parametrize("group", [None, "female", "platypus", 7], ids=repr)
def test_a_new_name_is_no_new_budget_for_a_group_without_one(ledger: Ledger, group: Any) -> None:
    """The attack: one study after the other, each with a name that it makes up for the person's one group."""
    profile, limit = {"group": group, "values": {"recall": 0.5}}, add_up([COST] * 3)
    for name in ("sex", "zzz", "yyy"):
        ledger.answer(asked_about(name), profile, limit=limit)
    for name in ("sex", "xxx"):
        with pytest.raises(CannotAnswer, match=r"limit is .* for a group without its attribute's name"):
            ledger.answer(replace(asked_about(name), title="Another"), profile, limit=limit)
    assert ledger.spent() == dict.fromkeys(("sex", "zzz", "yyy"), COST)
    assert ledger.spent_towards_readers().keys() == {"sex", "zzz", "yyy"}


@pytest.mark.parametrize("first", ["named", "unnamed"])
def test_both_forms_together_are_within_one_limit(ledger: Ledger, first: str) -> None:
    """An answer without a name was about some attribute, and nobody knows which: it counts against each."""
    forms: dict[str, Any] = {"named": {"sex": "female"}, "unnamed": "female"}
    limit = add_up([COST] * 3)
    (second,) = forms.keys() - {first}
    for number in range(2):
        ledger.answer(numbered(number), {"group": forms[first], "values": {}}, limit=limit)
    ledger.answer(numbered(2), {"group": forms[second], "values": {}}, limit=limit)
    for form in forms.values():
        with pytest.raises(CannotAnswer, match="an answer would make it"):
            ledger.answer(numbered(3), {"group": form, "values": {}}, limit=limit)
    assert ledger.spent() == {"sex": add_up([COST] * 3)}, "and each counts once"


def test_a_named_attribute_pays_for_answers_without_a_name_about_others(ledger: Ledger) -> None:
    limit = add_up([COST] * 2)
    ledger.answer(asked_about("zzz"), {"group": "female", "values": {}}, limit=limit)
    named = {"group": {"sex": "female"}, "values": {}}
    ledger.answer(numbered(0), named, limit=limit)
    with pytest.raises(CannotAnswer, match="sex has cost"):
        ledger.answer(numbered(1), named, limit=limit)


def test_an_answer_without_a_name_costs_each_attribute_its_dearest_question(ledger: Ledger) -> None:
    """One question of 1.1 and one of 2.2: the attribute that it was about may be the dear one's."""
    dear = sample_question(attribute=Attribute("age", ("female", "male")), epsilon="2.2", loss=9)
    both = sample_study(sample_question(), dear)
    cost = dear.mechanism.epsilon_bound
    assert cost > COST
    ledger.answer(both, PROFILE)
    creed = asked_about("creed")
    named = {"group": {"creed": "young"}, "values": {}}
    limit = add_up([cost, COST])
    for form in (named, {"group": "young", "values": {}}):
        with pytest.raises(CannotAnswer):
            ledger.answer(creed, form, limit=limit.next_minus())
    ledger.answer(creed, named, limit=limit)


class TestDelivery:
    def test_answers_are_pending_until_marked(self, ledger: Ledger) -> None:
        answers = [ledger.answer(numbered(i), PROFILE) for i in range(3)]
        assert ledger.pending() == sorted(answers, key=lambda answer: answer.study)
        ledger.mark_sent(answers[0])
        ledger.mark_refused(answers[1])
        assert Ledger(ledger.path).pending() == answers[2:]
        assert [ledger.state(answer.study) for answer in answers] == ["delivered", "refused", "pending"]

    def test_what_was_delivered_stays_delivered(self, ledger: Ledger) -> None:
        answer = ledger.answer(STUDY, PROFILE)
        ledger.mark_sent(answer)
        ledger.mark_refused(answer)
        assert ledger.state(STUDY.digest) == "delivered"

    def test_only_its_own_answers_can_be_marked(self, ledger: Ledger) -> None:
        answer = ledger.answer(STUDY, PROFILE)
        for other in (replace(answer, payload=(answer.payload[0] + 1,)), Answer("0" * 64, "0" * 32, (0,))):
            with pytest.raises(InvalidInput, match="is not in this ledger"):
                ledger.mark_sent(other)
        assert ledger.pending() == [answer]


class TestFile:
    @pytest.mark.parametrize("group", ["female", {"sex": "female"}], ids=["without a name", "with its name"])
    def test_holds_what_it_says_and_no_more(self, ledger: Ledger, group: Any) -> None:
        answer = ledger.answer(STUDY, {**PROFILE, "group": group})
        unnamed = [f"INSERT INTO \"charges\" VALUES('{answer.study}','','{COST}','0','0');"]
        with closing(sqlite3.connect(ledger.path)) as connection:
            dump = list(connection.iterdump())
        rows = [line for line in dump if line.startswith("INSERT")]
        assert rows == [
            f"INSERT INTO \"answers\" VALUES('{answer.study}','{answer.id}','[{answer.payload[0]}]','pending');",
            *(unnamed if isinstance(group, str) else []),
            f"INSERT INTO \"charges\" VALUES('{answer.study}','sex','{COST}','{COST}','0');",
        ]

    def test_is_for_its_owner_only(self, ledger: Ledger) -> None:
        ledger.answer(STUDY, PROFILE)
        assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600

    @pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
    def test_one_that_others_can_write_is_not_used(self, ledger: Ledger, mode: int) -> None:
        ledger.answer(STUDY, PROFILE)
        ledger.path.chmod(mode)
        with pytest.raises(BadLedger, match=r"must be writable by its owner only \(chmod 600\)"):
            ledger.answer(STUDY, PROFILE)

    def test_a_new_one_gets_its_name_when_it_is_whole(self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: list[Any] = []

        def rename(old: Path, new: Path) -> None:
            seen.append((new.exists(), stat.S_IMODE(old.stat().st_mode)))
            with closing(sqlite3.connect(f"{old.as_uri()}?mode=ro", uri=True)) as connection:
                seen.append([table for (table,) in connection.execute("SELECT name FROM sqlite_master ORDER BY name")])
            rename_to_free(old, new)

        monkeypatch.setattr(module, "rename_to_free", rename)
        ledger.answer(STUDY, PROFILE)
        assert seen == [(False, 0o600), ["answers", "charges"]]
        assert [path.name for path in ledger.path.parent.iterdir()] == ["ledger"], "nothing is left lying about"

    def test_whoever_is_first_to_make_it_wins(self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        def late(old: Path, new: Path) -> None:
            monkeypatch.setattr(module, "rename_to_free", rename_to_free)
            Ledger(new).answer(STUDY, PROFILE)
            rename_to_free(old, new)

        monkeypatch.setattr(module, "rename_to_free", late)
        ledger.answer(numbered(1), PROFILE)
        assert len(ledger.pending()) == 2, "the other one's answer is not lost"
        assert [path.name for path in ledger.path.parent.iterdir()] == ["ledger"]

    def test_a_link_to_nowhere_gets_its_ledger_there(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "there")
        Ledger(tmp_path / "link").answer(STUDY, PROFILE)
        assert len(Ledger(tmp_path / "there").pending()) == 1

    def test_does_not_tell_which_study_came_first(self, tmp_path: Path) -> None:
        ledgers = [Ledger(tmp_path / "a"), Ledger(tmp_path / "b")]
        for ledger, order in zip(ledgers, ((0, 1, 2), (2, 0, 1)), strict=True):
            for number in order:
                ledger.answer(numbered(number), PROFILE)
        first, second = ([a.study for a in ledger.pending()] for ledger in ledgers)
        assert first == second

    def test_a_commit_waits_for_the_disk_and_the_folder(self, ledger: Ledger) -> None:
        connection = ledger._open()
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("PRAGMA fullfsync").fetchone() == (1,)
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
        connection.close()

    def test_an_answer_is_returned_only_when_it_is_on_the_disk(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The last thing before an answer is returned is that its folder is synced, with the answer committed."""
        seen: list[int] = []

        def sync(path: Path) -> None:
            other = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
            seen.append(other.execute("SELECT count(*) FROM answers").fetchone()[0])
            other.close()

        monkeypatch.setattr(module, "sync_folder", sync)
        ledger.answer(STUDY, PROFILE)
        ledger.answer(STUDY, PROFILE)
        ledger.pending()
        assert seen == [0, 1, 1, 1], "once when it is made"

    def test_a_disk_that_fails_gives_no_answer(self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(path: Path) -> None:
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(module, "sync_folder", fail)
            with pytest.raises(BadLedger, match="cannot be used: Input/output error"):
                ledger.answer(STUDY, PROFILE)
        ledger.pending()
        monkeypatch.setattr(module, "sync_folder", fail)
        with pytest.raises(BadLedger, match="cannot be made to last: Input/output error"):
            ledger.answer(STUDY, PROFILE)

    def test_a_full_disk_gives_no_answer_and_recovers(self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        ledger.pending()
        real = Ledger._open

        def small(self: Ledger) -> sqlite3.Connection:
            connection = real(self)
            connection.execute("PRAGMA max_page_count = 3")
            return connection

        def answer_many() -> None:
            for number in range(1000):
                ledger.answer(numbered(number), PROFILE, limit=UNLIMITED)

        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "_open", small)
            with pytest.raises(BadLedger, match="cannot be used: database or disk is full"):
                answer_many()
        studies = [answer.study for answer in ledger.pending()]
        assert 0 < len(studies) < 1000
        assert ledger.answer(numbered(1000), PROFILE, limit=UNLIMITED).study not in studies


def foreign_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE photos (x)")
    connection.close()


def newer_ledger(path: Path) -> None:
    Ledger(path).answer(STUDY, PROFILE)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()


def other_program(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 7")
    connection.close()


def text(path: Path) -> None:
    path.write_text("Dear diary, this is not a database, and it is longer than a header of a hundred bytes." * 20)


def short_text(path: Path) -> None:
    path.write_text("x")


def emptied(path: Path) -> None:
    Ledger(path).answer(STUDY, PROFILE)
    os.truncate(path, 0)


def cut_off(path: Path) -> None:
    for number in range(60):
        Ledger(path).answer(numbered(number), PROFILE, limit=UNLIMITED)
    os.truncate(path, path.stat().st_size // 2)


def overwritten_page(path: Path) -> None:
    Ledger(path).answer(STUDY, PROFILE)
    data = bytearray(path.read_bytes())
    data[4096:8192] = b"\xaa" * 4096
    path.write_bytes(data)


def damaged(statement: str):
    def damage(path: Path) -> None:
        Ledger(path).answer(STUDY, PROFILE)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement)
        connection.commit()
        connection.close()

    return damage


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (foreign_database, "is not a ledger but a file of another program"),
        (other_program, "is not a ledger but a file of another program"),
        (newer_ledger, "has version 2, and this program knows versions up to 1 only"),
        (damaged(f"PRAGMA application_id = {0x66676C31}"), OF_BEFORE),
        (text, "is not a ledger, or is damaged"),
        (emptied, "is empty, as a ledger never is, so what it held is lost"),
        (short_text, "is not a ledger but a file of another program"),
        (cut_off, "is not a ledger, or is damaged"),
        (overwritten_page, "is damaged"),
        (damaged("UPDATE answers SET id = 'x'"), "is damaged"),
        (damaged("UPDATE answers SET payload = 'x'"), "is damaged"),
        (damaged("UPDATE charges SET epsilon = 'x'"), "is damaged: a cost"),
        (damaged("UPDATE charges SET epsilon = '-1'"), "is damaged: a cost"),
        (damaged("UPDATE charges SET epsilon = 'NaN'"), "is damaged: a cost"),
    ],
    ids=lambda item: getattr(item, "__name__", None),
)
def test_a_file_that_cannot_be_trusted_is_left_as_it_is(tmp_path: Path, make: Any, said: str) -> None:
    path = tmp_path / "ledger"
    make(path)
    before = path.read_bytes()
    uses: list[Any] = [lambda: Ledger(path).answer(numbered(1), PROFILE, limit=Decimal(100)), Ledger(path).spent]
    if "cost" not in said:  # Where only the cost is damaged, the answer that is there is still the right one.
        uses += [lambda: Ledger(path).answer(STUDY, PROFILE), Ledger(path).pending, lambda: Ledger(path).state("")]
    for use in uses:
        with pytest.raises(BadLedger) as caught:
            use()
        assert said in str(caught.value)
    assert path.read_bytes() == before


def test_places_where_no_ledger_can_be(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "unable to open database file"), (tmp_path / "nowhere" / "x", "No such file")):
        with pytest.raises(BadLedger, match=f"cannot be used: {said}"):
            Ledger(path).answer(STUDY, PROFILE)


def test_a_ledger_in_use_says_so(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.pending()
    monkeypatch.setattr(module, "_LONGEST_WAIT", 0.05)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(CannotAnswer, match="is in use by another program; try again later"):
        ledger.answer(STUDY, PROFILE)
    other.close()


def answer_in_a_process(path: str, number: int) -> tuple[str, bytes | None]:
    study = numbered(number)
    try:
        return study.digest, Ledger(path).answer(study, PROFILE, limit=add_up([COST] * 4)).to_bytes()
    except CannotAnswer:
        return study.digest, None


@pytest.mark.parametrize("fresh", [True, False])
def test_processes_share_a_ledger(ledger: Ledger, fresh: bool) -> None:
    if not fresh:
        ledger.pending()
    jobs = [(str(ledger.path), number % 6) for number in range(48)]
    with get_context("fork").Pool(6) as pool:
        results = pool.starmap(answer_in_a_process, jobs, chunksize=1)
    answered = {digest: {data for d, data in results if d == digest} for digest, _ in results}
    kept = [found for found in answered.values() if found != {None}]
    assert len(kept) == 4, "as many as the limit allows, whoever came first"
    assert all(len(found) == 1 for found in kept)
    assert sorted(answer.to_bytes() for answer in ledger.pending()) == sorted(f.pop() or b"" for f in kept)
    assert ledger.spent() == {"sex": add_up([COST] * 4)}


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    ready = threading.Barrier(8)

    def work(number: int) -> Answer:
        ready.wait()
        return ledger.answer(numbered(number % 2), PROFILE)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(work, range(8)))) == 2


def test_a_ledger_of_today_is_one_for_every_later_program(ledger: Ledger) -> None:
    ledger.answer(STUDY, PROFILE)
    assert ledger.path.read_bytes()[68:72] == b"fggl"
    with closing(sqlite3.connect(ledger.path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


def test_a_ticket_that_is_none_is_refused_where_the_study_is_answered_already(ledger: Ledger) -> None:
    ledger.answer(STUDY, PROFILE)
    with pytest.raises(FairgaugeError, match="ticket"):
        ledger.answer(STUDY, PROFILE, ticket="not one")


@pytest.mark.parametrize(("terms", "again"), [({}, True), ({"epoch": 3600}, False)])
def test_a_refused_answer_gets_another_ticket_only_where_nothing_hides_when_it_is_sent(
    ledger: Ledger, terms: dict[str, Any], again: bool
) -> None:
    """One that waits for its moment would be sent at once the second time."""
    asked = replace(STUDY, admission="tickets", **terms)
    first = ledger.answer(asked, PROFILE, ticket="1" * 32)
    assert ledger.answer(asked, PROFILE, ticket="2" * 32) == first
    ledger.mark_refused(first)
    then = ledger.answer(asked, PROFILE, ticket="2" * 32)
    assert (then.id, then.payload) == (("2" if again else "1") * 32, first.payload)
    assert ledger.state(asked.digest) == ("pending" if again else "refused")


def rebuilt(path: Path, change: str) -> None:
    """A ledger whose table has lost its rules: SQLite finds nothing wrong with it."""
    Ledger(path).answer(STUDY, PROFILE)
    with closing(sqlite3.connect(path)) as connection:
        copy = "CREATE TABLE other AS SELECT * FROM answers; DROP TABLE answers; ALTER TABLE other RENAME TO answers;"
        connection.executescript(f"{copy} UPDATE answers SET {change};")


def test_a_state_that_there_is_not_is_damage(ledger: Ledger) -> None:
    rebuilt(ledger.path, "state = 'lost'")
    with pytest.raises(BadLedger, match="is damaged: an answer has no proper state"):
        ledger.state(STUDY.digest)


def test_an_answer_that_is_damaged_is_not_taken_for_none(ledger: Ledger) -> None:
    rebuilt(ledger.path, "id = 'x'")
    for use in (lambda: ledger.answer(STUDY, PROFILE), ledger.pending):
        with pytest.raises(BadLedger, match="is damaged: id must"):
            use()


def test_what_costs_nothing_is_in_order(ledger: Ledger) -> None:
    damaged("UPDATE charges SET epsilon = '0'")(ledger.path)
    assert ledger.spent() == {"sex": Decimal(0)}


def test_a_ledger_that_vanishes_while_it_is_used_is_named(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.pending()

    def gone(connection: sqlite3.Connection) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(ledger, "_identify", gone)
    with pytest.raises(BadLedger, match="cannot be used: No such file or directory"):
        ledger.pending()


class TestTwoSums:
    RELEASED = replace(STUDY, title="In the crowd", release=Release(1000, "0.00000001", 500))

    def test_both_sums_are_kept_and_the_crowds_is_what_the_certificate_says(self, ledger: Ledger) -> None:
        crowd = promised(self.RELEASED)
        assert crowd is not None
        ledger.answer(STUDY, PROFILE)
        ledger.answer(self.RELEASED, PROFILE)
        assert ledger.spent() == {"sex": add_up([COST, COST])}
        found = ledger.spent_towards_readers()["sex"]
        assert (found.epsilon, found.delta) == (add_up([COST, crowd.epsilon]), Decimal("1e-8"))
        assert crowd.epsilon < COST / 3

    def test_a_local_epsilon_above_the_limit_is_refused_crowd_or_no_crowd(self, ledger: Ledger) -> None:
        strong = Study("Strong", (sample_question(epsilon="4.2", loss=60),), release=Release(10**9, "0.01", 10**6))
        crowd = promised(strong)
        assert crowd is not None
        assert crowd.epsilon < Decimal("0.01")
        with pytest.raises(NotPrivate, match="this device allows 4 a study"):
            ledger.answer(strong, PROFILE)
        assert ledger.spent_towards_readers() == {}


def test_what_ties_a_token_to_its_ticket_is_not_in_the_file_any_more(tmp_path: Path) -> None:
    ledger, studies = Ledger(tmp_path / "ledger"), [digit * 64 for digit in "abc"]
    begun = {study: study[:1].upper().encode() * 336 for study in studies}
    tickets = {study: study[0] * 32 for study in studies}
    for study in studies:
        assert ledger.begin_pass(study, tickets[study], lambda study=study: begun[study]) == begun[study]  # type: ignore[misc]
    kept = (tmp_path / "ledger").read_bytes()
    assert all(begun[study][:64] in kept and tickets[study].encode() in kept for study in studies)
    for study in studies[:2]:
        ledger.keep_token(study, b"\0" * 40)  # shorter than what it replaces, so that there is room left
    kept = (tmp_path / "ledger").read_bytes()
    assert begun["c" * 64] in kept
    for study in studies[:2]:
        assert begun[study][:16] not in kept
        assert (study + tickets[study]).encode() not in kept
