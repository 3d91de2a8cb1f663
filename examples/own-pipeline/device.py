"""What runs on a device, after the app's own evaluation: three lines, on Python's standard library.

    python device.py study.json device.json                              # adds a line to answers.ndjson
    python device.py study.json device.json https://collector.example    # sends it to a collector

The second file is the app's own, and stays on the device: {"sex": "female", "recall": 0.83}.
"""

import json
import sys
from decimal import Decimal
from pathlib import Path

from fairgauge import client


def report(own: dict[str, object], study_source: str, to: str) -> None:
    """Answer a study about this device's owner, once, and deliver the answer."""
    study, ledger = client.load_study(study_source), client.Ledger("ledger.sqlite3")
    profile = {"group": {"sex": own["sex"]}, "values": {"recall": own["recall"]}}
    answer = ledger.answer(study, profile, limit=Decimal(4))
    if to.startswith("http"):
        client.deliver(ledger, answer, to)
    else:
        client.append(answer, to)


if __name__ == "__main__":
    report(json.loads(Path(sys.argv[2]).read_text()), sys.argv[1], [*sys.argv, "answers.ndjson"][3])
