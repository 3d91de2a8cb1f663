"""Making a channel by the name of a design, and designs of other packages."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from importlib.metadata import EntryPoint
from itertools import combinations

import numpy as np
import pytest

from fairgauge.channel import Channel
from fairgauge.designs import Design, designs_for, known_designs, make_channel, register, registry
from fairgauge.designs.classical_designs import _response_rows, randomized_response
from fairgauge.designs.exact_table import exact_channel
from fairgauge.designs.registry import _made
from fairgauge.errors import Impossible, InvalidInput, NotPrivate
from fairgauge.planning import plan_figure
from fairgauge.planning.choose_design import choose_design
from fairgauge.planning.plans import plan_for
from fairgauge.targets.channel_inputs import Inputs
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import RECALL

SCORES, ONE = Scores(Target((0.5, 0.5))), Decimal(1)


def cautious(scores: Scores, epsilon: Decimal) -> Channel:
    """Randomized response that spends half of what it may."""
    return randomized_response(scores, epsilon / 2)


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(registry, "_FOUND", dict(known_designs()))
    _made.cache_clear()
    yield
    _made.cache_clear()


def test_a_registered_design_is_planned_drawn_and_made(monkeypatch: pytest.MonkeyPatch):
    from matplotlib import rcParams

    register(Design("cautious", cautious, colour="#009E73", marker="D"))
    assert list(known_designs())[-1] == "cautious"
    assert make_channel(SCORES, ONE, design="cautious") == ("cautious", cautious(SCORES, ONE))
    found = plan_for(SCORES, RECALL, epsilon=ONE, clients=1000, interval="normal")
    errors = [found.row(name).error or 0.0 for name in ("cautious", "randomized-response")]
    assert errors[0] > errors[1] > 0
    monkeypatch.setattr(plan_figure, "_EPSILONS", [ONE])
    monkeypatch.setitem(rcParams, "svg.fonttype", "none")
    drawn = plan_figure.picture("svg", SCORES, 1000, confidence=0.99, interval="normal", metric=RECALL).decode()
    assert ">cautious<" in drawn
    assert "#009e73" in drawn


def test_auto_takes_a_registered_design_where_it_is_best():
    one_of_ours = randomized_response(Scores(Target((0.5, 0.5))), ONE)
    monkey = Design("cautious", lambda _, __: one_of_ours)
    for name in ("randomized-response", "laplace", "uncentred", "centred"):
        registry._FOUND.pop(name, None)
    register(monkey)
    assert make_channel(SCORES, ONE) == ("cautious", one_of_ours)


@pytest.mark.parametrize("scores", [SCORES, SCORES.asking(shares_known=False), Scores(Target((0.2, 0.3, 0.5)))])
def test_auto_does_not_try_laplace_which_can_be_asked_for(scores: Scores):
    def made(_: Scores, __: Decimal) -> Channel:
        raise AssertionError("laplace was tried")

    assert make_channel(scores, ONE, design="laplace")[0] == "laplace"
    _made.cache_clear()
    registry._FOUND["laplace"] = replace(registry._FOUND["laplace"], make=made)
    assert choose_design(scores, ONE)[0] != "laplace"
    assert make_channel(scores, ONE)[0] != "laplace"


def test_a_design_that_breaks_its_promise_is_refused():
    register(Design("leaky", lambda scores, epsilon: randomized_response(scores, 2 * epsilon)))
    with pytest.raises(NotPrivate, match=r"design leaky made a table with epsilon 1\.99+\d*, above 1"):
        make_channel(SCORES, ONE, design="leaky")


def test_a_design_for_other_groups_is_refused():
    register(Design("other", lambda _, epsilon: randomized_response(Scores(Target((0.4, 0.3, 0.3))), epsilon)))
    with pytest.raises(InvalidInput, match="design=other: made a table for other groups"):
        make_channel(SCORES, ONE, design="other")


def test_auto_passes_over_a_design_that_cannot():
    def cannot(scores: Scores, epsilon: Decimal) -> Channel:
        raise Impossible("not for this question")

    register(Design("cannot", cannot))
    assert make_channel(SCORES, ONE)[0] != "cannot"
    with pytest.raises(Impossible, match="not for this question"):
        make_channel(SCORES, ONE, design="cannot")
    for name in list(known_designs()):
        registry._FOUND[name] = replace(registry._FOUND[name], make=cannot)
    _made.cache_clear()
    with pytest.raises(Impossible, match="no design makes a channel for epsilon=1"):
        make_channel(SCORES, ONE)


@pytest.mark.parametrize("name", ["laplace", "auto"])
def test_a_taken_name_is_refused(name: str):
    with pytest.raises(InvalidInput, match="is taken"):
        register(Design(name, cautious))


@pytest.mark.parametrize("name", ["", "Best", "a b", "-a", "a--b", "a\n"])
def test_a_name_that_cannot_be_typed_is_refused(name: str):
    with pytest.raises(InvalidInput, match="small letters"):
        register(Design(name, cautious))


def test_a_broken_package_is_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch):
    broken = [
        EntryPoint("absent", "no_such_module:design", registry._GROUP),
        EntryPoint("wrong", "fairgauge.designs.classical_designs:laplace", registry._GROUP),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: broken)
    before = set(known_designs())
    with pytest.warns(UserWarning, match=r"design (absent|wrong) of another package is left out: ") as seen:
        registry._load_offered.__wrapped__()
    assert len(seen) == 2
    assert set(known_designs()) == before


def test_a_foreign_channel_needs_no_symbols_like_ours():
    def ternary(scores: Scores, epsilon: Decimal) -> Channel:
        inputs = Inputs(scores.target.groups, np.array([-1.0, 0.0, 1.0]), scores.target.abstain)
        return exact_channel(_response_rows(inputs.count, float(epsilon)), inputs, epsilon)

    register(Design("ternary", ternary))
    _, channel = make_channel(SCORES, ONE, design="ternary")
    assert len(channel.levels) == 3
    assert SCORES.variance(channel) < float("inf")


SCORES = Scores(Target((0.5, 0.5), ratio=1.0))


@pytest.mark.parametrize("design", designs_for(SCORES))
def test_a_design_is_made_by_its_name(design: str):
    name, channel = make_channel(SCORES, Decimal("0.7"), design=design)
    assert name == design
    assert channel == known_designs()[design].make(SCORES.by(design), Decimal("0.7"))
    assert channel.within(Decimal("0.7"))


def test_auto_takes_the_least_variance():
    name, channel = make_channel(SCORES, Decimal(1))
    assert name == "centred"
    others = (
        SCORES.by(name).variance(make_channel(SCORES, Decimal(1), design=name)[1]) for name in designs_for(SCORES)
    )
    assert SCORES.by("centred").variance(channel) == min(others)


def test_auto_takes_the_simplest_of_equals():
    # Estimated shares of many groups: no better design is known at this epsilon.
    many = Scores(Target((1 / 7,) * 7, shares_known=False))
    name, _ = make_channel(many, Decimal(3))
    assert name == "randomized-response"


@pytest.mark.parametrize(
    ("design", "epsilon", "field"),
    [
        ("best", "1", "design='best'"),
        ("", "1", "design="),
        ("auto", "0", "epsilon="),
        ("auto", "0.0009", "epsilon="),
        ("laplace", "12.1", "epsilon="),
        ("auto", "-1", "epsilon="),
    ],
)
def test_what_cannot_be_made_is_refused(design: str, epsilon: str, field: str):
    with pytest.raises(InvalidInput, match="must be") as refused:
        make_channel(SCORES, Decimal(epsilon), design=design)
    assert field.rstrip("'").split("=")[0] == refused.value.field


@pytest.mark.parametrize("epsilon", ["0.001", "12"])
def test_the_ends_of_the_range_can_be_made(epsilon: str):
    for design in designs_for(SCORES) if epsilon == "0.001" else ("randomized-response", "laplace"):
        _, channel = make_channel(SCORES, Decimal(epsilon), design=design)
        assert channel.epsilon == pytest.approx(float(epsilon), rel=1e-3)


def test_the_same_channel_is_not_made_twice():
    assert make_channel(SCORES, Decimal("0.7"))[1] is make_channel(SCORES, Decimal("0.7"))[1]


def test_groups_that_only_comparisons_tell_apart_have_the_same_tables_in_any_order():
    weights = {frozenset("ab"): 2.0, frozenset("bc"): 3.0}
    found = []
    for groups in ("abc", "cab", "bca", "acb"):
        pairs = [(a, b) for a, b in combinations(range(3), 2) if frozenset((groups[a], groups[b])) in weights]
        comparisons = tuple(Contrast((a,), (b,), weights[frozenset((groups[a], groups[b]))]) for a, b in pairs)
        target = Target((1 / 3, 1 / 3, 1 / 3), comparisons=comparisons)
        channel = make_channel(Scores(target), Decimal(1), design="uncentred")[1]
        each = len(channel.table) // 3
        found.append({group: channel.table[each * n : each * (n + 1)] for n, group in enumerate(groups)})
    assert found[1:] == found[:1] * 3
