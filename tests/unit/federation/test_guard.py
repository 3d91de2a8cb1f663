import logging
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import Answer, Ledger, Limits
from fairgauge.client.refusals import Refusal
from fairgauge.errors import CannotAnswer
from fairgauge.federation import Guard
from fairgauge.federation.guard import guarded, of_app, place
from tests.samples import sample_study, two_questions

STUDY = sample_study()


def guard(here: Path, limit: str = "8") -> Guard:
    return Guard(here / "ledgers" / "0.sqlite3", Limits(Decimal(limit)))


def female() -> dict[str, str]:
    return {"sex": "female"}


def recall() -> dict[str, float]:
    return {"recall": 0.75}


def never() -> Any:
    raise AssertionError("nobody asked for this")


def test_the_second_time_neither_group_nor_values_are_read(tmp_path: Path) -> None:
    first = guard(tmp_path).answer(STUDY, female, recall)
    assert isinstance(first, Answer)
    assert guard(tmp_path).answer(STUDY, never, never) == first
    assert len(Ledger(tmp_path / "ledgers" / "0.sqlite3").pending()) == 1


def test_what_is_refused_whoever_asks_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    refused = guard(tmp_path, "1").answer(STUDY, never, never)
    assert isinstance(refused, Refusal)
    assert refused.code == "limit"
    spent = guard(tmp_path, "1.5")
    assert isinstance(spent.answer(STUDY, female, recall), Answer)
    # The attribute's lifetime: two questions about other things, and one about the sex once more.
    again = spent.answer(two_questions(), never, never)
    assert isinstance(again, Refusal)
    assert again.code == "limit"
    assert "sex has cost epsilon" in again.detail


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, CannotAnswer])
def test_every_failure_of_an_app_is_the_same_refusal(kind: type[BaseException], tmp_path: Path) -> None:
    def fail() -> Any:
        raise kind("female 0.75")

    for groups, values in ((lambda: of_app(fail), recall), (female, lambda: of_app(fail))):
        refused = guard(tmp_path).answer(STUDY, groups, values)
        assert isinstance(refused, Refusal)
        assert (refused.code, refused.text) == ("device", Refusal("device").text)
        assert "0.75" not in refused.detail
        assert f"{Path(__file__).name}" in refused.detail


def test_a_mistake_of_our_own_gives_a_refusal_and_a_place(caplog: pytest.LogCaptureFixture) -> None:
    def mistake() -> Any:
        raise KeyboardInterrupt("female 0.75")

    with caplog.at_level(logging.WARNING):
        assert isinstance(guarded(mistake), Refusal)
    assert "KeyboardInterrupt at" in caplog.text
    assert "female" not in caplog.text


def test_names_that_an_app_makes_up_are_not_repeated() -> None:
    own: type[Exception] = type("female", (Exception,), {"__module__": "builtins"})
    try:
        exec(compile("raise own", "male", "exec"), {"own": own})
    except own as problem:
        told = place(problem)
    assert told.startswith("an exception of its own at ")
    assert "male" not in told
