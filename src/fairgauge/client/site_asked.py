"""A site that a framework asks: one answer from its own records, or a refusal that says nothing of them.

First comes all that depends on the study and on the site's own settings; a refusal there may be told.  Then there is an
answer, from what was made of the records when the site was set up: what cannot be counted is left out.  Only a site
that was not set up has none.
"""

import logging
from pathlib import Path

from fairgauge.client.answer import Answer
from fairgauge.client.disk import make_folder
from fairgauge.client.ledger import Ledger
from fairgauge.client.refusals import UNTOLD, Refusal, check_whoever
from fairgauge.client.site_settings import SiteSettings
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.study import Study

_logger = logging.getLogger(__name__)


def answer_asked(settings: str | Path, study: Study) -> Answer | Refusal:
    """Answer a study for sites as the site's own file says, or repeat the answer that it got.

    Guarantee: exact; the counts are epsilon-differentially private for each person, over the ledger's lifetime each
    study gets noise once, and no entry of a record decides whether there is an answer.

    Args:
        settings: The site's own file (:class:`~fairgauge.client.site_settings.SiteSettings`).
        study: The study.
    """
    try:
        own = SiteSettings.load(settings)
    except FairgaugeError as problem:
        return Refusal("settings", str(problem))
    return refused_by(own, study) or answer_by(own, study)


def refused_by(own: SiteSettings, study: Study) -> Refusal | None:
    """Return why a site refuses a study whatever its records are; None if it would answer, or has."""
    try:
        study.questions[0].counts  # noqa: B018 - it refuses a study for devices
    except InvalidInput as problem:
        return Refusal("unable", str(problem))
    refused = own.policy.refused(study)
    if refused is not None:
        return refused
    try:
        make_folder(own.ledger)
        ledger = Ledger(own.ledger)
        known = ledger.state(study.digest) is not None
    except (FairgaugeError, OSError) as problem:
        return Refusal("ledger", str(problem))
    return None if known else check_whoever(study, ledger, own.limits)


def answer_by(own: SiteSettings, study: Study) -> Answer | Refusal:
    """Answer a study that the site does not refuse, or repeat its answer."""
    try:
        ledger = Ledger(own.ledger)
        known = ledger.find(study.digest) is not None
        # What was answered before is repeated, and no record is read for it.
        records = None if known else own.load_records()
        found = ledger.answer(study, records, limit=own.limits)
    except FairgaugeError as problem:
        return Refusal(UNTOLD, str(problem))
    _logger.info("study %s: answered by this site", study.digest)
    return found
