"""The report: one HTML file with everything in it, for a screen or for paper."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from html import escape
from os import PathLike

from jinja2 import Environment
from markupsafe import Markup

from fairgauge import __version__
from fairgauge.canonical import write_file
from fairgauge.estimation import Estimate
from fairgauge.estimation import estimate as run
from fairgauge.reports import card
from fairgauge.reports.about import assumptions, counted, facts, seal_facts
from fairgauge.reports.crowd import crowd_view
from fairgauge.reports.display import display_of
from fairgauge.reports.particulars import NAME, Particulars, stated
from fairgauge.reports.response import any_sentence
from fairgauge.reports.templating import environment, style
from fairgauge.reports.units import part_of_hundred
from fairgauge.reports.views import privacy_views, views
from fairgauge.study import Study
from fairgauge.tallies import Tally

_MOST_COUNTS = 400


@lru_cache(maxsize=1)
def _templates() -> Environment:
    return environment()


@dataclass(frozen=True)
class Report:
    """The report of a study: one HTML document that loads nothing; a notebook shows it in a frame of its own."""

    html: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file."""
        write_file(path, self.html.encode(), field="path")

    def _repr_html_(self) -> str:
        frame = 'style="width:100%;height:40rem;border:0" sandbox="" title="Report"'
        return f'<iframe {frame} srcdoc="{escape(self.html)}"></iframe>'


def report(
    study: Study, tally: Tally, *, estimate: Estimate | None = None, date: str | None = None, asked: int | None = None
) -> Report:
    """Make the report of a study, with results, pictures, method and privacy, ready to print.

    Args:
        study: What was asked.
        tally: The counts.
        estimate: What they say, with a confidence or an interval of your own; ``fairgauge.estimate`` unless given.
        date: The day that it bears, such as ``"2026-11-15"``; none unless given.
        asked: How many were asked to answer, if that is known.
    """
    found = run(study, tally) if estimate is None else estimate
    return Report(render_report(study, tally, found, Particulars(date=date, asked=asked)))


def render_report(study: Study, tally: Tally, estimate: Estimate, particulars: Particulars | None = None) -> str:
    """Return the report of a study as one HTML document that loads nothing.

    Guarantee: the same study, tally, terms and particulars give the same bytes with the same version.  Numbers are
    written to ten digits, which processors that reckon in another order agree on nearly always.

    Args:
        study: What was asked.
        tally: The counts.
        estimate: What they say, from :func:`fairgauge.estimation.inference.estimate`.
        particulars: When it was made, how many were asked, and the seal.
    """
    said = Particulars() if particulars is None else particulars
    shown = views(study, estimate, over=said.over)
    digest = sha256(tally.to_bytes()).hexdigest()
    return (
        _templates()
        .get_template("report.html")
        .render(
            study=study,
            tally=tally,
            tally_digest=digest,
            counts=tally.to_bytes().decode() if _numbers(tally) <= _MOST_COUNTS else None,
            counted=counted(study),
            display=display_of(study.mechanism),
            about=display_of(study.mechanism).about(estimate),
            own=display_of(study.mechanism).described(study),
            privacy=privacy_views(study),
            estimate=estimate,
            options=_options(estimate),
            confidence=part_of_hundred(estimate.confidence),
            questions=shown,
            holds=any_sentence(zip(study.questions, estimate.questions, strict=True)),
            said=said,
            facts=facts(study, tally.contributors, said),
            seal_facts=seal_facts(study, said),
            crowd=crowd_view(study),
            assumptions=assumptions(study, estimate, said),
            stated=stated(study, digest, estimate, said, __version__),
            meta_name=NAME,
            style=Markup(style()),  # noqa: S704 - our own style sheet, which holds no "<"
            card_markdown=card.markdown(study, estimate, shown),
            card_json=card.as_json(study, estimate),
            version=__version__,
        )
    )


def _numbers(tally: Tally) -> int:
    return len(tally.counts) + len(tally.products)


def _options(estimate: Estimate) -> str:
    """Return what to type so that the command line gives the same numbers."""
    typed = f"--confidence {estimate.confidence:g} --interval {estimate.interval}"
    return typed if estimate.tolerance is None else f"{typed} --tolerance {estimate.tolerance:g}"
