"""``fairgauge design``: make a study document."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from fairgauge.cli import _options
from fairgauge.cli._console import out
from fairgauge.cli._drafts import load_draft, typed_over
from fairgauge.cli._files import write_bytes
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._mechanisms import SHARE, TOLD, own
from fairgauge.cli._option_rules import check_crossing, check_design
from fairgauge.cli._progress import designing
from fairgauge.cli._show import MEAN, show_parts
from fairgauge.designs import AUTO
from fairgauge.designs.classical_designs import Budgets
from fairgauge.designs.level_count import WORTH, largest_rounding_cost
from fairgauge.estimation.estimands import estimands_of
from fairgauge.languages import PLAIN
from fairgauge.planning.choose_design import choice_sentence
from fairgauge.planning.plan_parts import beside_simplest, cap_cost, means_sentence
from fairgauge.planning.table_pairing import name_of
from fairgauge.reports.device_sentences import privacy_sentence
from fairgauge.study import Question, Study
from fairgauge.targets.scores import Scores

_LARGE = 1_000_000


@in_forms
def design(
    context: typer.Context,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the study.")],
    file: _options.DraftFile = None,
    title: Annotated[str | None, typer.Option(help="What the study is about, for the people who are asked.")] = None,
    epsilon: _options.MaybeEpsilon = None,
    metric: Annotated[list[str] | None, typer.Option(help="name:low:high; several make several questions.")] = None,
    outcome: _options.Outcome = None,
    records: _options.Records = None,
    person: Annotated[
        str | None,
        typer.Option("--person", help="For sites: who counts as one person, in words.", hidden=_options.RARE),
    ] = None,
    group: _options.Group = None,
    answering: _options.Answering = None,
    cross: _options.Cross = None,
    shares: _options.Shares = None,
    compare: _options.Compare = None,
    against: _options.Against = None,
    weigh: _options.Weigh = None,
    symbols: _options.Symbols = None,
    metric_weight: _options.MetricWeight = None,
    attribute: Annotated[str | None, typer.Option("--attribute", help="What the groups are groups of.")] = None,
    target: _options.Target = None,
    design: Annotated[
        str | None,
        typer.Option(
            help="auto, centred, uncentred, laplace, randomized-response or an installed one.", hidden=_options.RARE
        ),
    ] = None,
    budgets: Annotated[
        str | None,
        typer.Option(
            metavar="E1:E2",
            help="The source paper's budgets of group and value, for its two mechanisms.",
            hidden=_options.RARE,
        ),
    ] = None,
    abstain: Annotated[
        bool | None,
        typer.Option(
            "--abstain/--no-abstain",
            help="Let people prefer not to say; so it is if everyone may answer.",
            hidden=_options.RARE,
        ),
    ] = None,
    abstaining: _options.Abstaining = None,
    expect: _options.Expect = None,
    spread: _options.Spread = None,
    opens: Annotated[
        str | None, typer.Option(help="When it opens, such as 2027-01-01T00:00:00Z.", hidden=_options.RARE)
    ] = None,
    closes: Annotated[str | None, typer.Option(help="When it closes.", hidden=_options.RARE)] = None,
    contact: Annotated[str | None, typer.Option(help="Whom people can ask.", hidden=_options.RARE)] = None,
    share_error: _options.ShareError = None,
    share_source: Annotated[
        str | None, typer.Option(help="Where the shares come from, for people.", hidden=_options.RARE)
    ] = None,
    aim: Annotated[
        str | None,
        typer.Option(help="The error to reach, as a part of the metric's range, such as 0.01.", hidden=_options.RARE),
    ] = None,
    operator: Annotated[
        str | None, typer.Option(help="Who asks, for people and for the report.", hidden=_options.RARE)
    ] = None,
    purpose: Annotated[
        str | None, typer.Option(help="Why it is asked, and what happens with the answers.", hidden=_options.RARE)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME[@VERSION]", help="The model that the study is about.", hidden=_options.RARE),
    ] = None,
    planned: Annotated[
        str | None, typer.Option(help="How many answers are planned, such as 2e5.", hidden=_options.RARE)
    ] = None,
    admission: Annotated[
        str | None,
        typer.Option(
            help="Who may answer: open to everyone, with tickets, or with blind tickets.", hidden=_options.RARE
        ),
    ] = None,
    retention: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS",
            help="For how many days after closing single answers are kept; the tally stays.",
            hidden=_options.RARE,
        ),
    ] = None,
    *,
    form: Form,
) -> None:
    """Make a study: choose a mechanism, check its privacy exactly, write the document."""
    stated = load_draft(file)
    stated = replace(stated, outcome=outcome or stated.outcome)
    own(stated.contributors, check_design)(context)
    if cross:
        check_crossing(context)
    draft = typed_over(
        stated,
        {
            "groups": group, "attribute": attribute, "crosses": cross, "shares": shares, "compare": compare,
            "against": against, "weigh": weigh, "answering": answering, "share_error": share_error,
            "share_source": share_source,
        },
        metric or (),
        {
            "opens": opens, "closes": closes, "contact": contact, "aim": aim, "operator": operator, "purpose": purpose,
            "model": model, "planned": planned, "retention": retention, "admission": admission,
        },
        title=title, epsilon=epsilon, records=records, person=person, target=target,
        design=design if budgets is None else f"{design or AUTO}({budgets})", abstain=abstain, abstaining=abstaining,
        expect=expect, spread=spread, weights=metric_weight, symbols=symbols,
    )  # fmt: skip
    with designing() as waiting:
        waiting(f"Designing what asks for {', '.join(metric.name for metric in draft.metrics) or draft.outcome}")
        study = draft.study()
    write_bytes("output", output, study.to_bytes())
    if form != "people":
        told = [own(question.mechanism, _designed)(study, question) for question in study.questions]
        show_as(form, {"digest": study.digest, "questions": told}, [_row(study.digest, one) for one in told])
        return
    bulk = len(study.to_bytes())
    size = f", {bulk:,} bytes, digest {study.digest}"
    out.print(Text.assemble(f"{output}: ", (study.title, "bold"), size))
    if bulk > _LARGE:
        rule = "every device downloads it; fewer --symbols make it smaller"
        out.print(f"  The document is larger than 1 MB ({bulk / 1e6:.1f} MB): {rule}.")
    own(study.mechanism, _design)(study, draft.design or AUTO)


def _design(study: Study, design: str) -> None:
    """Print what a study of devices answers, and how it protects people."""
    for line in [*_tables(study), *_outsiders(study)]:
        out.print(f"  {line}")
    for question in study.questions:
        channel, tells, name = question.channel, _tells(question), _named(study, question)
        made = name if name == question.design else f"{name} ({question.design})"
        out.print(
            f"  {question.metric.name}: {made}, {channel.symbols} symbols, {len(question.levels)} levels, "
            f"exact epsilon {channel.epsilon:.6g}"
        )
        answers = None if study.planned is None else study.planned / len(study.tables)
        if design == AUTO and (chosen := choice_sentence(Scores.of(question), question.design, answers)) is not None:
            out.print(f"    {chosen}")
        out.print(f"    It answers: {', '.join(what for what, told in tells.items() if told)}.")
        if not all(tells.values()):
            out.print(f"    It cannot answer: {', '.join(what for what, told in tells.items() if not told)}.")
        out.print(f"    Privacy: {privacy_sentence(question)}.")
        if question.design.startswith("laplace"):
            _show_sharper(question)
        _show_gaps(question)
        if _rounded_evenly(question) and (cost := _rounding(question)) > WORTH:
            out.print(f"    Rounding to these levels costs about {cost:.1%} of the variance; more would take too long.")


def _tables(study: Study) -> list[str]:
    """Return how several questions share the answers."""
    several = [PLAIN.listed([question.metric.name for question in table]) for table in study.tables if len(table) > 1]
    said = [f"{names} are answered together: one answer is about all of them." for names in several]
    if (count := len(study.tables)) > 1:
        said.append(f"A device's coin picks one of {count} tables, so each gets about 1/{count} of the answers.")
    return said


def _outsiders(study: Study) -> list[str]:
    """Return what may be done about people outside of a study that leaves it to the collector who may answer."""
    lacking = [question for question in study.questions if not question.mechanism.abstain]
    if study.admission is not None or not lacking or any(Budgets.read(question.design) for question in lacking):
        return []
    more = "3 to 20%" if any(Scores.of(question).target.relies_on_shares for question in lacking) else "3 to 7%"
    return [
        f"Will everyone be asked? With --admission open people outside of the study abstain; {more} more are asked."
    ]


def _tells(question: Question) -> dict[str, bool]:
    """Return what the study can and cannot answer: said when it is designed, not when it is over."""
    found = estimands_of(question)
    told = (found.gaps is not None or found.means is not None, found.means is not None, found.overall is not None)
    tells = dict(zip(TOLD, told, strict=True))
    return tells if found.shares is not None else tells | {SHARE: found.group_shares is not None}


def _show_sharper(question: Question) -> None:
    # Loaded by who asks for this design: the paper's room brings an optimiser.
    from fairgauge.paper.estimator import laplace_sentence

    if (said := laplace_sentence(question)) is not None:
        out.print(f"    {said}")


def _show_gaps(question: Question) -> None:
    """Print what each of several comparisons, and each mean, will vary by, the worst first, beside the simplest."""
    if not Scores.of(question).target.balanced or question.channel.further:
        return
    found, simple = beside_simplest(question, "gap")
    if not found:
        return
    show_parts(found, by=simple)
    out.print(f"    {_beside_simplest([part.variance / simple[part.groups] for part in found])}")
    means, beside = beside_simplest(question, "means")
    if means:
        show_parts(means, by=beside, what=MEAN)
    # The paper's mechanisms are made with its budgets, and for neither means nor comparisons.
    made = Budgets.read(question.design) is None
    if made and (worse := means_sentence(means, beside, target=question.target)) is not None:
        out.print(f"    {worse}")
    if (cost := cap_cost(question)) is not None:
        out.print(f"    {cost}")


def _beside_simplest(ratios: Sequence[float]) -> str:
    """Return how many clients comparisons take beside randomized response; a design that is asked for may take more."""
    least, most = (round(100 * (1 - ratio)) for ratio in (max(ratios), min(ratios)))
    if least < 0 < most:
        many = f"from {most}% fewer to {-least}% more clients than"
    elif least == most == 0:
        many = "as many clients as"
    else:
        low, high = sorted((abs(least), abs(most)))
        many = f"{low}% {'' if low == high else f'to {high}% '}{'fewer' if most > 0 else 'more'} clients than"
    return f"For the same error each comparison takes {many} randomized response."


def _rounded_evenly(question: Question) -> bool:
    """Tell whether levels are even, as many as rounding asks for; with estimated shares they are not."""
    uncentred = question.design == "uncentred" and not question.channel.further
    return uncentred and Scores.of(question).target.relies_on_shares


def _rounding(question: Question) -> float:
    """Return what rounding values to levels adds to the variance, as a part."""
    return largest_rounding_cost(Scores.of(question), question.channel)


def _named(study: Study, question: Question) -> str:
    """Return what a plan calls a question's table."""
    return name_of(question.design, tables=len(study.tables), questions=len(study.questions))


def _designed(study: Study, question: Question) -> dict[str, Any]:
    """Return what a question is, for programs: the same names for every mechanism."""
    tells = _tells(question)
    return {
        "metric": question.metric.name,
        "design": _named(study, question),
        "epsilon_exact": question.mechanism.epsilon,
        "symbols": question.channel.symbols,
        "levels": len(question.levels),
        "answers": [what for what, told in tells.items() if told],
        "cannot_answer": [what for what, told in tells.items() if not told],
        "pairs": [part.to_dict() for part in beside_simplest(question, "gap")[0]]
        if not question.channel.further
        else [],
        "means": [part.to_dict() for part in beside_simplest(question, "means")[0]]
        if not question.channel.further
        else [],
        "records": None,
        "outcome": None,
    }


def _row(digest: str, told: dict[str, Any]) -> dict[str, Any]:
    """Return what of a question belongs into a table."""
    plain = {name: value for name, value in told.items() if name not in ("pairs", "means")}
    listed_ = {name: "; ".join(value) for name, value in plain.items() if isinstance(value, list)}
    return {"digest": digest} | plain | listed_
