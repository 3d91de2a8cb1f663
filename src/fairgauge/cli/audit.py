"""``fairgauge audit``: measure, from answers alone, how much the client really leaks."""

from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._mechanisms import own
from fairgauge.study import Study

_SAMPLES = 20_000


@in_forms
def audit(
    study: Annotated[Path, typer.Argument(help="The study's file.")],
    samples: Annotated[
        int | None, typer.Option(help="How many answers devices draw for each of two people; 20,000 unless given.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure the bounds are, together.")] = 0.99,
    *,
    form: Form,
) -> None:
    """Answer a study many times, as devices or sites do, and see whether more comes out than it declares."""
    from fairgauge.cli._files import read_study

    document = read_study(study)
    own(document.mechanism, _audit)(document, samples=samples, confidence=confidence, form=form)


def _audit(document: Study, *, samples: int | None, confidence: float, form: Form) -> None:
    from fairgauge.audit import audit_study
    from fairgauge.cli._progress import waiting

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
