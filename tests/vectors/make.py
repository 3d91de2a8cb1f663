"""Write every file that holds documents again, as Python, which is the reference, makes them today.

``make vectors`` runs this, and then refreshes the pages and the sealed example.  A field that the format of studies
gains is one run away; what changed is for whoever reviews the files.
"""

import json
from collections.abc import Callable
from pathlib import Path

from fairgauge.study import parse
from tests.golden import test_documents as golden
from tests.golden import test_intervals as intervals
from tests.samples import full_study
from tests.vectors import crowd, full, limits, simple

HERE = Path(__file__).parent
# Studies that were designed once: their tables are kept, since the last bits of some differ between processors.
KEPT = [*sorted(HERE.parents[1].glob("examples/*/study.json")), *sorted(HERE.glob("study-*.json"))]
AGENT = HERE / "agent.json"


def files() -> dict[Path, Callable[[], bytes]]:
    """Return for each file how to make what it is to hold."""
    return {
        **{path: lambda path=path: parse(path.read_bytes()).to_bytes() for path in KEPT},  # type: ignore[misc]
        golden.HERE / "study.json": lambda: golden.golden_study().to_bytes(),
        golden.HERE / "study-full.json": lambda: full_study().to_bytes(),
        golden.HERE / "answer.json": lambda: golden.golden_answer().to_bytes(),
        golden.HERE / "tally.json": lambda: golden.golden_tally().to_bytes(),
        simple.FILE: lambda: simple.written(simple.make()).encode(),
        full.FILE: lambda: simple.written(full.make()).encode(),
        crowd.FILE: lambda: crowd.written().encode(),
        limits.FILE: lambda: limits.written().encode(),
        AGENT: lambda: _agent().encode(),
    }


def _agent() -> str:
    """Return the lines of an agent, which are typed by hand, with their studies in today's bytes."""
    vectors = json.loads(AGENT.read_text(encoding="utf-8"))
    vectors["studies"] = {name: parse(text.encode()).to_bytes().decode() for name, text in vectors["studies"].items()}
    return json.dumps(vectors, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    # Margins are compared with some tolerance, by their own test.
    for path, make in (files() | {intervals.FILE: lambda: intervals.written().encode()}).items():
        if path.read_bytes() != (data := make()):
            path.write_bytes(data)
            print(f"{path.relative_to(HERE.parents[1])}: rewritten")  # noqa: T201 - whoever runs it reads it
