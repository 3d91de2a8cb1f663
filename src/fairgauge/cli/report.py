"""``fairgauge report``: what the counts say, as a document for people."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from fairgauge.cli import _options
from fairgauge.cli._console import out
from fairgauge.cli._files import naming, read_bytes, read_study, read_tally, write_bytes
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._progress import waiting
from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.estimation import Estimate
from fairgauge.estimation import estimate as run
from fairgauge.estimation.interval_kinds import DEFAULT
from fairgauge.languages import OWN
from fairgauge.reports.non_response import any_sentence
from fairgauge.reports.provenance import Provenance, check_asked
from fairgauge.reports.study_facts import counted
from fairgauge.reports.verdicts import Meaning
from fairgauge.study import Study
from fairgauge.study.numbers import as_count
from fairgauge.tallies import Tally

if TYPE_CHECKING:
    from fairgauge.collector.seal import Sealed


@in_forms
def report(
    study: _options.StudyFile,
    tally: _options.TallyFile,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the report.")] = None,
    confidence: _options.Confidence = 0.99,
    interval: _options.IntervalName = DEFAULT,
    tolerance: _options.Tolerance = None,
    model_card: Annotated[
        Path | None, typer.Option(help="Put the results into this model card, in a block that is updated each time.")
    ] = None,
    seal: Annotated[Path | None, typer.Option(help="The seal of the study, of which the report then tells.")] = None,
    asked: Annotated[
        str | None, typer.Option(metavar="PEOPLE", help="How many were asked to answer, if you know: the response.")
    ] = None,
    date: Annotated[
        str | None, typer.Option(help="The day that the report bears, such as 2026-11-15: today unless given.")
    ] = None,
    language: Annotated[str, typer.Option(metavar="TAG", help="In which language: ar, de or en.")] = OWN,
    *,
    form: Form,
) -> None:
    """Write a report: one HTML file with results, pictures, method and privacy, ready to print."""
    try:
        from fairgauge.reports.html_report import render_report
        from fairgauge.reports.model_card import markdown as block_of
        from fairgauge.reports.model_card import updated
        from fairgauge.reports.question_view import views
    except ImportError:
        raise MissingExtra("a report needs Jinja2", "lab") from None
    if output is None and model_card is None:
        raise InvalidInput("output", "nothing", "must be given, or --model-card: where to write")
    document = read_study(study)
    counts = read_tally(tally, document)
    sealed = None if seal is None else _sealed(seal, document, counts)
    said = Provenance(
        date=datetime.now(UTC).date().isoformat() if date is None else date,
        asked=None if asked is None else check_asked(as_count("asked", asked), counts.contributors),
        seal=None if sealed is None else sealed.note,
        language=language,
    )
    with waiting("Estimating"):
        found = run(document, counts, confidence=confidence, interval=interval, tolerance=tolerance)
        if sealed is not None:
            _check_terms(sealed, found)
        page = render_report(document, counts, found, said).encode()
        if model_card is not None:
            block = block_of(document, found, views(document, found, over=True))
            card = updated(read_bytes("model-card", model_card).decode(), block).encode()
    if output is not None:
        write_bytes("output", output, page)
    if model_card is not None:
        write_bytes("model-card", model_card, card)
    if form != "people":
        show_as(form, found.to_dict(), list(found.table()))
        return
    where = " and ".join(str(path) for path in (output, model_card) if path is not None)
    out.print(
        Text.assemble(
            f"{where}: ",
            (document.title, "bold"),
            f", {counts.contributors:,} {counted(document)}",
        )
    )
    for question, told in zip(document.questions, found.questions, strict=True):
        out.print(Meaning(question, told, confidence).verdict(over=True).text)
    holds = any_sentence(zip(document.questions, found.questions, strict=True))
    if holds is not None:
        out.print(holds)


def _sealed(path: Path, study: Study, tally: Tally) -> "Sealed":
    """Read a seal.

    Raises:
        InvalidInput: If it is not the seal of this study with this tally.
    """
    from fairgauge.collector.seal import read_sealed

    with naming(path):
        found = read_sealed(read_bytes("seal", path))
        if found.seal.study != study.digest:
            raise InvalidInput("seal.study", found.seal.study, f"must be {study.digest}, the digest of this study")
        if found.seal.counted not in (tally, tally.shown):
            raise InvalidInput(
                "seal.tally", f"{found.seal.counted.contributors:,} {counted(study)}", "must be this tally"
            )
        return found


def _check_terms(sealed: "Sealed", found: Estimate) -> None:
    """Refuse intervals beside a seal that has others: what is sealed has one interval, wherever it is shown.

    Raises:
        InvalidInput: If the kind of interval or the confidence is not that of the seal.
    """
    for name, value in (("interval", found.interval), ("confidence", found.confidence)):
        if value != sealed.estimate.get(name):
            raise InvalidInput(name, value, f"must be {sealed.estimate.get(name)}, as the seal has it")
