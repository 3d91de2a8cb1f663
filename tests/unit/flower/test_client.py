import logging
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from secrets import token_hex
from typing import Any, ClassVar

import pytest
from flwr.app import ArrayRecord, ConfigRecord, Context, Error, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from fairgauge import client
from fairgauge.client import Answer, Ledger
from fairgauge.client.refusals import refusal_text
from fairgauge.errors import CannotAnswer
from fairgauge.flower import node_config, private_metrics, run_config
from fairgauge.flower.client import _AGENT, _APP, _LIMIT, _PLAIN, _SITE, SETTINGS
from fairgauge.flower.metric_reply import from_content
from fairgauge.study import Study
from tests.recorder import Reply, recorder
from tests.samples import sample_question, sample_study, two_questions
from tests.silence import NOT_LISTED, Person, groups_read, person, silent
from tests.sites import confusion_study
from tests.unit.client.test_agent_socket import serving, settle
from tests.unit.client.test_site_settings import MARK, prepared
from tests.unit.flower.messages import asked

STUDY = sample_study()


def context(**node: Any) -> Context:
    # A node that leaves group and ledger to the app, unless it says otherwise.
    config = {"sex": "female", **({} if {_AGENT, SETTINGS, _APP} & set(node) else {_APP: True}), **node}
    return Context(
        run_id=1,
        node_id=2,
        node_config=config,
        state=RecordDict(),
        run_config={"study": str(Path("study.json").absolute())},
    )


class App:
    """A client app with one evaluation under the mod, and how often that ran."""

    def __init__(self, gives: Any = None, **settings: Any) -> None:
        self.runs = 0
        self.app = ClientApp()
        chosen = {"study": STUDY, "group": {"sex": node_config("sex")}, "ledger": Path("ledger").absolute(), **settings}

        @self.app.evaluate(mods=[private_metrics(**chosen)])
        def evaluate(message: Message, context: Context) -> Message:
            self.runs += 1
            if callable(gives):
                return gives(message)
            return Message(RecordDict({"metrics": MetricRecord(gives or {"recall": 0.75})}), reply_to=message)

    def __call__(self, **node: Any) -> Message:
        return self.app(asked(), context(**node))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.json").write_bytes(STUDY.to_bytes())
    return tmp_path


def refused(reply: Message, why: str = "device") -> bool:
    return reply.has_error() and not reply.has_content() and reply.error.reason == refusal_text(why)


def test_a_reply_holds_the_answer_and_nothing_else() -> None:
    def evaluate(message: Message) -> Message:
        metrics = MetricRecord({"recall": 0.75, "num-examples": 4711, "loss": 0.3, "study": 12})
        others = {"config": ConfigRecord({"group": "female"}), "arrays": ArrayRecord(), "metrics": metrics}
        return Message(RecordDict(others), reply_to=message, ttl=4711.0)

    reply = App(evaluate)()
    (answer,) = Ledger("ledger").pending()
    assert list(reply.content) == ["metrics"]
    assert sorted(reply.content["metrics"]) == ["id", "num-examples", "payload", "study"]
    assert reply.content["metrics"]["num-examples"] == 1
    assert from_content(reply.content) == answer
    assert answer.study == STUDY.digest
    assert reply.metadata.ttl != 4711


def test_later_rounds_and_runs_repeat_the_answer_without_evaluating() -> None:
    app = App()
    first = app()
    spent = Ledger("ledger").spent()
    app_of_another_run = App({"recall": 0.0})
    for again in (app(), app_of_another_run(), app_of_another_run(sex="male")):
        assert again.content == first.content
    assert (app.runs, app_of_another_run.runs) == (1, 0)
    assert Ledger("ledger").spent() == spent


def test_the_group_and_the_metrics_reach_the_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = client.answer

    def answer(study: Any, profile: Any, **more: Any) -> Any:
        seen.append(profile)
        return real(study, profile, **more)

    monkeypatch.setattr("fairgauge.client.ledger.answer", answer)
    App({"recall": 0.25, "loss": 3.5})(sex="male")
    assert seen == [{"group": {"sex": "male"}, "values": {"recall": 0.25, "loss": 3.5}}]


@pytest.mark.parametrize("way", ["file", "path", "bytes", "run config", "function"])
def test_where_a_study_comes_from(way: str) -> None:
    sources = {
        "file": str(Path("study.json").absolute()),
        "path": Path("study.json").absolute(),
        "bytes": STUDY.to_bytes(),
        "run config": run_config("study"),
        "function": lambda _: STUDY,
    }
    assert from_content(App(study=sources[way])().content).study == STUDY.digest


def test_a_study_from_the_web_is_read_once_and_only_when_it_is_needed() -> None:
    with recorder() as server:
        server.script(Reply(body=STUDY.to_bytes()))
        app = App(study=f"{server.url}/studies/{STUDY.digest}")
        assert server.heard == []
        assert app().has_content()
        assert app().has_content()
        assert len(server.heard) == 1


def test_another_study_than_the_address_names_is_refused() -> None:
    with recorder() as server:
        server.script(Reply(body=two_questions().to_bytes()))
        app = App(study=f"{server.url}/studies/{STUDY.digest}")
        assert refused(app(), "study")
    assert app.runs == 0


def test_a_study_above_the_nodes_own_limit_is_refused() -> None:
    app = App()
    assert refused(app(**{"fairgauge-limit": 0.5}), "limit")
    assert refused(app(**{"fairgauge-limit": "1.0"}), "limit")
    assert refused(app(**{"fairgauge-study-limit": 1}), "limit")
    assert refused(app(**{"fairgauge-limit": "lots"}), "settings")
    assert app.runs == 0
    assert Ledger("ledger").spent() == {}
    assert app(**{"fairgauge-limit": 1.1}).has_content()
    with pytest.raises(TypeError, match="limit"):
        App(limit=1000)  # what a device spends is not for code that the server ships to say


def test_what_the_device_could_tell_anyone_is_told(here: Path) -> None:
    assert refused(App(study=here / "nowhere.json")(), "study")
    (here / "full").write_bytes(b"")
    assert refused(App(ledger=here / "full")(), "ledger")
    assert refused(App(ledger=here / "full" / "ledger")(), "ledger")
    closed = Study("Sample", STUDY.questions, closes="2020-01-01T00:00:00Z")
    assert refused(App(study=closed)(), "time")
    blind = Study("Sample", STUDY.questions, admission="tickets", opens="2020-01-01T00:00:00Z")
    assert refused(App(study=blind)(), "unable")


def test_a_folder_that_is_missing_is_made_for_its_owner_only(here: Path) -> None:
    assert App(ledger=here / "new" / "ledgers" / "0.sqlite3")().has_content()
    assert (here / "new").stat().st_mode & 0o777 == 0o700


def test_a_study_that_spends_more_than_it_says_is_refused(here: Path) -> None:
    (here / "bad.json").write_bytes(sample_study(sample_question(epsilon="1.0")).to_bytes())
    app = App(study=here / "bad.json")
    assert refused(app(), "study")
    assert app.runs == 0


def raising(error: type[BaseException]) -> Any:
    def evaluate(message: Message) -> Message:
        raise error("female 0.75")

    return evaluate


FAILURES = {
    "an exception": raising(ValueError),
    "an exit": raising(SystemExit),
    "an interrupt": raising(KeyboardInterrupt),
    "a framework's own": raising(type("female 0.75", (BaseException,), {})),
    "one that looks like ours": raising(CannotAnswer),
    "an exception with a tuple": raising(KeyError),
    "an error": lambda message: Message(Error(code=75, reason="female 0.75"), reply_to=message),
    "no message": lambda message: "female 0.75",
    "no record": lambda message: Message(RecordDict(), reply_to=message),
    "two records": lambda message: Message(
        RecordDict({"a": MetricRecord({"recall": 0.75}), "b": MetricRecord({"recall": 0.25})}), reply_to=message
    ),
    "a value out of range": {"recall": 75.75},
    "a list": {"recall": [0.75]},
    "no value": {"accuracy": 0.75},
    "not a number": {"recall": float("nan")},
}


@pytest.mark.parametrize("abstain", [False, True])
@pytest.mark.parametrize("name", FAILURES)
def test_whatever_the_evaluation_does_there_is_an_answer(
    name: str, abstain: bool, caplog: pytest.LogCaptureFixture
) -> None:
    study = sample_study(sample_question(abstain=abstain))
    with caplog.at_level(logging.DEBUG):
        reply = App(FAILURES[name], study=study)()
    (answer,) = Ledger("ledger").pending()
    assert from_content(reply.content) == answer
    assert answer.study == study.digest
    assert sorted(reply.content["metrics"]) == ["id", "num-examples", "payload", "study"]
    assert "0.75" not in caplog.text
    assert "75.75" not in caplog.text
    assert Ledger("ledger").spent() == {"sex": study.questions[0].mechanism.epsilon_bound}


@pytest.mark.parametrize("simulated", [False, True])
def test_a_group_that_is_missing_or_not_listed_is_answered_and_not_named(
    simulated: bool, here: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairgauge.flower.client._is_simulated", lambda: simulated)
    ways: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"sex": "platypus"}),
        ({}, {"sex": 7}),
        ({"group": {"sex": node_config("animal")}}, {}),
        ({"group": {"sex": None}}, {}),
        ({"group": lambda _: "platypus"}, {}),
        ({"group": lambda context: context.node_config["animals"]}, {}),
        ({"group": {}}, {}),
    ]
    for number, (settings, node) in enumerate(ways):
        assert App(ledger=here / str(number), **settings)(**node).has_content()
        assert Ledger(here / str(number)).spent() == {"sex": STUDY.questions[0].mechanism.epsilon_bound}
    assert "sex must be one of" not in caplog.text  # a log that can be fetched would tell who does not fit
    assert ("KeyError at" in caplog.text) == simulated, "nobody's node says that a person lacks a group"
    assert simulated or not caplog.records
    assert "platypus" not in caplog.text


def test_a_server_that_picks_the_study_cannot_tell_nodes_apart_by_who_answers(here: Path) -> None:
    """An honest app takes the study from the run's configuration, and a server may change that as it likes."""

    def ask(who: Person) -> Callable[[Study], bool]:
        recall = who["values"].get("recall")
        measured = {} if recall is None or recall == NOT_LISTED else {"recall": float(recall)}
        asked_for: list[Study] = []
        app = App(
            lambda message: Message(RecordDict({"metrics": MetricRecord(measured)}), reply_to=message),
            study=lambda _: asked_for[0],
            group={"sex": lambda _: who["group"]["sex"]},
            ledger=here / token_hex(8),
        )

        def answers(study: Study) -> bool:
            asked_for[:] = [study]
            return app(**{"fairgauge-limit": "1000"}).has_content()

        return answers

    assert silent(ask) == []
    assert groups_read(ask(person("female"))) == groups_read(ask(person(NOT_LISTED))) == ["female", "male"]


def test_a_node_with_an_agent_tells_the_app_neither_group_nor_value(here: Path) -> None:
    def touched(_: Any) -> Any:
        raise AssertionError("the agent has its own")

    app = App(touched, group=touched, ledger=touched)
    with serving(settle(here)):
        first, second = app(**{"fairgauge-agent": str(here / "agent.sock")}), app(**{"fairgauge-agent": "agent.sock"})
    assert first.content == second.content
    assert from_content(first.content).study == STUDY.digest
    assert app.runs == 0
    assert refused(app(**{"fairgauge-agent": "agent.sock"}), "agent")


def test_an_agent_that_asks_for_values_gets_them_from_the_evaluation(here: Path) -> None:
    app = App({"recall": 0.25, "loss": 3.5})
    with serving(settle(here, askers_give=["recall"])):
        assert app(**{"fairgauge-agent": "agent.sock"}).has_content()
        assert app(**{"fairgauge-agent": "agent.sock"}).has_content()
    assert app.runs == 1


class TestTheNodeDecides:
    """The server ships the app, so profile, ledger, limits and what may be asked are the node's to say."""

    def test_a_node_that_leaves_nothing_to_the_app_refuses_its_group_and_ledger(self, here: Path) -> None:
        app = App(group=lambda _: pytest.fail("not asked"), ledger=lambda _: pytest.fail("not asked"))
        reply = app.app(asked(), Context(run_id=1, node_id=2, node_config={}, state=RecordDict(), run_config={}))
        assert refused(reply, "settings")
        assert refused(App(ledger=here / "other")(**{_APP: "no"}), "settings")
        assert not (here / "other").exists()
        assert app.runs == 0

    def test_an_app_with_fresh_ledgers_gets_one_answer_under_a_limit_of_one(self, here: Path) -> None:
        settings = str(settle(here, limit="1.1", askers_give=["recall"]))
        studies = [Study(f"Sample {number}", STUDY.questions) for number in range(20)]
        replies = [App(study=one, ledger=here / token_hex(8))(**{SETTINGS: settings}) for one in studies]
        assert [reply.has_content() for reply in replies] == [True, *[False] * 19]
        assert all(refused(reply, "limit") for reply in replies[1:])
        assert sorted(path.name for path in here.glob("*.sqlite3")) == ["ledger.sqlite3"]

    def test_the_evaluation_gives_only_what_the_nodes_file_names(
        self, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = []

        def answer(study: Any, profile: Any, **_: Any) -> Answer:
            seen.append(profile)
            return Answer(study.digest, "0" * 32, (0,))

        monkeypatch.setattr("fairgauge.client.ledger.answer", answer)
        for name, more, runs in (("own", {}, 0), ("given", {"askers_give": ["recall"]}, 1)):
            app = App({"recall": 0.25, "loss": 3.5})
            assert app(**{SETTINGS: str(settle(here / name, **more))}).has_content()
            assert app.runs == runs
        assert seen == [
            {"group": {"sex": "female"}, "values": {"recall": Fraction(1, 2)}},
            {"group": {"sex": "female"}, "values": {"recall": "0.25"}},
        ]

    def test_a_study_that_asks_otherwise_is_refused_before_the_profile_is_opened(self, here: Path) -> None:
        prepared_file = settle(here, attributes={"sex": ["male", "female"]}, metrics={"recall": ["0", "0.5"]})
        (here / "profile.json").unlink()
        app = App()
        assert refused(app(**{SETTINGS: str(prepared_file)}), "asked")
        assert app.runs == 0

    @pytest.mark.parametrize(
        "node",
        [
            {"fairgauge-limits": 1},
            {"Fairgauge-limit": 1},
            {"fairgauge": "agent.sock"},
            {"fairgauge_agent": "agent.sock"},
            {_APP: False},
            {_AGENT: "agent.sock", SETTINGS: "agent.json"},
            {_AGENT: "agent.sock", _LIMIT: 1},
            {SETTINGS: "agent.json", _APP: True},
            {SETTINGS: "nowhere.json"},
        ],
    )
    def test_a_key_that_would_be_ignored_is_refused(self, node: dict[str, Any]) -> None:
        app = App()
        assert refused(app(**node), "settings")
        assert app.runs == 0

    def test_nodes_that_flower_simulates_are_the_apps_own(self) -> None:
        app = App()
        bare = Context(run_id=1, node_id=2, node_config={"sex": "female"}, state=RecordDict(), run_config={})
        engine: dict[str, Any] = {"__name__": "flwr.simulation.ray_transport.ray_actor", "app": app.app}
        exec("def run(message, context): return app(message, context)", engine)
        assert engine["run"](asked(), bare).has_content()
        assert refused(app.app(asked(), bare), "settings")


class TestPlainMetrics:
    """What a node lets out as it is, beside the answer: the owner's choice, and nobody else's."""

    MEASURED: ClassVar = {"recall": 0.75, "eval_loss": 0.5, "num-examples": 40, "age": 77.0}

    def test_nothing_leaves_as_it_is_unless_the_node_says_so(self, here: Path) -> None:
        settings = str(settle(here, askers_give=["recall"]))
        app = App(self.MEASURED, plain=["eval_loss", "age"])
        assert list(app(**{SETTINGS: settings}).content) == ["metrics"]
        named = app(**{SETTINGS: settings, _PLAIN: "eval_loss num-examples"})
        assert sorted(named.content) == ["metrics", "plain-metrics"]
        assert dict(named.content["plain-metrics"]) == {"eval_loss": 0.5, "num-examples": 40}

    def test_a_node_that_leaves_it_to_the_app_lets_out_what_the_app_names(self) -> None:
        app = App(self.MEASURED, plain=["eval_loss"])
        first, second = app(), app()
        assert dict(first.content["plain-metrics"]) == {"eval_loss": 0.5, "num-examples": 1}
        assert from_content(first.content) == from_content(second.content)
        assert app.runs == 2, "the loss is that of the round"

    def test_what_the_study_asks_for_never_leaves_as_it_is(self) -> None:
        app = App(self.MEASURED)
        assert refused(app(**{_PLAIN: "recall"}), "settings")
        assert refused(App(plain=["recall"])(), "settings")
        assert app.runs == 0

    def test_an_evaluation_that_fails_still_gives_its_answer(self) -> None:
        assert list(App(raising(ValueError), plain=["eval_loss"])().content) == ["metrics"]


class TestSites:
    """A node that holds the records of many people."""

    def test_the_answer_comes_from_the_nodes_own_records(self, tmp_path: Path) -> None:
        app = App(study=confusion_study(), group=None, ledger=None)
        settings = str(prepared(tmp_path))
        reply = app(**{_SITE: settings})
        found = from_content(reply.content)
        assert isinstance(found, Answer)
        assert sorted(reply.content["metrics"]) == ["id", "num-examples", "payload", "study"]
        assert from_content(app(**{_SITE: settings}).content) == found
        assert app.runs == 0, "code that sees all records could put any of them into every count"
        assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": 1}

    def test_the_nodes_agent_answers_for_its_records(self, here: Path) -> None:
        prepared(here)
        (here / "patients.csv").chmod(0o600)
        with serving(settle(here, site="site.json")):
            app = App(study=confusion_study(), group=None, ledger=None)
            found = from_content(app(**{"fairgauge-agent": "agent.sock"}).content)
        assert isinstance(found, Answer)
        assert app.runs == 0

    def test_a_node_without_records_gives_none(self, tmp_path: Path) -> None:
        assert refused(App(study=confusion_study())(), "settings")
        assert refused(App(study=confusion_study())(**{_SITE: str(prepared(tmp_path, limit="0.1"))}), "limit")

    def test_whatever_a_record_holds_there_is_an_answer(self, tmp_path: Path) -> None:
        broken = prepared(tmp_path, f"who,gender,sick,alarm\n{MARK},{MARK},1,1\n")
        reply = App(study=confusion_study())(**{_SITE: str(broken)})
        assert isinstance(from_content(reply.content), Answer)

    def test_a_device_needs_a_group_and_a_ledger(self) -> None:
        assert refused(App(group=None)(), "settings")
