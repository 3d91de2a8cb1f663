"""``fairgauge token``: make, list and revoke the tokens of operators and readers."""

from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import options
from fairgauge.cli.show import out, show_json
from fairgauge.collector.tokens import new_token, read_tokens, revoke_token

SECRETS = Path("fairgauge-secrets")

token = typer.Typer(
    help="Make, list and revoke the tokens of operators and readers.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[str, typer.Option("--name", help="Whose token it is.", show_default=False)]


@token.command()
def new(
    name: Name,
    role: Annotated[str, typer.Option(help="operator (may publish and close) or reader (may see results).")] = "reader",
    secrets: options.Secrets = SECRETS,
    json: options.Json = False,
) -> None:
    """Make a token, and print it once: only its hash is kept."""
    made = new_token(secrets, name=name, role=role)
    if json:
        show_json({"name": name, "role": role, "token": made})
    else:
        out.print(made)


@token.command("list")
def show(secrets: options.Secrets = SECRETS, json: options.Json = False) -> None:
    """Show the names and roles of all tokens."""
    kept = [{"name": one.name, "role": one.role} for one in read_tokens(secrets)]
    if json:
        show_json({"tokens": kept})
        return
    for one in kept:
        out.print(f"{one['role']:<9} {one['name']}")


@token.command()
def revoke(name: Name, secrets: options.Secrets = SECRETS) -> None:
    """Forget a token; a running collector notices at once."""
    revoke_token(secrets, name=name)
