"""``fairgauge texts``: what people read who are asked, in their languages."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import out, show_json
from fairgauge.cli._files import naming, read_bytes, read_study, write_bytes
from fairgauge.errors import InvalidInput
from fairgauge.study.wording import explained, read_texts, texts_of


def texts(
    study: _options.StudyFile,
    explain: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TEXT", help="How to give a metric's value, or how to pick a group; once for each."),
    ] = None,
    language: Annotated[str | None, typer.Option(help="The language of the study's own texts, such as en.")] = None,
    translation: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG=FILE", help="The same texts in another language: what --json prints, translated."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the study.")] = None,
    json: _options.Json = False,
) -> None:
    """Show the texts of a study by their place, explain what is asked, and add translations."""
    found = read_study(study)
    if explain or language or translation:
        if output is None:
            raise InvalidInput("output", "nothing", "must be given: the study with these texts is another one")
        helps = dict(_split("explain", typed, "recall=The part of falls found") for typed in explain or ())
        found = explained(found, helps)
        more = dict(found.translations or {})
        for typed in translation or ():
            tag, file = _split("translation", typed, "de=german.json")
            with naming(Path(file)):
                more[tag] = read_texts(read_bytes("translation", Path(file)))
        found = replace(found, language=language or found.language, translations=more or None)
        write_bytes("output", output, found.to_bytes())
        if not json:
            out.print(f"{output}: digest {found.digest}")
    elif output is not None:
        raise InvalidInput("output", output, "must be given with --explain, --language or --translation")
    if json:
        show_json(dict(texts_of(found)))
        return
    for place, text in texts_of(found).items():
        out.print(f"{place}: {text}")
    spoken = [tag for tag in (found.language, *(found.translations or ())) if tag is not None]
    out.print(f"Languages: {', '.join(spoken) or 'not stated'}.")


def _split(field: str, typed: str, such_as: str) -> tuple[str, str]:
    name, mark, rest = typed.partition("=")
    if not mark or not name or not rest:
        raise InvalidInput(field, typed, f"must be NAME=..., such as {such_as}")
    return name, rest
