"""Which studies a collector takes, and on which terms: none whose terms it cannot keep."""

from collections.abc import Collection

from msgspec.structs import replace

from fairgauge.collector.blind_admission import Gate
from fairgauge.collector.queries import Terms
from fairgauge.collector.stores.base import Published
from fairgauge.crowd.promise import MOST_DRAWS
from fairgauge.crowd.secret_draws import MOST_FOR_ONE_BATCH
from fairgauge.errors import BadStudy
from fairgauge.study import Study

MOST_NUMBERS = 600  # of one answer: sums of products of every two of them may be in a tally


def check_takes(study: Study, *, gateway: Collection[str]) -> None:
    """Refuse a study that this collector must not publish.

    Args:
        study: The study.
        gateway: The key configurations of this collector's gateway.

    Raises:
        BadStudy: If it promises what this collector cannot keep.
    """
    if study.mechanism.numbers > MOST_NUMBERS:
        rule = f"must have at most {MOST_NUMBERS} to be counted here"
        raise BadStudy("site", f"{study.mechanism.numbers} cells", rule)
    if study.gateway is not None and study.gateway not in gateway:
        rule = "must be a key of this collector's gateway, which fairgauge key gateway shows"
        raise BadStudy("gateway", study.gateway, rule)
    if study.release is not None and study.release.batch > MOST_DRAWS:
        raise BadStudy(
            "release.batch", study.release.batch, f"must be at most {MOST_DRAWS}: nobody lives to see it full"
        )
    if study.release is not None and study.release.draws > MOST_FOR_ONE_BATCH:
        rule = f"must be at most {MOST_FOR_ONE_BATCH}: answers would wait while more are drawn"
        raise BadStudy("release.draws", study.release.draws, rule)
    Gate.of(study)  # refuses an issuer's key that is none


def terms_of(study: Study, given: Terms) -> Terms:
    """Return the terms on which a study is published: what it says itself, which its digest covers, comes first.

    Raises:
        BadStudy: If it is in the crowd, and whoever sends tickets out would know the ids of its answers.
    """
    # What the store keeps is whether a ticket is needed; that it is a blind one stands in the document.
    admission = "tickets" if study.admission == "blind" or study.mechanism.contributors_known else study.admission
    said = {"admission": admission, "aim": study.aim, "hourly": study.hourly}
    found = replace(given, **{name: value for name, value in said.items() if value is not None})
    if study.release is not None and found.admission == "tickets" and study.admission != "blind":
        rule = "must be open or blind in the crowd: who sends plain tickets knows every id, and could try all symbols"
        raise BadStudy("admission", found.admission, rule)
    return found


def kept_terms(kept: Published) -> Terms:
    """Return the terms on which a study is published already."""
    return Terms(
        admission=kept.admission,  # type: ignore[arg-type]
        results="public" if kept.public else "readers",
        aim=kept.aim or Terms().aim,
        hourly=kept.hourly or 0,
    )
