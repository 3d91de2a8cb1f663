"""``fairgauge terms``: write a study with the terms on which it is run."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fairgauge.cli import options
from fairgauge.cli.console import err, out, show_json
from fairgauge.cli.read import read_study, write_bytes
from fairgauge.client.moments import ENOUGH_TOGETHER, sharing
from fairgauge.errors import InvalidInput
from fairgauge.passes import read_key
from fairgauge.study import Issuer, Study

_MISSING = {
    "issuer": "who gives out tickets recognises them when they are spent (--issuer)",
    "gateway": "the collector sees addresses (--gateway)",
    "epoch": "the moment at which an answer arrives may tell whose it is (--epoch)",
}
_OUTSIDERS = (
    "Everyone may answer, also people who have no group or value of the study: they answer like somebody with a random "
    "one, and nobody knows how many they are. fairgauge design --admission open lets them abstain."
)


def terms(
    study: options.StudyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the study.")],
    admission: Annotated[
        str | None, typer.Option(help="Who may answer: open, tickets, or blind, which --issuer means.")
    ] = None,
    issuer: Annotated[
        str | None, typer.Option(metavar="HOST=KEY", help="Who gives out blind tickets, and its public key.")
    ] = None,
    gateway: Annotated[str | None, typer.Option(help="The key configuration of the collector's gateway.")] = None,
    epoch: Annotated[
        int | None, typer.Option(help="For how many seconds answers are held back, such as 86400.")
    ] = None,
    order: Annotated[
        str | None, typer.Option(help="waves if clients do not answer in random order, say one country after another.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Write a study with the terms on which it is run: who may answer, through what, and when it is sent."""
    given: dict[str, Any] = {"admission": admission, "gateway": gateway, "epoch": epoch, "order": order}
    if issuer is not None:
        given["issuer"] = _issuer(issuer)
        given["admission"] = admission or "blind"
    found = replace(read_study(study), **{name: value for name, value in given.items() if value is not None})
    _check_gateway(found)
    write_bytes("output", output, found.to_bytes())
    if json:
        show_json({"digest": found.digest})
        return
    out.print(f"{output}: digest {found.digest}")
    people = [asked for asked in found.questions if asked.whoever_answers or asked.known_shares is not None]
    if found.admission == "open" and not all(asked.mechanism.abstain for asked in people):
        err.print(_OUTSIDERS)
    if (together := sharing(found)) is not None:
        others, alone = together
        said = f"About {others:.3g} others share an epoch with an answer"
        if others >= ENOUGH_TOGETHER:
            out.print(f"{said}.")
        else:
            often = f", and {alone:.0%} of answers are alone in theirs" if alone >= 0.005 else ""
            err.print(f"{said}{often}: below {ENOUGH_TOGETHER} the moment tells much. Take a longer --epoch.")
    missing = [text for name, text in _MISSING.items() if getattr(found, name) is None]
    if 0 < len(missing) < len(_MISSING):
        err.print(f"It takes all three to keep answers from being linked to people. Here {'; '.join(missing)}.")


def _issuer(typed: str) -> Issuer:
    name, mark, key = typed.partition("=")
    if not mark:
        raise InvalidInput("issuer", typed, "must be HOST=KEY, such as issuer.example=MIIB...")
    read_key(key, field="issuer")
    return Issuer(name, key)


def _check_gateway(study: Study) -> None:
    """Refuse a gateway's key that no device could use, where it can be told."""
    if study.gateway is not None:
        from fairgauge.envelopes import KeyConfig

        KeyConfig.read(study.gateway)
