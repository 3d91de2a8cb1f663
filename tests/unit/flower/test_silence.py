"""Silence says nothing in Flower: an honest app, a server that changes the study, and everything that it can see.

The harness is that of ``tests/e2e/test_silence.py``.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flwr.app import Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from fairgauge.flower import private_metrics
from fairgauge.flower.client import _APP, _LIMIT, SETTINGS
from tests.silence import (
    LAW_PEOPLE,
    MUTANTS,
    NOT_LISTED,
    Person,
    Way,
    answers_as_one_row,
    documents,
    of_another_law,
    quick_folder,
    told_apart,
)
from tests.unit.flower.messages import asked


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as found:
        yield found


def node(who: Person, folder: Path, config: dict[str, Any]) -> Callable[[bytes], str]:
    """A node with an app that measures what the person has, and takes the study from the run's configuration."""
    app, recall = ClientApp(), who["values"].get("recall")
    measured = {} if recall is None or recall == NOT_LISTED else {"recall": float(recall)}
    chosen: dict[str, Any] = {"group": {"sex": lambda _: who["group"]["sex"]}, "ledger": folder / "ledger"}

    @app.evaluate(mods=[private_metrics(study=lambda context: bytes.fromhex(context.run_config["study"]), **chosen)])
    def evaluate(message: Message, _: Context) -> Message:
        return Message(RecordDict({"metrics": MetricRecord(measured)}), reply_to=message)

    def ask(document: bytes) -> str:
        context = Context(
            run_id=1, node_id=2, node_config=config, state=RecordDict(), run_config={"study": document.hex()}
        )
        reply = app(asked(), context)
        said = f"{reply.error.code} {reply.error.reason}" if reply.has_error() else repr(reply.content)
        return f"{said} {reply.metadata.ttl:.0f} {reply.metadata.message_type}"

    return ask


def leaves_it_to_the_app(who: Person, folder: Path) -> Callable[[bytes], str]:
    return node(who, folder, {_APP: True, _LIMIT: "1000"})


def with_its_own_file(who: Person, folder: Path) -> Callable[[bytes], str]:
    (folder / "agent.json").write_text(json.dumps({"limit": "1000", "askers_give": ["recall"]}))
    (folder / "profile.json").touch(mode=0o600)
    (folder / "profile.json").write_text(json.dumps(who))
    return node(who, folder, {SETTINGS: str(folder / "agent.json")})


@pytest.mark.parametrize("way", [leaves_it_to_the_app, with_its_own_file])
def test_nothing_but_what_was_drawn_tells_nodes_apart(way: Way, folder: Path) -> None:
    assert told_apart(way, folder, own=["profile.json"]) == []


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_harness_sees_a_node_that_refuses_for_what_somebody_has(
    mutant: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS[mutant](monkeypatch)
    assert told_apart(with_its_own_file, folder, documents()[:4], own=["profile.json"]) != []


def test_what_a_node_draws_for_those_outside_follows_the_fixed_mixture(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Falsely alarmed three times in a million runs; its twins are somebody who is inside, and one row for all."""
    assert of_another_law(with_its_own_file, folder / "honest") == ["female"]
    answers_as_one_row(monkeypatch)
    assert of_another_law(with_its_own_file, folder / "mutant") == LAW_PEOPLE
