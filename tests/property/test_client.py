"""Whatever comes: parsers raise our errors only, and a ledger agrees with a dictionary."""

import json
import math
import tempfile
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fairgauge.client import Answer, Ledger, load_study
from fairgauge.client.budget import add_up
from fairgauge.client.delivery import _retry_after
from fairgauge.errors import BadTable, CannotAnswer, FairgaugeError
from fairgauge.study import Attribute, Metric, Question, Study
from tests.samples import sample_question, sample_study, two_questions

DOCUMENTS = [sample_study().to_bytes(), two_questions().to_bytes(), Answer("0" * 64, "0" * 32, (3,)).to_bytes()]

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from([2**53, -(2**30), 10**4299, "1", "0.5", "-0", "1e9", "\ud800", "x" * 300])
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner))


def parts(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path to every part of a document."""
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [path, *(found for key, value in inner for found in parts(value, (*path, key)))]


@st.composite
def broken_documents(draw: st.DrawFn) -> bytes:
    """A sound document of which a few parts are replaced, removed or doubled."""
    document = json.loads(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from([path for path in parts(document) if path]))
        owner = document
        for key in path:
            owner = owner[key]
        how = draw(st.integers(0, 3))
        if how == 0:
            del owner[last]
        elif how == 1 and isinstance(owner, list):
            owner.append(owner[last])
        else:
            owner[last] = draw(values)
        if not document:
            break
    return json.dumps(document).encode("utf-8", "surrogatepass")


@st.composite
def broken_bytes(draw: st.DrawFn) -> bytes:
    """A sound document with a few bytes replaced by others."""
    data = draw(st.sampled_from(DOCUMENTS))
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, min(len(data), start + 8)))
    return data[:start] + draw(st.binary(max_size=8)) + data[end:]


strange = st.binary(max_size=200) | broken_bytes() | broken_documents()


@settings(max_examples=400)
@given(strange)
def test_parsers_raise_nothing_but_our_errors(data: bytes) -> None:
    for parse in (load_study, Answer.from_bytes):
        try:
            found = parse(data)
        except FairgaugeError as error:
            assert str(error)  # noqa: PT017 - what is tested is that there is no other
        else:
            assert parse(found.to_bytes()) == found


def test_a_sum_that_python_does_not_write_out() -> None:
    """Weights that sum to an integer of 4301 digits: saying so must not fail in turn."""
    text = DOCUMENTS[0].decode()
    start, end = text.index("[[") + 2, text.index("]", text.index("[["))
    weights = ",".join(["9" * 4300] * 4)
    with pytest.raises(BadTable, match="int too long to show: must sum to exactly"):
        load_study(f"{text[:start]}{weights}{text[end:]}".encode())


@given(st.text() | st.from_regex(r"\A[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} \d{2,4} \d\d:\d\d:\d\d( GMT| [+-]\d{4})?\Z"))
def test_any_retry_after_is_a_number_of_seconds(header: str) -> None:
    assert 0 <= _retry_after(header, now=datetime(2026, 11, 15, tzinfo=UTC)) < float("inf")


@given(st.lists(st.decimals(0, 100, allow_nan=False, places=30)))
def test_sums_are_never_low(costs: list[Decimal]) -> None:
    exact = sum(map(Fraction, costs))
    assert exact <= Fraction(add_up(costs)) <= exact + Fraction(len(costs), 10**44)


SEX, AGE = Attribute("sex", ("female", "male")), Attribute("age", ("young", "old"))
CHEAP, MIDDLE, DEAR = ((loss, f"{math.log(loss) + 1e-6:.12f}") for loss in (2, 3, 5))


def asked(metric: str, attribute: Attribute, about: tuple[int, str]) -> Question:
    """A question of which the exact loss is nearly the logarithm of a number."""
    loss, epsilon = about
    return sample_question(Metric(metric, 0, 1), attribute, epsilon=epsilon, loss=loss)


# The dearest question of an attribute is the first, the last, the middle one, or about a crossed attribute.
STUDIES = [
    Study(f"Study {number}", questions)
    for number, questions in enumerate(
        (
            (asked("a", SEX, MIDDLE),),
            (asked("a", SEX, CHEAP), asked("b", SEX, DEAR)),
            (asked("a", SEX, DEAR), asked("b", SEX, CHEAP), asked("c", AGE, CHEAP)),
            (asked("a", AGE, CHEAP), asked("b", SEX, CHEAP), asked("c", AGE, DEAR), asked("d", SEX, MIDDLE)),
            (asked("a", SEX, CHEAP), asked("b", Attribute.crossed(SEX, AGE), DEAR)),
        )
    )
]
# What an answer costs each attribute: the most that any question about it spends, whichever is drawn.
COSTS = [
    {
        name: max(q.mechanism.epsilon_bound for q in study.questions if name in {f.name for f in q.attribute.factors})
        for name in ("sex", "age")
        if any(name in {f.name for f in q.attribute.factors} for q in study.questions)
    }
    for study in STUDIES
]
VALUES = dict.fromkeys("abcd", "0.5")
PERSON = {"group": {"sex": "female", "age": "young"}, "values": VALUES}
OTHER = {"group": {"sex": "male", "age": "old"}, "values": {}}


class LedgerMachine(RuleBasedStateMachine):
    """A ledger, opened anew for every step, against dictionaries of what was answered and what each attribute paid."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        self.path = Path(self.folder.name) / "ledger"
        self.answers: dict[str, Answer] = {}
        self.states: dict[str, str] = {}
        self.paid: dict[str, list[Decimal]] = {}

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(number=st.integers(0, len(STUDIES) - 1), other=st.booleans(), limit=st.none() | st.integers(0, 9))
    def answer(self, number: int, other: bool, limit: int | None) -> None:
        study, costs = STUDIES[number], COSTS[number]
        most = None if limit is None else Decimal(limit) * Decimal("0.75")
        allowed = most is None or all(add_up([*self.paid.get(name, ()), cost]) <= most for name, cost in costs.items())
        try:
            found = Ledger(self.path).answer(study, OTHER if other else PERSON, limit=most)
        except CannotAnswer:
            assert study.digest not in self.answers
            assert not allowed
            return
        if study.digest in self.answers:
            assert found == self.answers[study.digest]
            return
        assert allowed
        self.answers[study.digest] = found
        self.states[study.digest] = "pending"
        for name, cost in costs.items():
            self.paid.setdefault(name, []).append(cost)

    @rule(study=st.sampled_from(STUDIES), state=st.sampled_from(["delivered", "refused"]))
    def mark(self, study: Study, state: str) -> None:
        if study.digest not in self.answers:
            return
        ledger = Ledger(self.path)
        (ledger.mark_sent if state == "delivered" else ledger.mark_refused)(self.answers[study.digest])
        if self.states[study.digest] != "delivered":
            self.states[study.digest] = state

    @invariant()
    def agrees(self) -> None:
        ledger = Ledger(self.path)
        states = {study.digest: ledger.state(study.digest) for study in STUDIES}
        assert {digest: state for digest, state in states.items() if state} == self.states
        assert {a.study: a for a in ledger.pending()} == {
            digest: self.answers[digest] for digest, state in self.states.items() if state == "pending"
        }
        assert ledger.spent() == {name: add_up(paid) for name, paid in self.paid.items()}


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=25, stateful_step_count=12)
