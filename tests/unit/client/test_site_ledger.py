"""A site's ledger: one draw of noise for a study, on the disk before anyone sees it, and sums over studies."""

from decimal import Decimal
from pathlib import Path
from sqlite3 import connect

import pytest

from fairgauge.client.limits import Limits
from fairgauge.client.site_ledger import SiteLedger
from fairgauge.errors import BadLedger, CannotAnswer, InvalidInput
from fairgauge.study import Study
from tests.samples import sample_study
from tests.sites import confusion_study

STUDY = confusion_study()


@pytest.fixture
def ledger(tmp_path: Path) -> SiteLedger:
    return SiteLedger(tmp_path / "ledger")


def test_noise_is_drawn_once(ledger: SiteLedger) -> None:
    first = ledger.answer_for_site(STUDY, [])
    assert SiteLedger(ledger.path).answer_for_site(STUDY, [(None, ("male",), (1, 1))] * 99) == first


def test_what_became_of_it(ledger: SiteLedger) -> None:
    assert ledger.site_state(STUDY.digest) is None
    answer = ledger.answer_for_site(STUDY, [])
    assert ledger.site_state(STUDY.digest) == "pending"
    ledger.mark_site(answer, "delivered")
    ledger.mark_site(answer, "refused")
    assert ledger.site_state(STUDY.digest) == "delivered"


def test_studies_about_the_same_attribute_add_up(ledger: SiteLedger) -> None:
    limit = Limits(Decimal(2))
    for title in ("one", "two"):
        ledger.answer_for_site(Study(title, (), site=STUDY.site), [], limit=limit)
    assert ledger.spent() == {"sex": Decimal(2)}
    with pytest.raises(CannotAnswer, match="sex has cost epsilon 2 on this device; an answer would make it 3"):
        ledger.answer_for_site(STUDY, [], limit=limit)
    assert ledger.site_state(STUDY.digest) is None


def test_a_study_for_devices(ledger: SiteLedger) -> None:
    with pytest.raises(CannotAnswer, match="for devices"):
        ledger.answer_for_site(sample_study(), [])


def test_an_answer_of_another_ledger(ledger: SiteLedger, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not in this ledger"):
        ledger.mark_site(SiteLedger(tmp_path / "other").answer_for_site(STUDY, []), "delivered")


def test_damaged_counts(ledger: SiteLedger) -> None:
    ledger.answer_for_site(STUDY, [])
    with connect(ledger.path) as connection:
        connection.execute("UPDATE site_answers SET counts = '[1.5]'")
    connection.close()
    with pytest.raises(BadLedger, match="the counts of an answer are not counts"):
        ledger.answer_for_site(STUDY, [])
