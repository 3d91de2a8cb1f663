"""The crowd's numbers beside the reference: how close the certified one comes to what was derived, and to the truth."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from bench.lines import Line
from fairgauge.crowd.crowd_epsilon import Blanket, smallest_epsilon

POINTS = Path(__file__).parents[1] / "tests" / "data" / "draws_reference.json"


def hidden() -> Iterator[Line]:
    """The certified crowd epsilon of every point, as ratios to the reference's and to the exact one."""
    for point in json.loads(POINTS.read_text(encoding="utf-8"))["points"]:
        blankets = [Blanket.of(map(tuple, table)) for table in point["integers"]]
        found = float(smallest_epsilon(blankets, point["draws"], Decimal(point["delta"]), Decimal(point["local"]) * 2))
        what, certified = f"{point['table']}, {point['draws']:,} draws", float(point["certified"])
        yield Line(f"certified: {what}", f"{found:.5g}", f"{certified:.5g}", found / certified, "at most 1.005")
        yield Line(f"exact: {what}", f"{found:.5g}", f"{point['exact_fft']:.5g}", found / point["exact_fft"], "above 1")
