"""``fairgauge verify``: recompute a study's privacy, and whether the files that belong to it do belong together."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from fairgauge.bundles.bundle_files import Piece, gather
from fairgauge.bundles.verification import Signatures, Verification
from fairgauge.bundles.verification import verify as run
from fairgauge.cli._console import out
from fairgauge.cli._crowd import crowd_asked, crowd_document, crowd_lines
from fairgauge.cli._files import naming
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.cli._mechanisms import own
from fairgauge.cli._progress import waiting
from fairgauge.crowd import Crowd
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.reports.device_sentences import privacy_sentence
from fairgauge.study import Question, Study, Table, parse

_STATUS = {"holds": 0, "broken": 1, "words not compared": 3}
_MARKS = {"holds": ("holds     ", "green"), "broken": ("BROKEN    ", "bold red")}


@in_forms
def verify(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="The study, and what belongs to it in any order: tally, report, seal, signature, export; or a folder "
            "or zip with them.",
            show_default=False,
        ),
    ],
    signature: Annotated[
        str | None, typer.Option(help="The collector's signature of the study, to be checked.")
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(help="The collector's public key, to check signatures with; again for one that it had before."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Numbers that no seal covers are broken; with --key they always are.")
    ] = False,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The collector's record of seals: is this seal in it?")
    ] = None,
    draws: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT", help="How many secret draws the collector adds to a batch before it shows counts."
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(help="The crowd's delta; 1e-8 unless given, and less where answers are more than 10 million."),
    ] = None,
    *,
    form: Form,
) -> None:
    """Recompute the exact epsilon of a study, and check that tally, seal, export and report belong to it.

    The last line says whether the numbers are sealed, and by whom.  Exit status: 0 if everything that was checked
    holds, 1 if something is broken, 2 if a file cannot be read, and 3 if nothing is broken, but the words of a report
    or seal were not compared, since another version made them.
    """
    bundle = gather(files)
    piece = bundle.pieces["study"]
    with naming(Path(piece.name)):
        found = parse(piece.read())
    if key and signature is None and not {"seal", "signature"} & set(bundle.pieces):
        raise InvalidInput(
            "key", ", ".join(key), "must be given with --signature, or with a file that is signed: it checks that"
        )
    if draws is None and delta is not None:
        raise InvalidInput("delta", delta, "must be given with --draws: how many secret draws there are")
    private = all(question.private for question in found.questions)
    with waiting("Checking") as bar:
        checked = run(
            found,
            bundle,
            Signatures(tuple(key or ()), signature, strict, None if record is None else _record(record)),
            progress=bar.reach,
        )
    hidden = _crowd(found, draws, delta)
    if form != "people":
        among = {} if hidden is None else {"crowd": crowd_document(hidden)}
        verdict = _verdict(checked, private=private)
        said = {"verified": verdict == "holds", "verdict": verdict, "checks": [one.to_dict() for one in checked.checks]}
        by = (
            {}
            if checked.sealed is None
            else {"sealed": checked.sealed, "sealed_by": checked.by if checked.sealed else None}
        )
        told = _document(found, private) | said | by | {"not_looked_at": list(bundle.others)} | among
        show_as(form, told, _rows(found, checked))
    else:
        _show(found)
        if hidden is not None:
            for line in crowd_lines(hidden):
                out.print(line)
        _show_checks(checked, bundle.others, private=private)
    status = _STATUS[_verdict(checked, private=private)]
    if status:
        raise typer.Exit(status)


def _record(path: Path) -> Piece:
    """Return the record, which is longer than other files."""
    return Piece("record", str(path), lambda: path.open("rb"))


def _verdict(checked: Verification, *, private: bool) -> str:
    if checked.broken or not private:
        return "broken"
    return "words not compared" if checked.unread else "holds"


def _rows(found: Study, checked: Verification) -> list[dict[str, Any]]:
    """Return the questions' privacy and the checks as the rows of one table."""
    rows: list[dict[str, Any]] = [
        {
            "about": "privacy",
            "outcome": "holds" if q.private else "broken",
            "sentence": f"{q.metric.name} by {q.attribute.name} is {'private' if q.private else 'not private'}.",
            "epsilon_exact": None if math.isinf(q.mechanism.epsilon) else q.mechanism.epsilon,
            "epsilon_declared": float(q.epsilon),
        }
        for q in found.questions
    ]
    return rows + [one.to_dict() | {"epsilon_exact": None, "epsilon_declared": None} for one in checked.checks]


def _show_checks(checked: Verification, others: tuple[str, ...], *, private: bool) -> None:
    """Say what was checked, then what was not, then the verdict."""
    if not checked.checks and not others:
        return
    for check in checked.checks:
        if check.outcome != "open":
            out.print(Text.assemble(_MARKS[check.outcome], check.sentence))
    open_ = [check.sentence for check in checked.checks if check.outcome == "open"]
    if others:
        open_.append(f"Files that are none of a study's: {', '.join(others)}.")
    if open_:
        out.print("Not checked:")
        for sentence in open_:
            out.print(f"  {sentence}")
    broken = len(checked.broken) + (not private)
    if broken:
        out.print(Text(f"NOT VERIFIED: {broken} {'thing is' if broken == 1 else 'things are'} broken.", "bold red"))
    elif checked.unread:
        said = "NOT VERIFIED: nothing is broken, but words that another version wrote were not compared."
        out.print(Text(said, "bold red"))
        out.print("Verify with that version; a report can be written anew from these files with fairgauge report.")
    else:
        out.print("Everything that was checked holds.")
    if checked.sealed:
        out.print(f"SEALED {checked.by}.")
    elif checked.sealed is not None:
        out.print(Text("NOT SEALED: no seal that holds covers these numbers, and anyone could have made them.", "bold"))


def _document(found: Study, private: bool) -> dict[str, Any]:
    return {
        "digest": found.digest,
        "private": private,
        "questions": [
            {
                "metric": q.metric.name,
                "attribute": q.attribute.name,
                "epsilon_declared": float(q.epsilon),
                "epsilon_exact": None if math.isinf(q.mechanism.epsilon) else q.mechanism.epsilon,
                **own(q.mechanism, _verified)(q),
            }
            for q in found.questions
        ],
    }


def _verified(question: Question) -> dict[str, Any]:
    """Return what a question says of its mechanism."""
    return {"symbols": question.mechanism.size, "levels": len(question.levels)}


def _show(found: Study) -> None:
    out.print(Text.assemble((found.title, "bold"), f"\ndigest {found.digest}"))
    for table in found.tables:
        own(table[0].mechanism, _verify)(table)
    if any(table[0].mechanism.numbers < len(table) for table in found.tables):
        out.print("Questions that share a table are answered together, by one symbol.")
    if len(found.tables) > 1:
        what = "questions" if len(found.tables) == len(found.questions) else "tables"
        out.print(f"A device answers one of these {what}, picked by its own coin: the largest epsilon counts.")


def _verify(table: Table) -> None:
    """Say what a table's answers give away."""
    for q in table:
        verdict = ("private", "green") if q.private else ("NOT PRIVATE", "red")
        exact = f". Exact epsilon {q.mechanism.epsilon:.6g}, declared {q.epsilon}."
        out.print(Text.assemble(f"{q.metric.name} by {q.attribute.name}: ", verdict, exact))
        out.print(f"  In plain words: {privacy_sentence(q)}.")


def _crowd(found: Study, draws: str | None, delta: str | None) -> Crowd | None:
    """Return what counts with so many draws promise, or with as many as the study says; None if neither is said."""
    if any(math.isinf(question.mechanism.epsilon) for question in found.questions):
        if draws is None:
            return None  # which is said already: it is not private
        raise NotPrivate("a table has no finite epsilon, and no crowd hides what it tells")
    return crowd_asked(found, draws, delta)
