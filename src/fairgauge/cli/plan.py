"""``fairgauge plan``: any two of clients, epsilon and error give the third."""

from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import options
from fairgauge.cli.read import write_bytes
from fairgauge.cli.show import err, show_json, show_plan
from fairgauge.errors import InvalidInput
from fairgauge.estimation.kinds import DEFAULT
from fairgauge.goals.goal import Goal
from fairgauge.goals.wish import Wish
from fairgauge.planning.figure import check_kind, picture
from fairgauge.planning.search import plan_for
from fairgauge.planning.typed import as_count, as_epsilon, as_number, read_groups, read_metric


def plan(
    group: options.Group,
    metric: Annotated[str, typer.Option(help="name:low:high")] = "metric:0:1",
    epsilon: options.MaybeEpsilon = None,
    clients: Annotated[str | None, typer.Option(help="How many devices will answer, such as 1e6.")] = None,
    error: Annotated[str | None, typer.Option(help="Half-width of the interval, in the metric's units.")] = None,
    confidence: options.Confidence = 0.99,
    interval: options.IntervalName = DEFAULT,
    target: options.Target = None,
    abstain: options.Abstain = False,
    expect: options.Expect = None,
    spread: options.Spread = None,
    detect: Annotated[float | None, typer.Option(help="Also tell the chance of noticing a gap of this size.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw error against epsilon to a .svg, .png or .pdf file.")] = None,
    json: options.Json = False,
) -> None:
    """Find how many clients, how much privacy or how small an error: give two, get the third."""
    read = read_metric(metric)
    groups = read_groups(group, "group")
    goal = Goal.of(Wish(read, groups, target, abstain, expect, spread))
    count = None if clients is None else as_count("clients", clients)
    if plot is not None and count is None:
        raise InvalidInput("plot", plot, "needs --clients: the picture shows error against epsilon for so many")
    if plot is not None:
        check_kind(plot)
    with err.status("Designing channels ...") as status:
        found = plan_for(
            goal,
            read,
            epsilon=None if epsilon is None else as_epsilon(epsilon),
            clients=count,
            error=None if error is None else as_number("error", error),
            confidence=confidence,
            interval=interval,
            detect=detect,
            progress=lambda design: status.update(f"Working out {design} ..."),
        )
        if plot is not None and count is not None:
            status.update("Drawing ...")
            drawn = picture(check_kind(plot), goal, count, confidence=confidence, interval=interval, metric=read)
            write_bytes("plot", plot, drawn)
    if json:
        show_json(found.to_dict())
    else:
        show_plan(found)
    if found.best is None:
        raise typer.Exit(1)
