"""Three and more groups: whatever the shares, epsilon and weights, no comparison is worse than randomized response."""

from decimal import Decimal

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairgauge.designs import make_channel
from fairgauge.goals.contrast import all_pairs
from fairgauge.goals.goal import Goal


@st.composite
def goals(draw):
    d = draw(st.sampled_from([2, 3, 3, 4, 7, 8, 12]))
    parts = draw(st.lists(st.integers(1, 20), min_size=d, max_size=d))
    shares = np.maximum(np.array(parts) / sum(parts), 0.02)
    count = d * (d - 1) // 2
    weights = draw(st.lists(st.sampled_from([1.0, 1.0, 1.0, 3.0]), min_size=count, max_size=count))
    pairs = tuple(pair._replace(weight=weight) for pair, weight in zip(all_pairs(d), weights, strict=True))
    return Goal(
        tuple((shares / shares.sum()).tolist()),
        expect=draw(st.none() | st.sampled_from([0.0, 0.6, 0.8])),
        comparisons=pairs if draw(st.booleans()) else (),
    )


@settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(goals(), st.sampled_from(["0.3", "0.7", "1", "1.5"]))
def test_no_comparison_is_worse_than_with_randomized_response(goal, epsilon):
    name, channel = make_channel(goal, Decimal(epsilon))
    assert channel.within(Decimal(epsilon))
    simple = make_channel(goal, Decimal(epsilon), design="randomized-response")[1]
    found = np.array(goal.by(name).totals(channel))
    assert np.all(found <= np.array(goal.by("randomized-response").totals(simple)) * (1 + 1e-9))
