"""``fairgauge key``: show, rotate and adopt the keys that a collector signs with."""

import asyncio
import time
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import out, show_json
from fairgauge.collector.audit_log import leave_note
from fairgauge.collector.gateway import Gateway
from fairgauge.collector.seal_record import KEY as RECORD
from fairgauge.collector.seal_record import Record, join
from fairgauge.collector.signatures import Signer, former_keys, public_of, remember_keys, rotate_key
from fairgauge.collector.stores.backup import open_existing
from fairgauge.collector.stores.store import Event
from fairgauge.errors import InvalidInput
from fairgauge.server.coarse_time import bucket_of
from fairgauge.server.tickets import Tickets

_SECRETS = Path("fairgauge-secrets")
_HOUR = 3600

key = typer.Typer(
    help="Show, rotate and adopt the keys that a collector signs with.", no_args_is_help=True, rich_markup_mode=None
)


@key.command()
def show(secrets: _options.Secrets = _SECRETS, json: _options.Json = False) -> None:
    """Show the public key that signs now, and those of before."""
    now, former = public_of(secrets), former_keys(secrets)
    if now is None:
        raise InvalidInput("secrets", secrets, "has no signing key: a collector makes one when it first starts")
    if json:
        show_json({"key": now, "former": former})
        return
    out.print(f"now     {now}")
    for one in reversed(former):
        out.print(f"before  {one}")


@key.command()
def rotate(secrets: _options.Secrets = _SECRETS, json: _options.Json = False) -> None:
    """Replace the signing key; what was signed before is served with the key that signed it."""
    old, new = rotate_key(secrets)
    leave_note(secrets, "rotated the key", new)
    if json:
        show_json({"key": new, "former": old})
        return
    out.print(f"now     {new}")
    out.print(f"before  {old}")
    out.print("Restart the collector, and tell people the new key.")


@key.command()
def gateway(
    secrets: _options.Secrets = _SECRETS,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Make a new one; studies that name the one of before go on with that.")
    ] = False,
    json: _options.Json = False,
) -> None:
    """Show the key configuration of the gateway (RFC 9458), for a study to name; it is made if there is none."""
    text = (Gateway.rotate if rotate else Gateway.in_folder)(secrets).config.to_text()
    if json:
        show_json({"gateway": text})
    else:
        out.print(text)


@key.command()
def adopt(
    store: Annotated[str, typer.Option(help="sqlite:///FILE or postgresql://...")],
    secrets: _options.Secrets = _SECRETS,
) -> None:
    """Let a store belong to the keys of this folder from now on; keys that are missing are made.

    Tickets made with another key are void.  Where the record of seals is lost, another begins, and every later seal
    says so.
    """
    since = asyncio.run(_adopt(store, secrets))
    out.print("The store belongs to these keys now.")
    if since is not None:
        out.print(f"The record of seals is whole since {since} only, and every later seal says so.")


async def _adopt(address: str, folder: Path) -> str | None:
    held = await open_existing(address)
    try:
        record = Record(folder, Signer.in_folder(folder))
        Tickets.in_folder(folder)
        hour = bucket_of(time.time(), _HOUR)
        known = [fingerprint for purpose, fingerprint in await held.keys() if purpose == RECORD]
        await remember_keys(held, folder, hour)
        await join(held, record, lambda: hour, anew=bool(known) and not record.of(known))
        await held.record(Event(hour, "command line", "adopted keys", folder.name))
        return record.since
    finally:
        await held.close()
