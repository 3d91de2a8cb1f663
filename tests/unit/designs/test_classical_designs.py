"""Designs that take no search, against formulas worked out by hand.

The paper's mechanisms with the paper's budgets: what they are called, what they cost, and what is refused.
"""

import math
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.channel import ROW_SUM
from fairgauge.designs import make_channel
from fairgauge.designs.classical_designs import (
    Budgets,
    _hadamard_of,
    _laplace_rows,
    _noise,
    _response_rows,
    fewer_sign_rows,
    hadamard,
    laplace,
    randomized_response,
    sign_rows,
)
from fairgauge.designs.exact_table import exact_channel
from fairgauge.designs.level_count import even_levels
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.paper.mechanisms import LaplaceMechanism, Published, ResponseMechanism
from fairgauge.paper.theorems import claimed_epsilon, exact_loss
from fairgauge.targets.channel_inputs import Inputs
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target


@pytest.mark.parametrize("epsilon", ["0.05", "1", "8"])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_the_true_pair_is_sent_with_the_largest_probability_that_privacy_allows(d: int, epsilon: str):
    channel = randomized_response(Scores(Target((1 / d,) * d)), Decimal(epsilon))
    e = math.exp(float(epsilon))
    table = np.array(channel.table) / ROW_SUM
    expected = np.where(np.eye(2 * d), e, 1) / (e + 2 * d - 1)
    assert table == pytest.approx(expected, rel=1e-10)
    assert len(channel.levels) == 2


def test_abstaining_is_one_more_pair():
    channel = randomized_response(Scores(Target((0.5, 0.5), abstain=True)), Decimal(1))
    assert (channel.symbols, channel.rows) == (5, 5)
    assert np.array(channel.table[-1]) / ROW_SUM == pytest.approx(np.array([1, 1, 1, 1, math.e]) / (math.e + 4))


def test_the_gap_of_two_equal_groups_at_epsilon_1():
    scores = Scores(Target((0.5, 0.5)))
    assert scores.privacy_variance(randomized_response(scores, Decimal(1))) == pytest.approx(44.30, abs=0.005)


def test_tiny_budgets_do_not_cancel():
    rows = _response_rows(3, 1e-12)
    assert (rows[0, 0] - rows[0, 1]) * 3 == pytest.approx(1e-12, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("half", [1, 3, 10])
def test_noise_is_unbiased_with_the_variance_of_the_formula(half: int, epsilon: float):
    """With end scores ±(1 + α/((1-α)N)) for α = e^(-ε/2N); the formula is worked out beside, not from this table."""
    law = _noise(2 * half + 1, epsilon)
    ratio = math.exp(-epsilon / (2 * half))
    end = 1 + ratio / ((1 - ratio) * half)
    score = np.array([-end, *(np.arange(1 - half, half) / half), end])
    steps = np.arange(-half, half + 1)
    assert law.sum(axis=1) == pytest.approx(np.ones(len(law)))
    assert law @ score == pytest.approx(steps / half, abs=1e-12)
    tails = (ratio ** (half - steps) + ratio ** (half + steps)) / (1 + ratio)
    expected = (2 - tails) * ratio / ((1 - ratio) ** 2 * half**2)
    assert law @ score**2 - (law @ score) ** 2 == pytest.approx(expected)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_noise_costs_its_budget_over_the_whole_range_and_half_from_the_middle(epsilon: float):
    law = _noise(7, epsilon)
    assert np.log(law.max(axis=0) / law.min(axis=0)).max() == pytest.approx(epsilon)
    assert np.abs(np.log(law / law[3])).max() == pytest.approx(epsilon / 2)


@pytest.mark.parametrize(("group", "value"), [(0.5, 1.0), (0.9, 0.2), (0.1, 1.5)])
@pytest.mark.parametrize("abstain", [False, True])
@pytest.mark.parametrize("d", [2, 4])
def test_the_loss_is_that_of_the_sound_theorem(d: int, group: float, value: float, abstain: bool):
    rows = _laplace_rows(Inputs(d, even_levels(5), abstain), group, value)
    assert rows.sum(axis=1) == pytest.approx(np.ones(len(rows)))
    loss = np.log(rows.max(axis=0) / rows.min(axis=0)).max()
    assert loss == pytest.approx(max(value, group + value / 2))


def test_it_is_better_than_as_published():
    """85.02 is the paper's figure for two equal groups at epsilon 1, with the tails kept and an even split."""
    scores = Scores(Target((0.5, 0.5)))
    assert 44.30 < scores.privacy_variance(laplace(scores, Decimal(1))) < 85.02


def test_it_overtakes_randomized_response_where_values_can_be_told_well():
    scores = Scores(Target((0.5, 0.5)))
    channel = laplace(scores, Decimal(4))
    assert scores.privacy_variance(channel) < 0.6 * scores.privacy_variance(randomized_response(scores, Decimal(4)))


@pytest.mark.parametrize(
    "scores",
    [
        Scores(Target((0.2, 0.3, 0.5), kind="means")),
        Scores(Target((0.2, 0.8), shares_known=False)),
        Scores(Target((0.01, 0.99), abstain=True)),
        Scores(Target((1 / 6,) * 6)),
    ],
)
def test_it_serves_every_target(scores: Scores):
    channel = laplace(scores, Decimal("1.5"))
    assert math.isfinite(scores.privacy_variance(channel))
    assert channel.symbols == scores.target.groups * len(channel.levels) + scores.target.abstain


def test_the_split_of_the_budget_is_the_best_one():
    scores = Scores(Target((0.3, 0.7)))
    channel = laplace(scores, Decimal(2))
    inputs = Inputs.of(channel)
    for part in np.linspace(0.3, 1, 15):
        other = exact_channel(_laplace_rows(inputs, 2 - part, 2 * part), inputs, Decimal(2))
        assert scores.privacy_variance(channel) <= scores.privacy_variance(other) * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", ["0.2", "1"])
@pytest.mark.parametrize("d", [2, 7, 8, 12])
def test_groups_do_not_disturb_each_other(d: int, epsilon: str):
    """A group's sum has score ±C for C = coth(ε/2), so K Var(mean) = C²/p² where the mean is 0."""
    c = 1 / math.tanh(float(epsilon) / 2)
    shares = (*(0.5 / (d - 1) for _ in range(d - 1)), 0.5)
    scores = Scores(Target(shares, kind="means"))
    assert scores.privacy_variance(hadamard(scores, Decimal(epsilon))) == pytest.approx(c**2 / shares[0] ** 2, rel=1e-6)


def test_every_symbol_is_likely_for_one_sign_of_every_group():
    channel = hadamard(Scores(Target((0.2,) * 5)), Decimal(1))
    assert channel.symbols == 16
    table = np.array(channel.table) / ROW_SUM * 8 * (math.e + 1)
    below, above = table[0::2], table[1::2]
    assert np.minimum(below, above) == pytest.approx(np.ones((5, 16)))
    assert np.maximum(below, above) == pytest.approx(np.full((5, 16), math.e))


@pytest.mark.parametrize(
    "scores", [Scores(Target((0.1,) * 10, shares_known=False)), Scores(Target((0.125,) * 8, abstain=True))]
)
def test_everything_can_be_told_where_shares_are_estimated_or_people_abstain(scores: Scores):
    channel = hadamard(scores, Decimal("0.5"))
    assert math.isfinite(scores.privacy_variance(channel))
    assert scores.privacy_variance(channel) < scores.privacy_variance(randomized_response(scores, Decimal("0.5")))


def test_the_gain_at_small_epsilon_grows_with_the_number_of_groups():
    gains = []
    for d in (4, 8, 16):
        scores = Scores(Target((1 / d,) * d, kind="means"))
        simple, better = (design(scores, Decimal("0.1")) for design in (randomized_response, hadamard))
        gains.append(scores.privacy_variance(simple) / scores.privacy_variance(better))
    assert gains[0] > 3
    assert gains[2] > 1.5 * gains[1] > 2 * gains[0]


@pytest.mark.parametrize("order", [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 60, 64])
def test_columns_are_orthogonal(order: int):
    matrix = _hadamard_of(order)
    assert matrix is not None
    assert set(np.unique(matrix)) <= {-1, 1}
    assert (matrix.T @ matrix == order * np.eye(order)).all()


@pytest.mark.parametrize("order", [3, 6, 10, 52])
def test_some_orders_have_none_here(order: int):
    assert _hadamard_of(order) is None


@pytest.mark.parametrize("columns", [0, 1, 2, 3, 7, 20, 50, 64])
def test_every_row_comes_with_its_opposite(columns: int):
    rows = sign_rows(columns)
    assert rows.shape[1] == columns
    assert {tuple(row) for row in rows.tolist()} == {tuple(row) for row in (-rows).tolist()}
    assert (rows.T @ rows == len(rows) * np.eye(columns)).all()


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 7, 8, 12, 19, 20])
def test_fewer_rows_have_orthogonal_columns_that_sum_to_nothing(columns: int):
    rows = fewer_sign_rows(columns)
    assert rows.shape[1] == columns
    assert (np.abs(rows) == 1).all()
    assert (rows.sum(axis=0) == 0).all()
    assert (rows.T @ rows == len(rows) * np.eye(columns)).all()
    assert len(rows) <= len(sign_rows(columns))


PAIRS = [("1", "1"), ("0.1", "0.1"), ("0.5", "1"), ("2", "0.5"), ("0.01", "3")]
SCORES = Scores(Target((0.5, 0.5)))


def published(design: str, group: str, value: str, groups: int = 2) -> Published:
    kind = LaplaceMechanism if design == "laplace" else ResponseMechanism
    return kind(float(group), float(value), groups)


@pytest.mark.parametrize(("group", "value"), PAIRS)
@pytest.mark.parametrize("design", ["randomized-response", "laplace"])
@pytest.mark.parametrize("groups", [2, 3])
def test_the_loss_is_the_mechanisms_and_the_tables(design: str, group: str, value: str, groups: int):
    budgets = Budgets.read(f"{design}({group}:{value})")
    assert budgets is not None
    mechanism = published(design, group, value, groups)
    assert float(budgets.loss) == pytest.approx(exact_loss(mechanism).epsilon, rel=1e-12)
    assert float(budgets.claimed) == pytest.approx(claimed_epsilon(mechanism), rel=1e-12)
    epsilon = round(budgets.loss + Decimal("0.001"), 3)
    name, channel = make_channel(Scores(Target((1 / groups,) * groups)), epsilon, design=budgets.name)
    assert name == budgets.name
    assert channel.epsilon == pytest.approx(float(budgets.loss), abs=1e-6)
    with pytest.raises(NotPrivate):
        make_channel(Scores(Target((1 / groups,) * groups)), budgets.loss - Decimal("0.0001"), design=budgets.name)


def test_the_law_of_m_r_is_the_papers():
    _, channel = make_channel(SCORES, Decimal("1.38"), design="randomized-response(1:1)")
    a = b = 1 / (1 + np.exp(-1))
    row = np.array(channel.table[0]) / 2**53
    assert row == pytest.approx([a * b, a * (1 - b), (1 - a) / 2, (1 - a) / 2], abs=1e-12)


def test_m_l_is_on_a_lattice_so_fine_that_its_noise_has_the_papers_variance():
    budgets = Budgets.read("laplace(0.5:1)")
    assert budgets is not None
    inputs = budgets.inputs(2)
    assert len(inputs.levels) == 33
    ratio, step = np.exp(-1 / 32), 1 / 16
    assert 2 * ratio / (1 - ratio) ** 2 * step**2 == pytest.approx(8, rel=1e-3)
    kept = budgets.rows(inputs)[16, :33]
    assert kept @ inputs.levels == pytest.approx(0, abs=1e-12)
    assert kept[1:16] / kept[2:17] == pytest.approx(ratio)


def test_a_claimed_epsilon_is_refused_with_the_true_one():
    with pytest.raises(
        NotPrivate, match=r"loses 1\.3799, not 1: Theorem 1 claims 1, and is false \(erratum E1\).*1\.38"
    ):
        make_channel(SCORES, Decimal(1), design="randomized-response(1:1)")
    with pytest.raises(NotPrivate, match=r"laplace\(1:1\) loses 1\.5, not 1: --epsilon 1\.5 is the least"):
        make_channel(SCORES, Decimal(1), design="laplace(1:1)")
    assert make_channel(SCORES, Decimal(1), design="laplace(0.5:1)")[1].epsilon <= 1


@pytest.mark.parametrize("k", ["0.67", "1", "3"])
def test_another_k_has_no_finite_epsilon(k: str):
    assert exact_loss(LaplaceMechanism(0.5, 1.0, k=float(k))).epsilon == np.inf
    with pytest.raises(NotPrivate, match=rf"k = {k} has no finite epsilon.*erratum E2"):
        make_channel(SCORES, Decimal(12), design=f"laplace(0.5:1:{k})")


@pytest.mark.parametrize("text", ["1", "1:1:2", "1:0", "0:1", "1:-1", "1:13", "a:b", "1:1e3", "", "1:1:1:1"])
def test_what_is_no_budgets_is_refused(text: str):
    with pytest.raises(InvalidInput, match="ε1:ε2"):
        Budgets.read(f"randomized-response({text})")


def test_budgets_go_with_the_papers_mechanisms_only():
    with pytest.raises(InvalidInput, match="randomized-response and laplace"):
        Budgets.read("auto(1:1)")
    assert Budgets.read("laplace") is None


def test_one_name_for_the_same_budgets():
    for text in ("0.50:1", "0.5:1.0:2", "0.5:1:2.0"):
        assert make_channel(SCORES, Decimal(1), design=f"laplace({text})")[0] == "laplace(0.5:1)"


def test_nobody_abstains_in_the_paper():
    with pytest.raises(InvalidInput, match="abstain"):
        make_channel(SCORES.asking(abstain=True), Decimal(2), design="laplace(0.5:1)")
