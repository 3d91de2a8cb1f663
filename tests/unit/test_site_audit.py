"""The auditor of sites passes honest noise and catches bugs that were planted."""

import math
import random
from collections.abc import Callable

import pytest

from fairgauge.client import Answer, answer
from fairgauge.client.records import Columns, Records
from fairgauge.client.site_counts import count_records, draw_noise
from fairgauge.errors import InvalidInput
from fairgauge.site_audit import Table, audit_site
from fairgauge.study import Attribute, NoisyCounts, Study, counted
from fairgauge.study.attribute import cells
from tests.samples import sample_study
from tests.sites import confusion_study, levels_study, site_of

SURE = 1 - 1e-6
CHANCE = random.SystemRandom()
CROSS = (Attribute("sex", ("female", "male")), Attribute("age", ("young", "old")))
CROSSED = Study("Crossed", counted(NoisyCounts(Attribute("who", cells(CROSS), cross=CROSS), "confusion", "2")))


@pytest.mark.parametrize(
    "study",
    [confusion_study(), confusion_study("0.5", records=3), levels_study(), CROSSED],
    ids=lambda study: study.title,
)
def test_an_honest_site_passes(study: Study) -> None:
    assert not audit_site(study, runs=150, confidence=SURE).caught


def people(study: Study, table: Table) -> Records:
    return Records.of(site_of(study), table, Columns(person="person"))


def noisy(noise: Callable[[], int], study: Study, table: Table) -> Answer:
    counts = [count + noise() for count in count_records(site_of(study), people(study, table))]
    return Answer(study.digest, "0" * 32, tuple(counts))


def clamped(study: Study, table: Table) -> Answer:
    found = answer(study, people(study, table))
    return Answer(found.study, found.id, tuple(max(0, count) for count in found.payload))


def floating(study: Study, table: Table) -> Answer:
    return noisy(lambda: round(CHANCE.expovariate(0.5) * CHANCE.choice((-1, 1))), study, table)


def too_little(study: Study, table: Table) -> Answer:
    return noisy(lambda: draw_noise(1, 1), study, table)


def counted_twice(study: Study, table: Table) -> Answer:
    return answer(study, Records.of(site_of(study), table))


# A rounded float gives zero 22 times in 100 instead of 24: 40,000 counts are 12 standard errors; 5.5 are needed.
@pytest.mark.parametrize(("site", "runs"), [(clamped, 600), (floating, 5000), (too_little, 300), (counted_twice, 300)])
def test_a_planted_bug_is_caught(site: Callable[[Study, Table], Answer], runs: int) -> None:
    assert audit_site(confusion_study(), site, runs=runs, confidence=SURE).caught


def test_what_makes_no_sense() -> None:
    with pytest.raises(InvalidInput, match="must be for sites"):
        audit_site(sample_study())
    with pytest.raises(InvalidInput, match="runs=0"):
        audit_site(confusion_study(), runs=0)
    assert math.isfinite(audit_site(confusion_study(), runs=1).p_value)
