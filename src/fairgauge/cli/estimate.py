"""``fairgauge estimate``: what the counts say."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import _options
from fairgauge.cli._files import read_study, read_tally
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._progress import waiting
from fairgauge.cli._show import show_estimate
from fairgauge.errors import InvalidInput
from fairgauge.estimation import estimate as run
from fairgauge.estimation.interval_kinds import DEFAULT
from fairgauge.estimation.strata import standardised
from fairgauge.study import Study
from fairgauge.tallies import Tally

Others = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="STUDY TALLY",
        help="The studies and tallies of the other strata: gaps are weighed by the shares that the studies state.",
        show_default=False,
    ),
]


@in_forms
def estimate(
    study: _options.StudyFile,
    tally: _options.TallyFile,
    others: Others = None,
    confidence: _options.Confidence = 0.99,
    interval: _options.IntervalName = DEFAULT,
    tolerance: _options.Tolerance = None,
    *,
    form: Form,
) -> None:
    """Estimate gaps and means, with intervals that say what they guarantee."""
    document = read_study(study)
    counts = read_tally(tally, document)
    strata = [(document, counts), *_strata(others or [])]
    if len(strata) > 1 and tolerance is not None:
        raise InvalidInput("tolerance", tolerance, "must not be given where strata are weighed")
    with waiting("Estimating"):
        if len(strata) > 1:
            found = standardised(strata, confidence=confidence, interval=interval)
        else:
            found = run(document, counts, confidence=confidence, interval=interval, tolerance=tolerance)
    if form != "people":
        show_as(form, found.to_dict(), list(found.table()))
    else:
        show_estimate(document, found)
    if all(not question.gaps for question in found.questions):
        raise typer.Exit(1)


def _strata(paths: Sequence[Path]) -> list[tuple[Study, Tally]]:
    """Read studies and their tallies, by turns."""
    if len(paths) % 2:
        raise InvalidInput("tally", f"nothing after {paths[-1]}", "must be given with its study")
    studies = [(read_study(study), tally) for study, tally in zip(paths[::2], paths[1::2], strict=True)]
    return [(study, read_tally(tally, study)) for study, tally in studies]
