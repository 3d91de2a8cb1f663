"""Three and more groups: whatever the shares, epsilon and weights, no comparison is worse than randomized response.

And the plan's numbers are those that ``estimate`` gives for the values that are planned with.  Covers bench.plans, of
which `make coverage` tries more.
"""

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bench.plans import EPSILONS, EXPECTED, Asked, faults

THREE = Asked((49, 49, 2), (1, 3, 1), "1", "0.9")


@st.composite
def questions(draw: st.DrawFn) -> Asked:
    d = draw(st.sampled_from([2, 3, 3, 4]))
    parts = draw(st.lists(st.integers(1, 20), min_size=d, max_size=d))
    count = d * (d - 1) // 2
    weights = draw(st.just([]) | st.lists(st.sampled_from([1, 1, 1, 3]), min_size=count, max_size=count))
    return Asked(tuple(parts), tuple(weights), draw(st.sampled_from(EPSILONS)), draw(st.sampled_from(EXPECTED)))


@example(Asked((5, 3, 1, 2, 1, 1, 2), (), "1", None))
@example(Asked((3, 2), (), "1", "0.9", off="0.01"))
@example(Asked((3, 2, 2), (), "1", "0.8", off="0.02"))
@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(questions())
def test_no_comparison_is_worse_than_with_randomized_response_and_the_estimate_has_the_plans_numbers(asked: Asked):
    assert faults(asked) == []


def test_a_mutant_with_half_of_the_counts_that_were_planned_is_caught():
    assert faults(THREE) == []
    half = faults(THREE, counted=lambda law: law / 2)
    assert any("planned" in fault for fault in half)
