"""``fairgauge plan``: any two of clients, epsilon and error give the third."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from fairgauge.cli import _options
from fairgauge.cli._choices import show_choices
from fairgauge.cli._console import err, out
from fairgauge.cli._crowd import promises
from fairgauge.cli._drafts import PlanRequest, expected_people, load_draft, typed_over, usual_groups, usual_metric
from fairgauge.cli._files import write_bytes
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._mechanisms import own
from fairgauge.cli._option_rules import check_plan, retyped
from fairgauge.cli._progress import designing
from fairgauge.cli._show import DesignLines, show_assumed, show_best, show_designs, show_plan
from fairgauge.client.sending_epoch import sharing_of
from fairgauge.designs import AUTO, check_design, designs_for
from fairgauge.designs.classical_designs import Budgets
from fairgauge.errors import InvalidInput
from fairgauge.estimation.interval_kinds import DEFAULT, KINDS
from fairgauge.planning import Plan, Plans
from fairgauge.planning.answering import weighed_sentence, with_answering
from fairgauge.planning.choose_epsilon import GOOD, LARGE, Choices, choices, choose_epsilon, no_study_sentence
from fairgauge.planning.crowd_plan import CrowdAim, check_crowd, plan_in_crowd, planned_study, read_aim
from fairgauge.planning.few_people import FewPeople, Way
from fairgauge.planning.plan_figure import Terms, check_kind, picture
from fairgauge.planning.plans import MOST, plan_questions
from fairgauge.study import Metric, Question, Study
from fairgauge.study.numbers import as_count, as_epsilon, as_number
from fairgauge.targets.scores import Scores

_TWO_EQUAL = "Reckoned with two equal groups; --group says otherwise."


@in_forms
def plan(
    context: typer.Context,
    file: _options.DraftFile = None,
    group: _options.Group = None,
    answering: _options.Answering = None,
    cross: _options.Cross = None,
    shares: _options.Shares = None,
    compare: _options.Compare = None,
    against: _options.Against = None,
    weigh: _options.Weigh = None,
    symbols: _options.Symbols = None,
    share_error: _options.ShareError = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="name:low:high; several are questions of one study. metric:0:1 unless given."),
    ] = None,
    metric_weight: _options.MetricWeight = None,
    epsilon: _options.MaybeEpsilon = None,
    clients: Annotated[str | None, typer.Option(help="How many devices will answer, such as 1e6.")] = None,
    error: Annotated[str | None, typer.Option(help="Half-width of the interval, in the metric's units.")] = None,
    design: Annotated[
        str | None,
        typer.Option(
            help="One design alone, such as laplace; all that serve are compared unless given.", hidden=_options.RARE
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence", help="How often the interval is to hold the truth; 0.99 unless given.", hidden=_options.RARE
        ),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            help=f"What the interval is about and promises: {', '.join(KINDS)}. {DEFAULT} unless given.",
            hidden=_options.RARE,
        ),
    ] = None,
    target: _options.Target = None,
    abstain: Annotated[
        bool | None, typer.Option("--abstain", help="Let people prefer not to say.", hidden=_options.RARE)
    ] = None,
    abstaining: _options.Abstaining = None,
    expect: _options.Expect = None,
    spread: _options.Spread = None,
    detect: Annotated[
        float | None, typer.Option(help="Also tell the chance of noticing a gap of this size.", hidden=_options.RARE)
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw error against epsilon to a .svg, .png or .pdf file.")] = None,
    crowd_epsilon: Annotated[
        str | None,
        typer.Option(
            help="What counts may cost a person; finds the local epsilon and the secret draws. auto: the least that "
            "reaches --error."
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            help="The crowd's delta; 1e-8 unless given, and less where answers are more than 10 million.",
            hidden=_options.RARE,
        ),
    ] = None,
    local_limit: Annotated[
        str | None,
        typer.Option(
            help="The most epsilon that one answer may cost: 4 unless given, as on devices.", hidden=_options.RARE
        ),
    ] = None,
    outcome: _options.Outcome = None,
    sites: Annotated[str | None, typer.Option(help="For sites: how many take part.", hidden=_options.RARE)] = None,
    people: Annotated[
        str | None, typer.Option(help="For sites: how many people each of them holds.", hidden=_options.RARE)
    ] = None,
    positives: Annotated[
        float | None,
        typer.Option(help="For sites: the part of people whose truth is 1; a half unless given.", hidden=_options.RARE),
    ] = None,
    records: _options.Records = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="With --crowd-epsilon: write the study of the best design here.",
            hidden=_options.RARE,
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="What that study is about, for the people who are asked.", hidden=_options.RARE)
    ] = None,
    *,
    form: Form,
) -> None:
    """Find how many clients, how much privacy or how small an error: give two, get the third."""
    stated = load_draft(file)
    stated = replace(stated, outcome=outcome or stated.outcome)
    contributors = stated.contributors
    metric = metric or usual_metric(file, contributors)
    people_known = {"people": people, "positives": positives}
    people_known |= own(contributors, expected_people)(metric or stated.metrics, expect)
    stated = replace(
        stated, plan={**stated.plan, **{n: value for n, value in people_known.items() if value is not None}}
    )
    wanted = PlanRequest.of(
        stated, clients=clients if sites is None else sites, epsilon=epsilon, error=error, confidence=confidence,
        interval=interval, detect=detect, crowd_epsilon=crowd_epsilon, delta=delta, local_limit=local_limit,
    )  # fmt: skip
    own(contributors, check_plan)(context, metrics=len(metric or stated.metrics), clients_alone=wanted.clients_alone)
    two_equal = [] if group else usual_groups(stated, cross)
    draft = typed_over(
        stated,
        {
            "groups": group or two_equal, "crosses": cross, "shares": shares, "compare": compare, "against": against,
            "weigh": weigh, "answering": answering, "share_error": share_error,
        },
        metric,
        {},
        records=records, target=target, design=design, abstain=abstain, abstaining=abstaining,
        expect=None if "right" in people_known else expect, spread=spread, weights=metric_weight, symbols=symbols,
    )  # fmt: skip
    draft.check_heeded()
    wanted = wanted.with_usual_error(file, draft)
    clients, epsilon, error, crowd_epsilon = wanted.clients, wanted.epsilon, wanted.error, wanted.crowd_epsilon
    confidence, interval, design = wanted.confidence, wanted.interval, draft.design or AUTO
    own(contributors, _check_enough)(clients=clients or crowd_epsilon, epsilon=epsilon, error=error)
    for said in filter(None, (wanted.said, _TWO_EQUAL if two_equal else None)):
        (out if form == "people" else err).print(said)
    asked_of = draft.planned_questions()
    count = None if clients is None else as_count(contributors.count, clients)
    asked: dict[str, Any] = {"clients": count, "confidence": confidence, "interval": interval, "detect": wanted.detect}
    asked |= _one_design(design, epsilon)
    two = {
        "epsilon": None if epsilon is None else as_epsilon(epsilon),
        "error": error if error is None or isinstance(error, dict) else as_number("error", error),
    }
    _check_plot(plot, count)
    aim = read_aim(clients, crowd_epsilon, {"delta": wanted.delta, "local_limit": wanted.local_limit}, dash="-")
    _check_crowd(wanted, output, title, aim)
    if count is not None and wanted.clients_alone:
        _choose(context, form, asked_of, count, confidence=confidence, interval=interval)
        return
    first = asked_of[0]
    with designing() as waiting:

        def progress(design: str) -> None:
            waiting(f"Working out {design}")

        if aim is None:
            lines = own(contributors, _first_lines)(form, asked_of, asked | two)
            plans = plan_questions(asked_of, **asked, **two, **lines, progress=progress)
        else:
            given = asked | {"error": two["error"]}
            plans = plan_in_crowd(first, aim, given, designs=asked.get("designs"), progress=progress)
        if plot is not None and count is not None:
            waiting("Drawing")
            terms: Terms = {"confidence": confidence, "interval": interval, "metric": first.metric}
            write_bytes("plot", plot, picture(check_kind(plot), Scores.of(first), count, **terms))
        if form == "people":
            own(contributors, _show_first)(plans, begun=aim is None)
        plans = with_answering(asked_of, plans)
        made = None if output is None or title is None else planned_study(plans[0], first, title)
        if made is not None and output is not None:
            write_bytes("output", output, made.to_bytes())
    if form != "people":
        show_as(form, plans.to_dict(), _rows(zip(plans.metrics, plans, strict=True)))
    else:
        own(contributors, _plan)(asked_of, plans)
        _show_sharing(count, plans, draft.terms)
        _show_stratum(plans, draft.terms)
        _show_release(output, made)
        if aim is None and design == AUTO:
            own(contributors, _show_missed)(context, asked_of, plans)
    if any(found.best is None for found in plans):
        raise typer.Exit(1)


def _one_design(design: str, epsilon: str | None) -> dict[str, list[str]]:
    check_design(design)
    if Budgets.read(design) is not None and epsilon is None:
        raise InvalidInput("design", design, "needs --epsilon: its budgets say what it costs")
    return {} if design == AUTO else {"designs": [design]}


def _show_papers(found: Plan, scores: Scores, metric: Metric) -> None:
    """Say beside a mechanism of the source paper what the paper's own planning gives for it."""
    # Loaded by who asks for one design: the paper's room brings an optimiser.
    from fairgauge.paper.bounds import planned_sentence

    row = found.rows[0]
    asked = {"clients": row.clients, "epsilon": row.epsilon, "error": row.error, found.solved_for: None}
    if scores.target.groups != 2:
        return
    said = planned_sentence(row.design, asked, found.confidence, scores.target.shares, metric.scale)
    if said is not None:
        out.print(said)


def _check_enough(**given: str | None) -> None:
    names = [name for name, value in given.items() if value is not None]
    if "clients" not in names and len(names) < 2:
        rule = "give --clients alone for a table of epsilons, or two of --clients, --epsilon and --error"
        raise InvalidInput("given", "".join(names) or "nothing", rule)


def _check_plot(plot: Path | None, count: int | None) -> None:
    if plot is None:
        return
    if count is None:
        raise InvalidInput("plot", plot, "needs --clients: the picture shows error against epsilon for so many")
    check_kind(plot)


def _choose(context: typer.Context, form: Form, questions: Sequence[Question], clients: int, **terms: Any) -> None:
    with designing() as waiting:
        found = choose_epsilon(questions, clients, **terms, progress=lambda one: waiting(f"Working out epsilon {one}"))
    if form != "people":
        show_as(form, found.to_dict(), _rows((each.metric.name, each) for each in found.each))
        return
    show_choices(found)
    short = [
        (FewPeople(question, clients, Decimal(1), **terms), one.good) if one.missed_at(1) else None
        for question, one in zip(questions, found.each, strict=True)
    ]
    _show_more(context, short)


def _check_crowd(wanted: PlanRequest, output: Path | None, title: str | None, aim: CrowdAim | None) -> None:
    if aim is not None:
        check_crowd("crowd-epsilon", wanted.crowd_epsilon, epsilon=wanted.epsilon, error=wanted.error)
    if output is not None and aim is None:
        rule = "must be given with --crowd-epsilon: fairgauge design writes other studies"
        raise InvalidInput("output", output, rule)
    if output is not None and title is None:
        raise InvalidInput("title", "nothing", "must be given with --output: what the study is about")
    if title is not None and output is None:
        raise InvalidInput("title", title, "must be given with --output")


def _first_lines(form: Form, questions: Sequence[Question], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what shows each design of one question as soon as it is known: what comes then takes longer."""
    if form != "people" or len(questions) > 1:
        return {}
    designs = asked.get("designs") or designs_for(Scores.of(questions[0]))
    wanted = next((name for name in ("epsilon", "clients") if asked[name] is None), "error")
    return {"known": DesignLines(designs, wanted).show}


def _show_first(plans: Plans, *, begun: bool) -> None:
    """Print what is known already of one question, but for lines that are there."""
    if len(plans) == 1:
        (show_assumed if begun else show_designs)(plans[0])


def _show_missed(context: typer.Context, questions: Sequence[Question], plans: Plans) -> None:
    """Print what else could be done where a plan tells too little."""
    _show_more(context, list(map(_missed, questions, plans)))


def _plan(questions: Sequence[Question], plans: Plans) -> None:
    """Print plans for people."""
    if len(plans) == 1:
        _show_one(plans[0], Scores.of(questions[0]), questions[0].metric)
        return
    for sentence in plans.sentences():
        out.print(sentence)
    for name, found in zip(plans.metrics, plans, strict=True):
        out.print(Text.assemble("\n", (name, "bold")))
        show_plan(found)


def _show_one(found: Plan, scores: Scores, metric: Metric) -> None:
    show_best(found)
    if len(found.rows) == 1:
        _show_papers(found, scores, metric)
    for line in promises(found):
        out.print(line)
    best = found.row(found.best) if found.best else None
    if best is None:
        most = f" at an epsilon up to {MOST}, all that devices allow by themselves,"
        within = most if found.solved_for == "epsilon" else ""
        out.print(f"\nNo design reaches this error{within} as it is asked: allow a larger one, or find more clients.")
        if scores.target.share_error:
            out.print("Shares that may be off leave an error that no number of clients takes away.")
        return
    if scores.target.share_error and best.design not in found.as_good:
        better = found.as_good[0]
        out.print(f"Because shares may be off {better} is better here: design takes it with --design {better}.")
    if found.solved_for == "error" and best.clients is not None and best.error is not None:
        parts = best.pairs if found.target == "gap" else best.means
        terms: dict[str, Any] = {"confidence": found.confidence, "interval": found.interval}
        at, epsilon = best.clients, Decimal(str(best.epsilon))

        def needed() -> int | None:
            return choices(scores, metric, at, epsilons=[epsilon], **terms).rows[0].clients

        warning = no_study_sentence(at, best.error, metric, parts, needed)
        if warning is not None:
            out.print(warning)


def _show_sharing(count: int | None, plans: Plans, terms: Mapping[str, Any]) -> None:
    answers = count if plans.solved_for != "clients" or plans.enough is None else int(plans.enough)
    said, enough = sharing_of(answers, *(terms.get(name) for name in ("epoch", "opens", "closes")))
    if said:
        (out if enough else err).print(said)


def _show_stratum(plans: Plans, terms: Mapping[str, Any]) -> None:
    if "stratum" not in terms:
        return
    for said in filter(None, (weighed_sentence(plan, terms["stratum"]) for plan in plans)):
        out.print(said)


def _show_release(output: Path | None, made: Study | None) -> None:
    if made is not None and made.release is not None:
        batch, draws = made.release.batch, made.release.draws
        told = f"Its counts leave in batches of {batch:,} answers, with {draws:,} secret draws in each"
        out.print(f"{output}: the study. {told}; what is left at closing is a batch of its own.")


# People who tell too little of a question, and the error that is wanted.
_Short = tuple[FewPeople, float]


def _missed(question: Question, found: Plan) -> _Short | None:
    """Return who tells too little where a goal is missed, or only an epsilon reaches it that tells much of a person."""
    solved, row = found.solved_for, found.row(found.best) if found.best else found.rows[0]
    if solved == "clients" or row.clients is None or row.error is None:
        return None
    good = 2 * GOOD * question.metric.scale
    missed = found.best is None or row.error > good
    if not missed and (solved != "epsilon" or (row.epsilon or 0) <= LARGE):
        return None
    epsilon = Decimal(f"{row.epsilon:.12g}") if solved == "error" else Decimal(1)
    few = FewPeople(question, row.clients, epsilon, found.confidence, found.interval)
    return few, row.error if solved == "epsilon" else good


def _show_more(context: typer.Context, missed: Sequence[_Short | None]) -> None:
    """Say for each question what else could be done where too little is told of it."""
    short = [one for one in missed if one is not None]
    if len(missed) > 1 and short:
        _show_alone(context, short)
    elif short:
        _show_ways(context, *short[0])


def _show_ways(context: typer.Context, few: FewPeople, wanted: float) -> None:
    """Print what else could be done, each with what it gives and what to type, as soon as it is known."""
    with designing() as waiting:
        ways = few.ways(progress=lambda what: waiting(f"Working out {what}"))
        first = next(ways, None)
        if first is None:
            return
        about = f"for ±{wanted:.3g} with {few.clients:,} people, at epsilon {few.epsilon} unless it says so"
        out.print(f"\nWhat else could be done {about}:")
        for way in chain([first], ways):
            _show_way(context, way, wanted)


def _show_alone(context: typer.Context, short: Sequence[_Short]) -> None:
    """Print what questions that share the answers would get alone; the plan of one says what else could be done."""
    few = short[0][0]
    about = f"with {few.clients:,} people, at epsilon {few.epsilon}"
    out.print(f"\nThe questions share the answers. What a question that gets too few would get alone {about}:")
    with designing() as waiting:
        for few, wanted in short:
            _show_way(context, few.alone(progress=lambda what: waiting(f"Working out {what}")), wanted)


def _show_way(context: typer.Context, way: Way, wanted: float) -> None:
    enough = "enough" if way.reaches(wanted) else ""
    out.print(f"  {f'±{way.error:.3g}':<9} {enough:<7} {way.what}")
    out.print(f"  {'':<17} {retyped(context, way.options)}")


def _rows(named: Iterable[tuple[str, Plan | Choices]]) -> list[dict[str, Any]]:
    """Return what belongs into a table: what a row assumes of values is a sentence, what of who answers a column."""
    left_out = ("assumes", "pairs", "means", "parts")
    return [
        {"metric": name, **{n: v for n, v in row.to_dict().items() if n not in left_out}}
        | ({} if found.condition is None else {"condition": found.condition})
        for name, found in named
        for row in found.rows
    ]
