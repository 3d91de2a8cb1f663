"""``fairgauge audit``: measure, from answers alone, how much the client really leaks."""

from functools import singledispatch
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.channel import Channel
from fairgauge.cli.formats import Form, in_forms, show_as
from fairgauge.errors import InvalidInput
from fairgauge.study import Mechanism, NoisyCounts, Study

_SAMPLES = 20_000


@in_forms
def audit(
    study: Annotated[Path, typer.Argument(help="The study's file.")],
    samples: Annotated[
        int | None, typer.Option(help="How many answers to draw for each of two people; 20,000 unless given.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure the bounds are, together.")] = 0.99,
    *,
    form: Form,
) -> None:
    """Answer a study as a device does, many times, and bound its epsilon from below by what comes out."""
    from fairgauge.cli.read import read_study

    document = read_study(study)
    _audit(document.mechanism, document, samples=samples, confidence=confidence, form=form)


@singledispatch
def _audit(mechanism: Mechanism, document: Study, *, samples: int | None, confidence: float, form: Form) -> None:
    raise NotImplementedError


@_audit.register
def _(_: NoisyCounts, document: Study, *, samples: int | None, confidence: float, form: Form) -> None:
    from fairgauge.cli.console import out
    from fairgauge.cli.progress import waiting
    from fairgauge.site_audit import audit_site

    if samples is not None:
        rule = "must not be given in a study for sites, which are audited by how often each noise is met"
        raise InvalidInput("samples", samples, rule)
    with waiting("Answering"):
        found = audit_site(document, confidence=confidence)
    if form != "people":
        said = {"study": document.digest, "confidence": confidence, "runs": found.runs, "p_value": found.p_value}
        said["caught"] = found.caught
        show_as(form, said, [said])
    else:
        promised = "what the study promises"
        told = f"is not {promised}" if found.caught else f"is {promised}, as far as an audit can see"
        out.print(f"The noise of {found.runs:,} answers {told} (p = {found.p_value:.2g}). Confidence {confidence:g}.")
    if found.caught:
        raise typer.Exit(1)


@_audit.register
def _(_: Channel, document: Study, *, samples: int | None, confidence: float, form: Form) -> None:
    from fairgauge.audit import audit_study
    from fairgauge.cli.progress import waiting

    samples = _SAMPLES if samples is None else samples
    with waiting("Answering", total=1.0) as bar:
        found = audit_study(document, samples=samples, confidence=confidence, progress=bar.advance)
    caught = any(question.caught for question in found)
    if form != "people":
        shown = [
            {
                "metric": q.metric,
                "attribute": q.attribute,
                "epsilon_declared": q.declared,
                "epsilon_exact": q.exact,
                "epsilon_at_least": q.finding.epsilon,
                "caught": q.caught,
            }
            for q in found
        ]
        whole = {"study": document.digest, "confidence": confidence, "samples": samples, "questions": shown}
        show_as(form, whole, shown)
    else:
        for q in found:
            typer.echo(f"{q.metric} by {q.attribute}")
            typer.echo(f"  declared  epsilon {q.declared:.4f}")
            typer.echo(f"  exact     epsilon {q.exact:.4f}, computed from the table")
            typer.echo(
                f"  answers   epsilon at least {q.finding.epsilon:.4f}, measured with {2 * q.finding.samples:,} of them"
            )
        verdict = (
            "The answers leak more than the study declares." if caught else "Nothing beyond what the study declares."
        )
        typer.echo(f"{verdict} Confidence {confidence:g}.")
    if caught:
        raise typer.Exit(1)
