"""Whatever an entry does where it is read, there is an answer; and what cannot be read counts as missing."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import Ledger, answer
from fairgauge.client.policy import misfits
from fairgauge.client.profile_entries import entry_text, is_inside
from fairgauge.client.site_counts import count_records
from fairgauge.client.site_records import Records
from fairgauge.study import Metric
from tests.samples import sample_study
from tests.sites import confusion_study, site_of

STUDY = sample_study()


class Text(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("platypus")

    __ne__ = __eq__
    __hash__ = str.__hash__


class Class:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("platypus")

    @__class__.setter
    def __class__(self, kind: Any) -> None: ...


class Ratio:
    def as_integer_ratio(self) -> tuple[int, int]:
        raise KeyboardInterrupt


class Words:
    def __str__(self) -> str:
        raise RuntimeError("platypus")


class Unlike:
    def __ne__(self, other: object) -> bool:
        raise RuntimeError("platypus")

    __hash__ = None  # type: ignore[assignment]


class Getting(dict[str, Any]):
    def get(self, *_: Any) -> Any:
        raise RuntimeError("platypus")


# By name: pytest looks at what a test is given, too.
STRANGE: dict[str, Any] = {
    "text": Text("female"),
    "number": Text("0.5"),
    "class": Class(),
    "ratio": Ratio(),
    "words": Words(),
    "unlike": Unlike(),
    "integer": 10**5000,
    "signalling": Decimal("sNaN"),
    "list": [1],
}
each_strange = pytest.mark.parametrize("name", STRANGE)


@each_strange
def test_no_entry_of_a_person_keeps_a_device_from_answering(name: str, tmp_path: Path) -> None:
    entry = STRANGE[name]
    for number, profile in enumerate(
        (
            {"group": {"sex": entry}, "values": {"recall": entry}},
            {"group": entry, "values": {}},
            {"group": Getting(sex="female"), "values": Getting(recall=0.5)},
        )
    ):
        answer(STUDY, profile)
        ledger = Ledger(tmp_path / str(number))
        ledger.answer(STUDY, profile)
        assert ledger.spent().keys() == {"sex"}
        misfits(STUDY, profile)


def test_a_text_of_a_class_of_its_own_is_its_text() -> None:
    assert misfits(STUDY, {"group": {"sex": Text("female")}, "values": {"recall": Text("0.5")}}) == []


@each_strange
def test_no_entry_of_a_record_keeps_a_site_from_answering(name: str) -> None:
    site = site_of(confusion_study())
    for column in ("sex", "truth", "prediction"):
        table: dict[str, list[Any]] = {"sex": ["male"] * 2, "truth": [1, 1], "prediction": [1, 1]}
        table[column][0] = STRANGE[name]
        assert sum(count_records(site, Records.of(site, table))) == 1


def test_entries_as_text() -> None:
    assert [entry_text(entry) for entry in (" a ", 1, 1.0, True, "", None, float("nan"), 10**5000)] == [
        "a", "1", "1.0", "True", None, None, None, None,
    ]  # fmt: skip


def test_both_ends_of_a_range_are_inside() -> None:
    given = (-1, "-1.0", Decimal("-1.0001"), 2, 2.5, Decimal("2.5001"), "1/2", float("nan"), None)
    assert [is_inside(Metric("score", -1, "2.5"), value) for value in given] == [
        True, True, False, True, True, False, False, False, False,
    ]  # fmt: skip
