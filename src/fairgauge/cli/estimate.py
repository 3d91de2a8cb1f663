"""``fairgauge estimate``: what the counts say."""

import typer

from fairgauge.cli import options
from fairgauge.cli.formats import Form, in_forms, show_as
from fairgauge.cli.progress import waiting
from fairgauge.cli.read import read_study, read_tally
from fairgauge.cli.show import show_estimate
from fairgauge.estimation import estimate as run
from fairgauge.estimation.kinds import DEFAULT


@in_forms
def estimate(
    study: options.StudyFile,
    tally: options.TallyFile,
    confidence: options.Confidence = 0.99,
    interval: options.IntervalName = DEFAULT,
    tolerance: options.Tolerance = None,
    *,
    form: Form,
) -> None:
    """Estimate gaps and means, with intervals that say what they guarantee."""
    document = read_study(study)
    counts = read_tally(tally, document)
    with waiting("Estimating"):
        found = run(document, counts, confidence=confidence, interval=interval, tolerance=tolerance)
    if form != "people":
        show_as(form, found.to_dict(), list(found.table()))
    else:
        show_estimate(document, found)
    if all(not question.gaps for question in found.questions):
        raise typer.Exit(1)
