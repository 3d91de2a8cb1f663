"""The crowd's numbers beside the reference: how close the certified and the tight one come to what was derived."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from bench.lines import Line
from fairgauge import Attribute, Metric, Question, Study
from fairgauge.blanket import closeness
from fairgauge.crowd import crowd_of
from fairgauge.designs import make_channel
from fairgauge.targets.target import Goal

CELLS = Path(__file__).parents[1] / "tests" / "data" / "crowd_reference.json"


def study_of(local: str) -> Study:
    """Return the study that the reference's cells are of."""
    channel = make_channel(Goal((0.5, 0.5)), Decimal(local), design="uncentred")[1]
    sex = Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
    return Study("bench", [Question(Metric("recall", 0, 1), sex, "gap", "uncentred", local, channel)])


def hidden() -> Iterator[Line]:
    """Certified, tight and lower crowd epsilon of every cell, as ratios to the reference's."""
    for cell in json.loads(CELLS.read_text(encoding="utf-8"))["cells"]:
        local, people, delta = cell["local"], cell["n"], Decimal(str(cell["delta"]))
        study = study_of(local)
        crowd = crowd_of(study, people, observed=Decimal(0), delta=delta)
        what, found = f"local {local}, {people:,} people, delta {delta}", closeness(study, crowd)
        certified, reference = crowd.number, cell["chernoff"]
        aim = "at most 1.001"
        yield Line(f"certified: {what}", f"{certified:.4g}", f"{reference:.4g}", certified / reference, aim)
        if found.tight is not None:
            ratio = found.tight / cell["upper"]
            yield Line(f"tight: {what}", f"{found.tight:.4g}", f"{cell['upper']:.4g}", ratio, "0.995 to 1.005")
        yield Line(
            f"lower: {what}", f"{found.lower:.4g}", f"{cell['lower']:.4g}", found.lower / cell["lower"], "at most 1"
        )
