"""Does a store agree with itself about a study for sites: its answers with the hours, and its seal with both?"""

from dataclasses import dataclass, field

from fairgauge.collector.seal import PURPOSE, Seal, Sealed, read_sealed
from fairgauge.collector.seal_sites import answers_in
from fairgauge.collector.signing import signature_is_good
from fairgauge.collector.stores.base import Published, Store
from fairgauge.errors import FairgaugeError
from fairgauge.study import Study


@dataclass
class FoundSites:
    """How many answers of sites there are, and every contradiction that was found."""

    answers: int = 0
    faults: list[str] = field(default_factory=list)


async def check_sites(store: Store, kept: Published, study: Study) -> FoundSites:
    """Look at what is stored of a study for sites; it may grow meanwhile, so what is counted lies between."""
    before = sum((await store.arrivals(kept.number)).values())
    rows = await store.sites(kept.number)
    after = sum((await store.arrivals(kept.number)).values())
    answered = sum(row.state == "answered" for row in rows)
    found = FoundSites(0 if kept.dropped is not None else answered)
    if not before <= answered <= after:
        found.faults.append(f"its hours add up to {after:,} sites and {answered:,} answered")
    try:
        answers = answers_in(kept.digest, rows)
        for answer in answers:
            study.check_payload(answer.payload)
    except FairgaugeError as error:
        found.faults.append(f"an answer cannot be one of a site: {error.args[0] if error.args else error}")
        return found
    if kept.dropped is None and len(answers) != answered:
        found.faults.append(f"{answered:,} sites answered and it has the counts of {len(answers):,}")
    document = await store.sealed(kept.number)
    if document is not None:
        try:
            sealed = read_sealed(document)
        except FairgaugeError as error:
            found.faults.append(f"its seal cannot be read: {error}")
            return found
        found.faults += whose_seal(kept, sealed)
        if kept.dropped is None and Seal.of_sites(study, answers, sealed.seal.closed) != sealed.seal:
            found.faults.append("its answers are not those that were sealed")
    return found


def whose_seal(kept: Published, sealed: Sealed) -> list[str]:
    """Return what is wrong with the name and the signature of a seal."""
    faults = []
    if sealed.seal.study != kept.digest:
        faults.append("its seal is of another study")
    if not signature_is_good(sealed.key, PURPOSE, sealed.seal.to_bytes(), sealed.signature):
        faults.append("its seal is not signed by the key that it names")
    return faults
