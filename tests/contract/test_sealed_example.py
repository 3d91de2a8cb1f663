"""The sealed study in ``examples`` is what its program makes today, and verifies."""

import runpy
from pathlib import Path

from fairgauge.bundles import gather, verify
from fairgauge.bundles.verification import Signatures
from fairgauge.study import Study

HERE = Path(__file__).parents[2] / "examples" / "sealed-study"
KEY = "9SYCm7bQbMVbqkQGMlyM3cSNVM8KiBiQgiAl/Qsjvoo="


def test_it_is_what_its_program_makes(tmp_path: Path):
    runpy.run_path(str(HERE / "make.py"))["make"](tmp_path)
    stale = "run docs/refresh.py --write: these files are not what fairgauge makes today"
    for kept in sorted((HERE / "bundle").iterdir()):
        # Other versions write Parquet in other bytes; a sealed estimate has digits that differ between processors.
        if kept.name not in ("answers.parquet", "sealed.json"):
            assert kept.read_bytes() == (tmp_path / kept.name).read_bytes(), f"{kept.name}: {stale}"


def test_it_verifies_with_the_key_that_its_readme_names():
    bundle = gather([HERE / "bundle"])
    found = verify(Study.load(HERE / "bundle" / "study.json"), bundle, Signatures((KEY,)))
    assert found.broken == ()
    assert [check.about for check in found.checks if check.outcome == "open"] == ["report", "report"]
    assert KEY in (HERE / "README.md").read_text(encoding="utf-8")
