"""``fairgauge verify``: recompute a study's privacy from its integers."""

import math

import typer
from rich.text import Text

from fairgauge.cli import options
from fairgauge.cli.read import naming, read_bytes
from fairgauge.cli.show import out, privacy_sentence, show_json
from fairgauge.study import parse


def verify(study: options.StudyFile, json: options.Json = False) -> None:
    """Recompute the exact epsilon of a study, and say what it means for a person."""
    data = read_bytes("study", study)
    with naming(study):
        found = parse(data)
    private = all(question.private for question in found.questions)
    if json:
        show_json(
            {
                "digest": found.digest,
                "private": private,
                "questions": [
                    {
                        "metric": q.metric.name,
                        "attribute": q.attribute.name,
                        "epsilon_declared": float(q.epsilon),
                        "epsilon_exact": None if math.isinf(q.channel.epsilon) else q.channel.epsilon,
                        "symbols": q.channel.symbols,
                        "levels": len(q.channel.levels),
                    }
                    for q in found.questions
                ],
            }
        )
    else:
        out.print(Text.assemble((found.title, "bold"), f"\ndigest {found.digest}"))
        for q in found.questions:
            verdict = ("private", "green") if q.private else ("NOT PRIVATE", "red")
            exact = f". Exact epsilon {q.channel.epsilon:.6g}, declared {q.epsilon}."
            out.print(Text.assemble(f"{q.metric.name} by {q.attribute.name}: ", verdict, exact))
            out.print(f"  In plain words: {privacy_sentence(q)}.")
        if len(found.questions) > 1:
            out.print("A device answers one of these questions, picked by its own coin: the largest epsilon counts.")
    if not private:
        raise typer.Exit(1)
