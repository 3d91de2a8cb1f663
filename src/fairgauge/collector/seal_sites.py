"""What is shown and sealed of a study for sites: the sum of what they counted, and never one site by itself.

Nothing is shown before the study closes: a tally before and one after would tell the counts of the site that came
between.  Of fewer than three sites nothing is ever shown: one of two could take its own counts away from the sum.  Sums
of products, which tell how sites differ, are for those who have the export: they tell what each of a few sites counted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from fairgauge.client import Answer
from fairgauge.collector.stores.sites import SiteRow
from fairgauge.errors import InvalidInput, SealBroken
from fairgauge.study import Study
from fairgauge.tallies import Tally

FEWEST = 3
LONGEST_LINE = 2**21


def answers_in(study: str, rows: Iterable[SiteRow]) -> list[Answer]:
    """Return the answers that are in a store, in the order of their ids."""
    return [Answer(study, row.id.hex(), row.counts) for row in rows if row.counts is not None]


def released_sites(study: Study, answers: Sequence[Answer]) -> Tally:
    """Return what a closed study shows of its sites: their sum, or nothing if they are too few."""
    return Tally.of(study, answers if len(answers) >= FEWEST else ()).shown


def site_name(id_: str) -> str:
    """Return what stands for a site in a seal: half of the SHA-256 of its answer's id.

    The id may be a ticket.  A site finds itself in the list; whoever reads the list cannot ask a collector about it.

    >>> site_name("0" * 32)
    '374708fff7719dd5979ec875d56cd228'
    """
    return sha256(bytes.fromhex(id_)).hexdigest()[:32]


def site_lines(answers: Iterable[Answer]) -> Iterator[bytes]:
    """Yield answers as canonical lines: the export is made of these, and the seal digests them."""
    for answer in answers:
        yield answer.to_bytes() + b"\n"


def site_digest(answers: Iterable[Answer]) -> str:
    """Return the SHA-256 of the lines, sorted by id."""
    found = sha256()
    for line in site_lines(sorted(answers, key=lambda answer: answer.id)):
        found.update(line)
    return found.hexdigest()


def read_site_export(source: Path | Callable[[], BinaryIO], study: Study) -> list[Answer]:
    """Read exported answers of sites, one a line.

    Raises:
        InvalidInput: If the file cannot be read, or a line is no answer to the study.
        SealBroken: If an answer is there twice.
    """
    found: dict[str, Answer] = {}
    try:
        with source.open("rb") if isinstance(source, Path) else source() as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
                try:
                    answer = Answer.from_bytes(line.rstrip(b"\n"))
                    study.check_payload(answer.payload)
                except InvalidInput as error:
                    raise InvalidInput(f"line {number}: {error.field}", error.value, error.rule) from None
                if answer.id in found:
                    raise SealBroken(f"the answer {answer.id} is there twice")
                found[answer.id] = answer
    except OSError as error:
        raise InvalidInput("export", source, f"cannot be read: {error.strerror}") from None
    return list(found.values())
