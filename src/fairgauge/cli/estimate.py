"""``fairgauge estimate``: what the counts say."""

import typer

from fairgauge.cli import options
from fairgauge.cli.read import read_study, read_tally
from fairgauge.cli.show import err, show_estimate, show_json
from fairgauge.estimation import estimate as run
from fairgauge.estimation.kinds import DEFAULT


def estimate(
    study: options.StudyFile,
    tally: options.TallyFile,
    confidence: options.Confidence = 0.99,
    interval: options.IntervalName = DEFAULT,
    tolerance: options.Tolerance = None,
    json: options.Json = False,
) -> None:
    """Estimate gaps and means, with intervals that say what they guarantee."""
    document = read_study(study)
    counts = read_tally(tally, document)
    with err.status("Estimating ..."):
        found = run(document, counts, confidence=confidence, interval=interval, tolerance=tolerance)
    if json:
        show_json(found.to_dict())
    else:
        show_estimate(document, found)
    if all(not question.gaps for question in found.questions):
        raise typer.Exit(1)
