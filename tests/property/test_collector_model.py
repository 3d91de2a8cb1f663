"""Any sequence of requests leaves a collector equal to a dictionary, on both stores and through restarts."""

import asyncio
import shutil
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from fairgauge.collector.stores import released_sums
from fairgauge.study import Release, Study
from tests.collecting.desk import Desk, open_desk
from tests.collecting.servers import new_store
from tests.collecting.wire import answer_bytes
from tests.samples import sample_question

STUDIES = [Study(f"Study {n}", (sample_question(),)) for n in range(2)]
BATCH, DRAWS = 3, 2
STUDIES += [Study("In the crowd", (sample_question(),), release=Release(BATCH, "0.00000001", DRAWS))]
SYMBOLS = STUDIES[0].symbols

studies = st.sampled_from(STUDIES)
symbols = st.integers(0, SYMBOLS - 1)
# Few ids, so that most answers meet another with the same id.
ids = st.integers(0, 11).map(lambda n: bytes([n] * 16))
BAD_LINES = [
    b"",
    b"{}",
    b"nothing",
    b'{"id":"x"}',
    answer_bytes("0" * 64, b"\1" * 16, 0),
    answer_bytes(STUDIES[0].digest, b"\1" * 16, 10**6),
    answer_bytes(STUDIES[0].digest, b"\1" * 16, 0)[:-1] + b',"symbol":1}',
    answer_bytes(STUDIES[0].digest, b"\1" * 16, 0).replace(b":0}", b":0.0}"),
    answer_bytes(STUDIES[0].digest, b"\1" * 16, 0).replace(b":0}", b":NaN}"),
]


class CollectorMachine(RuleBasedStateMachine):
    """A collector and the dictionary that it should equal."""

    kind = "sqlite"
    published = Bundle("published")

    @initialize()
    def open(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp(prefix="fairgauge-model-"))
        self.store = new_store(self.kind, self.folder)
        self.model: dict[str, dict[bytes, int]] = {}
        self.closed: set[str] = set()
        self.drawn: dict[str, list[int]] = {}
        self._enter()

    def _enter(self) -> None:
        async def enter() -> tuple[AsyncExitStack, Desk]:
            stack = AsyncExitStack()
            return stack, await stack.enter_async_context(open_desk(self.store, self.folder))

        self.stack, self.desk = self.runner.run(enter())

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            self.runner.run(self.stack.aclose())
            self.runner.close()
            shutil.rmtree(self.folder)

    def expect(self, study: Study, id_: bytes, symbol: int) -> tuple[int, str | None]:
        """Return what the model answers, and change it."""
        kept = self.model[study.digest]
        if id_ in kept:
            return (200, "duplicate") if kept[id_] == symbol else (409, None)
        if study.digest in self.closed:
            return 410, None
        kept[id_] = symbol
        return 200, "accepted"

    def seen(self, study: Study) -> list[int]:
        """Return the symbols that readers see, in the order in which they came: all, or those of closed batches."""
        kept = list(self.model[study.digest].values())
        if study.release is None:
            return kept
        if study.digest in self.closed:
            return kept
        return kept[: max(0, len(kept) // BATCH - 1) * BATCH]

    def fits(self, study: Study, shown: list[int]) -> bool:
        """Tell whether counts are those that readers see, with two draws for each batch that never change again."""
        seen = self.seen(study)
        more = [count - seen.count(symbol) for symbol, count in enumerate(shown)]
        if study.release is None:
            return not any(more)
        before = self.drawn.get(study.digest, [0] * SYMBOLS)
        self.drawn[study.digest] = more
        same = sum(before) < sum(more) or before == more
        drawn = DRAWS * study.release.batches(len(seen))
        return same and sum(more) == drawn and all(a <= b for a, b in zip(before, more, strict=True))

    @rule(target=published, study=studies)
    def publish(self, study: Study) -> Study:
        found = self.runner.run(self.desk.publish(study))
        assert found.status_code == (200 if study.digest in self.model else 201)
        self.model.setdefault(study.digest, {})
        return study

    @rule(study=published, id_=ids, symbol=symbols)
    def answer(self, study: Study, id_: bytes, symbol: int) -> None:
        found = self.runner.run(self.desk.answer(study, id_, symbol))
        status, word = self.expect(study, id_, symbol)
        assert found.status_code == status
        assert word is None or found.json() == {"status": word}

    @rule(study=published, sent=st.lists(st.tuples(ids, symbols), min_size=2, max_size=8))
    def answer_at_once(self, study: Study, sent: list[tuple[bytes, int]]) -> None:
        async def all_of_them() -> list[Any]:
            return await asyncio.gather(*(self.desk.answer(study, id_, symbol) for id_, symbol in sent))

        found = self.runner.run(all_of_them())
        expected = [self.expect(study, id_, symbol)[0] for id_, symbol in sent]
        assert [response.status_code for response in found] == expected

    @rule(
        study=published,
        lines=st.lists(st.tuples(ids, symbols) | st.sampled_from(BAD_LINES), min_size=1, max_size=12),
    )
    def batch(self, study: Study, lines: list[Any]) -> None:
        if lines[-1] == b"":
            lines = [*lines[:-1], b"{}"]  # an empty last line is only the end of the one before
        sent = [line if isinstance(line, bytes) else answer_bytes(study.digest, *line) for line in lines]
        found = self.runner.run(self.desk.batch(study, sent))
        accepted = duplicates = 0
        errors = []
        for number, line in enumerate(lines, start=1):
            status, word = (400, None) if isinstance(line, bytes) else self.expect(study, *line)
            accepted += word == "accepted"
            duplicates += word == "duplicate"
            errors += [(number, status)] if word is None else []
        told = found.json()
        assert (found.status_code, told["accepted"], told["duplicates"]) == (200, accepted, duplicates)
        assert [(error["line"], error["status"]) for error in told["errors"]] == errors

    @rule(study=published)
    def close(self, study: Study) -> None:
        assert self.runner.run(self.desk.post(f"/studies/{study.digest}/close")).json()["status"] == "sealed"
        self.closed.add(study.digest)
        seal = self.runner.run(self.desk.get(f"/studies/{study.digest}/sealed")).json()["seal"]
        kept = sorted(self.model[study.digest].items())
        lines = b"".join(answer_bytes(study.digest, *answer) + b"\n" for answer in kept)
        assert (seal["answers"], seal["answers_sha256"]) == (len(kept), sha256(lines).hexdigest())
        assert self.fits(study, seal["tally"])

    @rule()
    def restart(self) -> None:
        self.runner.run(self.stack.aclose())
        self._enter()

    @invariant()
    def equals_the_dictionary(self) -> None:
        for study in STUDIES:
            if study.digest not in getattr(self, "model", {}):
                continue
            kept = self.model[study.digest]
            counts = self.runner.run(self.desk.tally(study))
            assert self.fits(study, counts)
            came = self.runner.run(self.desk.get(f"/studies/{study.digest}/arrivals")).json()["arrivals"]
            assert sum(hour["answers"] for hour in came) == len(kept)
            export = self.runner.run(self.desk.get(f"/studies/{study.digest}/export", token=self.desk.operator))
            if study.release is not None and study.digest not in self.closed:
                assert export.status_code == 404
                continue
            lines = b"".join(answer_bytes(study.digest, *answer) + b"\n" for answer in sorted(kept.items()))
            assert export.content == lines


class PostgresMachine(CollectorMachine):
    kind = "postgresql"


@pytest.fixture(autouse=True)
def known_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws that come out alike, so that Hypothesis finds again what it found."""
    monkeypatch.setattr(released_sums, "draw_symbols", lambda _, count: Counter({1: count - 1, 3: 1}))


@pytest.mark.parametrize(("machine", "examples"), [(CollectorMachine, 15), (PostgresMachine, 6)], ids=["sqlite", "pg"])
def test_a_collector_equals_a_dictionary(machine: type[RuleBasedStateMachine], examples: int):
    profile = settings(max_examples=examples, stateful_step_count=20)
    run_state_machine_as_test(machine, settings=profile)


class ForgetfulMachine(CollectorMachine):
    """A mutant: its collector counts a conflicting answer in the place of the first."""

    def expect(self, study: Study, id_: bytes, symbol: int) -> tuple[int, str | None]:
        status, word = super().expect(study, id_, symbol)
        if status == 409:
            self.model[study.digest][id_] = symbol
        return status, word


class HastyMachine(CollectorMachine):
    """A mutant: its collector shows a batch as soon as it is full."""

    def seen(self, study: Study) -> list[int]:
        kept = list(self.model[study.digest].values())
        if study.release is None or study.digest in self.closed:
            return super().seen(study)
        return kept[: len(kept) // BATCH * BATCH]


class UndrawnMachine(CollectorMachine):
    """A mutant: its collector adds no draws."""

    def fits(self, study: Study, shown: list[int]) -> bool:
        return shown == [self.seen(study).count(symbol) for symbol in range(SYMBOLS)]


@pytest.mark.parametrize("machine", [ForgetfulMachine, HastyMachine, UndrawnMachine])
def test_a_broken_model_is_noticed(machine: type[RuleBasedStateMachine]):
    profile = settings(max_examples=40, stateful_step_count=20, phases=[Phase.generate], print_blob=False)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=profile)
