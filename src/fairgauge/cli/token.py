"""``fairgauge token``: make, list and revoke the tokens of operators and readers."""

from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import options
from fairgauge.cli.show import out, show_json
from fairgauge.collector.tokens import new_token, read_tokens, revoke_token
from fairgauge.errors import InvalidInput


def token(
    action: Annotated[str, typer.Argument(help="new, list or revoke.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="Whose token it is.")] = None,
    role: Annotated[str, typer.Option(help="operator (may publish and close) or reader (may see results).")] = "reader",
    secrets: options.Secrets = Path("fairgauge-secrets"),
    json: options.Json = False,
) -> None:
    """Make, list or revoke tokens; a running collector notices at once."""
    if action == "list":
        kept = [{"name": one.name, "role": one.role} for one in read_tokens(secrets)]
        if json:
            show_json({"tokens": kept})
        else:
            for one in kept:
                out.print(f"{one['role']:<9} {one['name']}", markup=False)
        return
    if action not in ("new", "revoke"):
        raise InvalidInput("action", action, "must be new, list or revoke")
    if name is None:
        raise InvalidInput("name", "nothing", "must be given, such as --name alice")
    if action == "revoke":
        revoke_token(secrets, name=name)
        return
    made = new_token(secrets, name=name, role=role)
    if json:
        show_json({"name": name, "role": role, "token": made})
    else:
        out.print(made, markup=False)
