"""A site's answer: what is counted, what noise is for, what is refused, and that nothing of a record is repeated."""

import math
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairgauge.channel import LEVEL_UNIT
from fairgauge.client import answer
from fairgauge.client import site_counts as module
from fairgauge.client.answer import Answer
from fairgauge.client.budget import Limits
from fairgauge.client.site_counts import _at_levels, cells_of, count_records, law_in, left_out
from fairgauge.client.site_records import position
from fairgauge.errors import CannotAnswer, InvalidInput, NotPrivate
from fairgauge.study import Attribute, Metric, NoisyCounts
from fairgauge.study.attribute import cells
from fairgauge.study.noisy_counts import MOST_IN_CELL
from tests.samples import sample_study
from tests.sites import NOBODY, SEX, Record, confusion_study, levels_study, read, site_of

SITE = NoisyCounts(SEX, "confusion", "1")


@pytest.fixture
def noiseless(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    asked: list[tuple[int, int]] = []

    def draw(s: int, t: int) -> int:
        asked.append((s, t))
        return 0

    monkeypatch.setattr(module, "draw_noise", draw)
    return asked


def counts(site: NoisyCounts, rows: Sequence[Record]) -> list[int]:
    return count_records(site, read(site, rows))


class TestCounting:
    def test_by_group_then_truth_then_prediction(self) -> None:
        records = [(None, (group,), (t, p)) for group, t, p in product(("female", "male"), (0, 1), (0, 1))]
        assert counts(SITE, records) == [1] * 8
        assert counts(SITE, [(None, ("male",), ("1", False))]) == [0, 0, 0, 0, 0, 0, 1, 0]

    def test_what_is_missing_is_left_out(self) -> None:
        records: list[Any] = [
            (None, (None,), (1, 1)),
            (None, ("",), (1, 1)),
            (None, ("male",), (math.nan, 1)),
            (None, ("male",), (1, "")),
        ]
        assert sum(counts(SITE, records)) == 0

    @pytest.mark.parametrize(
        "record", [(None, ("Jane Doe",), (1, 1)), (None, ("male",), ("Jane Doe", 1)), (None, ("male",), (1, 0.7))]
    )
    def test_what_makes_no_sense_is_left_out(self, record: Any) -> None:
        """A refusal would tell of a record what the noise hides."""
        rows = [record, (None, ("male",), (1, 1))]
        assert sum(counts(SITE, rows)) == 1
        assert left_out(SITE, read(SITE, rows)) == 1

    @pytest.mark.parametrize("entry", [None, "", math.nan, math.inf, "Jane Doe", True, [1], object(), "1e999"])
    def test_a_value_that_is_no_number_is_left_out(self, entry: Any) -> None:
        assert sum(counts(site_of(levels_study()), [(None, ("male",), (entry,))])) == 0

    @pytest.mark.parametrize(("entry", "cell"), [(10.5, 2), ("1e300", 2), (-1, 0), ("-1e300", 0)])
    def test_a_value_outside_of_the_range_is_its_nearest_end(self, entry: Any, cell: int) -> None:
        assert counts(site_of(levels_study()), [(None, ("female",), (entry,))])[cell] == 1

    @pytest.mark.parametrize("records", [1, 3])
    def test_no_person_counts_more_often_than_the_study_says(self, records: int) -> None:
        site = NoisyCounts(SEX, "confusion", "1", records=records)
        rows = [(person, ("male",), (1, 1)) for person in ("a", "b") for _ in range(5)]
        assert sum(counts(site, rows)) == 2 * records

    def test_each_record_of_a_person_is_as_likely_to_be_kept(self) -> None:
        rows = [("a", ("female",), (truth, 0)) for truth in (0, 1)]
        met = Counter(tuple(counts(SITE, rows)) for _ in range(2000))
        assert len(met) == 2
        assert min(met.values()) > 2000 / 2 - 5 * math.sqrt(2000) / 2

    def test_values_are_rounded_to_neighbouring_levels_so_that_the_mean_stays(self) -> None:
        site = site_of(levels_study())
        rows = [(None, ("female",), (3,))] * 4000  # levels are at 0, 5 and 10
        low, middle, *others = counts(site, rows)
        assert not any(others)
        assert abs(middle - 0.6 * 4000) < 5 * math.sqrt(0.24 * 4000)
        assert low + middle == 4000

    def test_a_value_is_found_in_as_many_steps_wherever_the_study_puts_its_levels(self) -> None:
        """A study with its levels packed below a value would else learn by the time whether somebody is above it."""

        class Watched(list[int]):
            asked = 0

            def __getitem__(self, place: Any) -> Any:
                self.asked += 1
                return super().__getitem__(place)

            def __iter__(self) -> Any:
                for place in range(len(self)):
                    yield self[place]

        levels = Watched([*range(-LEVEL_UNIT, -LEVEL_UNIT + 2047), LEVEL_UNIT])
        steps = []
        for value in ("0", "0.0000001", "0.3", "0.999", "1", "nothing"):
            levels.asked = 0
            _at_levels(levels, array("i", [position(Metric("score", 0, 1), value)]), 9999)
            steps.append(levels.asked)
        assert max(steps) - min(steps) <= 3
        assert max(steps) <= 16

    def test_every_record_takes_the_same_steps(self) -> None:
        """Whatever it holds, and whether it counts: how long a site counts tells nothing of a record."""
        rows: list[tuple[Any, Any, Any]] = [
            ("1", ("female",), (0,)),
            ("1", ("male",), (3.3,)),
            ("2", ("platypus",), (7,)),
            ("", ("male",), ("1e300",)),
            ("3", ("male",), ("platypus",)),
        ]
        site = site_of(levels_study())

        def steps(row: Any) -> int:
            held, found = read(site, [row, ("9", ("male",), (1,))]), 0

            def trace(frame: Any, event: str, _: Any) -> Any:
                nonlocal found
                frame.f_trace_opcodes = True
                found += event == "opcode"
                return trace

            before = sys.gettrace()
            sys.settrace(trace)
            try:
                count_records(site, held)
            finally:
                sys.settrace(before)
            return found

        assert len({steps(row) for row in rows}) == 1

    def test_records_that_were_read_for_something_else(self) -> None:
        levels, other = site_of(levels_study()), Metric("score", 0, 5)
        for site in (SITE, NoisyCounts(SEX, "levels", 1, metric=other, levels=[-LEVEL_UNIT, LEVEL_UNIT])):
            with pytest.raises(InvalidInput, match=r"records=(truth|score): must have been read for"):
                cells_of(site, read(levels, [(None, ("male",), (1,))]))

    def test_groups_may_be_listed_in_another_order(self) -> None:
        """What a site's file and a study say is the same list, in whichever order."""
        there = read(SITE, [(None, ("male",), (1, 1)), (None, (None,), (1, 1))])
        other = NoisyCounts(Attribute("sex", ("male", "female")), "confusion", "1")
        assert count_records(other, there) == [0, 0, 0, 1, 0, 0, 0, 0]

    def test_crossed_attributes(self) -> None:
        cross = (Attribute("sex", ("female", "male")), Attribute("age", ("young", "old")))
        site = NoisyCounts(Attribute("who", cells(cross), cross=cross), "confusion", "1")
        assert counts(site, [(None, ("male", "young"), (0, 0))])[8] == 1
        assert counts(site, [(None, ("female", "old"), (0, 0))])[4] == 1


def test_the_law_of_a_record_is_one_cell_or_two_levels() -> None:
    levels = site_of(levels_study())
    assert law_in(SITE, 1, [1, 0]) == ((6, Fraction(1)),)
    assert law_in(levels, 1, ["7.5"]) == ((5, Fraction(1, 2)), (4, Fraction(1, 2)))
    assert law_in(levels, 0, [0]) == ((0, Fraction(1)),)
    assert [law_in(site, None, row) for site, row in ((SITE, [1, 0]), (levels, [5]))] == [(), ()]


class TestAnswering:
    def test_noise_is_made_for_two_cells_that_one_person_moves(self, noiseless: list[tuple[int, int]]) -> None:
        study = confusion_study(epsilon="0.3", records=2)
        answer(study, NOBODY)
        assert set(noiseless) == {(3, 40)}  # 0.3 / (2 * 2)
        assert len(noiseless) == 8

    def test_every_cell_has_noise_of_its_own_and_negative_counts_stay(self) -> None:
        counts = [answer(confusion_study(epsilon="0.1"), NOBODY).payload for _ in range(20)]
        assert len({count for answer in counts for count in answer}) > 20
        assert min(count for answer in counts for count in answer) < 0

    def test_bytes_and_back(self) -> None:
        sent = answer(confusion_study(), NOBODY)
        assert Answer.from_bytes(sent.to_bytes()) == sent
        assert sent.study == confusion_study().digest

    def test_a_ticket_is_the_id(self) -> None:
        assert answer(confusion_study(), NOBODY, ticket="ab" * 16).id == "ab" * 16

    def test_counts_that_are_too_large_are_cut_off_when_they_are_noisy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """To refuse them would be free, and so tell something for nothing."""
        for noise, count in ((2**40, MOST_IN_CELL), (-(2**40), -MOST_IN_CELL)):
            monkeypatch.setattr(module, "draw_noise", lambda *_, noise=noise: noise)
            assert set(answer(confusion_study(), NOBODY).payload) == {count}

    def test_the_limit_of_one_study(self) -> None:
        with pytest.raises(NotPrivate, match=r"spends epsilon 5\.0, and this device allows 4 a study"):
            answer(confusion_study(epsilon="5"), NOBODY)
        answer(confusion_study(epsilon="5"), NOBODY, limit=Limits(study=Decimal(5)))

    def test_a_person_is_no_site(self) -> None:
        with pytest.raises(CannotAnswer, match="this is a device of one person"):
            answer(confusion_study(), {"group": "male", "values": {}})

    def test_a_study_for_devices(self) -> None:
        with pytest.raises(CannotAnswer, match="a profile has two parts"):
            answer(sample_study(), [])

    @pytest.mark.parametrize("counts", [(1.0, 0), (2**26, 0), (True, 0), ("1", 0)])
    def test_counts_that_are_none(self, counts: Any) -> None:
        with pytest.raises(InvalidInput, match=r"counts\[0\]"):
            Answer("0" * 64, "0" * 32, counts)


def neighbours(records: int) -> Iterator[tuple[list[int], list[int]]]:
    """Give two tables of two cells that differ in one person's records, replaced by others."""
    for kept, moved in product(range(records + 1), range(records + 1)):
        yield [kept, records - kept], [moved, records - moved]
        yield [kept, records - kept], [0, 0]


@settings(max_examples=50, deadline=None)
@given(
    epsilon=st.fractions(Fraction(1, 100), Fraction(8)).map(lambda f: f.limit_denominator(100)),
    records=st.integers(1, 3),
    seen=st.tuples(st.integers(-5, 8), st.integers(-5, 8)),
)
def test_the_exact_loss_is_at_most_epsilon(epsilon: Fraction, records: int, seen: tuple[int, int]) -> None:
    """The law of every count is q^|z| up to a constant with log q = -epsilon / 2r: log-ratios are fractions."""
    decay = epsilon / (2 * records)

    def log_chance(table: list[int]) -> Fraction:
        return -decay * sum(abs(y - x) for x, y in zip(table, seen, strict=True))

    for one, other in neighbours(records):
        assert abs(log_chance(one) - log_chance(other)) <= epsilon


def test_the_exact_loss_is_reached() -> None:
    """A person who moves from one cell to the other: noise for one cell alone would not do."""
    decay = Fraction(1, 2)
    ones, others, seen = (1, 0), (0, 1), (1, 0)
    loss = decay * sum(abs(y - x) for x, y in zip(others, seen, strict=True))
    loss -= decay * sum(abs(y - x) for x, y in zip(ones, seen, strict=True))
    assert loss == 1
