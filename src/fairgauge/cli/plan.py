"""``fairgauge plan``: any two of clients, epsilon and error give the third."""

from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import options
from fairgauge.cli.crowd_plan import promises, read_aim
from fairgauge.cli.for_sites import Wish as SiteWish
from fairgauge.cli.for_sites import plan_for_sites, read_expected
from fairgauge.cli.read import write_bytes
from fairgauge.cli.show import err, out, show_json, show_plan
from fairgauge.errors import InvalidInput
from fairgauge.estimation.kinds import DEFAULT
from fairgauge.goals.goal import Goal
from fairgauge.goals.wish import Wish
from fairgauge.planning.crossing import Grouping, read_attribute
from fairgauge.planning.crowd import plan_in_crowd
from fairgauge.planning.figure import check_kind, picture
from fairgauge.planning.saving import expectation_saves
from fairgauge.planning.search import plan_for
from fairgauge.planning.typed import as_count, as_epsilon, as_number, read_metric


def plan(
    group: options.Group = None,
    cross: options.Cross = None,
    shares: options.Shares = None,
    compare: options.Compare = None,
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
    crowd_epsilon: Annotated[
        str | None, typer.Option(help="What one release of all answers may cost a person; finds the local epsilon.")
    ] = None,
    delta: options.Delta = None,
    observed: options.Observed = None,
    local_limit: Annotated[
        str | None, typer.Option(help="The most epsilon that one answer may cost: 4 unless given, as on devices.")
    ] = None,
    outcome: options.Outcome = None,
    sites: Annotated[str | None, typer.Option(help="For sites: how many take part.")] = None,
    people: Annotated[str | None, typer.Option(help="For sites: how many people each of them holds.")] = None,
    positives: Annotated[float, typer.Option(help="For sites: the part of people whose truth is 1.")] = 0.5,
    json: options.Json = False,
) -> None:
    """Find how many clients, how much privacy or how small an error: give two, get the third."""
    if outcome is not None:
        attribute = read_attribute(Grouping(group or ("a", "b"), "group", cross or (), shares, compare or ()))
        wish = SiteWish(attribute, outcome, epsilon or "1")
        expected = read_expected(sites, people, positives, expect)
        plan_for_sites(wish, expected, confidence=confidence, json=json)
        return
    read = read_metric(metric)
    groups = read_attribute(Grouping(group or (), "group", cross or (), shares, compare or ()))
    goal = Goal.of(Wish(read, groups, target, abstain, expect, spread))
    count = None if clients is None else as_count("clients", clients)
    if plot is not None and count is None:
        raise InvalidInput("plot", plot, "needs --clients: the picture shows error against epsilon for so many")
    if plot is not None:
        check_kind(plot)
    aim = read_aim(clients, crowd_epsilon, delta, observed, local_limit)
    if aim is not None and (epsilon is not None or error is not None):
        raise InvalidInput("crowd-epsilon", crowd_epsilon, "takes the place of --epsilon and --error: leave them out")
    with err.status("Designing channels ...") as status:
        plan_all = partial(plan_for, goal, read, clients=count, confidence=confidence, interval=interval, detect=detect)

        def progress(design: str) -> None:
            status.update(f"Working out {design} ...")

        if aim is None:
            found = plan_all(
                epsilon=None if epsilon is None else as_epsilon(epsilon),
                error=None if error is None else as_number("error", error),
                progress=progress,
            )
        else:
            found = plan_in_crowd(
                goal, aim, lambda design, local: plan_all(epsilon=local, designs=[design]), progress=progress
            )
        if plot is not None and count is not None:
            status.update("Drawing ...")
            drawn = picture(check_kind(plot), goal, count, confidence=confidence, interval=interval, metric=read)
            write_bytes("plot", plot, drawn)
    if json:
        show_json(found.to_dict())
    else:
        show_plan(found)
        for line in promises(found):
            out.print(line)
        best = found.row(found.best) if found.best else None
        if best is not None and (saving := expectation_saves(goal, Decimal(str(best.epsilon)), read)):
            out.print(saving)
    if found.best is None:
        raise typer.Exit(1)
