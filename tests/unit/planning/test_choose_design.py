"""Which design serves best: by its interval where shares are estimated, else by its variance."""

from decimal import Decimal

import pytest

from fairgauge.designs import make_channel
from fairgauge.estimation.interval_kinds import kind_of
from fairgauge.planning import choose_design as chosen
from fairgauge.planning.choose_design import _USUAL_CLIENTS, choice_sentence, choose_design
from fairgauge.planning.planned_widths import planned_width
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

GAP = Scores(Target((0.5, 0.5), shares_known=False), AssumedValues(expect=0.8))
ONE = Decimal(1)


def test_the_planned_interval_decides_where_shares_are_estimated():
    """By variance it was centred, whose interval is wider for so few clients."""
    name, channel = choose_design(GAP, ONE, 10_000)
    assert name != make_channel(GAP, ONE)[0] == "centred"
    centred = make_channel(GAP, ONE, design="centred")[1]
    widths = [
        planned_width(GAP.by(design), of, 10_000, kind_of("population"), 0.05)
        for design, of in ((name, channel), ("centred", centred))
    ]
    assert widths[0] < 0.95 * widths[1]


@pytest.mark.parametrize(("answers", "asked"), [(None, _USUAL_CLIENTS), (500.0, 500.0)])
def test_it_is_the_number_of_answers_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, answers: float | None, asked: float
):
    """Of those that are near the least variance; laplace is not."""
    compared = []

    def width(scores: Scores, _channel: object, size: float, *_: object) -> float:
        compared.append((scores.design, size))
        return {"randomized-response": 2.0, "uncentred": 1.0, "centred": 1.0005}[scores.design]

    monkeypatch.setattr(chosen, "planned_width", width)
    assert choose_design(GAP, ONE, answers)[0] == "uncentred"
    assert compared == [(name, asked) for name in ("randomized-response", "uncentred", "centred")]


def test_known_shares_go_by_their_variance():
    scores = Scores(Target((0.5, 0.5)), AssumedValues(expect=0.8))
    assert choose_design(scores, ONE, 100) == make_channel(scores, ONE)
    assert choice_sentence(scores, "centred", None) is None
