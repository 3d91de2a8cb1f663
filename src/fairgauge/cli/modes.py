"""Which options go with what: one that would change nothing is refused by its name, never ignored."""

from collections.abc import Iterable, Mapping
from shlex import quote

import typer

from fairgauge.errors import InvalidInput

Reasons = dict[str, tuple[str, ...]]

_WITH_OUTCOME = "must not be given with --outcome: "
# Why sites that count many people have no use for what is for devices; plan and design each have some of these.
_NOT_FOR_SITES: Reasons = {
    "sites count everyone they hold": ("answering", "abstain", "abstaining"),
    "the counts tell the groups' shares": ("share_error", "share_source"),
    "the counts tell every two groups' gap and each group's mean": ("compare", "against", "weigh", "target", "aim"),
    "sites send counts with noise, and all metrics are told by the same": (
        "design",
        "budgets",
        "symbols",
        "metric_weight",
    ),
}
_DESIGN_FOR_SITES: Reasons = {"noise is the same whatever is expected": ("expect", "spread")}
_PLAN_FOR_SITES: Reasons = {
    "a plan for sites takes two of --sites, --epsilon and --error, and --people": ("clients", "detect", "plot"),
    "a plan for sites is about the people that sites see": ("interval",),
    "a site's counts are sent as they are": ("crowd_epsilon", "delta", "local_limit"),
    "fairgauge design writes studies for sites": ("output", "title"),
}
_PLAN_FOR: Mapping[str, Reasons] = {
    "confusion": {"a plan for confusion takes --expect, how often the model is right": ("spread",)},
    "levels": {"a plan for levels takes --expect and --spread of the metric": ("positives",)},
}
_ONE_METRIC = ("plot", "crowd_epsilon", "delta", "local_limit", "output", "title")


def check_design(context: typer.Context, outcome: str | None, *, crosses: bool) -> None:
    """Refuse what ``fairgauge design`` would not use: for sites, for devices, and where attributes cross.

    Raises:
        InvalidInput: If such an option is typed.
    """
    if outcome is None:
        _refuse(context, "must be given with --outcome: devices hold one person each", ("records", "person"))
    else:
        _refuse_each(context, _WITH_OUTCOME, _NOT_FOR_SITES | _DESIGN_FOR_SITES)
    if crosses:
        _refuse(context, "must not be given beside --cross, which names the attributes", ("attribute",))


def check_plan(context: typer.Context, outcome: str | None, *, metrics: int, clients_alone: bool) -> None:
    """Refuse what ``fairgauge plan`` would not use: for sites, for devices, several metrics, and clients alone.

    Raises:
        InvalidInput: If such an option is typed.
    """
    if outcome is not None:
        _refuse_each(context, _WITH_OUTCOME, _NOT_FOR_SITES | _PLAN_FOR_SITES | _PLAN_FOR.get(outcome, {}))
        return
    _refuse(
        context,
        "must be given with --outcome: devices hold one person each",
        ("sites", "people", "positives", "records"),
    )
    if metrics > 1:
        _refuse(context, "takes one --metric", _ONE_METRIC)
    if clients_alone:
        _refuse(context, "needs --epsilon or --error beside --clients", ("detect", "plot", "design"))


def _refuse_each(context: typer.Context, start: str, reasons: Reasons) -> None:
    for reason, names in reasons.items():
        _refuse(context, start + reason, names)


def _refuse(context: typer.Context, rule: str, names: Iterable[str]) -> None:
    """Refuse options if they are typed, be it as they are without."""
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
