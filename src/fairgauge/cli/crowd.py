"""The crowd's numbers as commands take and print them."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fairgauge.blanket import closeness
from fairgauge.crowd import Crowd, crowd_of, default_delta, factor_sentence, guess_sentence, usual_observed
from fairgauge.crowd.words import is_loose, loose_sentence, shown_delta
from fairgauge.study import Study
from fairgauge.study.numbers import as_count, read_decimal


@dataclass(frozen=True)
class CrowdTerms:
    """How many answers a release sums up, which part of them a reader knows, and delta."""

    batch: int
    observed: Decimal
    delta: Decimal

    @classmethod
    def read(cls, study: Study, batch: str, delta: str | None, observed: str | None) -> "CrowdTerms":
        """Read them as typed; what is not, is what is usual for such a study."""
        count = as_count("crowd", batch)
        return cls(
            count,
            usual_observed(study) if observed is None else read_decimal("observed", observed),
            default_delta(count) if delta is None else read_decimal("delta", delta),
        )

    @classmethod
    def said(cls, study: Study) -> "CrowdTerms | None":
        """Return what a study says itself; None if it is not released in batches."""
        if study.release is None:
            return None
        return cls(study.release.batch, Decimal(study.release.observed), Decimal(study.release.delta))


@dataclass(frozen=True)
class HiddenInCrowd:
    """What a release promises a person, and how close that is to what could be proved at most."""

    crowd: Crowd
    tight: float | None
    lower: float

    @classmethod
    def of(cls, study: Study, terms: CrowdTerms) -> "HiddenInCrowd":
        """Compute it for a study."""
        crowd = crowd_of(study, terms.batch, observed=terms.observed, delta=terms.delta)
        found = closeness(study, crowd)
        return cls(crowd, found.tight, found.lower)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "batch": self.crowd.batch,
            "observed": float(self.crowd.observed),
            "delta": float(self.crowd.delta),
            "epsilon": self.crowd.number,
            "tight": self.tight,
            "lower": self.lower,
        }

    def lines(self) -> list[str]:
        """Return it for people."""
        crowd = self.crowd
        number = f"crowd epsilon {crowd.number:.5g} at delta {shown_delta(crowd.delta)}, certified from the integers."
        tight = "" if self.tight is None else f"computed tightly it is about {self.tight:.4g}, and "
        return [
            f"In a release of at least {crowd.batch:,} answers, {known_part(crowd)}: {number}",
            f"  {factor_sentence(crowd)}",
            f"  {guess_sentence(crowd)}",
            f"  How close: {tight}some data sets need about {self.lower:.4g}. These two are numerical, not certified.",
            *([f"  {loose_sentence(crowd)}"] if is_loose(crowd) else []),
            f"  {OF_WHOM}",
        ]


OF_WHOM = (
    "This is for those who see the published counts and no symbol. Whoever runs the collector sees symbols: towards "
    "them the epsilon of each question holds, and no other."
)


def known_part(crowd: Crowd) -> str:
    """Say how many of the answers a reader may know or have made up."""
    known = crowd.batch - crowd.people
    return f"of which a reader knows at most {known:,}" if known else "none of them known to a reader"
