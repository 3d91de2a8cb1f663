"""The certified bound is the formula, rounded up and by little; a copy of it with a mistake is caught."""

import importlib.util
import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest

from fairgauge.channel import ROW_SUM
from fairgauge.crowd import certificate
from fairgauge.crowd.laws import Blanket
from tests.samples import THREE_LEVELS, sample_channel, two_questions

BLANKETS = [
    [Blanket.of(sample_channel().table)],
    [Blanket.of(sample_channel(levels=THREE_LEVELS, abstain=True, loss=20).table)],
    [Blanket.of(question.channel.table) for question in two_questions().questions],
]
SETTINGS = [
    (blankets, people, epsilon, t)
    for blankets in BLANKETS
    for people, epsilon, t in (
        (1, "0.3", "0.7"),
        (7, "0.1", "0.25"),
        (1000, "0.2", "0.05"),
        (10**9, "0.0001", "0.0001"),
    )
]


def formula(blankets: list[Blanket], people: int, epsilon: Decimal, t: Decimal) -> Decimal:
    """The bound as it is written on paper, with 90 digits."""
    with localcontext(Context(prec=90, Emax=10**9, Emin=-(10**9))):
        factor = epsilon.exp()
        means = []
        for blanket in blankets:
            weights = [Decimal(least) / ROW_SUM for least in blanket.least]
            rows = [[Decimal(weight) / ROW_SUM for weight in row] for row in blanket.rows]
            means.append(
                max(
                    1
                    - sum(weights)
                    + sum(w * (t * (a - factor * b) / w).exp() for w, a, b in zip(weights, x, y, strict=True))
                    for x in rows
                    for y in rows
                )
            )
        mean = sum(means) / len(means)
        return Decimal(mean**people / (Decimal(1).exp() * t * people))


def is_the_formula(certify: Callable[..., Any]) -> bool:
    for blankets, people, epsilon, t in SETTINGS:
        found, _ = certify(blankets, people, Decimal(epsilon), Decimal(t))
        wanted = formula(blankets, people, Decimal(epsilon), Decimal(t))
        if not wanted <= found <= wanted * (1 + Decimal("1e-25")):
            return False
    return True


def test_it_is_the_formula_rounded_up() -> None:
    assert is_the_formula(certificate.certify)


@pytest.mark.parametrize(
    ("honest", "wrong"),
    [
        ("DOWN.exp(Decimal(1))", "DOWN.exp(Decimal('1.0001'))"),
        ("len(blankets) * ROW_SUM", "len(blankets) * (ROW_SUM + 1)"),
        ("(len(blankets) * ROW_SUM)", "ROW_SUM"),
        ("ROW_SUM - sum(blanket.least)", "ROW_SUM - sum(blanket.least) - 1"),
        ("Decimal(people))\n", "Decimal(people + 1))\n"),
        ("_power(mean, people)", "_power(mean, people - 1)"),
        ("UP.multiply(least, rise)", "UP.multiply(least + 1, rise)"),
        ("fall.copy_negate()", "fall"),
        ("DOWN.exp(epsilon)", "DOWN.exp(2 * epsilon)"),
        ("UP.multiply(t, UP.divide(weight, least))", "UP.multiply(t, UP.divide(least, weight))"),
        ("DIGITS = 38", "DIGITS = 20"),
        ("UP = Context(prec=DIGITS, rounding=ROUND_CEILING", "UP = Context(prec=DIGITS, rounding=ROUND_FLOOR"),
        ("return max(", "return min("),
    ],
)
def test_a_mistake_is_caught(tmp_path: Path, honest: str, wrong: str) -> None:
    source = Path(certificate.__file__).read_text(encoding="utf-8")
    assert honest in source
    copy = tmp_path / "mutant.py"
    copy.write_text(source.replace(honest, wrong), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("mutant", copy)
    assert spec is not None
    assert spec.loader is not None
    mutant = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mutant)
    assert not is_the_formula(mutant.certify)


def test_the_worst_pair_is_named() -> None:
    blankets = BLANKETS[1]
    _, [(x, y)] = certificate.certify(blankets, 100, Decimal("0.2"), Decimal("0.1"))
    alone = Blanket((blankets[0].rows[x], blankets[0].rows[y]), blankets[0].least)
    values = [formula([b], 100, Decimal("0.2"), Decimal("0.1")) for b in (blankets[0], alone)]
    assert math.isclose(*map(float, values), rel_tol=1e-15)
