"""``fairgauge verify``: recompute a study's privacy from its integers, and its seal from the exported answers."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from fairgauge.cli import options
from fairgauge.cli.crowd import CrowdTerms, HiddenInCrowd
from fairgauge.cli.read import naming, read_bytes
from fairgauge.cli.show import out, show_json
from fairgauge.errors import InvalidInput, MissingExtra, NotPrivate, NotSigned, SealBroken
from fairgauge.reports.words import privacy_sentence
from fairgauge.study import DRAFT, Study, parse


def verify(
    study: options.StudyFile,
    sealed: Annotated[Path | None, typer.Option(help="The seal of the study, to be checked too.")] = None,
    export: Annotated[Path | None, typer.Option(help="The answers that were sealed: NDJSON or Parquet.")] = None,
    signature: Annotated[
        str | None, typer.Option(help="The collector's signature of the study, to be checked.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="The collector's public key, to check signatures with.")] = None,
    crowd: Annotated[
        str | None, typer.Option(metavar="ANSWERS", help="Also tell what a release of so many answers promises.")
    ] = None,
    delta: options.Delta = None,
    observed: options.Observed = None,
    json: options.Json = False,
) -> None:
    """Recompute the exact epsilon of a study, and say what it means for a person."""
    data = read_bytes("study", study)
    with naming(study):
        found = parse(data)
    private = all(question.private for question in found.questions)
    if key is not None and signature is None and sealed is None:
        raise InvalidInput("key", key, "must be given with --signature or --sealed, which it checks")
    _check_signature(found, signature, key)
    seal = _check_seal(found, sealed, export, key)
    hidden = None if crowd is None else _crowd(found, crowd, delta, observed)
    if crowd is None and (delta is not None or observed is not None):
        raise InvalidInput("crowd", "nothing", "must be given with --delta and --observed: how many are released")
    if json:
        checked = {} if signature is None else {"signed": True}
        among = {} if hidden is None else {"crowd": hidden.to_dict()}
        show_json(_document(found, private) | checked | among | ({} if seal is None else {"seal": seal}))
    else:
        _show(found)
        if hidden is not None:
            for line in hidden.lines():
                out.print(line)
        if signature is not None:
            out.print("Signature: the holder of that key published this study.")
        if seal is not None:
            signed = "signed with that key" if seal["signed"] else "its signature is not checked: give the --key"
            told = (
                "tally and estimate are the sealed ones"
                if seal["recounted"]
                else "the estimate is what the sealed tally gives; nobody counted again: give the --export"
            )
            out.print(f"Seal: {seal['answers']:,} answers, {told} ({signed}).")
    if not private:
        raise typer.Exit(1)


def _document(found: Study, private: bool) -> dict[str, Any]:
    return {
        "digest": found.digest,
        "private": private,
        "questions": [
            {
                "metric": q.metric.name,
                "attribute": q.attribute.name,
                "epsilon_declared": float(q.epsilon),
                "epsilon_exact": None if math.isinf(q.channel.epsilon) else q.channel.epsilon,
                "symbols": q.channel.symbols,
                "levels": len(q.channel.levels),
            }
            for q in found.questions
        ],
    }


def _show(found: Study) -> None:
    out.print(Text.assemble((found.title, "bold"), f"\ndigest {found.digest}"))
    if found.format == DRAFT:
        out.print(f"Format {DRAFT}, a draft: it may still change, and collectors take it only where they are set to.")
    if found.site is not None:
        out.print(f"For sites that hold many people: epsilon {found.site.epsilon} for each person, by noise in counts.")
    for q in found.questions:
        verdict = ("private", "green") if q.private else ("NOT PRIVATE", "red")
        exact = f". Exact epsilon {q.channel.epsilon:.6g}, declared {q.epsilon}."
        out.print(Text.assemble(f"{q.metric.name} by {q.attribute.name}: ", verdict, exact))
        out.print(f"  In plain words: {privacy_sentence(q)}.")
    if len(found.tables) < len(found.questions):
        out.print("Questions that share a table are answered together, by one symbol.")
    if len(found.tables) > 1:
        what = "questions" if len(found.tables) == len(found.questions) else "tables"
        out.print(f"A device answers one of these {what}, picked by its own coin: the largest epsilon counts.")


def _crowd(found: Study, batch: str, delta: str | None, observed: str | None) -> HiddenInCrowd:
    if any(question.channel.loss is None for question in found.questions):
        raise NotPrivate("a table has no finite epsilon, and no crowd hides what it tells")
    return HiddenInCrowd.of(found, CrowdTerms.read(batch, delta, observed))


def _check_signature(study: Study, signature: str | None, key: str | None) -> None:
    """Check that the holder of a key published the study."""
    if signature is None:
        return
    if key is None:
        raise InvalidInput("key", "nothing", "must be given with --signature: the collector's public key")
    if not _is_signed(key, "study", study.to_bytes(), signature):
        raise NotSigned("the signature of the study is not by the holder of this key")


def _is_signed(key: str, purpose: str, data: bytes, signature: str) -> bool:
    try:
        from fairgauge.collector.signing import signature_is_good
    except ImportError:
        raise MissingExtra("checking a signature needs cryptography", "collector") from None
    return signature_is_good(key, purpose, data, signature)


def _check_seal(study: Study, sealed: Path | None, export: Path | None, key: str | None) -> dict[str, Any] | None:
    """Check a seal, against the answers if there are any, and its signature if there is a key to check it with."""
    if sealed is None:
        if export is not None:
            raise InvalidInput("sealed", "nothing", "must be given with --export")
        return None
    from fairgauge.collector.seal import PURPOSE, Export, check_sealed, read_sealed

    document = read_sealed(read_bytes("sealed", sealed))
    check_sealed(study, document, None if export is None else Export(export, study.digest))
    if key is not None and not _is_signed(key, PURPOSE, document.seal.to_bytes(), document.signature):
        raise SealBroken("the signature is not by the holder of this key")
    return {
        "answers": document.seal.answers,
        "answers_sha256": document.seal.answers_sha256,
        "recounted": export is not None,
        "signed": key is not None,
    }
