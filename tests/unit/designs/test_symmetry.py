"""Symmetries of design problems."""

from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from fairgauge.designs import minimax
from fairgauge.designs.few_groups import best_channel
from fairgauge.designs.levels import even_levels
from fairgauge.designs.symmetry import SignedMap, action, candidates, images, orbit_averages
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.inputs import Inputs
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

INPUTS = Inputs(3, even_levels(3), abstain=True)


def signed(*targets: int) -> SignedMap:
    """The map of 0, 1, ... given as 1-based numbers with signs."""
    return SignedMap(np.array([abs(t) - 1 for t in targets]), np.array([1 if t > 0 else -1 for t in targets]))


class TestCandidates:
    def test_unequal_groups_can_only_be_turned_round(self):
        (turned,) = candidates(INPUTS, (0.2, 0.3, 0.5))
        assert turned.flips
        assert turned.inputs.tolist() == [2, 1, 0, 5, 4, 3, 8, 7, 6, 9]
        assert turned.blocks.tolist() == [0, 1, 2, 3]

    def test_equal_groups_can_be_renamed(self):
        _, renamed = candidates(INPUTS, (0.25, 0.5, 0.25))
        assert not renamed.flips
        assert renamed.inputs.tolist() == [6, 7, 8, 3, 4, 5, 0, 1, 2, 9]
        assert renamed.blocks.tolist() == [2, 1, 0, 3]
        assert len(candidates(Inputs(4, even_levels(3)), (0.2, 0.3, 0.2, 0.3))) == 3

    def test_all_of_them_are_renamings(self):
        for symmetry in candidates(INPUTS, (1 / 3,) * 3):
            assert sorted(symmetry.inputs) == list(range(10))


class TestAction:
    def test_turning_values_round_changes_the_sign_of_sums_but_not_of_shares(self):
        turned, _ = candidates(INPUTS, (1 / 3,) * 3)
        columns = np.array([INPUTS.sum_of(0), INPUTS.sum_of(1), INPUTS.share_of(0)]).T
        found = action(columns, turned)
        assert found is not None
        assert (found.to.tolist(), found.sign.tolist()) == ([0, 1, 2], [-1, -1, 1])

    def test_renaming_groups_renames_their_sums(self):
        _, renamed = candidates(INPUTS, (1 / 3,) * 3)
        columns = np.array([INPUTS.sum_of(g) for g in range(3)]).T
        found = action(columns, renamed)
        assert found is not None
        for k in range(3):
            assert columns[renamed.inputs, k].tolist() == (found.sign[k] * columns[:, found.to[k]]).tolist()
        assert sorted(found.to) == [0, 1, 2]

    def test_what_leads_outside_is_no_symmetry(self):
        turned, renamed = candidates(INPUTS, (1 / 3,) * 3)
        assert action(np.array([INPUTS.sum_of(0)]).T, renamed) is None
        lopsided = INPUTS.sum_of(0) + 0.5 * INPUTS.share_of(0)
        assert action(np.array([lopsided]).T, turned) is None


class TestOrbits:
    def test_without_relations_everything_is_its_own(self):
        assert orbit_averages(3, []).tolist() == np.eye(3).tolist()

    def test_signs_are_carried_along(self):
        averages = orbit_averages(4, [signed(-2, -3, 1, 4)])
        assert averages.tolist() == [[1 / 3, -1 / 3, 1 / 3, 0], [0, 0, 0, 1]]

    def test_what_is_its_own_negative_vanishes(self):
        assert orbit_averages(3, [signed(-1, 3, 2)]).tolist() == [[0, 0.5, 0.5]]
        assert orbit_averages(3, [signed(2, -1, 3)]).tolist() == [[0, 0, 1]]
        assert orbit_averages(2, [signed(2, 1), signed(-2, -1)]).shape == (0, 2)

    def test_averages_are_invariant_and_complete(self):
        """Against the average over the whole group that two relations generate, by brute force."""
        relations = [signed(2, 3, 1, 5, 6, 4, -7), signed(-4, 5, -6, -1, 2, -3, 7)]
        matrices = []
        for to, sign in relations:
            matrix = np.zeros((7, 7))
            matrix[np.arange(7), to] = sign
            matrices.append(matrix)
        group = {np.eye(7).tobytes(): np.eye(7)}
        while True:
            more = {(a @ b).tobytes(): a @ b for a, b in product(group.values(), matrices)}
            if more.keys() <= group.keys():
                break
            group |= more
        projection = np.mean(list(group.values()), axis=0)
        found = orbit_averages(7, relations)
        assert len(found) == round(np.trace(projection))
        assert found @ projection == pytest.approx(found)


class TestImages:
    turned, renamed = candidates(INPUTS, (1 / 3,) * 3)
    columns = np.array([INPUTS.sum_of(g) for g in range(3)]).T

    def moves(self):
        for symmetry in (self.turned, self.renamed):
            found = action(self.columns, symmetry)
            assert found is not None
            yield symmetry, found

    def test_are_all_that_the_symmetries_make_of_a_column(self):
        pattern, score = np.array([1.0, 1, 3, 1, 1, 1, 1, 1, 1, 1]), np.array([2.0, 0.5, 0])
        found = images(pattern, score, list(self.moves()))
        assert len(found) == 6
        assert len({p.tobytes() for p, _ in found}) == 6
        assert all(sorted(p) == sorted(pattern) for p, _ in found)

    def test_move_scores_as_they_move_columns(self):
        """What a column and its score say together, E[score | x] against the functional, is the same for images."""
        pattern, score = np.array([1.0, 1, 3, 1, 1, 1, 1, 3, 1, 1]), np.array([2.0, 0.5, -0.25])
        agreement = (pattern[:, None] * score * self.columns).sum()
        for image, moved in images(pattern, score, list(self.moves())):
            assert (image[:, None] * moved * self.columns).sum() == pytest.approx(agreement)

    def test_a_symmetric_column_has_no_other(self):
        assert len(images(np.ones(10), np.zeros(3), list(self.moves()))) == 1


@pytest.mark.parametrize(
    ("scores", "epsilon"),
    [
        (Scores(Target((0.5, 0.5))), "1"),
        (Scores(Target((0.2, 0.8))), "2"),
        (Scores(Target((0.5, 0.5), kind="means")), "2"),
        (Scores(Target((1 / 3,) * 3)), "0.5"),
        (Scores(Target((0.5, 0.5), shares_known=False), AssumedValues(expect=0.3)), "0.7"),
        (Scores(Target((0.5, 0.5), abstain=True)), "1"),
    ],
)
def test_folding_symmetries_changes_nothing_but_the_time(scores: Scores, epsilon: str, monkeypatch: pytest.MonkeyPatch):
    folded = scores.privacy_variance(best_channel(scores, Decimal(epsilon)))
    monkeypatch.setattr(minimax, "candidates", lambda *_: [])
    plain = scores.privacy_variance(best_channel(scores, Decimal(epsilon)))
    # Each is within a fraction of a percent of the optimum.
    assert folded == pytest.approx(plain, rel=0.01)
