"""``fairgauge embed``: write the form as one script for another site, and print the lines that go into its page."""

import re
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import show_json
from fairgauge.collector.pages.take_part import bundle, integrity, types
from fairgauge.errors import InvalidInput

_STUDY = re.compile(r"https?://[^\s\"'<>]+/studies/[0-9a-f]{64}")
_NAME = "fairgauge-study.js"


def embed(
    study: Annotated[
        str,
        typer.Argument(
            help="The study's address: https://collector.example/studies/ and its digest.", show_default=False
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the copy.")] = Path(),
    json: _options.Json = False,
) -> None:
    """Write the form of a study as one script for your own page, and print the lines for that page."""
    if not _STUDY.fullmatch(study):
        raise InvalidInput("study", study, "must be an address such as https://collector.example/studies/ and a digest")
    if not output.is_dir():
        raise InvalidInput("output", output, "must be a folder that there is")
    data = bundle()
    (output / _NAME).write_bytes(data)
    (output / _NAME.replace(".js", ".d.ts")).write_bytes(types())
    seal = integrity(data)
    if json:
        show_json({"study": study, "script": _NAME, "integrity": seal})
        return
    typer.echo(f'<script type="module" src="/{_NAME}" integrity="{seal}"></script>')
    typer.echo(f'<fairgauge-study src="{study}"></fairgauge-study>')
