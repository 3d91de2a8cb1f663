"""A site's ledger: one draw of noise for a study, on the disk before anyone sees it, and sums over studies."""

from decimal import Decimal
from pathlib import Path
from sqlite3 import connect

import pytest

from fairgauge.client import Ledger
from fairgauge.client.budget import Limits
from fairgauge.errors import BadLedger, CannotAnswer, InvalidInput
from fairgauge.study import Study
from tests.samples import sample_study
from tests.sites import NOBODY, confusion_study

STUDY = confusion_study()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


def test_noise_is_drawn_once(ledger: Ledger) -> None:
    first = ledger.answer(STUDY, NOBODY)
    assert Ledger(ledger.path).answer(STUDY, {"sex": ["male"] * 99, "truth": [1] * 99, "prediction": [1] * 99}) == first


def test_what_became_of_it(ledger: Ledger) -> None:
    assert ledger.state(STUDY.digest) is None
    answer = ledger.answer(STUDY, NOBODY)
    assert ledger.state(STUDY.digest) == "pending"
    ledger.mark_sent(answer)
    ledger.mark_refused(answer)
    assert ledger.state(STUDY.digest) == "delivered"


def test_studies_about_the_same_attribute_add_up(ledger: Ledger) -> None:
    limit = Limits(Decimal(2))
    for title in ("one", "two"):
        ledger.answer(Study(title, STUDY.questions), NOBODY, limit=limit)
    assert ledger.spent() == {"sex": Decimal(2)}
    with pytest.raises(CannotAnswer, match="sex has cost epsilon 2 on this device; an answer would make it 3"):
        ledger.answer(STUDY, NOBODY, limit=limit)
    assert ledger.state(STUDY.digest) is None


def test_a_study_for_devices(ledger: Ledger) -> None:
    with pytest.raises(CannotAnswer, match="a profile has two parts"):
        ledger.answer(sample_study(), [])


def test_an_answer_of_another_ledger(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not in this ledger"):
        ledger.mark_sent(Ledger(tmp_path / "other").answer(STUDY, NOBODY))


def test_damaged_counts(ledger: Ledger) -> None:
    ledger.answer(STUDY, NOBODY)
    with connect(ledger.path) as connection:
        connection.execute("UPDATE answers SET payload = '[1.5, 2]'")
    connection.close()
    with pytest.raises(BadLedger, match="counts\\[0\\] must be an integer"):
        ledger.answer(STUDY, NOBODY)
