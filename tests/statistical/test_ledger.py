"""What a ledger hands out and what reaches the wire follow the law that the published table promises.

Each client has a ledger of its own and is made to come back: asked again, after failing to send, with another
profile.  What counts is what it delivers in the end.  A mutant is a ledger that lets the coming back change the law.
"""

import random
import tempfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import Answer, Ledger, answer
from fairgauge.simulation import Cell
from fairgauge.study import Study
from fairgauge.tallies import Tally
from tests.samples import THREE_LEVELS, sample_question, sample_study
from tests.statistical.exact import FALSE_POSITIVE_RATE, p_value
from tests.statistical.test_answers import SEED, promised

STUDY = sample_study(sample_question(levels=THREE_LEVELS, abstain=True))
CELLS = (Cell("female", Decimal("0.4"), 400), Cell("male", Decimal(1), 400), Cell(None, None, 200))
NOBODY: dict[str, Any] = {"group": None, "values": {}}

Client = Callable[[Path, Study, Cell], Answer]


def profile(cell: Cell) -> dict[str, object]:
    return {"group": cell.group, "values": {"recall": cell.value}}


def honest(path: Path, study: Study, cell: Cell) -> Answer:
    first = Ledger(path).answer(study, profile(cell), limit=Decimal(4))
    assert Ledger(path).answer(study, NOBODY) == first
    return Ledger(path).pending()[0]


def draws_until_it_likes_it(path: Path, study: Study, cell: Cell) -> Answer:
    """Broken: a crash loop that keeps the smaller of two symbols."""
    found = honest(path, study, cell)
    return min(found, answer(study, profile(cell)), key=lambda answer: answer.payload[0])


def remembers_another_profile(path: Path, study: Study, cell: Cell) -> Answer:
    """Broken: who comes back without a profile abstains."""
    honest(path, study, cell)
    found: Answer = answer(study, NOBODY)
    return found


def is_honest(client: Client, folder: Path) -> bool:
    """Tell whether what the clients deliver agrees with the published study, cell by cell."""
    p_values = []
    for number, cell in enumerate(CELLS):
        answers = [client(folder / f"{number}-{person}", STUDY, cell) for person in range(cell.count)]
        p_values.append(p_value(Tally.of(STUDY, answers).counts, [(cell.count, promised(STUDY, cell))]))
    return min(p_values) >= FALSE_POSITIVE_RATE / len(p_values)


@pytest.fixture
def folder():
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as found:
        yield Path(found)


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the operating system's random bytes, and nothing else, by a fixed stream."""
    monkeypatch.setattr("random._urandom", random.Random(SEED).randbytes)


def test_remembered_answers_follow_the_table(folder: Path) -> None:
    assert is_honest(honest, folder)


@pytest.mark.parametrize("client", [draws_until_it_likes_it, remembers_another_profile])
def test_a_broken_ledger_is_caught(folder: Path, client: Client) -> None:
    assert not is_honest(client, folder)
