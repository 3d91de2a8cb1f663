"""Everything of a sealed study that belongs together, as one zip that ``fairgauge verify`` takes."""

import zipfile
from collections.abc import AsyncIterator, Iterator, Mapping

from fairgauge.collector.export import PART, Pages, Sink
from fairgauge.collector.load_limits import Lane
from fairgauge.collector.seal import lines_of

MEDIA_TYPE = "application/zip"
ANSWERS = "answers.ndjson"
_SAME = (1980, 1, 1, 0, 0, 0)  # the same files make the same bytes, and no time is told
_LEVEL = 1  # answers repeat the study's name, which the quickest level finds

README = """\
Study {digest}

    fairgauge verify {name} --key KEY

checks that these files belong together: the exact epsilon, the signatures, the seal, the tally{counted} and the report.
KEY is the collector's public key. Take it from somewhere else than from these files: they name it, but a forger would
put another one there.

study.json       what was asked; its SHA-256 is its name
signature.json   the collector's signature of the study
tally.json       {tally}
sealed.json      the seal: the tally, a digest of all answers, the collector's signature, and the estimate
report.html      the results, for people
{last}
"""
_HAS = "answers.ndjson   all answers, sorted by id"
_HAS_NOT = {
    "removed": "The answers are not here: they were removed after the study was sealed.",
    "readers": "The answers are not here: they are for readers with a token.",
    "known": "What each site sent is not here: it is for that site, and for those who run the study.",
    "crowd": "The answers are not here: the study promises that nobody but those who run it sees one by itself.",
}


def readme(digest: str, why_not: str | None) -> bytes:
    """Return what the bundle says about itself.

    Args:
        digest: The study.
        why_not: Why there are no answers in it: ``removed``, ``readers``, ``known`` or ``crowd``; None if there are.
    """
    last = _HAS if why_not is None else _HAS_NOT[why_not]
    counted = ", the answers" if why_not is None else ""
    tally = "what sites counted in sum, and which sites" if why_not == "known" else "how often each symbol was sent"
    return README.format(tally=tally, digest=digest, name=f"{digest[:16]}.zip", counted=counted, last=last).encode()


async def zipped(files: Mapping[str, bytes], study: str, pages: Pages | None, lane: Lane) -> AsyncIterator[bytes]:
    """Yield a zip with these files, and with the answers, as it is being made.

    Args:
        files: Small files by name.
        study: The study's digest.
        pages: The answers, sorted by id, if they are to be in it.
        lane: Where there is time for it.
    """
    sink = Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name, data in files.items():
            async with lane.slice():
                archive.writestr(_info(name), data)
            for part in sink.taken():
                yield part
        if pages is not None:
            with archive.open(_info(ANSWERS), "w", force_zip64=True) as member:
                async for page in pages:
                    for lines in _parts(study, page):
                        async with lane.slice():
                            member.write(lines)
                        for part in sink.taken():
                            yield part
    for part in sink.taken():
        yield part


def _parts(study: str, page: list[tuple[bytes, str]]) -> Iterator[bytes]:
    for at in range(0, len(page), PART):
        yield lines_of(study, page[at : at + PART])


def _info(name: str) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name, _SAME)
    found.compress_type = zipfile.ZIP_DEFLATED
    found.external_attr = 0o644 << 16
    return found
