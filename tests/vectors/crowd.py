"""Vectors of crowds: the certified number of the crowd, as Python, which is the reference, computes it.

studies     documents
crowds      a study's index, the number of secret draws, delta, and the certified epsilon
bounds      a study's index, draws, epsilon, t, and two deltas: just above the certified bound, and just below it
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from fairgauge.crowd import crowd_of
from fairgauge.crowd.crowd_epsilon import Blanket, certify
from fairgauge.study import Study
from tests.samples import THREE_LEVELS, sample_question, sample_study, two_questions

FILE = Path(__file__).parent / "crowd.json"
KEPT = Path(__file__).parent


def studies() -> list[Study]:
    """Small tables and large, one question and several, with abstaining and without."""
    return [
        sample_study(),
        two_questions(),
        sample_study(sample_question(levels=THREE_LEVELS, abstain=True, loss=50, epsilon="4")),
        *(Study.load(KEPT / name) for name in ("study-centred.json", "study-means.json")),
    ]


def make() -> dict[str, Any]:
    """Return all vectors."""
    terms = [(1, "1e-8"), (6, "1e-2"), (300, "1e-8"), (1_000, None), (10_000, "1e-6"), (10**9, "1e-10")]
    found = studies()
    return {
        "studies": [study.to_bytes().decode() for study in found],
        "crowds": [
            {
                "study": index,
                "draws": draws,
                "delta": delta,
                "epsilon": crowd_of(study, draws, **({} if delta is None else {"delta": Decimal(delta)})).number,
            }
            for index, study in enumerate(found)
            for draws, delta in terms
        ],
        "bounds": [vector for index, study in enumerate(found) for vector in _bounds(study, index)],
    }


def _bounds(study: Study, index: int) -> Iterator[dict[str, Any]]:
    blankets = [Blanket.of(question.channel.table) for question in study.questions]
    for draws, epsilon, t in ((1, 0.25, 0.5), (1000, 0.25, 0.0625), (10**9, 0.001, 2.0**-16)):
        bound, _ = certify(blankets, draws, Decimal(epsilon), Decimal(t))
        above, below = (f"{bound * (1 + Decimal(sign)):.25e}" for sign in ("1e-12", "-1e-12"))
        yield {
            "study": index, "draws": draws, "epsilon": epsilon, "t": t, "enough": above, "tooLittle": below
        }  # fmt: skip


def written() -> str:
    """Return the file."""
    return json.dumps(make(), indent=1) + "\n"
