"""The metric: what it makes of numbers, exactly, and what it refuses."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import BadStudy, CannotAnswer
from fairgauge.study import Metric
from tests.samples import RECALL


class TestMetric:
    @pytest.mark.parametrize(
        ("value", "v"),
        [
            (0, -1),
            (1, 1),
            (0.5, 0),
            ("0.83", Fraction(66, 100)),
            (Decimal("0.25"), Fraction(-1, 2)),
            (Fraction(1, 3), Fraction(-1, 3)),
            (0.1, 2 * Fraction(0.1) - 1),
            (np.float32(0.25), Fraction(-1, 2)),
            (np.float64(0.1), 2 * Fraction(0.1) - 1),
            (np.int64(1), 1),
        ],
    )
    def test_position_is_exact_for_every_kind_of_number(self, value: Any, v: Fraction) -> None:
        position = RECALL.position(value)
        assert position == v * LEVEL_UNIT
        assert type(position.numerator) is int

    def test_a_number_of_any_length_is_read_at_once(self) -> None:
        """A fraction of 900,000 digits would take a minute, and one of 10^9 all memory."""
        for value in (
            "0." + "9" * 900_000,
            Decimal("0." + "9" * 900_000),
            Decimal("1e999999999"),
            Decimal("1e-999999999"),
        ):
            assert RECALL.nearest(value) is None
        assert RECALL.nearest(Decimal("0e999999999")) == -LEVEL_UNIT

    def test_position_uses_low_and_high(self) -> None:
        metric = Metric("error", "-0.5", "2")
        assert metric.position("-0.5") == -LEVEL_UNIT
        assert metric.position("0.125") == Fraction(-LEVEL_UNIT, 2)
        assert metric.position(2) == LEVEL_UNIT

    @pytest.mark.parametrize(
        "value",
        [
            1.0000000000000002,
            -1e-300,
            math.nan,
            math.inf,
            -math.inf,
            Decimal("NaN"),
            Decimal("sNaN"),
            Decimal("Infinity"),
            "0.83x",
            "",
            "1/2",
            True,
            False,
            np.True_,
            None,
            [0.5],
            0.5j,
            b"0.5",
        ],
    )
    def test_anything_else_is_refused_without_naming_it(self, value: Any) -> None:
        with pytest.raises(CannotAnswer) as caught:
            RECALL.position(value)
        assert str(caught.value) == "recall must be a number from 0 to 1"
        # Not in a chained exception either: a traceback may travel to a server.
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None

    def test_back_to_the_metric(self) -> None:
        metric = Metric("error", "-0.5", "2")
        assert metric.scale == 1.25
        assert [metric.to_metric(v) for v in (-1.0, 0.0, 1.0)] == [-0.5, 0.75, 2.0]

    def test_help_is_prose(self) -> None:
        assert Metric("recall", 0, 1, help="x" * 2000).help == "x" * 2000
        with pytest.raises(BadStudy, match="must be text of 1 to 2000 characters"):
            Metric("recall", 0, 1, help="x" * 2001)
