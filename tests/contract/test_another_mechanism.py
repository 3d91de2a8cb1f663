"""A third mechanism, written here alone, goes from the plan to the report by what it registers in each room.

Each of its answers is a bit for every group and outcome, all of them thrown with a coin of their own.
"""

import math
import secrets
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pytest

import fairgauge as fg
from fairgauge.client.answer import check_profile
from fairgauge.client.budget import charges
from fairgauge.client.ledger import Ledger
from fairgauge.errors import BadTally, InvalidInput
from fairgauge.estimation import Estimate, Interval, QuestionEstimate, inference
from fairgauge.estimation.interval_kinds import KINDS
from fairgauge.planning import contributors
from fairgauge.planning.plans import Plan, PlanRow, Plans
from fairgauge.reports import display
from fairgauge.reports.html_report import render_report
from fairgauge.reports.provenance import Provenance
from fairgauge.simulation import Cell, Population, drawing
from fairgauge.study import Attribute, Mechanism, Question, Study, document_format
from fairgauge.study.mechanism import Registry

KEPT = 0.75  # of the time a bit is sent as it is; two of them differ between any two people
LOSS = Decimal("2.19722457733621938279049047384505")  # 2 ln 3, rounded up
SEX = Attribute("sex", ["female", "male"])
RECALL = fg.Metric("recall", 0, 1)
PEOPLE = Population(
    (Cell("female", Decimal(1), 4000), Cell("female", Decimal(0), 1000), Cell("male", Decimal(1), 5000))
)


@dataclass(frozen=True)
class Bits:
    """The mechanism: groups times two outcomes, a bit each."""

    groups: int
    questions: ClassVar[int] = 1
    abstain: ClassVar[bool] = False
    counts_people: ClassVar[bool] = False
    fewest: ClassVar[None] = None
    contributors_known: ClassVar[bool] = False
    person: ClassVar[None] = None
    epsilon_bound: ClassVar[Decimal] = LOSS
    epsilon: ClassVar[float] = math.nextafter(float(LOSS), math.inf)

    @property
    def size(self) -> int:
        return 2 * self.groups

    @property
    def numbers(self) -> int:
        return self.size

    def within(self, epsilon: Decimal) -> bool:
        return epsilon >= LOSS

    def check_sums(self, sums: tuple[int, ...], contributors: int) -> None:
        if not all(0 <= one <= contributors for one in sums):
            raise BadTally("sums", sums, "must be from 0 to how many answered")

    def products(self, payloads: Iterable[tuple[int, ...]], size: int) -> tuple[int, ...]:
        del payloads, size
        return ()


def read(table: Any, metrics: Any, attributes: Any) -> tuple[Question, ...]:
    attribute = attributes[table["attribute"]]
    bits = Bits(len(attribute.groups))
    return (Question(metrics[table["bits"]], attribute, "gap", "bits", table["epsilon"], bits),)


def write(questions: tuple[Question, ...]) -> dict[str, Any]:
    (one,) = questions
    return {"attribute": one.attribute.name, "bits": one.metric.name, "epsilon": one.epsilon}


class Person:
    """Whoever answers holds a group and a value."""

    check_held = staticmethod(check_profile)

    def draw(self, study: Study, held: Any) -> tuple[int, ...]:
        (question,) = study.questions
        own = 2 * question.attribute.groups.index(held["group"]) + int(held["values"][question.metric.name])
        bits = [int(place == own) for place in range(study.symbols)]
        return tuple(bit if secrets.randbelow(4) < 3 else 1 - bit for bit in bits)

    def metrics(self, study: Study) -> list[fg.Metric]:
        return [question.metric for question in study.questions]

    def is_unnamed(self, held: Any) -> bool:
        return isinstance(held["group"], str)

    def choose(self, *, profile: Any, records: Any) -> Any:
        del records
        return profile


class Drawer:
    """Draws every bit's sum."""

    def draw(self, study: Study, population: Any, *, clients: Any, seed: Any, reading: Any) -> fg.Tally:
        del reading
        rng, counts = np.random.default_rng(seed), np.zeros(study.symbols, dtype=np.int64)
        for cell in population.cells:
            counts[2 * SEX.groups.index(cell.group) + int(cell.value)] += cell.count
        counts = rng.multinomial(clients, counts / counts.sum())
        sums = rng.binomial(counts, KEPT) + rng.binomial(clients - counts, 1 - KEPT)
        return fg.Tally(study.digest, tuple(sums.tolist()), clients)

    draw_exactly = draw


class Reader:
    """Reads the sums back, with a normal law."""

    kinds = KINDS

    def estimate(self, study: Study, tally: fg.Tally, asked: inference.Settings) -> Estimate:
        (question,), (confidence, kind, tolerance), names = study.questions, asked, SEX.groups
        counts = (np.array(tally.counts) - (1 - KEPT) * tally.contributors) / (2 * KEPT - 1)
        people = {name: counts[2 * n : 2 * n + 2] for n, name in enumerate(names)}
        means = {name: float(one[1] / one.sum()) for name, one in people.items()} if tally.contributors else {}
        error = 9 * math.sqrt(tally.contributors) / max(float(counts.sum()), 1.0)
        gaps = {}
        if means:
            gap = means[names[0]] - means[names[1]]
            gaps[names[0], names[1]] = Interval(gap, gap - error, gap + error, (-1, 1))
        found = QuestionEstimate(
            question.metric.name, question.attribute.name, names, tally.contributors, gaps, {}, None, {}, None, {},
            None, None, (),
        )  # fmt: skip
        return Estimate(study.digest, confidence, kind, tolerance, (found,), study.questions)


@dataclass(frozen=True)
class BitQuestions(Sequence[Question]):
    """What will be asked by bits."""

    one: Question

    def __len__(self) -> int:
        return 1

    def __getitem__(self, place: Any) -> Any:
        return (self.one,)[place]

    def designed(self, epsilon: Decimal, *, design: str) -> tuple[Question, ...]:
        del design
        mechanism = Bits(len(self.one.attribute.groups))
        return (Question(self.one.metric, self.one.attribute, "gap", "bits", epsilon, mechanism),)

    def planned(self, *, epsilon: Decimal, clients: int, **_: Any) -> Plans:
        mechanism = self.designed(epsilon, design="auto")[0].mechanism
        row = PlanRow(
            "bits", float(epsilon), clients, 9 / math.sqrt(clients), None, mechanism.size, None, mechanism=mechanism
        )
        return Plans((self.one.metric.name,), (Plan("error", 0.99, "population", "gap", (row,)),))


class ByBits(contributors.Contributors):
    """Who answers by bits."""

    count, things = "clients", ()
    _heeded, _foreign, _rule = (), frozenset({"weights"}), "must not be given with outcome bits"

    def _asked(self, metric: Any, attribute: Attribute, heeded: Any) -> Sequence[Question]:
        del heeded
        return BitQuestions(Question(metric, attribute))

    def designed_with(self, draft: Any) -> dict[str, Any]:
        raise NotImplementedError

    planned_with = designed_with


class Shown(display.Display):
    """The words."""

    def none(self, still: str) -> str:
        return f"verdict.none{still}"

    def asks(self, study: Study) -> list[tuple[Question, str]]:
        return [(study.questions[0], "Some bits.")]

    def about(self, estimate: Estimate) -> str:
        del estimate
        return ""

    def credited(self, study: Study, answers: Sequence[int]) -> tuple[str, str]:
        del study
        return f"{sum(answers)} answers", "Bits were thrown."

    def described(self, study: Study) -> dict[str, object]:
        del study
        return {}

    def protection(self, question: Question) -> str:
        del question
        return "Every bit is thrown."

    def exact(self, question: Question) -> str:
        return f"{question.mechanism.epsilon:.3f}"

    def odds(self, question: Question) -> tuple[float, str]:
        del question
        return 9.0, "odds.picture"

    def assumed(self, study: Study, estimate: Estimate, particulars: Provenance) -> list[str]:
        del study, estimate, particulars
        return ["Coins are fair."]


SHOWN = Shown(
    counted="answers", who="devices", count="study.answers", check=("study.check-all", "study.check-signature"),
    template="_devices.html", kept="report.kept", sent="bits", few="too few", answered="answers to this study",
    no_ratio="ratio.none", overview=False,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that it registers: an object in each room that CONTRIBUTING lists, and nothing else."""
    table = document_format.TableFormat("bits", read, write)
    for room, name, one in (
        (document_format, "_FORMATS", table),
        (sys.modules["fairgauge.client.answer"], "_CONTRIBUTORS", Person()),
        (drawing, "_DRAWERS", Drawer()),
        (inference, "SUM_READERS", Reader()),
        (display, "_DISPLAYS", SHOWN),
    ):
        registry: Registry[Any] = Registry(getattr(room, name)._each)
        registry.register(Bits, one)
        monkeypatch.setattr(room, name, registry)
    monkeypatch.setitem(contributors._BY_OUTCOME, "bits", ByBits())


def study_of_bits() -> Study:
    return Study("Recall by bits", fg.design(RECALL, SEX, epsilon="2.2", outcome="bits"))


def test_it_is_a_mechanism_and_neither_of_ours():
    assert isinstance(Bits(2), Mechanism)
    assert Bits.__mro__ == (Bits, object)


def test_plans_and_designs_are_of_one_table():
    plans = fg.plan(RECALL, SEX, outcome="bits", epsilon="2.2", clients=10_000)
    assert [row.mechanism for row in plans["recall"].rows] == [study_of_bits().mechanism]
    with pytest.raises(InvalidInput, match="must not be given with outcome bits"):
        fg.design(RECALL, SEX, epsilon="2.2", outcome="bits", weights={"recall": 2})


def test_the_study_is_its_bytes():
    study = study_of_bits()
    assert Study.from_bytes(study.to_bytes()) == study
    assert study.symbols == 4


def test_answers_are_charged_and_add_up(tmp_path):
    study, held = study_of_bits(), {"group": "male", "values": {"recall": 1}}
    answers = [fg.answer(study, held) for _ in range(400)]
    tally = fg.Tally.of(study, answers)
    assert tally.contributors == 400
    assert tally.counts[3] > 2 * max(tally.counts[:3])
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    assert ledger.answer(study, held) == ledger.answer(study, held)
    assert dict(ledger.spent()) == dict(charges(study)) == {"sex": LOSS}
    with pytest.raises(BadTally):
        fg.Tally(study.digest, (401, 0, 0, 0), 400).check(study)


def test_the_tally_is_estimated_and_reported():
    study = study_of_bits()
    tally = fg.simulate(study, PEOPLE, clients=200_000, seed=7)
    found = fg.estimate(study, tally)
    gap = found["recall"].gap("female", "male")
    assert gap.low < -0.2 < gap.high
    assert gap.high - gap.low < 0.1
    page = render_report(study, tally, found)
    assert "<h1" in page
    assert [words for words in ("Recall by bits", "Every bit is thrown.", "Coins are fair.") if words not in page] == []
    assert all("fairgauge" in thing._repr_html_() for thing in (found, study))
