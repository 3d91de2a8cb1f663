"""The report: one HTML file with everything in it, for a screen or for paper."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from html import escape
from os import PathLike

from jinja2 import Environment
from markupsafe import Markup

from fairgauge import __version__
from fairgauge.canonical_json import write_file
from fairgauge.estimation import Estimate
from fairgauge.estimation import estimate as run
from fairgauge.languages import OWN, Sentence, Voice
from fairgauge.reports import model_card
from fairgauge.reports.crowd_promise import crowd_view
from fairgauge.reports.display import display_of
from fairgauge.reports.non_response import any_sentence
from fairgauge.reports.provenance import NAME, Provenance, stated
from fairgauge.reports.question_view import naming, privacy_views, views
from fairgauge.reports.study_facts import assumptions, facts, seal_facts
from fairgauge.reports.templating import environment, style
from fairgauge.reports.translated_names import speaking, title_in
from fairgauge.reports.units import part_of_hundred
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


def report(  # noqa: PLR0913 - the rest have defaults
    study: Study,
    tally: Tally,
    *,
    estimate: Estimate | None = None,
    date: str | None = None,
    asked: int | None = None,
    language: str = OWN,
) -> Report:
    """Make the report of a study, with results, pictures, method and privacy, ready to print.

    Args:
        study: What was asked.
        tally: The counts.
        estimate: What they say, with a confidence or an interval of your own; ``fairgauge.estimate`` unless given.
        date: The day that it bears, such as ``"2026-11-15"``; none unless given.
        asked: How many were asked to answer, if that is known.
        language: In which language: ``"ar"``, ``"de"`` or ``"en"``.
    """
    found = run(study, tally) if estimate is None else estimate
    return Report(render_report(study, tally, found, Provenance(date=date, asked=asked, language=language)))


def render_report(study: Study, tally: Tally, estimate: Estimate, particulars: Provenance | None = None) -> str:
    """Return the report of a study as one HTML document that loads nothing.

    Guarantee: the same study, tally, terms and particulars give the same bytes with the same version.  Numbers are
    written to ten digits, which processors that reckon in another order agree on nearly always.

    Args:
        study: What was asked.
        tally: The counts.
        estimate: What they say, from :func:`fairgauge.estimation.inference.estimate`.
        particulars: When it was made, how many were asked, and the seal.
    """
    said = Provenance() if particulars is None else particulars
    voice = Voice(said.language)
    shown = views(study, estimate, over=said.over, voice=voice)
    named, display = speaking(study, voice), display_of(study.mechanism)
    title, title_language = title_in(study, voice)
    digest = sha256(tally.to_bytes()).hexdigest()
    return (
        _templates()
        .get_template("report.html")
        .render(
            study=study,
            tally=tally,
            tally_digest=digest,
            counts=tally.to_bytes().decode() if _numbers(tally) <= _MOST_COUNTS else None,
            voice=voice,
            title=title,
            title_language=title_language,
            display=display,
            about=voice.tell(display.about(estimate)),
            own=_in(study, voice, display.described(study)),
            privacy=privacy_views(study, voice),
            estimate=estimate,
            kind=estimate.kind.text or estimate.interval,
            options=_options(estimate, said.language),
            confidence=voice.tell(part_of_hundred(estimate.confidence)),
            questions=shown,
            holds=voice.tell(any_sentence(zip(study.questions, estimate.questions, strict=True)) or ""),
            said=said,
            facts=[(voice.tell(fact.name), named.named(fact.said)) for fact in facts(study, tally.contributors, said)],
            seal_facts=[(voice.tell(fact.name), voice.named(fact.said)) for fact in seal_facts(study, said)],
            crowd=crowd_view(study, voice),
            assumptions=[_everywhere(study, voice).tell(one) for one in assumptions(study, estimate, said)],
            stated=stated(study, digest, estimate, said, __version__),
            meta_name=NAME,
            style=Markup(style()),  # noqa: S704 - our own style sheet, which holds no "<"
            cards=[
                ("Markdown", model_card.markdown(study, estimate, views(study, estimate, over=said.over))),
                ("JSON", model_card.as_json(study, estimate)),
            ],
            pages=_pages(title, voice),
            version=__version__,
        )
    )


def _pages(title: str, voice: Voice) -> Markup:
    """Return the style of printed pages: the title runs along their head, and their numbers along their foot."""
    start, end = ("right", "left") if voice.direction == "rtl" else ("left", "right")
    # Inside of the quotes every sign stands by its number, so that none ends them, or the style.
    running = "".join(f"\\{ord(sign):06x}" for sign in voice.apart(voice.whole(title)))
    font = "font: 8pt sans-serif; color: #444;"
    return Markup(  # noqa: S704 - as above
        f'@media print {{ @page {{ @top-{start} {{ content: "{running}"; {font} }} '
        f'@bottom-{end} {{ content: counter(page) " / " counter(pages); {font} }} }} }}\n'
    )


def _numbers(tally: Tally) -> int:
    return len(tally.counts) + len(tally.products)


def _everywhere(study: Study, voice: Voice) -> Voice:
    """Return a voice that calls the metrics and the attributes of all questions what the study calls them."""
    own = [dict(naming(study, question, voice).names) for question in study.questions]
    return voice.calling({name: called for names in own for name, called in names.items()})


def _in(study: Study, voice: Voice, described: dict[str, object]) -> dict[str, object]:
    """Return what is told of a mechanism in a language."""
    own = _everywhere(study, voice)
    return {name: own.tell(told) if isinstance(told, Sentence) else told for name, told in described.items()}


def _options(estimate: Estimate, language: str) -> tuple[str, str]:
    """Return what to type so that the command line gives the same numbers, and the same report."""
    typed = f"--confidence {estimate.confidence:g} --interval {estimate.interval}"
    if estimate.tolerance is not None:
        typed = f"{typed} --tolerance {estimate.tolerance:g}"
    return typed, typed if language == OWN else f"{typed} --language {language}"
