"""What runs where the answers end up: count a file of answers, and say what they tell.

python count.py study.json answers.ndjson
"""

import sys
from pathlib import Path

from fairgauge import Answer, Tally
from fairgauge.client import load_study
from fairgauge.estimation import Estimate, estimate


def count(study_source: str, answers: str) -> Estimate:
    """Count each answer once, however often its line is there, and estimate."""
    study = load_study(study_source)
    lines = dict.fromkeys(Path(answers).read_bytes().splitlines())
    return estimate(study, Tally.of(study, map(Answer.from_bytes, lines)))


if __name__ == "__main__":
    print(count(*sys.argv[1:3]))
