"""``fairgauge terms``: write a study with the terms on which it is run."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import err, out, show_json
from fairgauge.cli._crowd import check_draws
from fairgauge.cli._files import read_study, write_bytes
from fairgauge.cli._mechanisms import own
from fairgauge.client.sending_epoch import sharing
from fairgauge.crowd import default_delta, promised, readers_sentence, usual_draws
from fairgauge.errors import InvalidInput
from fairgauge.study import Issuer, Release, Study
from fairgauge.study.numbers import as_count, read_decimal
from fairgauge.unlinkable.pass_token import read_key

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
    study: _options.StudyFile,
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
    batch: Annotated[
        str | None, typer.Option(help="Show counts in batches of so many answers, with secret draws in each.")
    ] = None,
    draws: Annotated[
        str | None, typer.Option(help="How many secret draws a batch has: half of its blanket unless given.")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="The delta of that promise, such as 1e-8.")] = None,
    order: Annotated[
        str | None, typer.Option(help="waves if clients do not answer in random order, say one country after another.")
    ] = None,
    json: _options.Json = False,
) -> None:
    """Write a study with the terms on which it is run: who may answer, through what, and when it is sent."""
    given: dict[str, Any] = {"admission": admission, "gateway": gateway, "epoch": epoch, "order": order}
    if issuer is not None:
        given["issuer"] = _issuer(issuer)
        given["admission"] = admission or "blind"
    read = read_study(study)
    given["release"] = _release(read, batch, draws, delta)
    found = replace(read, **{name: value for name, value in given.items() if value is not None})
    _check_gateway(found)
    write_bytes("output", output, found.to_bytes())
    if json:
        show_json({"digest": found.digest})
        return
    out.print(f"{output}: digest {found.digest}")
    people = [asked for asked in found.questions if asked.whoever_answers or asked.known_shares is not None]
    if found.admission == "open" and not all(asked.mechanism.abstain for asked in people):
        err.print(_OUTSIDERS)
    if batch is not None and (crowd := promised(found)) is not None:
        out.print(readers_sentence(crowd))
    said, enough = sharing(found)
    if said:
        (out if enough else err).print(said)
    missing = [text for name, text in _MISSING.items() if getattr(found, name) is None]
    if 0 < len(missing) < len(_MISSING):
        err.print(f"It takes all three to keep answers from being linked to people. Here {'; '.join(missing)}.")


def _release(study: Study, batch: str | None, draws: str | None, delta: str | None) -> Release | None:
    """Return how counts leave; what is not said of it is what is usual."""
    if batch is None:
        for name, typed in (("draws", draws), ("delta", delta)):
            if typed is not None:
                raise InvalidInput(name, typed, "must be given with --batch")
        return None
    size = as_count("batch", batch)
    own(study.mechanism, check_draws)("batch", batch)
    count = usual_draws(study.channels, size) if draws is None else as_count("draws", draws)
    small = default_delta(size) if delta is None else read_decimal("delta", delta)
    return Release(size, f"{small:f}", count)


def _issuer(typed: str) -> Issuer:
    name, mark, key = typed.partition("=")
    if not mark:
        raise InvalidInput("issuer", typed, "must be HOST=KEY, such as issuer.example=MIIB...")
    read_key(key, field="issuer")
    return Issuer(name, key)


def _check_gateway(study: Study) -> None:
    """Refuse a gateway's key that no device could use, where it can be told."""
    if study.gateway is not None:
        from fairgauge.unlinkable.oblivious_http import KeyConfig

        KeyConfig.read(study.gateway)
