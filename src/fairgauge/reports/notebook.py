"""What a notebook shows of a study, a plan, a tally, an estimate or a metric frame: the report's own pictures.

Each function returns a piece of HTML that stands alone: its styles touch nothing else on the page.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from jinja2 import Environment
from markupsafe import Markup

from fairgauge.reports.about import facts
from fairgauge.reports.display import asks, display_of
from fairgauge.reports.figures import moves_figure
from fairgauge.reports.particulars import Particulars
from fairgauge.reports.templating import environment, style
from fairgauge.reports.units import part_of_hundred
from fairgauge.reports.views import privacy_views, question_view

if TYPE_CHECKING:
    from fairgauge.estimation import Estimate, Interval
    from fairgauge.estimation.metric_frame import PrivateMetricFrame
    from fairgauge.estimation.result import QuestionEstimate
    from fairgauge.planning import Plan, Plans
    from fairgauge.planning.choose_epsilon import EpsilonChoices
    from fairgauge.planning.draft import Draft
    from fairgauge.study import Attribute, Metric, Question, Study
    from fairgauge.tallies import Tally

_MOST_BARS = 32
# What a piece of a page needs of the style sheet, by how its rules begin.
_NEEDED = (
    "svg", ".figure", ".verdict", ".n ", ".unit", ".meta", "figure", "figcaption", "table", "th", "thead", "tbody",
    ".scroll", ".facts", ".notes", ".unseen", "dt", "dd",
)  # fmt: skip
_RULE = re.compile(r"^([^@{}\s][^{}\n]*)\{([^{}\n]*)\}$", re.MULTILINE)


def study_html(study: "Study") -> str:
    """Return what a study asks, on which terms, and what answering means for one person."""
    return _render(
        "study",
        study=study,
        display=display_of(study.mechanism),
        facts=[fact for fact in facts(study, 0, Particulars()) if fact.name != "Response"],
        asks=[sentence for _, sentence in asks(study.mechanism, study)],
        privacy=privacy_views(study),
    )


def plan_html(plan: "Plan") -> str:
    """Return what each design needs or reaches, as a table and as bars."""
    what = plan.solved_for
    sizes = [(row.design, getattr(row, what)) for row in plan.rows if getattr(row, what) is not None]
    bars = [(design, float(size), f"{size:,}" if isinstance(size, int) else f"{size:.4g}") for design, size in sizes]
    said = "; ".join(f"{design} {size}" for design, _, size in bars)
    picture = moves_figure(bars, description=f"{what} of each design: {said}.") if bars else None
    return _render("plan", plan=plan, picture=picture, what=what, sure=part_of_hundred(plan.confidence))


def plans_html(plans: "Plans") -> str:
    """Return how the questions of a study share the answers, and the plan of each."""
    said = _render("plans", sentences=plans.sentences())
    each = [
        _render("metric", metric=name) + plan_html(plan) for name, plan in zip(plans.metrics, plans.plans, strict=True)
    ]
    return "\n".join([said, *each])


def tally_html(tally: "Tally") -> str:
    """Return how often each symbol was sent."""
    bars = [(f"symbol {symbol}", float(count), f"{count:,}") for symbol, count in enumerate(tally.counts)]
    picture = None
    if len(bars) <= _MOST_BARS and tally.contributors:
        picture = moves_figure(bars, description=f"{tally.contributors:,} answers, by symbol.")
    return _render("tally", tally=tally, picture=picture)


def estimate_html(estimate: "Estimate") -> str:
    """Return the verdict, the pictures and the numbers, as the report has them."""
    shown = [
        question_view(question, found, estimate, over=True)
        for question, found in zip(estimate.asked, estimate.questions, strict=False)
    ]
    counted = display_of(estimate.asked[0].mechanism).counted if estimate.asked else "answers"
    sure = part_of_hundred(estimate.confidence)
    return _render("estimate", estimate=estimate, questions=shown, counted=counted, confidence=sure)


def question_estimate_html(found: "QuestionEstimate") -> str:
    """Return what was found about one question, as the report has it."""
    if found.whole is None:
        rows = [(name, *(f"{x:.4g}" for x in (one.nearest, one.low, one.high))) for name, one in found.rows()]
        about = f"{found.answers:,} answers"
        return _rows(f"{found.metric} by {found.attribute}", about, _NUMBERS, rows, found.warnings)
    return estimate_html(found.whole.only(found))


def interval_html(interval: "Interval") -> str:
    """Return a number with its interval."""
    shown = interval.shown
    row = ("", *(f"{x:.4g}" for x in (shown.nearest, shown.low, shown.high)))
    return _rows("A number and its interval", "", _NUMBERS, [row], ["What it promises, its estimate's guarantee says."])


def attribute_html(attribute: "Attribute") -> str:
    """Return the groups, what is known of their shares, and what is compared."""
    stated = attribute.shares or [""] * len(attribute.groups)
    notes = [f"How often they answer: {attribute.answering}."]
    if attribute.share_source:
        notes.append(f"Shares from: {attribute.share_source}.")
    rows = [(group, str(share)) for group, share in zip(attribute.groups, stated, strict=True)]
    return _rows(attribute.name, attribute.help or "", ("group", "share of the people"), rows, notes)


def metric_html(metric: "Metric") -> str:
    """Return a metric and its range."""
    return _rows(metric.name, metric.help or "", ("from", "to"), [(str(metric.low), str(metric.high))])


def question_html(question: "Question") -> str:
    """Return what is asked, of whom, and at which cost."""
    metric, attribute = question.metric, question.attribute
    rows = [("values", f"from {metric.low} to {metric.high}"), ("groups", ", ".join(attribute.groups))]
    rows += [("made for", question.target)]
    if question.expect is not None:
        rows.append(("expected mean", str(question.expect)))
    if question.designed:
        rows += [("design", str(question.design)), ("exact epsilon", f"{float(question.mechanism.epsilon):.4g}")]
    return _rows(f"{metric.name} by {attribute.name}", "", ("what is asked", ""), rows)


def draft_html(draft: "Draft") -> str:
    """Return what a draft says so far."""
    rows = [(one.name, f"from {one.low} to {one.high}") for one in draft.metrics]
    if draft.attribute is not None:
        rows.append((draft.attribute.name, ", ".join(draft.attribute.groups)))
    about = "" if draft.epsilon is None else f"epsilon {draft.epsilon}"
    return _rows(draft.title or "A draft", about, ("what is asked", ""), rows)


def choices_html(found: "EpsilonChoices") -> str:
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


def frame_html(frame: "PrivateMetricFrame") -> str:
    """Return what a metric frame knows, as the report has it."""
    return estimate_html(frame.result)


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
