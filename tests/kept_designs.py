"""Designs that are solved once in a run of the tests: every worker, and every program that tests start, finds them.

Hundreds of tests need some table and wait a second for a solver.  The first that asks for one keeps it on disk, for
this run alone, so whatever is broken in a solver is broken in all of them.  Tests of designs solve; a test that changes
a solver takes the fixture ``solved_anew``.

Programs that tests start look up planned widths and estimates, too: a page, a report and a bundle show the same.
"""

import contextlib
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairgauge.channel import Channel
    from fairgauge.targets.scores import Scores

    Make = Callable[[Scores, Decimal], Channel]

# Where they are kept; programs that tests start find it in the environment.
PLACE = "FAIRGAUGE_TEST_DESIGNS"
# What ends so is no design: it rests on code that a mutant may have changed.
RESULT = ".result"
# Another processor may find another table that is as good.
_PROCESSOR = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")
_SLOW = ("laplace", "uncentred", "centred")
_solvers: "dict[str, Make]" = {}


def begin() -> None:
    """Keep designs from now on, in a new folder."""
    os.environ[PLACE] = tempfile.mkdtemp(prefix="fairgauge-designs-")


def end() -> None:
    """Remove what was kept."""
    shutil.rmtree(os.environ.pop(PLACE), ignore_errors=True)


def keep() -> None:
    """Let the designs of this process be looked up, once there are any: not everything that tests do loads them."""
    registry = sys.modules.get("fairgauge.designs.registry")
    if registry is None or _solvers or PLACE not in os.environ:
        return
    for name in _SLOW:
        _solvers[name] = registry._FOUND[name].make
        registry._FOUND[name] = replace(registry._FOUND[name], make=_kept(name, _solvers[name]))


@contextlib.contextmanager
def solving() -> Iterator[None]:
    """Solve whatever is asked for, and keep nothing of it."""
    from fairgauge.designs import registry

    before = dict(registry._FOUND)
    registry._made.cache_clear()
    registry._FOUND.update({name: replace(before[name], make=make) for name, make in _solvers.items()})
    try:
        yield
    finally:
        registry._FOUND.update({name: before[name] for name in _solvers})
        registry._made.cache_clear()


def copy(before: Path, after: Path) -> None:
    """Copy the designs of a folder, and nothing that a mutant may give another result for."""
    shutil.copytree(before, after, ignore=shutil.ignore_patterns(f"*{RESULT}"))


def keep_results() -> None:
    """Let this process look up what programs before it have planned and estimated from the very same."""
    from fairgauge.estimation import inference
    from fairgauge.planning import planned_widths

    for module, name in ((planned_widths, "_width"), (inference, "_question")):
        vars(module)[name] = _looked_up(name, vars(module)[name])


def _kept(name: str, solve: "Make") -> "Make":
    def make(scores: "Scores", epsilon: Decimal) -> "Channel":
        channel: Channel = _found((name, scores, epsilon), "", lambda: solve(scores, epsilon))
        return channel

    return make


def _looked_up(name: str, find: Callable[..., Any]) -> Callable[..., Any]:
    def found(*given: Any, **named: Any) -> Any:
        # A table does not show itself, and a study is what it is digested to.
        shown = [getattr(one, "digest", (one, getattr(one, "table", ()))) for one in given]
        return _found((name, shown, named), RESULT, lambda: find(*given, **named))

    return found


def _found(asked: object, suffix: str, find: Callable[[], Any]) -> Any:
    found_on = [os.environ.get(setting) for setting in _PROCESSOR]
    key = hashlib.sha256(repr((asked, found_on)).encode()).hexdigest()
    file = Path(os.environ[PLACE]) / f"{key}{suffix}"
    with contextlib.suppress(FileNotFoundError):
        return pickle.loads(file.read_bytes())
    result = find()
    # Whole or not at all: others may write the same at the same time.
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(result))
    part.replace(file)
    return result
