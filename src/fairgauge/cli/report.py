"""``fairgauge report``: what the counts say, as a document for people."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fairgauge.cli import options
from fairgauge.cli.read import read_study, read_tally, write_bytes
from fairgauge.cli.show import err, out
from fairgauge.errors import MissingExtra
from fairgauge.estimation import estimate as run
from fairgauge.estimation.kinds import DEFAULT
from fairgauge.reports.words import verdict


def report(
    study: options.StudyFile,
    tally: options.TallyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the report.")],
    confidence: options.Confidence = 0.99,
    interval: options.IntervalName = DEFAULT,
    tolerance: options.Tolerance = None,
) -> None:
    """Write a report: one HTML file with results, pictures, method and privacy, ready to print."""
    try:
        from fairgauge.reports.document import render_report
    except ImportError:
        raise MissingExtra("a report needs Jinja2", "lab") from None
    document = read_study(study)
    counts = read_tally(tally, document)
    with err.status("Estimating ..."):
        found = run(document, counts, confidence=confidence, interval=interval, tolerance=tolerance)
        page = render_report(document, counts, found).encode()
    write_bytes("output", output, page)
    out.print(Text.assemble(f"{output}: ", (document.title, "bold"), f", {counts.total:,} answers"))
    for question, told in zip(document.questions, found.questions, strict=True):
        out.print(verdict(question, told, confidence=confidence, over=True).text)
