"""Write every file that holds documents again, as Python, which is the reference, makes them today.

``make vectors`` runs this, and then refreshes the pages and the sealed example.  A field that the format of studies
gains is one run away; what changed is for whoever reviews the files.
"""

import json
from pathlib import Path

from fairgauge.study import parse
from tests.golden import test_documents as golden
from tests.samples import full_study
from tests.vectors import crowd, full, limits, simple

HERE = Path(__file__).parent
# Studies that were designed once: their tables are kept, since the last bits of some differ between processors.
KEPT = [*sorted(HERE.parents[1].glob("examples/*/study.json")), *sorted(HERE.glob("study-*.json"))]
AGENT = HERE / "agent.json"


def files() -> dict[Path, bytes]:
    """Return what each file is to hold."""
    return {
        **{path: parse(path.read_bytes()).to_bytes() for path in KEPT},
        golden.HERE / "study.json": golden.golden_study().to_bytes(),
        golden.HERE / "study-full.json": full_study().to_bytes(),
        golden.HERE / "answer.json": golden.golden_answer().to_bytes(),
        golden.HERE / "tally.json": golden.golden_tally().to_bytes(),
        simple.FILE: simple.written(simple.make()).encode(),
        full.FILE: simple.written(full.make()).encode(),
        crowd.FILE: crowd.written().encode(),
        limits.FILE: limits.written().encode(),
        AGENT: _agent().encode(),
    }


def _agent() -> str:
    """Return the lines of an agent, which are typed by hand, with their studies in today's bytes."""
    vectors = json.loads(AGENT.read_text(encoding="utf-8"))
    vectors["studies"] = {name: parse(text.encode()).to_bytes().decode() for name, text in vectors["studies"].items()}
    return json.dumps(vectors, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, data in files().items():
        if path.read_bytes() != data:
            path.write_bytes(data)
            print(f"{path.relative_to(HERE.parents[1])}: rewritten")  # noqa: T201 - whoever runs it reads it
