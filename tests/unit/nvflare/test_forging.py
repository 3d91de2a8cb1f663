"""A job that writes under fairgauge's name: whatever it forges, and wherever, what is sent is what the source gave.

Covers: fairgauge.nvflare.outgoing_guard.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey, ReservedKey, ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.fl_exception import UnsafeJobError
from nvflare.apis.shareable import ReservedHeaderKey, Shareable, make_reply
from nvflare.fuel.sec.audit import Auditor, AuditService
from nvflare.private.fed.client.client_runner import ClientRunner

from fairgauge.client import Answer, Ledger
from fairgauge.client.refusals import refusal_text
from fairgauge.client.site_settings import answer_asked
from fairgauge.errors import InvalidInput
from fairgauge.nvflare import AnswerFilter, SiteGuard, StudyFilter
from fairgauge.nvflare.task_result import _ANSWER, _REFUSAL, STUDY
from tests.sites import confusion_study
from tests.unit.client.test_site_settings import prepared
from tests.unit.nvflare.running import COOKIE, SITE, TASK, Filtering, Handling, Process, make_scope, run_task

ASKED = confusion_study()
DOCUMENT = ASKED.to_bytes().decode()
NOTHING = Shareable()


@pytest.fixture(autouse=True)
def the_runner_of_before() -> Iterator[None]:
    """Give NVFlare its own runner back, which a guard changes for the process."""
    process = ClientRunner._process_task
    yield
    ClientRunner._process_task = process


def stolen(folder: Path) -> str:
    """The site's file as a forged answer: every byte of it is a count."""
    counts = list((folder / "patients.csv").read_bytes())
    return json.dumps({"counts": counts, "id": "0" * 32, "study": ASKED.digest}, separators=(",", ":"))


class Forger:
    """Knows one forged result, and puts it wherever a part of a job can."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kept: Shareable | None = None

    def fill(self, result: Shareable) -> Shareable:
        result[_ANSWER] = self.text
        result["said"] = self.text
        result.set_header("said", self.text)
        result.set_header(ReservedHeaderKey.RC, ReturnCode.OK)
        return result

    def executor(self, task: Shareable, fl_ctx: FLContext) -> Shareable:
        found = DXO(DataKind.METRICS, data={"recall": 0.5}, meta={"said": self.text, _ANSWER: self.text}).to_shareable()
        return self.fill(found)

    def filter(self, result: Shareable, fl_ctx: FLContext) -> Shareable:
        return self.fill(result)

    def other_result(self, result: Shareable, fl_ctx: FLContext) -> Shareable:
        return self.fill(Shareable())

    def own_kind(self, result: Shareable, fl_ctx: FLContext) -> Shareable:
        class Sticky(Shareable):
            def clear(self) -> None:
                pass

            def update(self, *_: Any, **__: Any) -> None:
                pass

        return self.fill(Sticky())

    def cookie(self, task: Shareable, fl_ctx: FLContext) -> Shareable:
        task.add_cookie("said", self.text)
        return NOTHING

    def cookie_jar(self, task: Shareable, fl_ctx: FLContext) -> Shareable:
        other = Shareable(task)
        other.set_cookie_jar({"said": self.text})
        return other

    def forget_the_study(self, task: Shareable, fl_ctx: FLContext) -> Shareable:
        task.pop(STUDY, None)
        fl_ctx.remove_prop(STUDY)
        fl_ctx.put(STUDY, None, private=True, sticky=False)
        return task

    def no_study(self, task: Shareable, fl_ctx: FLContext) -> Shareable:
        self.forget_the_study(task, fl_ctx)
        return DXO(DataKind.WEIGHTS, data={"w": np.frombuffer(self.text.encode(), np.uint8)}).to_shareable()

    def another_site(self, task: Shareable, fl_ctx: FLContext) -> Shareable:
        fl_ctx.put(ReservedKey.IDENTITY_NAME, "forged", private=False, sticky=False)
        return NOTHING

    def decoy(self, event: str, fl_ctx: FLContext) -> None:
        if event == EventType.BEFORE_TASK_DATA_FILTER:
            fl_ctx.set_prop(FLContextKey.TASK_DATA, Shareable(), private=True, sticky=False)
        if event == EventType.AFTER_TASK_RESULT_FILTER:
            self.fill(fl_ctx.get_prop(FLContextKey.TASK_RESULT))
            fl_ctx.set_prop(FLContextKey.TASK_RESULT, Shareable(), private=True, sticky=False)

    def late(self, event: str, fl_ctx: FLContext) -> None:
        if event == EventType.AFTER_TASK_RESULT_FILTER:
            self.kept = fl_ctx.get_prop(FLContextKey.TASK_RESULT)
        if event == EventType.BEFORE_SEND_TASK_RESULT and self.kept is not None:
            self.fill(self.kept)


class Telling(dict[str, Any]):
    """Headers that say something else where the runner writes the number of its entry in the audit."""

    def __init__(self, said: bytes) -> None:
        super().__init__(said="")
        self._said = said.hex()

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, self._said if key == ReservedHeaderKey.AUDIT_EVENT_ID else value)


def opened(sent: Shareable) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is sent, and its headers but for those that the runner makes after all, and makes empty here."""
    headers = dict(sent[ReservedHeaderKey.HEADERS])
    headers.pop(ReservedHeaderKey.MSG_ROOT_ID)
    assert headers.pop(ReservedHeaderKey.AUDIT_EVENT_ID, "") == ""
    return {key: value for key, value in sent.items() if key != ReservedHeaderKey.HEADERS}, headers


def addressed(code: str) -> dict[str, Any]:
    """The headers of a reply: its code, and what makes it the reply to this task."""
    own = {ReservedHeaderKey.COOKIE_JAR: COOKIE, ReservedHeaderKey.TASK_NAME: TASK, ReservedHeaderKey.TASK_ID: "task-1"}
    return {ReservedHeaderKey.RC: code, **own}


def given(folder: Path) -> str:
    """The answer that the site's ledger has."""
    assert Ledger(folder / SITE / "ledger.sqlite3").state(ASKED.digest) is not None
    found = answer_asked(folder / SITE / "site.json", ASKED)
    assert isinstance(found, Answer)
    return found.to_bytes().decode()


Parts = dict[str, Any]


def forgers(forger: Forger) -> dict[str, tuple[Process, Parts]]:
    """Every place of a job's, with what it forges there."""
    honest: Process = lambda _task, _ctx: Shareable()  # noqa: E731 - as short as it is
    return {
        "executor": (forger.executor, {}),
        "filter": (honest, {"after": [Filtering(forger.filter)]}),
        "filter with another result": (honest, {"after": [Filtering(forger.other_result)]}),
        "filter with a class of its own": (honest, {"after": [Filtering(forger.own_kind)]}),
        "cookies": (forger.cookie, {}),
        "filter of the task": (honest, {"before": [Filtering(forger.cookie_jar)]}),
        "study taken out of the task": (forger.no_study, {"before": [Filtering(forger.forget_the_study)]}),
        "study taken out of the context": (forger.no_study, {}),
        "name of the site": (forger.another_site, {}),
        "handler that shows something else": (forger.executor, {"handlers": [Handling(forger.decoy)]}),
        "handler after the guard": (honest, {"handlers": [Handling(forger.late)]}),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / SITE).mkdir()
    prepared(tmp_path / SITE)
    # A folder of the job's own, with records of its own and no limits to speak of.
    (tmp_path / "forged").mkdir()
    prepared(tmp_path / "forged")
    return tmp_path


@pytest.mark.parametrize("filters", [True, False], ids=["with filters", "without, as in the simulator"])
@pytest.mark.parametrize("where", forgers(Forger("")))
def test_what_is_sent_is_what_the_source_gave(where: str, filters: bool, folder: Path) -> None:
    how = str(folder / "{site}" / "site.json")
    work, parts = forgers(Forger(stolen(folder / SITE)))[where]
    scope = make_scope(records=how) if filters else None
    sent = run_task(SiteGuard(records=how), work, asked=DOCUMENT, scope=scope, **parts)
    assert opened(sent) == ({_ANSWER: given(folder)}, addressed(ReturnCode.OK))
    assert not (folder / "forged" / "ledger.sqlite3").exists()


@pytest.mark.parametrize("asked", [DOCUMENT, None])
def test_the_number_in_the_audit_is_one_of_the_sites_own(
    asked: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    auditor = Auditor(str(folder / "audit.txt"))
    monkeypatch.setattr(AuditService, "the_auditor", auditor)
    stolen = (folder / SITE / "patients.csv").read_bytes()[21:37]

    def tell(_task: Shareable, _ctx: FLContext) -> Shareable:
        result = Shareable()
        result[ReservedHeaderKey.HEADERS] = Telling(stolen)
        return result

    sent = run_task(SiteGuard(records=str(folder / SITE / "site.json")), tell, asked=asked)
    auditor.close()
    told = sent.get_header(ReservedHeaderKey.AUDIT_EVENT_ID)
    assert UUID(told).bytes != stolen
    (line,) = (line for line in (folder / "audit.txt").read_text().splitlines() if told in line)
    assert line.endswith(f"[A:{TASK}#task-1]task came to fairgauge's guard")


def test_the_twin_without_a_guard_sends_what_was_forged(folder: Path) -> None:
    text = stolen(folder / SITE)
    for where, (work, parts) in forgers(Forger(text)).items():
        sent = run_task(None, work, asked=DOCUMENT, **parts)
        forged = text in repr(sent) or "study" in where or "name" in where
        assert forged, where


def fail(kind: type[BaseException]) -> Process:
    def work(_task: Shareable, _ctx: FLContext) -> Shareable:
        raise kind("platypus")

    return work


@pytest.mark.parametrize(
    "work", [fail(ValueError), fail(RuntimeError), fail(SystemExit), lambda _task, _ctx: make_reply(ReturnCode.ERROR)]
)
def test_whether_the_job_failed_does_not_show(work: Process, folder: Path) -> None:
    sent = run_task(SiteGuard(records=str(folder / SITE / "site.json")), work, asked=DOCUMENT)
    assert opened(sent) == ({_ANSWER: given(folder)}, addressed(ReturnCode.OK))


class Unwritable(Shareable):
    """A result that raises where NVFlare's runner addresses it."""

    def set_header(self, key: str, value: Any) -> None:
        if key == ReservedHeaderKey.TASK_NAME:
            raise KeyboardInterrupt("platypus")
        super().set_header(key, value)


class Leaving(Shareable):
    """A result that ends the program where its code is read."""

    def get_return_code(self, default: Any = None) -> Any:
        raise SystemExit("platypus")


@pytest.mark.parametrize("kind", [Unwritable, Leaving])
def test_a_result_that_raises_where_it_is_read_is_answered(
    kind: type[Shareable], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    guard = SiteGuard(records=str(folder / SITE / "site.json"))
    sent = run_task(guard, lambda _task, _ctx: kind(), asked=DOCUMENT)
    assert opened(sent) == ({_ANSWER: given(folder)}, addressed(ReturnCode.OK))
    sent = run_task(guard, lambda _task, _ctx: kind(), asked=None)
    assert opened(sent)[0] == {}
    assert sent.get_return_code() in {ReturnCode.EXECUTION_EXCEPTION, ReturnCode.EXECUTION_RESULT_ERROR}
    assert "platypus" not in caplog.text


def test_a_job_that_is_stopped_gives_no_answer(folder: Path) -> None:
    sent = run_task(SiteGuard(records=str(folder / SITE / "site.json")), fail(UnsafeJobError), asked=DOCUMENT)
    assert opened(sent) == ({}, addressed(ReturnCode.UNSAFE_JOB))
    assert not (folder / SITE / "ledger.sqlite3").exists()


def test_parts_of_ours_that_a_job_brings_are_a_jobs(folder: Path) -> None:
    site, own = str(folder / SITE / "site.json"), str(folder / "forged" / "site.json")
    brought: Parts = {"before": [StudyFilter()], "after": [AnswerFilter(records=own)]}
    guard = SiteGuard(records=site)
    handlers = [SiteGuard(records=own)]
    for scope in (None, make_scope(records=site)):
        sent = run_task(
            guard, lambda _task, _ctx: Shareable(), asked=DOCUMENT, scope=scope, handlers=handlers, **brought
        )
        assert opened(sent) == ({_ANSWER: given(folder)}, addressed(ReturnCode.OK))


@pytest.mark.parametrize("text", ["female 0.75", refusal_text("limit")])
def test_a_refusal_is_the_sites_own(text: str, folder: Path) -> None:
    sent = run_task(
        SiteGuard(records=str(folder / SITE / "site.json")),
        lambda _task, _ctx: Shareable({_REFUSAL: text}),
        asked=DOCUMENT,
    )
    assert opened(sent) == ({_ANSWER: given(folder)}, addressed(ReturnCode.OK))


def test_training_leaves_as_arrays_whatever_was_forged(folder: Path) -> None:
    guard = SiteGuard(records=str(folder / SITE / "site.json"))

    def train(_task: Shareable, _ctx: FLContext) -> Shareable:
        trained = DXO(DataKind.WEIGHTS, data={"w": np.ones(2)}, meta={"said": "platypus"}).to_shareable()
        return Forger("platypus").fill(trained)

    sent = run_task(guard, train, asked=None)
    assert from_shareable(sent).data["w"].tolist() == [1.0, 1.0]
    assert sent.get_cookie_jar() == COOKIE
    assert "platypus" not in repr(sent)
    failed = run_task(guard, fail(ValueError), asked=None)
    assert opened(failed) == ({}, addressed(ReturnCode.EXECUTION_EXCEPTION))


def test_without_a_place_for_the_guard_there_is_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(ClientRunner, "_process_task")
    with pytest.raises(InvalidInput, match=r"use NVFlare 2\.9"):
        SiteGuard(records="site.json")
