"""Which epsilon for so many people: through the command that people type."""

import math
from decimal import Decimal

import pytest

from fairgauge.planning.choose_epsilon import choices, enough, no_study_sentence, settled
from fairgauge.study import Metric
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

RECALL = Metric("recall", 0, 1)
TWO = [Decimal(1), Decimal(4)]


@pytest.mark.parametrize(
    ("clients", "recommended", "said"),
    [
        (10**6, 1.0, "We would take epsilon 1: the most private of these that gives the gap to ±0.02 or better"),
        (30_000, None, "Only epsilon 4 gives the gap to ±0.02, and there one answer tells much about a person"),
        (4_000, None, "None of these gives the gap to ±0.02. Epsilon 1 gives ±0.0"),
        (200, None, "This is no study: even at epsilon 4 so few clients give the gap to ±0.152 only"),
    ],
)
def test_there_is_a_recommendation_in_words(clients: int, recommended: float | None, said: str):
    found = choices(Scores(Target((0.5, 0.5))), RECALL, clients, epsilons=TWO)
    assert found.recommended == recommended
    assert found.sentences()[0].startswith(f"IF all groups answer equally often: {said}")
    if recommended is None:
        assert "For ±0.02 at epsilon 1 it takes about" in " ".join(found.sentences())
    document = found.to_dict()
    assert document["epsilons"][0]["odds"] == 2.72


def test_what_is_said_to_be_enough_is():
    scores = Scores(Target((0.5, 0.5)))
    (few,) = choices(scores, RECALL, 20_000, epsilons=[Decimal(1)]).rows
    assert few.clients is not None
    (many,) = choices(scores, RECALL, few.clients, epsilons=[Decimal(1)]).rows
    assert 0.95 * 0.02 < many.error < 1.02 * 0.02
    assert enough(1000, 0.02, 0.02) == 1000


def test_what_is_needed_does_not_depend_on_what_was_offered():
    scores = Scores(Target((0.5, 0.5)))
    rows = [choices(scores, RECALL, clients, epsilons=[Decimal(1)]).rows[0] for clients in (200, 20_000, 50_000_000)]
    assert len({row.clients for row in rows}) == 1


def test_shares_that_may_be_off_leave_an_error_that_no_clients_take_away():
    scores, two = Scores(Target((0.5, 0.5), share_error=0.02)), Scores(Target((0.5, 0.5)))
    (row,) = choices(scores, RECALL, 10**6, epsilons=[Decimal(1)]).rows
    (exact,) = choices(two, RECALL, 10**6, epsilons=[Decimal(1)]).rows
    assert row.error > exact.error + 0.02
    assert row.clients is None
    found = choices(scores, RECALL, 10**6, epsilons=[Decimal(1)])
    assert "No number of clients gives ±0.02 while shares may be off by so much." in " ".join(found.sentences())
    told = no_study_sentence(200, 0.3, RECALL, needed=lambda: None)
    assert told is not None
    assert told.endswith("No number of clients gives ±0.02 while shares may be off by so much.")


def test_near_what_shares_leave_the_number_of_clients_is_found_all_the_same():
    def width(answers: float) -> float:
        return 0.0196 + 1 / math.sqrt(answers)

    found = settled(width, 1000, 0.02)
    assert found is not None
    assert found == pytest.approx((1 / 0.0004) ** 2, rel=0.06)


def test_an_error_that_tells_nothing_is_called_that():
    assert no_study_sentence(200_000, 0.0126, RECALL) is None
    said = no_study_sentence(200, 0.476, RECALL)
    assert said == (
        "This is no study: with an error of ±0.476 no smaller gap would show. "
        "For ±0.02 it takes about 120,000 clients, or a larger epsilon."
    )
    said = no_study_sentence(10, 5.0, RECALL)
    assert said is not None
    assert said.startswith("10 clients tell nothing at this epsilon: the error is as large as any gap can be.")
