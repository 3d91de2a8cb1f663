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
from fairgauge.crowd.certificate import Blanket
from tests.samples import THREE_LEVELS, sample_channel, two_questions

BLANKETS = [
    [Blanket.of(sample_channel().table)],
    [Blanket.of(sample_channel(levels=THREE_LEVELS, abstain=True, loss=20).table)],
    [Blanket.of(question.channel.table) for question in two_questions().questions],
]
SETTINGS = [
    (blankets, draws, epsilon, t)
    for blankets in BLANKETS
    for draws, epsilon, t in (
        (1, "0.3", "0.7"),
        (7, "0.1", "0.25"),
        (1000, "0.2", "0.05"),
        (10**9, "0.0001", "0.0001"),
    )
]


def formula(blankets: list[Blanket], draws: int, epsilon: Decimal, t: Decimal) -> Decimal:
    """The bound as it is written on paper, with 90 digits."""
    with localcontext(Context(prec=90, Emax=10**9, Emin=-(10**9))):
        factor = epsilon.exp()
        weight = sum(Decimal(sum(blanket.least)) for blanket in blankets)
        mean = sum(
            max(
                sum(Decimal(w) * (t * (a - factor * b) / w).exp() for w, a, b in zip(blanket.least, x, y, strict=True))
                for x in blanket.rows
                for y in blanket.rows
            )
            for blanket in blankets
        )
        part = weight / (len(blankets) * ROW_SUM)
        return Decimal(part * (mean / weight) ** (draws + 1) / (Decimal(1).exp() * t * (draws + 1)))


def is_the_formula(certify: Callable[..., Any]) -> bool:
    for blankets, draws, epsilon, t in SETTINGS:
        found, _ = certify(blankets, draws, Decimal(epsilon), Decimal(t))
        wanted = formula(blankets, draws, Decimal(epsilon), Decimal(t))
        if not wanted <= found <= wanted * (1 + Decimal("1e-25")):
            return False
    return True


def test_it_is_the_formula_rounded_up() -> None:
    assert is_the_formula(certificate.certify)


@pytest.mark.parametrize(
    ("honest", "wrong"),
    [
        ("DOWN.exp(Decimal(1))", "DOWN.exp(Decimal('1.0001'))"),
        ("weight / (len(blankets) * ROW_SUM)", "weight / (len(blankets) * (ROW_SUM + 1))"),
        ("weight / (len(blankets) * ROW_SUM)", "weight / ROW_SUM"),
        ("weight / (len(blankets) * ROW_SUM) * ", ""),
        ("in worst) / weight", "in worst) / (weight + 1)"),
        ("Decimal(draws + 1))\n", "Decimal(draws + 2))\n"),
        ("_power(mean, draws + 1)", "_power(mean, draws)"),
        ("_power(mean, draws + 1)", "_power(mean, draws + 2)"),
        ("UP.multiply(least, rise)", "UP.multiply(least + 1, rise)"),
        ("fall.copy_negate()", "fall"),
        ("DOWN.exp(epsilon)", "DOWN.exp(2 * epsilon)"),
        ("UP.multiply(t, UP.divide(weight, least))", "UP.multiply(t, UP.divide(least, weight))"),
        ("start=Decimal(0)", "start=Decimal(ROW_SUM)"),
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
