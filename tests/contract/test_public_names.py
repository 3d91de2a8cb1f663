"""The names that users may import from ``fairgauge``: a change here is a decision, not an accident.

Covers: fairgauge.lazy.
"""

import subprocess
import sys
from types import ModuleType

import pytest

import fairgauge

PUBLIC_NAMES = [
    "Answer",
    "Attribute",
    "Estimate",
    "Interval",
    "Metric",
    "Plan",
    "Population",
    "PrivateMetricFrame",
    "Question",
    "Study",
    "Tally",
    "__version__",
    "answer",
    "design",
    "errors",
    "estimate",
    "plan",
    "simulate",
]
VERBS = ["answer", "design", "estimate", "plan", "simulate"]
ROOMS = [
    "audit",
    "channel",
    "client",
    "designs",
    "errors",
    "estimation",
    "goals",
    "planning",
    "reports",
    "simulation",
    "study",
    "tallies",
]


def in_a_fresh_python(code: str) -> str:
    """Run code in a new process, since in this one other tests have imported everything already."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_all_is_exactly_the_public_names():
    assert fairgauge.__all__ == PUBLIC_NAMES


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_every_public_name_loads(name: str):
    assert getattr(fairgauge, name) is not None


@pytest.mark.parametrize("name", [name for name in PUBLIC_NAMES if name[0].isupper()])
def test_every_public_class_is_a_class_of_that_name(name: str):
    value = getattr(fairgauge, name)
    assert isinstance(value, type)
    assert value.__name__ == name


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_a_module_whatever_was_imported_before(room: str):
    code = f"import types, fairgauge; print(isinstance(fairgauge.{room}, types.ModuleType))"
    assert in_a_fresh_python(code) == "True"
    assert isinstance(getattr(fairgauge, room), ModuleType)


def test_dir_lists_names_and_rooms():
    assert set(dir(fairgauge)) == {*PUBLIC_NAMES, *ROOMS}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'fairgauge' has no attribute 'fairness'"):
        _ = fairgauge.fairness


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_a_function_whatever_was_imported_before(verb: str):
    code = f"import fairgauge.client, fairgauge.estimation, fairgauge; print(callable(fairgauge.{verb}))"
    assert in_a_fresh_python(code) == "True"


def test_importing_the_package_loads_no_room():
    code = "import sys, fairgauge; print([m for m in sorted(sys.modules) if m.startswith('fairgauge.')])"
    assert in_a_fresh_python(code) == "['fairgauge.lazy']"
