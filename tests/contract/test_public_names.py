"""The names that users may import from ``fairgauge``: a change here is a decision, not an accident.

Covers: fairgauge.lazy.
"""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
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
    "new",
    "plan",
    "report",
    "simulate",
]
SOURCE = Path(fairgauge.__file__).parent
FRAMEWORKS = {"flower": "flwr", "nvflare": "nvflare"}  # each has an environment of its own
VERBS = ["answer", "design", "estimate", "new", "plan", "report", "simulate"]
ROOMS = [
    "audit",
    "channel",
    "client",
    "designs",
    "errors",
    "estimation",
    "targets",
    "planning",
    "reports",
    "simulation",
    "study",
    "tallies",
]


def test_all_is_exactly_the_public_names():
    assert fairgauge.__all__ == PUBLIC_NAMES


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_every_public_name_loads(name: str):
    assert getattr(fairgauge, name) is not None


@pytest.mark.parametrize("room", sorted(path.parent.name for path in SOURCE.glob("*/__init__.py")))
def test_every_name_of_a_room_loads(room: str):
    if room in FRAMEWORKS:
        pytest.importorskip(FRAMEWORKS[room])
    module = import_module(f"fairgauge.{room}")
    assert [name for name in dir(module) if getattr(module, name, None) is None and not name.startswith("_")] == []


@pytest.mark.parametrize("name", [name for name in PUBLIC_NAMES if name[0].isupper()])
def test_every_public_class_is_a_class_of_that_name(name: str):
    value = getattr(fairgauge, name)
    assert isinstance(value, type)
    assert value.__name__ == name


# Each in a fork of a Python that has loaded libraries, which take long, but nothing of ours.
FRESH = """
import os, sys
import highspy, numpy, scipy.special
for code in sys.argv[1:]:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        exec(code)
        sys.exit()
    if os.waitpid(child, 0)[1]:
        sys.exit(f"failed: {code}")
"""


def test_a_room_is_a_module_and_a_verb_a_function_whatever_was_imported_before():
    room = "import types, fairgauge; print(isinstance(fairgauge.{0}, types.ModuleType), '{0}')"
    verb = "import fairgauge.client, fairgauge.estimation, fairgauge; print(callable(fairgauge.{0}), '{0}')"
    codes = [*map(room.format, ROOMS), *map(verb.format, VERBS)]
    done = subprocess.run([sys.executable, "-c", FRESH, *codes], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"True {name}" for name in (*ROOMS, *VERBS)]
    assert [room for room in ROOMS if not isinstance(getattr(fairgauge, room), ModuleType)] == []


def test_dir_lists_names_and_rooms():
    assert set(dir(fairgauge)) == {*PUBLIC_NAMES, *ROOMS}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'fairgauge' has no attribute 'fairness'"):
        _ = fairgauge.fairness


def test_importing_the_package_loads_no_room():
    code = "import sys, fairgauge; print([m for m in sorted(sys.modules) if m.startswith('fairgauge.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['fairgauge.lazy']"
