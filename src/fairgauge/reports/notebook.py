"""What values show of themselves in a notebook: a piece of a page, a picture with matplotlib, a data frame of pandas.

Every value of a study has some of these as late methods, and their bodies are here (:mod:`fairgauge.lazy`):

- ``_repr_html_``: the report's own words and pictures, as HTML that stands alone: its styles touch nothing else.
- ``plot(ax)``: for papers, drawn on axes that are given, or on new ones: an estimate's gaps against zero, a metric
  frame's means, what each design of a plan needs or reaches, how often each symbol of a tally was sent, and of a
  study what somebody can believe after an answer.
- ``to_frame()``: one row for each thing that one would list: questions of a study, designs of a plan, symbols of a
  tally, numbers of an estimate, epsilons to choose from.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment
from markupsafe import Markup

from fairgauge.errors import MissingExtra
from fairgauge.estimation import Estimate, Interval
from fairgauge.estimation.interval import numbers_of
from fairgauge.estimation.metric_frame import PrivateMetricFrame
from fairgauge.estimation.result import QuestionEstimate
from fairgauge.languages import Sentence
from fairgauge.lazy import gives
from fairgauge.planning import Plan, Plans
from fairgauge.planning.choose_epsilon import EpsilonChoices
from fairgauge.planning.study_draft import Draft
from fairgauge.reports.display import display_of
from fairgauge.reports.figures import moves_figure
from fairgauge.reports.provenance import Provenance
from fairgauge.reports.question_view import privacy_views, question_view
from fairgauge.reports.study_facts import RESPONSE, facts
from fairgauge.reports.templating import environment, style
from fairgauge.reports.units import part_of_hundred, unit_of
from fairgauge.reports.verdicts import odds_after
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.tallies import Tally

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_COLOUR, _LINE = "#14527a", "#1b2230"
_MOST_BARS = 32
# What a piece of a page needs of the style sheet, by how its rules begin.
_NEEDED = (
    "svg", ".figure", ".verdict", ".n ", ".unit", ".meta", "figure", "figcaption", "table", "th", "thead", "tbody",
    ".scroll", ".facts", ".notes", ".unseen", "dt", "dd",
)  # fmt: skip
_RULE = re.compile(r"^([^@{}\s][^{}\n]*)\{([^{}\n]*)\}$", re.MULTILINE)


@gives(Study, "_repr_html_")
def _study_html(study: Study) -> str:
    """Return what a study asks, on which terms, and what answering means for one person."""
    return _render(
        "study",
        study=study,
        display=display_of(study.mechanism),
        facts=[fact for fact in facts(study, 0, Provenance()) if fact.name != Sentence.of(RESPONSE)],
        asks=[sentence for _, sentence in display_of(study.mechanism).asks(study)],
        privacy=privacy_views(study),
    )


@gives(Plan, "_repr_html_")
def _plan_html(plan: Plan) -> str:
    """Return what each design needs or reaches, as a table and as bars."""
    what = plan.solved_for
    sizes = [(row.design, getattr(row, what)) for row in plan.rows if getattr(row, what) is not None]
    bars = [(design, float(size), f"{size:,}" if isinstance(size, int) else f"{size:.4g}") for design, size in sizes]
    said = "; ".join(f"{design} {size}" for design, _, size in bars)
    picture = moves_figure(bars, description=f"{what} of each design: {said}.") if bars else None
    return _render("plan", plan=plan, picture=picture, what=what, sure=part_of_hundred(plan.confidence))


@gives(Plans, "_repr_html_")
def _plans_html(plans: Plans) -> str:
    """Return how the questions of a study share the answers, and the plan of each."""
    said = _render("plans", sentences=plans.sentences())
    each = [
        _render("metric", metric=name) + _plan_html(plan) for name, plan in zip(plans.metrics, plans.plans, strict=True)
    ]
    return "\n".join([said, *each])


@gives(Tally, "_repr_html_")
def _tally_html(tally: Tally) -> str:
    """Return how often each symbol was sent."""
    bars = [(f"symbol {symbol}", float(count), f"{count:,}") for symbol, count in enumerate(tally.counts)]
    picture = None
    if len(bars) <= _MOST_BARS and tally.contributors:
        picture = moves_figure(bars, description=f"{tally.contributors:,} answers, by symbol.")
    return _render("tally", tally=tally, picture=picture)


@gives(Estimate, "_repr_html_")
def _estimate_html(estimate: Estimate) -> str:
    """Return the verdict, the pictures and the numbers, as the report has them."""
    shown = [
        question_view(question, found, estimate, over=True)
        for question, found in zip(estimate.asked, estimate.questions, strict=False)
    ]
    counted = display_of(estimate.asked[0].mechanism).counted if estimate.asked else "answers"
    sure = part_of_hundred(estimate.confidence)
    return _render("estimate", estimate=estimate, questions=shown, counted=counted, confidence=sure)


@gives(QuestionEstimate, "_repr_html_")
def _question_estimate_html(found: QuestionEstimate) -> str:
    """Return what was found about one question, as the report has it."""
    if found.whole is None:
        rows = [(name, *(f"{x:.4g}" for x in (one.nearest, one.low, one.high))) for name, one in found.rows()]
        about = f"{found.answers:,} answers"
        return _rows(f"{found.metric} by {found.attribute}", about, _NUMBERS, rows, found.warnings)
    return _estimate_html(found.whole.only(found))


@gives(Interval, "_repr_html_")
def _interval_html(interval: Interval) -> str:
    """Return a number with its interval."""
    shown = interval.shown
    row = ("", *(f"{x:.4g}" for x in (shown.nearest, shown.low, shown.high)))
    return _rows("A number and its interval", "", _NUMBERS, [row], ["What it promises, its estimate's guarantee says."])


@gives(Attribute, "_repr_html_")
def _attribute_html(attribute: Attribute) -> str:
    """Return the groups, what is known of their shares, and what is compared."""
    stated = attribute.shares or [""] * len(attribute.groups)
    notes = [f"How often they answer: {attribute.answering}."]
    if attribute.share_source:
        notes.append(f"Shares from: {attribute.share_source}.")
    rows = [(group, str(share)) for group, share in zip(attribute.groups, stated, strict=True)]
    return _rows(attribute.name, attribute.help or "", ("group", "share of the people"), rows, notes)


@gives(Metric, "_repr_html_")
def _metric_html(metric: Metric) -> str:
    """Return a metric and its range."""
    return _rows(metric.name, metric.help or "", ("from", "to"), [(str(metric.low), str(metric.high))])


@gives(Question, "_repr_html_")
def _question_html(question: Question) -> str:
    """Return what is asked, of whom, and at which cost."""
    metric, attribute = question.metric, question.attribute
    rows = [("values", f"from {metric.low} to {metric.high}"), ("groups", ", ".join(attribute.groups))]
    rows += [("made for", question.target)]
    if question.expect is not None:
        rows.append(("expected mean", str(question.expect)))
    if question.designed:
        rows += [("design", str(question.design)), ("exact epsilon", f"{float(question.mechanism.epsilon):.4g}")]
    return _rows(f"{metric.name} by {attribute.name}", "", ("what is asked", ""), rows)


@gives(Draft, "_repr_html_")
def _draft_html(draft: Draft) -> str:
    """Return what a draft says so far."""
    rows = [(one.name, f"from {one.low} to {one.high}") for one in draft.metrics]
    if draft.attribute is not None:
        rows.append((draft.attribute.name, ", ".join(draft.attribute.groups)))
    about = "" if draft.epsilon is None else f"epsilon {draft.epsilon}"
    return _rows(draft.title or "A draft", about, ("what is asked", ""), rows)


@gives(EpsilonChoices, "_repr_html_")
def _choices_html(found: EpsilonChoices) -> str:
    """Return what each epsilon gives of every question, and the recommendation."""
    names = [one.metric.name for one in found.each]
    rows = [
        (f"{row[0].epsilon:g}", *(f"±{one.error:.3g}" for one in row), f"{100 * row[0].guess:.1f} %")
        for row in found.rows
    ]
    head = ("epsilon", *(f"error of {name}" for name in names), "guess right")
    return _rows(f"{found.each[0].clients:,} clients", "", head, rows, found.sentences())


_NUMBERS = ("", "estimate", "low", "high")


def _rows(title: str, about: str, head: Sequence[str], rows: Sequence[Sequence[str]], notes: Iterable[str] = ()) -> str:
    # What has no head is words, and stands to the left.
    shown = {"head": head, "rows": rows, "notes": list(notes), "numbers": bool(head[-1])}
    return _render("rows", title=title, about=about, **shown)


@gives(PrivateMetricFrame, "_repr_html_")
def _frame_html(frame: PrivateMetricFrame) -> str:
    """Return what a metric frame knows, as the report has it."""
    return _estimate_html(frame.result)


def _render(part: str, **values: object) -> str:
    text = _templates().get_template("notebook.html").render(part=part, style=Markup(scoped_style()), **values)  # noqa: S704
    return re.sub(r"\n\s*\n+", "\n", text)


@lru_cache(maxsize=1)
def _templates() -> Environment:
    return environment()


@lru_cache(maxsize=1)
def scoped_style() -> str:
    """Return the part of the style sheet that pictures and tables need, for what is inside of one element only."""
    sheet = re.sub(r"/\*.*?\*/", "", style())
    light, dark = re.findall(r":root \{(.*?)\n\s*\}", sheet, re.DOTALL)[:2]
    frame = "font: 100%/1.5 var(--sans); background: var(--paper); color: var(--ink); padding: .8rem 1.2rem"
    rules = [
        f"{', '.join(f'.fairgauge {one.strip()}' for one in selectors.split(','))} {{{body}}}"
        for selectors, body in _RULE.findall(sheet)
        if selectors.startswith(_NEEDED)
    ]
    return "\n".join(
        [
            f".fairgauge {{{light}; {frame}; border-radius: 6px; max-width: 46rem; }}",
            f"@media (prefers-color-scheme: dark) {{ .fairgauge {{{dark} }} }}",
            *rules,
        ]
    )


@gives(Estimate, "plot")
def _plot_estimate(estimate: Estimate, ax: "Axes | None" = None) -> "Axes":
    """Draw every gap with its interval, against zero."""
    axes, rows = _axes(ax), list[tuple[str, Interval]]()
    for question, found in zip(estimate.asked, estimate.questions, strict=False):
        unit, several = unit_of(question.metric), len(estimate.questions) > 1
        for (a, b), gap in found.gaps.items():
            name = f"{found.metric}: {a} − {b}" if several else f"{a} − {b}"
            rows.append((f"{name} ({unit.word}s)" if unit.word else name, gap.shown.scaled(unit.factor)))
    _intervals(axes, rows)
    axes.axvline(0, color=_LINE, linewidth=1)
    axes.set_xlabel("gap")
    return axes


@gives(PrivateMetricFrame, "plot")
def _plot_frame(frame: PrivateMetricFrame, ax: "Axes | None" = None) -> "Axes":
    """Draw every group's mean with its interval; where a study tells gaps alone, the gaps."""
    rows = [
        (f"{found.metric}: {group}" if len(frame.result.questions) > 1 else group, mean.shown)
        for found in frame.result.questions
        for group, mean in found.means.items()
    ]
    if not rows:
        return _plot_estimate(frame.result, ax)
    axes = _axes(ax)
    _intervals(axes, rows)
    axes.set_xlabel("mean")
    return axes


@gives(Plan, "plot")
def _plot_plan(plan: Plan, ax: "Axes | None" = None) -> "Axes":
    """Draw what each design needs or reaches."""
    return _plans([("", plan)], _axes(ax))


@gives(Plans, "plot")
def _plot_plans(plans: Plans, ax: "Axes | None" = None) -> "Axes":
    """Draw what each design needs or reaches, for each metric."""
    several = len(plans) > 1
    named = zip(plans.metrics, plans, strict=True)
    return _plans([(f"{name}: " if several else "", plan) for name, plan in named], _axes(ax))


def _plans(plans: Sequence[tuple[str, "Plan"]], axes: "Axes") -> "Axes":
    what = plans[0][1].solved_for
    bars = [(f"{name}{row.design}", getattr(row, what)) for name, plan in plans for row in plan.rows]
    known = [(label, size) for label, size in bars if size is not None]
    axes.barh([label for label, _ in known], [size for _, size in known], color=_COLOUR)
    axes.invert_yaxis()
    axes.set_xlabel("error (±)" if what == "error" else what)
    return axes


@gives(Tally, "plot")
def _plot_tally(tally: Tally, ax: "Axes | None" = None) -> "Axes":
    """Draw how often each symbol was sent."""
    axes = _axes(ax)
    axes.bar(range(len(tally.counts)), tally.counts, color=_COLOUR)
    axes.set(xlabel="symbol", ylabel="answers")
    return axes


@gives(Study, "plot")
def _plot_study(study: Study, ax: "Axes | None" = None) -> "Axes":
    """Draw what somebody can believe after an answer, for what they believed before."""
    axes = _axes(ax)
    before = [n / 100 for n in range(1, 100)]
    for question in study.questions:
        low, high = zip(*(odds_after(question.channel.loss, belief) for belief in before), strict=True)
        axes.fill_between(before, low, high, alpha=0.3, label=f"{question.metric.name} by {question.attribute.name}")
    axes.plot(before, before, color=_LINE, linewidth=1)
    axes.set(xlabel="belief before seeing an answer", ylabel="belief after, at least and at most")
    axes.legend(frameon=False)
    return axes


def _axes(ax: "Axes | None") -> "Axes":
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("drawing plots needs matplotlib", "lab") from None
    axes: Axes = plt.subplots(figsize=(7, 3), layout="constrained")[1]
    return axes


def _intervals(axes: "Axes", rows: list[tuple[str, Interval]]) -> None:
    for place, (_, interval) in enumerate(rows):
        axes.plot([interval.low, interval.high], [place, place], color="#cfe0ec", linewidth=6, solid_capstyle="butt")
        axes.plot(interval.estimate, place, "o", color=_COLOUR)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)


@gives(Study, "to_frame")
def _study_frame(study: Study) -> "pd.DataFrame":
    """Return one row for each question."""
    return _frame(
        [
            {
                "metric": question.metric.name,
                "low": float(question.metric.low),
                "high": float(question.metric.high),
                "attribute": question.attribute.name,
                "groups": ", ".join(question.attribute.groups),
                "target": question.target,
                "design": question.design,
                "epsilon": question.mechanism.epsilon,
                "symbols": question.mechanism.size,
            }
            for question in study.questions
        ]
    )


@gives(Plan, "to_frame")
def _plan_frame(plan: Plan) -> "pd.DataFrame":
    """Return one row for each design."""
    return _frame([row.to_dict() for row in plan.rows])


@gives(Plans, "to_frame")
def _plans_frame(plans: Plans) -> "pd.DataFrame":
    """Return one row for each design of each metric."""
    named = zip(plans.metrics, plans.plans, strict=True)
    return _frame([{"metric": name, **row.to_dict()} for name, plan in named for row in plan.rows])


@gives(QuestionEstimate, "to_frame")
def _question_estimate_frame(found: QuestionEstimate) -> "pd.DataFrame":
    """Return one row for each number of a question, as an estimate's own frame has them."""
    if found.whole is not None:
        return found.whole.only(found).to_frame()
    about = {"metric": found.metric, "attribute": found.attribute}
    return _frame([{**about, "quantity": name, **numbers_of(one)} for name, one in found.rows()])


@gives(Interval, "to_frame")
def _interval_frame(interval: Interval) -> "pd.DataFrame":
    """Return one row: the estimate and its interval."""
    return _frame([numbers_of(interval)])


@gives(EpsilonChoices, "to_frame")
def _choices_frame(found: EpsilonChoices) -> "pd.DataFrame":
    """Return one row for each epsilon of each question."""
    return _frame([{"metric": each.metric.name, **_flat(row.to_dict())} for each in found.each for row in each.rows])


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "parts"}


@gives(Tally, "to_frame")
def _tally_frame(tally: Tally) -> "pd.DataFrame":
    """Return one row for each symbol."""
    return _frame([{"symbol": symbol, "count": count} for symbol, count in enumerate(tally.counts)])


def _frame(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("data frames need pandas", "lab") from None
    return pd.DataFrame(rows)
