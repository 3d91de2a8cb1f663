"""``fairgauge store``: check, back up, restore, upgrade and thin out what a collector keeps."""

import asyncio
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fairgauge.cli import _options
from fairgauge.cli._console import out, show_table
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._progress import waiting
from fairgauge.collector.stores import backup as stores
from fairgauge.collector.stores.store import Event
from fairgauge.collector.stores.store_check import Checked
from fairgauge.errors import InvalidInput
from fairgauge.server.coarse_time import bucket_of, moment_of

_WHO = "command line"
_SECRETS = Path("fairgauge-secrets")
_HOUR = 3600

store = typer.Typer(
    help="Check, back up, restore, upgrade and thin out what a collector keeps.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_Address = Annotated[str, typer.Option("--store", help="sqlite:///FILE or postgresql://...")]
_GAUGE = "sqlite:///gauge.db"


@store.command()
@in_forms
def check(
    address: _Address = _GAUGE,
    secrets: _options.Secrets = _SECRETS,
    *,
    form: Form,
) -> None:
    """Compare every tally with its answers and every seal with both and the record, also while a collector runs."""
    with waiting("Checking") as bar:
        found = asyncio.run(stores.check(address, secrets=secrets, progress=lambda title: bar.say(f"Checking {title}")))
    _show(found, "What is stored agrees", form)
    if found.faults:
        raise typer.Exit(1)


@store.command()
@in_forms
def backup(
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write; it must not exist.")],
    address: _Address = _GAUGE,
    *,
    form: Form,
) -> None:
    """Copy a store as it is at one moment, while it is used, and check the copy. Keys are not in it."""
    with waiting("Copying") as bar:
        found = asyncio.run(stores.back_up(address, output, progress=lambda title: bar.say(f"Checking {title}")))
    _show(found, f"{output} is a whole copy, checked", form)


@store.command()
@in_forms
def restore(
    backup: Annotated[Path, typer.Argument(help="A file that fairgauge store backup wrote.", show_default=False)],
    address: _Address = _GAUGE,
    secrets: _options.Secrets = _SECRETS,
    without_record: Annotated[
        bool, typer.Option("--without-record", help="The record of seals is lost, too: every later seal says so.")
    ] = False,
    *,
    form: Form,
) -> None:
    """Put a copy in place of a store that is gone, and check it there. Nothing is overwritten.

    What the record of seals says was sealed or released after the copy was made is closed.
    """
    event = Event(bucket_of(time.time(), _HOUR), _WHO, "restored", backup.name)
    with waiting("Restoring") as bar:
        told = lambda title: bar.say(f"Checking {title}")  # noqa: E731 - one word
        found = asyncio.run(
            stores.restore(backup, address, event, secrets=secrets, without_record=without_record, progress=told)
        )
    _show(found, "The copy is in place, checked", form)
    if form == "people":
        for digest in found.over:
            out.print(f"Study {digest[:12]}… was sealed, or released batches, after the copy was made: it is closed.")
        out.print("Answers that came after the copy was made are gone: their devices can send them again with")
        out.print("  fairgauge answer ... --again")


@store.command()
def migrate(
    address: _Address = _GAUGE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
) -> None:
    """Bring a store to this version's schema, as serve does when it starts."""
    steps = asyncio.run(stores.upgrade_steps(address))
    if not steps:
        out.print("The store has this version's schema: nothing to do.")
        return
    if not dry_run:
        with waiting("Upgrading"):
            asyncio.run(stores.migrate(address))
    for step in steps:
        out.print(f"{'would run' if dry_run else 'ran'} {step}")


@store.command()
def forget(
    study: Annotated[str, typer.Option(help="The study's digest.", show_default=False)],
    what: Annotated[
        str, typer.Option("--what", help="answers (of a sealed study; tally and seal stay) or study (all).")
    ],
    address: _Address = _GAUGE,
) -> None:
    """Remove the answers of a sealed study, or a closed study as a whole, and note it in the audit log."""
    if what not in ("answers", "study"):
        raise InvalidInput("what", what, "must be answers or study")
    with waiting("Removing"):
        left = asyncio.run(_forget(address, study, what))
    out.print(f"The {'answers are' if what == 'answers' else 'study and its answers are'} removed. {left}")
    out.print("Copies that were made before hold them for as long as you keep the copies.")


@store.command()
@in_forms
def log(
    address: _Address = _GAUGE,
    lines: Annotated[int, typer.Option(help="How many lines, the newest first.")] = 50,
    *,
    form: Form,
) -> None:
    """Show who did what: the audit log."""
    events = [
        {"hour": moment_of(e.bucket), "who": e.who, "did": e.did, "about": e.about}
        for e in asyncio.run(_events(address, lines))
    ]
    if form != "people":
        show_as(form, {"events": events}, events)
        return
    show_table("hour", "who", "did", "about", rows=[list(event.values()) for event in events])


async def _forget(address: str, digest: str, what: str) -> str:
    """Remove it, and return where its bytes may still be."""
    held = await stores.open_existing(address)
    try:
        kept = await held.study(digest)
        if kept is None:
            raise InvalidInput("study", digest, "is not in this store")
        event = Event(bucket_of(time.time(), _HOUR), _WHO, f"removed {what}", digest)
        if what == "answers" and not await held.drop_answers(kept.number, event):
            raise InvalidInput("study", digest, "must be sealed, and have answers that are not removed yet")
        if what == "study" and not await held.delete(kept.number, event):
            raise InvalidInput("study", digest, "must be closed: close it first")
        return await held.scrub()
    finally:
        await held.close()


async def _events(address: str, lines: int) -> list[Event]:
    held = await stores.open_to_read(address)
    try:
        return await held.events(lines)
    finally:
        await held.close()


def _show(found: Checked, sentence: str, form: Form) -> None:
    if form != "people":
        told = {"studies": found.studies, "answers": found.answers, "seals": found.seals}
        show_as(form, told | {"faults": list(found.faults)}, [told | {"faults": "; ".join(found.faults)}])
        return
    parts = (("study", "studies", found.studies), ("answer", "answers", found.answers), ("seal", "seals", found.seals))
    counted = ", ".join(f"{number:,} {one if number == 1 else many}" for one, many, number in parts)
    for fault in found.faults:
        out.print(Text.assemble(("fault ", "bold red"), fault))
    faults = "1 fault" if len(found.faults) == 1 else f"{len(found.faults)} faults"
    out.print(f"{counted}: {faults}." if found.faults else f"{sentence}: {counted}.")
