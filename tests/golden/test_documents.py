"""Published documents never change their bytes: a digest that moves would orphan every study in the field.

Until the first release they may, and ``make vectors`` writes the files of this folder again.  They are also test
vectors for clients in other languages.  ``draws.json`` lists questions of ``study.json`` by index, a group by index and
a value of the metric (null to abstain), the two draws of 53 bits, and the symbol, in the study's numbering, that must
come out.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.client import Answer
from fairgauge.client.randomiser import draw_symbol
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.tallies import Tally
from tests.samples import full_study

HERE = Path(__file__).parent
DIGEST = json.loads((HERE / "answer.json").read_bytes())["study"]


def golden_study() -> Study:
    """Two groups with known shares, then three that may abstain; names that need care in JSON."""
    u = ROW_SUM // 16
    small = Channel(
        table=(
            (9 * u - 4, 4 * u + 3, 3 * u + 1),
            (3 * u, 9 * u - 1, 4 * u + 1),
            (4 * u, 4 * u, 8 * u),
            (5 * u,) * 2 + (6 * u,),
        ),
        levels=(-LEVEL_UNIT, LEVEL_UNIT),
        groups=2,
    )
    rows = tuple(tuple(7 * u - 3 if j == x % 4 else 3 * u + 1 for j in range(4)) for x in range(10))
    large = Channel(table=rows, levels=(-LEVEL_UNIT, 357913941, LEVEL_UNIT), groups=3, abstain=True)
    sex = Attribute("sex", ("female", "male"), ("0.515", "0.485"), answering="alike")
    age = Attribute("Altersgruppe", ("bis 29", "30–59", 'über "60"'))
    return Study(
        title="Recall & Fehler — 頻度 🎯",
        questions=(
            Question(Metric("recall", "0", "1"), sex, "gap", "uncentred", "1.0987", small),
            Question(Metric("error", "-0.5", "2"), age, "means", "randomized-response", "0.85", large),
        ),
        opens="2026-11-15T00:00:00Z",
        closes="2027-01-15T12:30:00Z",
        contact="audit@fairness.example",
    )


def test_the_study_has_these_bytes_and_this_digest() -> None:
    assert golden_study().to_bytes() == (HERE / "study.json").read_bytes()
    assert golden_study().digest == DIGEST


def test_the_study_is_read_back() -> None:
    assert Study.from_bytes((HERE / "study.json").read_bytes()) == golden_study()


def golden_answer() -> Answer:
    """An answer to the study."""
    return Answer(golden_study().digest, "00112233445566778899aabbccddeeff", (6,))


def golden_tally() -> Tally:
    """A tally of the study, with a count as large as one can be."""
    return Tally(golden_study().digest, (120, 0, 9007199254740849, 4, 5, 6, 7))


def test_the_answer_has_these_bytes() -> None:
    sent = golden_answer()
    assert sent.to_bytes() == (HERE / "answer.json").read_bytes()
    assert Answer.from_bytes(sent.to_bytes()) == sent


def test_the_tally_has_these_bytes() -> None:
    tally = golden_tally()
    tally.check(golden_study())
    assert tally.to_bytes() == (HERE / "tally.json").read_bytes()
    assert Tally.from_bytes(tally.to_bytes()) == tally


DRAWS = json.loads((HERE / "draws.json").read_text())


@pytest.mark.parametrize("vector", DRAWS, ids=[str(i) for i in range(len(DRAWS))])
def test_the_same_bits_give_the_same_symbol(vector: dict[str, Any]) -> None:
    study, index, bits = golden_study(), vector["question"], iter(vector["bits"])
    question = study.questions[index]
    position = None if vector["value"] is None else question.metric.position(vector["value"])
    symbol = draw_symbol(question.channel, vector["group"], position, bits=lambda _: next(bits))
    assert study.offset(index) + symbol == vector["symbol"]


def test_the_draws_reach_every_symbol() -> None:
    assert {vector["symbol"] for vector in DRAWS} == set(range(golden_study().symbols))


def test_a_study_that_says_everything_has_these_bytes() -> None:
    data = (HERE / "study-full.json").read_bytes()
    assert full_study().to_bytes() == data
    assert Study.from_bytes(data) == full_study()
