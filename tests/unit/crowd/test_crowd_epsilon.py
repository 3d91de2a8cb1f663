"""The certified bound is the formula, rounded up and by little; a copy of it with a mistake is caught.

The smallest epsilon: as good as the reference or better, the least on its grid, and quick for many groups.

What a study's counts promise: several questions, abstaining, how many draws, and the numbers it takes.

The blanket of a table: equal ratios are one symbol, equal rows one row, and a certain symbol is refused.

Covers: fairgauge.crowd.crowd_epsilon
"""

import importlib.util
import json
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest

from fairgauge.channel import ROW_SUM, Channel
from fairgauge.crowd import Crowd, crowd_epsilon, crowd_of, default_delta, promised
from fairgauge.crowd.crowd_epsilon import Blanket, _best_t, _log_bound, certify, crowd_of_channels, smallest_epsilon
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.study import Metric, Release, Study
from tests.samples import (
    ENDS,
    THREE_LEVELS,
    joint_questions,
    sample_channel,
    sample_question,
    sample_study,
    site_study,
    two_questions,
)

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
    assert is_the_formula(crowd_epsilon.certify)


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
        ("_UP.multiply(least, rise)", "_UP.multiply(least + 1, rise)"),
        ("fall.copy_negate()", "fall"),
        ("DOWN.exp(epsilon)", "DOWN.exp(2 * epsilon)"),
        ("_UP.multiply(t, _UP.divide(weight, least))", "_UP.multiply(t, _UP.divide(least, weight))"),
        ("start=Decimal(0)", "start=Decimal(ROW_SUM)"),
        ("DIGITS = 38", "DIGITS = 20"),
        ("_UP = Context(prec=_DIGITS, rounding=ROUND_CEILING", "_UP = Context(prec=_DIGITS, rounding=ROUND_FLOOR"),
        ("return max(", "return min("),
    ],
)
def test_a_mistake_is_caught(tmp_path: Path, honest: str, wrong: str) -> None:
    source = Path(crowd_epsilon.__file__).read_text(encoding="utf-8")
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
    _, [(x, y)] = crowd_epsilon.certify(blankets, 100, Decimal("0.2"), Decimal("0.1"))
    alone = Blanket((blankets[0].rows[x], blankets[0].rows[y]), blankets[0].least)
    values = [formula([b], 100, Decimal("0.2"), Decimal("0.1")) for b in (blankets[0], alone)]
    assert math.isclose(*map(float, values), rel_tol=1e-15)


POINTS = json.loads((Path(__file__).parents[2] / "data" / "draws_reference.json").read_text(encoding="utf-8"))["points"]


@pytest.mark.parametrize("point", POINTS, ids=lambda point: f"{point['table']} {point['draws']}")
def test_points_of_the_reference(point: dict[str, Any]) -> None:
    blankets = [Blanket.of(map(tuple, table)) for table in point["integers"]]
    found = smallest_epsilon(blankets, point["draws"], Decimal(point["delta"]), Decimal(10))
    assert Decimal("0.999") * Decimal(point["exact_fft"]) <= found <= Decimal("1.005") * Decimal(point["certified"])


def test_no_smaller_one_is_certified_at_any_t() -> None:
    blanket = Blanket.of(sample_channel().table)
    found = smallest_epsilon([blanket], 5000, Decimal("1e-8"), Decimal("1.1"))
    assert len(found.as_tuple().digits) <= 5
    below = found * (1 - Decimal("2e-4"))
    for power in range(-40, 40):
        assert certify([blanket], 5000, below, Decimal("0.05") * Decimal("1.1") ** power)[0] > Decimal("1e-8")


def test_the_best_t_is_the_best() -> None:
    laws = [[[(0.2, 3.0, 1.0), (0.2, 1.0, 3.0), (0.1, 1.0, 1.0)]]]
    for draws in (10, 10**4, 10**8):
        t = _best_t(laws, draws, 0.1)
        assert all(_log_bound(laws, draws, 0.1, t) < _log_bound(laws, draws, 0.1, t * other) for other in (0.98, 1.02))


@pytest.mark.parametrize("t", [0.01, 5.0, 30.0])
def test_the_logarithm_of_the_bound_is_that_of_the_formula(t: float) -> None:
    """A symbol that the own row never sends, at epsilon 0: m = exp(-t), from nearly all to nearly nothing."""
    found = _log_bound([[[(1.0, 0.0, 1.0)]]], 9, 0.0, t)
    assert found == pytest.approx(10 * -t - math.log(math.e * t * 10), rel=1e-3 if t > 20 else 1e-9)


def test_one_draw_hides_next_to_nothing() -> None:
    table = sample_channel()
    assert smallest_epsilon([Blanket.of(table.table)], 1, Decimal("1e-8"), table.epsilon_bound) == table.epsilon_bound


def test_more_draws_hide_better() -> None:
    blanket = Blanket.of(sample_channel(loss=50).table)
    found = [smallest_epsilon([blanket], draws, Decimal("1e-8"), Decimal(4)) for draws in (10**3, 10**4, 10**6, 10**9)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < Decimal("0.002")


def test_many_groups() -> None:
    """Forty groups of three levels with a row and a symbol each, and one to abstain: 121 rows, 14,641 pairs."""
    wide = sample_channel(groups=40, levels=(-(2**30), 0, 2**30), abstain=True, loss=20)
    found = smallest_epsilon([Blanket.of(wide.table)], 10**5, Decimal("1e-8"), wide.epsilon_bound)
    assert 0 < found < Decimal("0.5")


@pytest.mark.parametrize("part", [0.997, 0.9995])
def test_what_floats_find_too_small_is_not_promised(monkeypatch: pytest.MonkeyPatch, part: float) -> None:
    """Floats say where to look; what is promised is what the integers certify."""
    blanket, delta = Blanket.of(sample_channel().table), Decimal("1e-8")
    honest = smallest_epsilon([blanket], 5000, delta, Decimal("1.1"))
    least = crowd_epsilon._least
    monkeypatch.setattr(crowd_epsilon, "_least", lambda *given: part * (least(*given) or 1.0))
    found = smallest_epsilon([blanket], 5000, delta, Decimal("1.1"))
    assert found == honest


def test_it_is_far_below_the_local_epsilon() -> None:
    crowd = crowd_of(sample_study(), 10_000)
    assert (crowd.draws, crowd.delta) == (10_000, Decimal("1e-8"))
    assert 0 < crowd.number < 0.1 < sample_study().epsilon


def test_a_study_promises_what_its_draws_give_whatever_its_batch() -> None:
    small, large = (replace(sample_study(), release=Release(batch, "0.000001", 500)) for batch in (10, 10**6))
    assert promised(small) == promised(large) == crowd_of(sample_study(), 500, delta=Decimal("1e-6"))
    assert promised(sample_study()) is None


def test_the_same_question_twice_is_that_question() -> None:
    channel = sample_channel()
    one, two = (crowd_of_channels([channel] * count, 10_000) for count in (1, 2))
    assert one.epsilon == two.epsilon


def test_each_question_has_its_own_worst_pair() -> None:
    both = crowd_of(two_questions(), 10_000)
    alone = [crowd_of(sample_study(question), 10_000) for question in two_questions().questions]
    assert min(each.epsilon for each in alone) < both.epsilon < max(each.epsilon for each in alone)


def test_abstaining_is_one_more_row() -> None:
    quarter = ROW_SUM // 4
    rows = ((2 * quarter, 2 * quarter), (2 * quarter + 9, 2 * quarter - 9))
    asked = Channel(rows, ENDS, groups=1)
    silent = Channel((*rows, (quarter, 3 * quarter)), ENDS, groups=1, abstain=True)
    assert crowd_of_channels([asked], 10_000).number < 1e-12
    assert crowd_of_channels([silent], 10_000).number > 0.01


def test_a_study_that_says_nothing_costs_nothing() -> None:
    flat = replace(sample_channel(), table=(sample_channel().table[0],) * 4)
    assert crowd_of_channels([flat], 100).epsilon == 0


def test_with_one_draw_it_is_the_local_epsilon() -> None:
    crowd = crowd_of(sample_study(sample_question()), 1)
    assert crowd.epsilon == sample_study().questions[0].mechanism.epsilon_bound
    assert crowd.number == sample_study().epsilon


def test_of_two_questions_the_dearer_is_what_one_draw_hides_nothing_of() -> None:
    study = two_questions()
    losses = [question.channel.epsilon_bound for question in study.questions]
    assert min(losses) < max(losses) == crowd_of(study, 1).epsilon


def test_a_float_is_not_below() -> None:
    for number in range(1, 400):
        crowd = Crowd(1, Decimal("1e-8"), Decimal(number).ln())
        assert Decimal(crowd.number) >= crowd.epsilon
        assert crowd.number - math.log(number) < 1e-14


@pytest.mark.parametrize(("batch", "delta"), [(1, "1e-8"), (10**7, "1e-8"), (10**8, "1e-9"), (3 * 10**8, "3.3333e-10")])
def test_the_usual_delta(batch: int, delta: str) -> None:
    assert default_delta(batch) == Decimal(delta)


@pytest.mark.parametrize(
    ("draws", "delta", "said"),
    [
        (0, "1e-8", "draws=0: must be an integer from 1 to"),
        (True, "1e-8", "draws=True: must be"),
        (10**12 + 1, "1e-8", "draws=1000000000001: must be"),
        (10, "0", "delta=0: must be above 0 and below 1"),
        (10, "1", "delta=1: must be"),
        (10, "NaN", "delta=NaN: must be"),
    ],
)
def test_numbers_out_of_range(draws: int, delta: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        crowd_of(sample_study(), draws, delta=Decimal(delta))


def test_a_table_that_answers_several_questions_is_one_table() -> None:
    joint, alone = joint_questions(), sample_question(Metric("f1", 0, 1))
    found = crowd_of(Study("Mixed", [*joint, alone]), 10_000)
    assert found == crowd_of_channels([joint[0].channel, alone.channel], 10_000)
    assert found != crowd_of_channels([joint[0].channel, joint[0].channel, alone.channel], 10_000)


def test_sites_have_no_crowd() -> None:
    with pytest.raises(InvalidInput, match="must be for devices of one person each"):
        crowd_of(site_study(), 10_000)


HALF, QUARTER, EIGHTH = ROW_SUM // 2, ROW_SUM // 4, ROW_SUM // 8


def test_symbols_with_the_same_ratios_are_merged() -> None:
    table = ((HALF, QUARTER, QUARTER), (QUARTER, EIGHTH, ROW_SUM - QUARTER - EIGHTH))
    blanket = Blanket.of(table)
    assert blanket.rows == ((HALF + QUARTER, QUARTER), (QUARTER + EIGHTH, ROW_SUM - QUARTER - EIGHTH))
    assert blanket.least == (QUARTER + EIGHTH, QUARTER)


@pytest.mark.parametrize("one", [1, -1])
def test_nearly_the_same_is_not_the_same(one: int) -> None:
    table = ((HALF, QUARTER, QUARTER), (QUARTER, EIGHTH + one, ROW_SUM - QUARTER - EIGHTH - one))
    assert len(Blanket.of(table).least) == 3


def test_equal_rows_are_one() -> None:
    assert len(Blanket.of(((HALF, HALF), (QUARTER, 3 * QUARTER), (HALF, HALF))).rows) == 2


def test_a_symbol_that_nobody_sends_is_left_out() -> None:
    assert Blanket.of(((HALF, 0, HALF), (QUARTER, 0, 3 * QUARTER))).least == (QUARTER, HALF)


def test_a_symbol_that_excludes_an_input_is_refused() -> None:
    with pytest.raises(NotPrivate, match="no crowd hides that"):
        Blanket.of(((ROW_SUM, 0), (HALF, HALF)))
