"""Whoever audits a seal, and asks what ``fairgauge verify`` asks."""

import io
import json
from pathlib import Path

from fairgauge.bundles import Bundle, Signatures, verify
from fairgauge.bundles.bundle_files import Piece
from fairgauge.collector.seal import Sealed
from fairgauge.study import Study


def faults(study: Study, sealed: Sealed, export: Path | None = None) -> str:
    """Return in sentences what is broken in a sealed document, and in the export beside it; nothing if all holds."""
    document = {
        "seal": sealed.seal.to_dict(),
        "key": sealed.key,
        "signature": sealed.signature,
        "version": sealed.version,
        "estimate": sealed.estimate,
    }
    pieces = {
        "study": Piece("study", "study.json", lambda: io.BytesIO(study.to_bytes())),
        "seal": Piece("seal", "sealed.json", lambda: io.BytesIO(json.dumps(document).encode())),
    }
    if export is not None:
        pieces["export"] = Piece("export", "answers.ndjson", lambda: export.open("rb"))
    return " ".join(check.sentence for check in verify(study, Bundle(pieces), Signatures()).broken)
