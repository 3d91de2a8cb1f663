"""``fairgauge token``: make, list and revoke the tokens of operators and readers."""

from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import out, show_json, show_table
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.collector.audit_log import leave_note
from fairgauge.server.bearer_tokens import new_token, read_tokens, read_uses, revoke_token

_SECRETS = Path("fairgauge-secrets")

token = typer.Typer(
    help="Make, list and revoke the tokens of operators and readers.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[str, typer.Option("--name", help="Whose token it is.", show_default=False)]


@token.command()
def new(
    name: Name,
    role: Annotated[str, typer.Option(help="operator (may publish and close) or reader (may see results).")] = "reader",
    expires: Annotated[str | None, typer.Option(help="When it ends, such as 2027-01-01T00:00:00Z.")] = None,
    secrets: _options.Secrets = _SECRETS,
    json: _options.Json = False,
) -> None:
    """Make a token, and print it once: only its hash is kept."""
    made = new_token(secrets, name=name, role=role, expires=expires)
    leave_note(secrets, "made a token", name)
    if json:
        show_json({"name": name, "role": role, "expires": expires, "token": made})
    else:
        out.print(made)


@token.command("list")
@in_forms
def show(
    secrets: _options.Secrets = _SECRETS,
    *,
    form: Form,
) -> None:
    """Show the names and roles of all tokens, when they end, and the hour in which each was last used."""
    uses = read_uses(secrets)
    kept = [
        {"name": one.name, "role": one.role, "expires": one.expires, "last_used": uses.get(one.name)}
        for one in read_tokens(secrets)
    ]
    if form != "people":
        show_as(form, {"tokens": kept}, kept)
        return
    rows = [[one["name"] or "", one["role"] or "", one["expires"] or "-", one["last_used"] or "-"] for one in kept]
    show_table("name", "role", "expires", "last used", rows=rows)


@token.command()
def revoke(name: Name, secrets: _options.Secrets = _SECRETS) -> None:
    """Forget a token; a running collector notices at once."""
    revoke_token(secrets, name=name)
    leave_note(secrets, "revoked a token", name)
