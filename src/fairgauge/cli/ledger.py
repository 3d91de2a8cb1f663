"""``fairgauge ledger``: what a device remembers of its answers, and whether they were counted."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from fairgauge.cli._console import out
from fairgauge.cli._formats import Form, in_forms, show_as
from fairgauge.client import Ledger
from fairgauge.client.budget import LIFETIME_LIMIT
from fairgauge.client.http_client import check_url, place, request
from fairgauge.client.inclusion_proof import PURPOSE, bucket_of, buckets_to_ask, check_included, depth_of, signed_bytes
from fairgauge.client.ledger import default_ledger
from fairgauge.client.study_source import load_study
from fairgauge.crowd.sentences import shown, shown_delta
from fairgauge.errors import CannotSend, InvalidInput, MissingExtra, SealBroken
from fairgauge.study.numbers import as_count

ledger = typer.Typer(
    help="Show what a device has spent, and check that an answer was counted.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_File = Annotated[Path | None, typer.Option("--ledger", help="The ledger; the usual one unless given.")]
TIMEOUT, LONGEST = 20.0, 2**26


@ledger.callback()
def group() -> None:
    """Show what a device has spent, and check that an answer was counted."""


@ledger.command()
@in_forms
def spent(
    file: _File = None,
    *,
    form: Form,
) -> None:
    """Show both sums: towards those who run studies, and towards those who read them."""
    found = _existing(file)
    local, readers = found.spent(), found.spent_towards_readers()
    if form != "people":
        rows = [
            {
                "attribute": name,
                "local": float(cost),
                "crowd_epsilon": float(readers[name].epsilon),
                "crowd_delta": float(readers[name].delta),
            }
            for name, cost in sorted(local.items())
        ]
        crowds = [{"epsilon": row["crowd_epsilon"], "delta": row["crowd_delta"]} for row in rows]
        told = {str(row["attribute"]): {"local": row["local"], "crowd": c} for row, c in zip(rows, crowds, strict=True)}
        show_as(form, told, rows)
        return
    if not local:
        out.print("Nothing was answered, so nothing is spent.")
    for name, cost in sorted(local.items()):
        towards = readers[name]
        delta = f" and delta {shown_delta(towards.delta)}" if towards.delta else ""
        out.print(f"{name}:")
        out.print(f"  towards those who run studies: epsilon {shown(cost, 4)}; the usual limit is {LIFETIME_LIMIT}")
        out.print(f"  towards everyone who reads them: epsilon {shown(towards.epsilon, 4)}{delta}")


@ledger.command()
@in_forms
def check(
    study: Annotated[str, typer.Argument(help="The address of the study at its collector.")],
    file: _File = None,
    root: Annotated[str | None, typer.Option(help="The root that the study's seal names, from elsewhere.")] = None,
    key: Annotated[str | None, typer.Option(help="The collector's public key, to check its signature with.")] = None,
    answers: Annotated[str | None, typer.Option(help="How many answers the published results are of.")] = None,
    direct: Annotated[bool, typer.Option("--direct", help="Also if the answer itself went through a relay.")] = False,
    *,
    form: Form,
) -> None:
    """Check that this device's answer is among those that a study in the crowd was sealed with.

    The collector learns the first bits of the answer's id, which hundreds of answers share, and nothing else that it
    did not know. It sees this device's address.
    """
    check_url("study", study)
    address, digest = study.rstrip("/"), study.rstrip("/").rpartition("/")[2]
    own = _existing(file)
    answer = own.find(digest) if len(digest) == 64 else None
    if answer is None:
        raise InvalidInput("study", place(study), "must be the address of a study that this ledger has answered")
    if own.wants_relay(digest) and not direct:
        rule = "has answers sent through a relay, and this would show it your address beside some hundred: see --direct"
        raise InvalidInput("study", place(study), rule)
    head = _number_of_answers(_read(f"{address}/inclusion"), study)
    known = _known(address, digest) if answers is None else as_count("answers", answers)
    if answers is not None and head != known:
        raise SealBroken(f"the collector proves from {head:,} answers, and not from {known:,}")
    id_ = bytes.fromhex(answer.id)
    # All of them before one is looked at: where we stop must not tell which one it is.
    proofs = {bucket: _read(f"{address}/inclusion?bucket={bucket}") for bucket in buckets_to_ask(id_, head, known)}
    bucket = bucket_of(id_, depth_of(head))
    proof = proofs[bucket]
    check_included(answer, proof, root=root)
    if key is not None:
        _check_signature(proof, key)
    told = {"study": digest, "included": True, "answers": proof["answers"], "root": proof["root"]}
    if form != "people":
        told |= {"bucket": bucket, "shared_with": _asked_about(proofs) - 1, "signed": key is not None}
        show_as(form, told, [told])
        return
    signed = "It is signed with that key." if key is not None else "Its signature is not checked: give the --key."
    out.print(f"Your answer is among the {proof['answers']:,} that were sealed, under the root {proof['root']}.")
    out.print(signed)
    others = _asked_about(proofs) - 1
    out.print(f"The collector was asked about your answer and {others:,} others at once, not which of them is yours.")


def _number_of_answers(head: dict[str, Any], study: str) -> int:
    if not isinstance(head.get("answers"), int):
        raise InvalidInput("study", place(study), "must give a proof, and gives something else")
    return int(head["answers"])


def _known(address: str, digest: str) -> int:
    """Return how many answers a study's batches have: that is not the collector's to say."""
    release = load_study(address, digest=digest).release
    return 0 if release is None else release.batch


def _asked_about(proofs: dict[int, dict[str, Any]]) -> int:
    return sum(len(proof["leaves"]) for proof in proofs.values() if isinstance(proof.get("leaves"), list))


def _existing(file: Path | None) -> Ledger:
    path = default_ledger() if file is None else file
    if not path.exists():
        raise InvalidInput("ledger", path, "is not there")
    return Ledger(path)


def _read(url: str) -> dict[str, Any]:
    response = request(url, timeout=TIMEOUT, most=LONGEST)
    if response.status in (404, 410):
        rule = "it is not sealed, not in the crowd, or its answers were removed"
        raise CannotSend(f"{place(url)} has no proof for this study: {rule}")
    try:
        found = json_module.loads(response.body)
    except (ValueError, RecursionError):
        found = None
    if response.status != 200 or not isinstance(found, dict):
        raise CannotSend(f"{place(url)} gives no proof now (HTTP status {response.status})")
    return found


def _check_signature(proof: dict[str, Any], key: str) -> None:
    try:
        from fairgauge.collector.signatures import signature_is_good
    except ImportError:
        raise MissingExtra("checking a signature needs cryptography", "collector") from None
    signed = signed_bytes(proof["study"], proof["answers"], proof["root"])
    if not signature_is_good(key, PURPOSE, signed, str(proof.get("signature"))):
        raise SealBroken("the signature of the root is not by the holder of this key")
