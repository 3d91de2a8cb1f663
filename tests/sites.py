"""Studies for sites that hold many people, and sites to answer them."""

import random
from collections.abc import Sequence

from fairgauge.client import answer
from fairgauge.client.site_records import CountedRecords, RecordColumns, Records
from fairgauge.study import Attribute, Metric, NoisyCounts, Study, counted
from fairgauge.tallies import Tally

SEX = Attribute("sex", ("female", "male"))
NOBODY = Records.read({"sex": [], "truth": [], "prediction": []}, CountedRecords((SEX,), confusion=True))
UNIT = 2**30


def site_of(study: Study) -> NoisyCounts:
    assert isinstance(study.mechanism, NoisyCounts)
    return study.mechanism


def confusion_study(epsilon: str = "1", *, records: int = 1) -> Study:
    return Study("Alarms, by sex", counted(NoisyCounts(SEX, "confusion", epsilon, records=records)))


def levels_study(epsilon: str = "1") -> Study:
    metric = Metric("score", 0, 10)
    counts = NoisyCounts(SEX, "levels", epsilon, metric=metric, levels=[-UNIT, 0, UNIT])
    return Study("Scores, by sex", counted(counts))


# A person, the groups by attribute, and the outcome: truth and prediction, or a value.
Record = tuple[object, tuple[object, ...], tuple[object, ...]]


def read(site: NoisyCounts, rows: Sequence[Record]) -> Records:
    """Read records; if one of them names a person, those that do not name nobody."""
    names = [factor.name for factor in site.attribute.factors]
    table: dict[str, list[object]] = {name: [row[1][place] for row in rows] for place, name in enumerate(names)}
    outcomes = ("truth", "prediction") if site.metric is None else (site.metric.name,)
    table |= {name: [row[2][place] for row in rows] for place, name in enumerate(outcomes)}
    people = [row[0] for row in rows]
    columns = RecordColumns(person="person") if any(who is not None for who in people) else RecordColumns()
    return Records.of(site, {**table, "person": people}, columns)


def records(chance: random.Random, people: int, rates: dict[str, tuple[float, float]]) -> list[Record]:
    """Draw people who come to a site; 3 in 10 have truth 1, and rates are those of true and false positives."""
    found: list[Record] = []
    for _ in range(people):
        group = chance.choice(tuple(rates))
        truth = chance.random() < 0.3
        found.append((None, (group,), (int(truth), int(chance.random() < rates[group][0 if truth else 1]))))
    return found


def tally(study: Study, *, sites: int, people: int, rates: dict[str, tuple[float, float]], seed: int = 1) -> Tally:
    chance = random.Random(seed)
    answers = [answer(study, read(site_of(study), records(chance, people, rates))) for _ in range(sites)]
    return Tally.of(study, answers)
