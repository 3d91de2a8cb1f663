"""What once went wrong in real apps: each rule holds, and its twin, the code as it was before, breaks it.

The twins put back what the code did: paths of the folder in which Flower was started, no folder made, answers counted
by their ids, and interrupts let through.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flwr.app import Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp

from fairgauge.client import Answer
from fairgauge.client.refusals import refusal_text
from fairgauge.errors import CannotAnswer, FairgaugeError, InvalidInput
from fairgauge.flower import AnswerCounter, PrivateMetrics, private_metrics
from fairgauge.flower.metric_reply import from_content, to_content
from tests.samples import sample_study, two_questions
from tests.unit.flower.messages import asked, replied
from tests.unit.flower.test_paths import CONTEXT, install
from tests.unit.flower.test_strategy import Plain

Patch = pytest.MonkeyPatch
STUDY = sample_study()


def paths(here: Path, patch: Patch, _: pytest.LogCaptureFixture) -> bool:
    """A second app, while Flower runs in the folder of the first, answers its own study."""
    install(here / "first", STUDY)
    second = install(here / "second", two_questions())
    patch.chdir(here / "first")
    reply = second.app(asked(), CONTEXT)
    kept = second.counter()
    own = from_content(reply.content).study == kept.study.digest == two_questions().digest
    return own and (here / "second").resolve() in kept.path.resolve().parents


def paths_before(patch: Patch) -> None:
    for room in ("client", "strategy"):
        patch.setattr(f"fairgauge.flower.{room}.app_folder", Path)


def one_study(here: Path, _: Patch, __: pytest.LogCaptureFixture) -> bool:
    """A file of answers to one study is not gone on with for another."""
    AnswerCounter(STUDY, path=here / "answers").add([("1", Answer(STUDY.digest, "0" * 32, (0,)))])
    try:
        AnswerCounter(two_questions(), path=here / "answers")
    except InvalidInput:
        return True
    return False


def one_study_before(patch: Patch) -> None:
    patch.setattr("fairgauge.federation.counter.NodeCounter._go_on", lambda *_: None)


def folders(here: Path, patch: Patch, _: pytest.LogCaptureFixture) -> bool:
    """The page's snippet gives an answer, though nobody made ``ledgers/``."""
    patch.chdir(here)
    app = install(here / "app", STUDY)
    reply: Message = app.app(asked(), CONTEXT)
    return reply.has_content()


def folders_before(patch: Patch) -> None:
    patch.setattr("fairgauge.federation.guard.make_folder", lambda _: None)


def said(_: Path, __: Patch, log: pytest.LogCaptureFixture) -> bool:
    """A round in which nobody answers does not end as if all were well."""
    log.set_level(logging.INFO, logger="flwr")
    failed = [replied(Error(6, refusal_text("ledger")), node=node) for node in range(3)]
    PrivateMetrics(Plain(), AnswerCounter(STUDY)).aggregate_evaluate(1, failed)
    return "3 gave none; most often: the device's ledger cannot be used (3)" in log.text


def said_before(patch: Patch) -> None:
    patch.setattr("fairgauge.flower.strategy.summarise", lambda _: "")


def once(_: Path, __: Patch, ___: pytest.LogCaptureFixture) -> bool:
    """A node that makes a new ledger, and so a new id, in each of fifty rounds counts once."""
    counter = AnswerCounter(STUDY)
    for number in range(50):
        counter.count_replies([replied(to_content(Answer(STUDY.digest, f"{number:032x}", (0,))), node=7)])
    assert counter.tally.contributors in (1, 50)
    return counter.tally.contributors == 1


def once_before(patch: Patch) -> None:
    def by_ids(counter: AnswerCounter, replies: list[Message]) -> int:
        return counter.count(reply.content for reply in replies)

    patch.setattr(AnswerCounter, "count_replies", by_ids)


def interrupts(here: Path, _: Patch, log: pytest.LogCaptureFixture) -> bool:
    """An interrupt in the evaluation is a metric that is missing: an answer, and none of its words."""
    app = ClientApp()

    @app.evaluate(mods=[private_metrics(study=STUDY, group={"sex": "female"}, ledger=here / "ledger")])
    def evaluate(_: Message, __: Context) -> Message:
        raise KeyboardInterrupt("female 0.75")

    try:
        reply = app(
            asked(),
            Context(run_id=1, node_id=2, node_config={"fairgauge-app": True}, state=RecordDict(), run_config={}),
        )
    except KeyboardInterrupt:
        return False  # the node is silent for this round, and whoever logs this logs its words
    return reply.has_content() and "0.75" not in log.text


def interrupts_before(patch: Patch) -> None:
    def given_by_app(code: Callable[[], Any]) -> Any:
        try:
            return code()
        except (Exception, SystemExit):  # noqa: BLE001 - as it was
            raise CannotAnswer("the app's own code failed") from None

    def guarded(code: Callable[[], Any]) -> Any:
        try:
            return code()
        except FairgaugeError:
            raise AssertionError from None

    patch.setattr("fairgauge.federation.guard.given_by_app", given_by_app)
    patch.setattr("fairgauge.flower.client.guarded", guarded)


RULES = {
    "paths": (paths, paths_before),
    "one study for a file": (one_study, one_study_before),
    "folders": (folders, folders_before),
    "refusals are said": (said, said_before),
    "one node counts once": (once, once_before),
    "interrupts": (interrupts, interrupts_before),
}


@pytest.mark.parametrize("name", RULES)
def test_the_rule_holds(name: str, tmp_path: Path, monkeypatch: Patch, caplog: pytest.LogCaptureFixture) -> None:
    assert RULES[name][0](tmp_path, monkeypatch, caplog)


@pytest.mark.parametrize("name", RULES)
def test_the_code_before_breaks_it(name: str, tmp_path: Path, monkeypatch: Patch, caplog: Any) -> None:
    rule, before = RULES[name]
    before(monkeypatch)
    assert not rule(tmp_path, monkeypatch, caplog)
