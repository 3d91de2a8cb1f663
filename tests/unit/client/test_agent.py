"""What the agent says, by the test vectors that any language may use, and what no asker gets out of it.

Covers: fairgauge.client.agent_settings, fairgauge.client.policy.
"""

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from fairgauge.client import Answer, Ledger, load_study
from fairgauge.client.agent import Agent
from fairgauge.client.agent_command import main
from fairgauge.client.agent_settings import AgentSettings
from fairgauge.errors import CannotAnswer, InvalidInput
from fairgauge.study import Attribute, Metric, Release, Study
from tests.samples import RECALL, SEX, sample_question, sample_study, two_questions
from tests.silence import NOT_LISTED, Person, groups_read, narrowed, person, silent
from tests.sites import confusion_study

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "agent.json").read_text(encoding="utf-8"))
STUDY = sample_study()
PROFILE = {"group": {"sex": "female"}, "values": {"recall": 0.8125390625}}


def agent(here: Path, profile: Any = PROFILE, **settings: Any) -> Agent:
    (here / "agent.json").write_text(json.dumps(settings))
    file = here / "profile.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps(profile))
    return Agent(AgentSettings.load(here / "agent.json"))


def test_the_vectors(tmp_path: Path) -> None:
    talk = agent(tmp_path, VECTORS["profile"], **VECTORS["settings"]).conversation()
    given: dict[str, str] = {}
    for send, expected in VECTORS["lines"]:
        line = re.sub(r"\{(\w+)\}", lambda found: VECTORS["studies"][found[1]], send)
        reply = talk.reply(line.encode()).decode()
        name = re.fullmatch(r"ok \{answer (\w+)\}", expected)
        if name is None:
            assert reply == expected, send
        else:
            answer = Answer.from_bytes(reply.removeprefix("ok ").encode())
            assert answer.study == load_study(VECTORS["studies"][name[1]].encode()).digest
            assert given.setdefault(name[1], reply) == reply
            assert 125 <= len(reply) <= 135
    assert len(Ledger(tmp_path / "ledger.sqlite3").pending()) == len(given) == 2


def ask(agent: Agent, study: Study, *values: str) -> str:
    talk = agent.conversation()
    for value in values:
        talk.reply(f"value {value}".encode())
    return talk.reply(b"answer " + study.to_bytes()).decode()


def test_an_asker_gives_only_the_values_that_the_agents_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def watch(study: Any, profile: Any, **_: Any) -> Answer:
        seen.append(profile)
        return Answer(study.digest, "0" * 32, (0,))

    monkeypatch.setattr("fairgauge.client.ledger.answer", watch)
    for name, settings in (("own", {}), ("asked", {"askers_give": ["recall"]})):
        here = tmp_path / name
        here.mkdir()
        assert ask(agent(here, **settings), STUDY, "recall=0.25", "error=1").startswith("ok {")
    assert [float(profile["values"]["recall"]) for profile in seen] == [0.8125390625, 0.25]
    assert all(set(profile["values"]) == {"recall"} for profile in seen)


def test_a_profile_is_read_once_and_again_when_it_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long it takes to read depends on what it holds: who asks thousands of free studies could take the mean."""
    read: list[str] = []
    loads = json.loads

    def watch(text: str, **how: Any) -> Any:
        read.append(text)
        return loads(text, **how)

    held = agent(tmp_path, {"group": {"sex": "female"}, "values": {"recall": "0.4711"}}).settings
    monkeypatch.setattr(json, "loads", watch)
    for _ in range(3):
        read_now = held.read_profile()
        assert read_now["group"] == {"sex": "female"}
        assert float(read_now["values"]["recall"]) == 0.4711
    assert len(read) == 1
    (tmp_path / "profile.json").write_text('{"group": {"sex": "male"}}')
    assert held.read_profile() == {"group": {"sex": "male"}, "values": {}}
    (tmp_path / "profile.json").unlink()
    assert held.read_profile() == {"group": {}, "values": {}}


@pytest.mark.parametrize("number", ["0." + "1" * 390, "9" * 390, "1e-390", "-1e390", "0.3", "76", 0.1])
def test_a_number_of_a_profile_has_one_length(number: Any, tmp_path: Path) -> None:
    """With 390 digits an answer took 23 microseconds longer, and who asks may take the mean."""
    held = agent(tmp_path, {"group": {"sex": "female"}, "values": {"recall": number}}).settings
    read = held.read_profile()["values"]["recall"]
    assert 2**128 % read.denominator == 0
    assert abs(read) <= 2**128
    assert RECALL.nearest(read) == pytest.approx(float(RECALL.nearest(number) or 0), rel=1e-15)


def test_limits_and_the_list_are_the_agents_own(tmp_path: Path) -> None:
    assert ask(agent(tmp_path, limit="1"), STUDY) == "no limit"
    assert ask(agent(tmp_path, study_limit="1"), STUDY) == "no limit"
    assert ask(agent(tmp_path, studies=["0" * 64]), STUDY) == "no asked"
    assert not (tmp_path / "ledger.sqlite3").exists() or Ledger(tmp_path / "ledger.sqlite3").spent() == {}
    assert ask(agent(tmp_path, studies=[STUDY.digest]), STUDY).startswith("ok {")
    # The lifetime: a second study about the sex would bring it to 2.2.
    again = sample_study(sample_question(epsilon="1.2"))
    assert ask(agent(tmp_path, limit="2"), again) == "no limit"


def test_whoever_asks_whatever_cannot_tell_people_apart_by_who_answers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def asked(who: Person) -> Callable[[Study], bool]:
        here = tmp_path / token_hex(8)
        here.mkdir()
        held = agent(here, who, limit="1000")
        return lambda study: ask(held, study).startswith("ok {")

    with caplog.at_level(logging.DEBUG):
        assert silent(asked) == []
        assert groups_read(asked(person("female"))) == groups_read(asked(person(None))) == ["female", "male"]
    assert NOT_LISTED not in caplog.text
    assert len({re.sub("[0-9a-f]{64}", "", record.getMessage()) for record in caplog.records}) == 1


NO_PROFILES = {
    "group no object": b'{"group": "platypus", "values": {}}',
    "no object": b'["platypus"]',
    "text": b'"platypus"',
    "more": b'{"group": {"sex": "platypus"}, "values": {}, "note": 1}',
    "latin-1": '{"group": {"sex": "männlich platypus"}, "values": {}}'.encode("latin-1"),
    "nested": b'{"group": {"sex": %b}, "values": {}}' % (b"[" * 50_000),
    "nothing": b"",
}
STRANGE_PROFILES = {
    "no values": b'{"group": {}}',
    "null": b'{"group": null, "values": null}',
    "exponent": b'{"group": {"sex": "female"}, "values": {"recall": 1e99999999999999999999}}',
    "exponent elsewhere": b'{"group": {"sex": "female"}, "values": {"recall": 0.5, "x": 1e99999999999999999999}}',
    "integer": b'{"group": {"sex": "female"}, "values": {"recall": %b}}' % (b"9" * 6000),
    "decimals": b'{"group": {"sex": "female"}, "values": {"recall": 0.%b}}' % (b"9" * 900_000),
    "not a number": b'{"group": {"sex": "female"}, "values": {"recall": NaN}}',
}


@pytest.mark.parametrize(
    "written", [*NO_PROFILES.values(), *STRANGE_PROFILES.values()], ids=[*NO_PROFILES, *STRANGE_PROFILES]
)
def test_whatever_the_profile_says_there_is_an_answer_and_it_is_charged(
    written: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    held = agent(tmp_path)
    (tmp_path / "profile.json").write_bytes(written)
    with caplog.at_level(logging.DEBUG):
        assert ask(held, STUDY).startswith("ok {")
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": STUDY.questions[0].mechanism.epsilon_bound}
    assert "platypus" not in caplog.text
    assert len(caplog.records) == 1


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where agents would be served, and are not."""
    found: list[str] = []

    class Service:
        def __init__(self, _: Any) -> None:
            self.stop = None

        def run(self) -> None:
            found.append("here")

    monkeypatch.setattr("fairgauge.client.agent_socket.AgentService", Service)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    return found


@pytest.mark.parametrize("written", [*NO_PROFILES.values(), None], ids=[*NO_PROFILES, "gone"])
def test_what_is_no_profile_is_told_to_its_owner_and_the_agent_starts(
    written: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str], started: list[str]
) -> None:
    """Who finds no agent after a restart would know of a person whose profile another program renewed or took away."""
    agent(tmp_path)
    (tmp_path / "profile.json").unlink()
    if written is not None:
        (tmp_path / "profile.json").touch(0o600)
        (tmp_path / "profile.json").write_bytes(written)
    for way in ([], ["--check"]):
        assert main([str(tmp_path / "agent.json"), *way]) == bool(way)
        said = capsys.readouterr().err
        wrong = "cannot be read" if written is None else 'must be {"group": {...}, "values": {...}}'
        assert f"profile.json {wrong}" in said
        assert "platypus" not in said
    assert started == ["here"]


@pytest.mark.parametrize("number", ["1e300", "-1e300", "9" * 60, "1e-300", "0e500"])
def test_numbers_far_away_are_numbers_also_from_whoever_asks(number: str, tmp_path: Path) -> None:
    talk = agent(tmp_path, askers_give=["recall"]).conversation()
    assert talk.reply(f"value recall={number}".encode()) == b"ok"


def test_a_profile_that_is_gone_is_answered_like_one_with_nothing_in_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    held = agent(tmp_path)
    (tmp_path / "profile.json").unlink()
    assert ask(held, STUDY).startswith("ok {")
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": STUDY.questions[0].mechanism.epsilon_bound}
    assert "profile" not in caplog.text


def test_a_profile_that_everyone_may_read_is_refused(tmp_path: Path) -> None:
    open_to_all = agent(tmp_path)
    (tmp_path / "profile.json").chmod(0o644)
    assert ask(open_to_all, STUDY) == "no device"
    with pytest.raises(CannotAnswer, match="must be closed to others"):
        open_to_all.settings.read_profile()
    (tmp_path / "profile.json").chmod(0o640)
    assert ask(open_to_all, STUDY).startswith("ok {")


def test_a_mistake_of_our_own_ends_neither_the_talk_nor_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def mistake(*_: Any) -> Any:
        raise RuntimeError("female 0.75")

    talk = agent(tmp_path).conversation()
    monkeypatch.setattr(Agent, "answer", mistake)
    assert talk.reply(b"answer " + STUDY.to_bytes()) == b"no device"
    assert talk.reply(b"hello") == b"ok fairgauge-agent 1"
    assert "female" not in caplog.text


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"limits": "4"}, "limits=4: must be one of"),
        ({"limit": 4}, "limit=4: must be text"),
        ({"limit": "-1"}, "limit=-1: must be"),
        ({"studies": "all"}, "studies=all: must be a list"),
        ({"askers_give": "group"}, "askers_give=group: must be a list of texts"),
        ({"askers_give": [1]}, r"askers_give=\[1\]: must be a list of texts"),
        ({"mode": "777"}, "mode=777: must be 600"),
    ],
)
def test_settings_are_read_strictly(settings: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=told):
        agent(tmp_path, **settings)


def test_two_attributes_each_have_their_account(tmp_path: Path) -> None:
    profile = {"group": {"sex": "male", "age": None}, "values": {"recall": 1, "error": None}}
    assert ask(agent(tmp_path, profile), two_questions()).startswith("ok {")
    assert sorted(Ledger(tmp_path / "ledger.sqlite3").spent()) == ["age", "sex"]


@pytest.mark.parametrize("terms", [{"epoch": 3600}, {"release": Release(10_000, "0.00000001", 2_500)}])
def test_terms_that_whoever_carries_the_answer_would_not_keep_are_refused(terms: Any, tmp_path: Path) -> None:
    study = Study("Sample", STUDY.questions, **terms)
    assert ask(agent(tmp_path), study) == "no unable"
    assert not (tmp_path / "ledger.sqlite3").exists() or Ledger(tmp_path / "ledger.sqlite3").spent() == {}


def test_nobody_fills_the_log_with_one_connection(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    talk = agent(tmp_path).conversation()
    assert {talk.reply(b"") for _ in range(100)} == {b"no line"}
    assert {talk.reply(b"check {}") for _ in range(100)} == {b"no study"}
    assert len(caplog.records) == 2


SETTLED: dict[str, Any] = {"attributes": {"sex": ["female", "male"]}, "metrics": {"recall": [0, 1]}}


def test_what_may_be_asked_is_settled_before_the_profile_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Refused for everyone in the same words, before anything of the person or the ledger is opened."""
    held = agent(tmp_path, **SETTLED)
    monkeypatch.setattr(AgentSettings, "read_profile", lambda _: pytest.fail("opened"))
    for study in (
        narrowed(0, 1, "female", "zzz"),
        narrowed(0, 1, "female", "male", "other"),
        narrowed(0, "0.5"),
        narrowed("-1", 1),
        sample_study(sample_question(RECALL, Attribute("creed", ("one", "another")))),
        sample_study(sample_question(Metric("weight", 0, 200))),
        two_questions(),
        confusion_study(),
    ):
        for verb in (b"check ", b"answer "):
            assert held.conversation().reply(verb + study.to_bytes()) == b"no asked"
    assert not (tmp_path / "ledger.sqlite3").exists()
    monkeypatch.undo()
    assert ask(held, narrowed("0.0", "1.00", "male", "female")).startswith("ok {"), "the same groups and range"


def test_crossed_attributes_are_asked_for_one_by_one(tmp_path: Path) -> None:
    age = Attribute("age", ("18-29", "30+"))
    study = sample_study(sample_question(RECALL, Attribute.crossed(SEX, age)))
    assert ask(agent(tmp_path, **SETTLED), study) == "no asked"
    more = {**SETTLED["attributes"], "age": ["18-29", "30+"]}
    assert ask(agent(tmp_path, **SETTLED | {"attributes": more}), study).startswith("ok {")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"attributes": ["sex"]}, "attributes=.*must be an object"),
        ({"attributes": {"sex": "female"}}, "attributes: sex=female: must be a list of groups"),
        ({"metrics": {"recall": [0]}}, "metrics: recall=.*must be its least and its largest value"),
        ({"metrics": {"recall": [1, 0]}}, "metrics: high=0: must be above low"),
        ({"attribute": {}}, "attribute=.*must be one of"),
    ],
)
def test_what_may_be_asked_is_read_strictly(settings: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=told):
        agent(tmp_path, **settings)


@pytest.mark.parametrize(
    ("profile", "told"),
    [
        (
            {"group": {"sex": "platypus"}, "values": {"recall": 76}},
            ["sex must be one of female", "recall must be a num"],
        ),
        ({"group": {}, "values": {"recal": 0.5}}, ["sex must be one of female", "recall must be a number from 0 to 1"]),
        ({"group": {"sex": None}, "values": {"recall": None}}, []),
    ],
)
def test_the_profile_is_held_against_the_settings_once_at_set_up(
    profile: Any, told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = agent(tmp_path, profile, **SETTLED)
    assert main(["--check", str(tmp_path / "agent.json")]) == bool(told)
    said = capsys.readouterr()
    assert "studies of recall from 0 to 1 by sex (female, male), at most epsilon 4 a study" in said.out
    assert all(words in said.err for words in told)
    assert bool(said.err) == bool(told)
    assert not {"platypus", "76"} & set(re.split(r"\W", said.err))
    assert ask(held, STUDY).startswith("ok {")
    assert agent(tmp_path, profile, **SETTLED, askers_give=["recall"]).settings.check_profile() == [
        words for words in held.settings.check_profile() if "recall" not in words
    ]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "any study, whatever attributes, groups, metrics and ranges it names"),
        (SETTLED, "studies of recall from 0"),
    ],
)
def test_an_agent_says_at_its_start_what_it_will_answer_and_starts_though_the_profile_does_not_fit(
    settings: Any, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], started: list[str]
) -> None:
    """One that did not start again, because another program renewed the profile, would tell somebody of it."""
    agent(tmp_path, {"group": {"sex": "platypus"}, "values": {}}, **settings)
    assert main([str(tmp_path / "agent.json")]) == 0
    assert started == ["here"]
    said = capsys.readouterr().err
    assert told in said
    assert "platypus" not in said


def test_whether_a_sites_agent_has_a_person_is_in_its_settings_and_not_on_the_disk(tmp_path: Path) -> None:
    assert agent(tmp_path).settings.has_profile
    assert not agent(tmp_path, site="site.json").settings.has_profile
    (tmp_path / "agent.json").write_text('{"site": "site.json", "profile": "nowhere.json"}')
    assert AgentSettings.load(tmp_path / "agent.json").has_profile
