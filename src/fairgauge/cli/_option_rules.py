"""Which options go with what: one that would change nothing is refused by its name, never ignored."""

from collections.abc import Iterable, Mapping
from shlex import quote

import typer

from fairgauge.errors import InvalidInput

_NOT_BESIDE_CROSS = "must not be given beside --cross, which names the attributes"
_WITH_OUTCOME = "must be given with --outcome: devices hold one person each"
_ONE_METRIC = ("plot", "crowd_epsilon", "delta", "local_limit", "output", "title")


def check_design(context: typer.Context) -> None:
    """Refuse what ``fairgauge design`` would not use for devices.

    Raises:
        InvalidInput: If such an option is typed.
    """
    refuse(context, _WITH_OUTCOME, ("records", "person"))


def check_crossing(context: typer.Context) -> None:
    """Refuse what ``fairgauge design`` would not use where attributes cross.

    Raises:
        InvalidInput: If such an option is typed.
    """
    refuse(context, _NOT_BESIDE_CROSS, ("attribute",))


def check_plan(context: typer.Context, *, metrics: int, clients_alone: bool) -> None:
    """Refuse what ``fairgauge plan`` would not use for devices, several metrics, and clients alone.

    Raises:
        InvalidInput: If such an option is typed.
    """
    refuse(context, _WITH_OUTCOME, ("sites", "people", "positives", "records"))
    if metrics > 1:
        refuse(context, "takes one --metric", _ONE_METRIC)
    if clients_alone:
        refuse(context, "needs --epsilon or --error beside --clients", ("detect", "plot", "design"))


def refuse(context: typer.Context, rule: str, names: Iterable[str]) -> None:
    """Refuse options if they are typed, be it as they are without.

    Raises:
        InvalidInput: If one is; the error names it.
    """
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            typed = context.params[name]
            shown = ", ".join(map(str, typed)) if isinstance(typed, list | tuple) else typed
            raise InvalidInput(name.replace("_", "-"), shown, rule)


def retyped(context: typer.Context, changed: Mapping[str, str | None]) -> str:
    """Return the command that was typed with other options: instead of those there were, or left out where None."""
    words = [str(context.info_name)]
    for one in context.command.params:
        source = context.get_parameter_source(str(one.name))
        if source is None or source.name != "COMMANDLINE":
            continue
        typed, name = context.params[str(one.name)], str(one.name).replace("_", "-")
        if one.param_type_name == "argument":
            words.append(quote(str(typed)))
        elif name not in changed:
            for value in typed if isinstance(typed, list | tuple) else [typed]:
                words += [f"--{name}"] if value is True else [f"--{name}", quote(str(value))]
    for name, value in changed.items():
        words += [] if value is None else [f"--{name}", quote(value)]
    return f"fairgauge {' '.join(words)}"
