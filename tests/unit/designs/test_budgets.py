"""The paper's mechanisms with the paper's budgets: what they are called, what they cost, and what is refused."""

from decimal import Decimal

import numpy as np
import pytest

from fairgauge.designs import make_channel
from fairgauge.designs.budgets import Budgets
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.paper.mechanisms import LaplaceMechanism, Published, ResponseMechanism
from fairgauge.paper.privacy import claimed_epsilon, exact_loss
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

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
