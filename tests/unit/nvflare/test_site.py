"""A site's filters and guard, without a network.

Covers: fairgauge.nvflare.task_result, fairgauge.nvflare.answer_collector, fairgauge.nvflare.recipe.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import pytest
from nvflare.apis.client import Client
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils

import fairgauge.nvflare
from fairgauge.client import Answer, Ledger, answer
from fairgauge.client.refusals import refusal_text
from fairgauge.errors import InvalidInput
from fairgauge.nvflare import AnswerCollector, AnswerFilter, PrivateMetricsRecipe, SiteGuard, StudyFilter
from fairgauge.nvflare.outgoing_guard import StudyTask
from fairgauge.nvflare.task_result import _ANSWER, _REFUSAL, STUDY, from_result, to_result
from fairgauge.study import Study
from tests.samples import sample_study
from tests.silence import Person, groups_read, person, silent
from tests.sites import NOBODY, confusion_study
from tests.unit.client.test_agent_socket import serving, settle
from tests.unit.client.test_site_settings import MARK, prepared

STUDY_ASKED = sample_study()
DOCUMENT = STUDY_ASKED.to_bytes().decode()


def metrics(**found: Any) -> Shareable:
    return FLModelUtils.to_shareable(FLModel(metrics=found or {"recall": 0.8125390625, "loss": 4711.0}))


def at_the_site(filters: AnswerFilter, result: Shareable, *, asked: str | None = DOCUMENT) -> Shareable:
    """What a site makes of a task and its result."""
    context, task = FLContext(), Shareable()
    if asked is not None:
        task[STUDY] = asked
    assert StudyFilter().process(task, context) is task
    return filters.process(result, context)


def test_the_public_names() -> None:
    names = ["AnswerCollector", "AnswerFilter", "PrivateMetricsRecipe", "SiteGuard", "StudyFilter"]
    assert fairgauge.nvflare.__all__ == dir(fairgauge.nvflare) == names


@pytest.mark.parametrize("way", ["settings", "agent"])
def test_a_result_holds_the_answer_and_nothing_else(way: str, tmp_path: Path) -> None:
    settings = settle(tmp_path, askers_give=["recall"])
    arguments = {"settings": str(settings)} if way == "settings" else {"agent": str(tmp_path / "agent.sock")}
    with serving(settings):
        filters = AnswerFilter(**arguments)
        first = at_the_site(filters, metrics())
        again = at_the_site(filters, metrics(recall=0.1))
    (answer,) = Ledger(tmp_path / "ledger.sqlite3").pending()
    assert from_result(first) == answer
    assert first == again
    assert set(first) == {_ANSWER, "__headers__"}
    assert "8125390625" not in repr(first)


@pytest.mark.parametrize(
    "result",
    [
        metrics(recall=75.75),
        metrics(recall=[0.75]),
        DXO(DataKind.METRICS, data={"recall": 10**5000}).to_shareable(),
        DXO(DataKind.METRICS, data={"recall": Decimal("-1e350")}).to_shareable(),
        metrics(recall=float("nan")),
        metrics(accuracy=0.75),
        make_reply(ReturnCode.EXECUTION_EXCEPTION),
        Shareable({"recall": 0.75, "said": "female 0.75"}),
        DXO(DataKind.WEIGHTS, data={"w": np.full(3, 0.75)}).to_shareable(),
    ],
)
def test_whatever_a_job_returns_there_is_an_answer(
    result: Shareable, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = at_the_site(AnswerFilter(settings=str(settle(tmp_path, askers_give=["recall"]))), result)
    (answer,) = Ledger(tmp_path / "ledger.sqlite3").pending()
    assert found == make_reply(ReturnCode.OK) | {_ANSWER: answer.to_bytes().decode()}
    assert "0.75" not in caplog.text
    assert "75.75" not in caplog.text


@pytest.mark.parametrize("way", ["profile", "job"])
def test_a_server_that_picks_the_study_cannot_tell_sites_apart_by_who_answers(way: str, tmp_path: Path) -> None:
    def ask(who: Person) -> Callable[[Study], bool]:
        given = {"askers_give": ["recall", "error", "false alarms", "weight"]} if way == "job" else {}
        settings = settle(tmp_path / token_hex(8), limit="1000", **given)
        (settings.parent / "profile.json").write_text(json.dumps(who))
        result = DXO(DataKind.METRICS, data=who["values"]).to_shareable()
        filters = AnswerFilter(settings=str(settings))
        return lambda study: _ANSWER in at_the_site(filters, result, asked=study.to_bytes().decode())

    assert silent(ask) == []
    assert groups_read(ask(person("female"))) == groups_read(ask(person(None))) == ["female", "male"]


def test_what_is_wrong_with_a_study_is_told(tmp_path: Path) -> None:
    filters = AnswerFilter(settings=str(settle(tmp_path, limit="1")))
    assert at_the_site(filters, metrics())[_REFUSAL] == refusal_text("limit")
    assert at_the_site(filters, metrics(), asked="{}")[_REFUSAL] == refusal_text("study")
    away = AnswerFilter(agent=str(tmp_path / "nobody.sock"))
    assert at_the_site(away, metrics())[_REFUSAL] == refusal_text("agent")
    assert at_the_site(away, metrics(), asked="{}")[_REFUSAL] == refusal_text("study")
    with pytest.raises(InvalidInput, match="or settings must be given"):
        AnswerFilter()


def test_training_is_reduced_to_the_models_arrays(tmp_path: Path) -> None:
    filters = AnswerFilter(settings=str(settle(tmp_path)))
    trained = FLModelUtils.to_shareable(
        FLModel(params={"w": np.ones(2)}, metrics={"loss": 0.8125390625}, meta={"NUM_STEPS_CURRENT_ROUND": 4711})
    )
    trained["said"] = trained.get("__headers__", {})["said"] = "female 0.8125390625"
    kept = at_the_site(filters, trained, asked=None)
    assert from_shareable(kept).data["w"].tolist() == [1.0, 1.0]
    for private in ("8125390625", "4711", "female"):
        assert private not in repr(kept)
    assert at_the_site(filters, metrics(), asked=None) == make_reply(ReturnCode.EXECUTION_RESULT_ERROR)


def sent(guard: SiteGuard, result: Shareable, *, asked: str | None = DOCUMENT) -> Shareable:
    """What is sent instead of a job's result, without what it is addressed with."""
    return guard.leaving(StudyTask("site-1", asked), result)


def test_a_jobs_own_filter_cannot_put_back_what_was_taken_out(tmp_path: Path) -> None:
    settings = str(settle(tmp_path))
    result, guard = at_the_site(AnswerFilter(settings=settings), metrics()), SiteGuard(settings=settings)
    answer = from_result(result)
    result["recall"] = 0.8125390625
    result.set_header("recall", 0.8125390625)
    assert sent(guard, result) == make_reply(ReturnCode.OK) | {_ANSWER: result[_ANSWER]}
    assert from_result(result) == answer
    # Where the filters were left out, as in the simulator, the guard does their work: the answer is the same.
    assert from_result(sent(guard, metrics())) == answer
    assert from_result(sent(guard, Shareable({_REFUSAL: "female 0.75"}))) == answer
    assert sent(guard, metrics(), asked=None) == make_reply(ReturnCode.EXECUTION_RESULT_ERROR)


def test_a_guard_that_fails_sends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("fairgauge.nvflare.site.measured", fail)
    refused = sent(SiteGuard(settings=str(settle(tmp_path, askers_give=["recall"]))), metrics())
    assert refused == make_reply(ReturnCode.OK) | {_REFUSAL: refusal_text("device")}
    monkeypatch.setattr("fairgauge.nvflare.site.guarded", fail)
    with pytest.raises(KeyboardInterrupt):
        sent(SiteGuard(settings="agent.json"), metrics())


def test_the_server_counts_each_site_once_and_says_why_others_did_not(tmp_path: Path) -> None:
    collector = AnswerCollector(DOCUMENT, str(tmp_path / "new" / "answers.ndjson"))
    said: list[str] = []
    collector.log_info = lambda _, line: said.append(line)
    context = FLContext()
    assert collector.create_task_data("validate", context)[STUDY] == DOCUMENT
    for number, (site, result) in enumerate(
        [
            ("site-1", Shareable({_ANSWER: Answer(STUDY_ASKED.digest, "0" * 32, (0,)).to_bytes().decode()})),
            ("site-1", Shareable({_ANSWER: Answer(STUDY_ASKED.digest, "1" * 32, (1,)).to_bytes().decode()})),
            ("site-2", Shareable({_ANSWER: Answer(STUDY_ASKED.digest, "2" * 32, (2,)).to_bytes().decode()})),
            ("site-3", Shareable({_REFUSAL: refusal_text("limit")})),
            ("site-4", Shareable({_REFUSAL: "female 0.75"})),
            ("site-5", make_reply(ReturnCode.EXECUTION_EXCEPTION)),
            ("site-6", Shareable({_ANSWER: 7})),
        ]
    ):
        assert collector.process_client_response(Client(site, str(number)), "validate", result, context)
    assert collector.final_process(context)
    assert json.loads((tmp_path / "new" / "numbers.json").read_text()) == {"answers": 2}
    assert said[0] == "private metrics: 7 replies"
    assert said[1].startswith("4 gave none; most often: an error that is not fairgauge's")
    assert "female 0.75" not in " ".join(said)


def test_a_recipe_holds_the_study_the_script_and_where_answers_go(tmp_path: Path) -> None:
    (tmp_path / "measure.py").write_text("")
    recipe = PrivateMetricsRecipe(STUDY_ASKED, tmp_path / "measure.py", answers="answers.ndjson")
    recipe.export(str(tmp_path / "job"))
    (server,) = tmp_path.glob("job/**/config_fed_server.json")
    (held,) = json.loads(server.read_text())["components"]
    assert held["path"] == "fairgauge.nvflare.answer_collector.AnswerCollector"
    assert held["args"]["study"] == DOCUMENT
    assert held["args"]["answers"] == "answers.ndjson"


def test_a_site_that_holds_many_people_answers_from_its_own_records(tmp_path: Path) -> None:
    asked = confusion_study().to_bytes().decode()
    own = str(prepared(tmp_path))
    first = at_the_site(AnswerFilter(records=own), metrics(), asked=asked)
    answer = from_result(first)
    assert isinstance(answer, Answer)
    assert set(first) == {_ANSWER, "__headers__"}
    assert "8125390625" not in repr(first)
    assert MARK not in repr(first)
    guard = SiteGuard(records=own)
    first["recall"] = 0.8125390625
    assert sent(guard, first, asked=asked) == make_reply(ReturnCode.OK) | {_ANSWER: first[_ANSWER]}
    assert from_result(sent(guard, metrics(), asked=asked)) == answer
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": 1}
    # A device's study finds no profile there, and a site's study no records beside a profile.
    assert at_the_site(AnswerFilter(records=own), metrics())[_REFUSAL] == refusal_text("settings")
    (tmp_path / "device").mkdir(mode=0o700)
    without = AnswerFilter(settings=str(settle(tmp_path / "device")))
    assert at_the_site(without, metrics(), asked=asked)[_REFUSAL] == refusal_text("unable")


def test_a_sites_agent_answers_for_its_records(tmp_path: Path) -> None:
    prepared(tmp_path)
    (tmp_path / "patients.csv").chmod(0o600)
    (tmp_path / "agent.json").write_text('{"site": "site.json"}')
    asked = confusion_study().to_bytes().decode()
    within = at_the_site(AnswerFilter(settings=str(tmp_path / "agent.json")), metrics(), asked=asked)
    assert isinstance(from_result(within), Answer)
    with serving(tmp_path / "agent.json"):
        behind = at_the_site(AnswerFilter(agent=str(tmp_path / "agent.sock")), metrics(), asked=asked)
    assert from_result(behind) == from_result(within)


def test_a_server_counts_sites(tmp_path: Path) -> None:
    study = confusion_study()
    collector = AnswerCollector(study.to_bytes().decode(), str(tmp_path / "answers.ndjson"))
    sent = answer(study, NOBODY)
    for name in ("site-1", "site-1", "site-2"):
        collector.process_client_response(Client(name, ""), "validate", to_result(sent), FLContext())
    assert collector.counter.answers == (sent,)
