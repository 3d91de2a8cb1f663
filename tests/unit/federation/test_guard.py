import logging
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import pytest

from fairgauge.client import Answer, Ledger, Limits
from fairgauge.client.refusals import Refusal
from fairgauge.errors import CannotAnswer
from fairgauge.federation import Guard
from fairgauge.federation.guard import given_by_app, guarded, place
from fairgauge.study import Study
from tests.samples import sample_study, two_questions
from tests.silence import NOT_LISTED, Person, groups_read, person, silent

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
def test_whatever_an_app_raises_there_is_an_answer(
    kind: type[BaseException], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> Any:
        raise kind("female 0.75")

    for name, groups, values in (("a", fail, recall), ("b", female, fail), ("c", fail, fail)):
        found = guard(tmp_path / name).answer(STUDY, groups, values)
        assert isinstance(found, Answer)
        assert Ledger(tmp_path / name / "ledgers" / "0.sqlite3").pending() == [found]
    assert "0.75" not in caplog.text
    assert Path(__file__).name in caplog.text, "the device's own log says where it failed"


def given_by(who: Person, folder: Path) -> Callable[[Study], bool]:
    """A device whose app gives this person's group and values, and one that fails where there are none."""
    own = guard(folder / token_hex(8), "1000")
    return lambda study: isinstance(own.answer(study, lambda: who["group"], lambda: who["values"]), Answer)


def test_everyone_answers_every_study(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ask = partial(given_by, folder=tmp_path)
    assert silent(ask) == []
    assert groups_read(ask(person("female"))) == groups_read(ask(person(None))) == ["female", "male"]
    assert NOT_LISTED not in caplog.text


@pytest.mark.parametrize("given", [None, "female 0.75", 0.75, ["female"], {7: "female"}, {"sex": ["female"]}])
def test_whatever_an_app_returns_there_is_an_answer(given: Any, tmp_path: Path) -> None:
    for name, groups, values in (("a", lambda: given, recall), ("b", female, lambda: given)):
        assert isinstance(guard(tmp_path / name).answer(STUDY, groups, values), Answer)


class Tricky(float):
    """A number that does something of its own where it is read."""

    def as_integer_ratio(self) -> tuple[int, int]:
        raise SystemExit("0.75")

    def __eq__(self, _: object) -> bool:
        raise SystemExit("0.75")

    __hash__ = float.__hash__


def test_an_apps_own_classes_do_nothing_where_they_are_read(tmp_path: Path) -> None:
    assert given_by_app(lambda: {"recall": Tricky(0.75), "sex": np.str_("female"), "n": np.int64(3), "b": True}) == {
        "recall": 0.75, "sex": "female", "n": 3.0, "b": None,
    }  # fmt: skip
    assert isinstance(guard(tmp_path).answer(STUDY, female, lambda: {"recall": Tricky(0.75)}), Answer)


def test_a_number_that_no_float_holds_leaves_the_others_as_they_are() -> None:
    found = given_by_app(lambda: {"recall": 0.75, "most": Decimal("1e350"), "least": Decimal("-1e350")})
    assert found == {"recall": 0.75, "most": 1e300, "least": -1e300}


def test_what_does_not_fit_is_in_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A node's log can be fetched: a line there would give the group to whoever picks which groups a study lists."""
    found = guard(tmp_path).answer(STUDY, lambda: {"sex": NOT_LISTED}, lambda: {"recall": 76})
    assert isinstance(found, Answer)
    assert caplog.messages == []


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


class UntracedError(Exception):
    """Does something of its own where its traceback is read."""

    @property
    def __traceback__(self) -> Any:  # type: ignore[override]
        raise ValueError("female 0.75")


class Unnamed(type):
    """A class of classes that do something of their own where their name is read."""

    @property
    def __name__(cls) -> Any:  # type: ignore[override]
        raise ValueError("female 0.75")


class Loud(str):
    """A text that does something of its own wherever it is used."""

    def __hash__(self) -> int:
        raise ValueError("female 0.75")

    __eq__ = __str__ = __format__ = __fspath__ = __hash__  # type: ignore[assignment]


class Loader:
    """Does something of its own where a line of source is read."""

    def get_source(self, _: str) -> str:
        raise ValueError("female 0.75")


def exception_of_a_loud_name() -> Any:
    kind = type("Own", (Exception,), {})
    kind.__name__ = Loud("female")
    return kind()


def raised_in(file: str) -> Any:
    """Fail in a file of this name, in a module with a loader of its own."""
    code = compile("raise ValueError('female 0.75')", "made up", "exec")
    exec(code.replace(co_filename=file), {"__name__": "made", "__loader__": Loader()})


@pytest.mark.parametrize(
    "make",
    [
        UntracedError,
        Unnamed("Own", (Exception,), {}),
        exception_of_a_loud_name,
        lambda: raised_in("nowhere.py"),
        lambda: raised_in(Loud(__file__)),
    ],
    ids=["traceback", "class", "name", "source", "file"],
)
def test_an_apps_own_exceptions_do_nothing_where_they_are_read(
    make: Callable[[], Exception], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> Any:
        raise make()

    found = guarded(lambda: guard(tmp_path).answer(STUDY, female, fail))
    assert isinstance(found, Answer)
    assert Ledger(tmp_path / "ledgers" / "0.sqlite3").pending() == [found]
    assert __file__ in caplog.text
    assert "0.75" not in caplog.text
