"""What an agent does for a site that holds many people: it answers from records that who may only ask cannot read."""

from pathlib import Path

from fairgauge.client.agent_files import READ, WRITE, length_seen, trouble
from fairgauge.client.answer import Answer
from fairgauge.client.ledger import Ledger
from fairgauge.client.refusals import Refusal
from fairgauge.client.site_asked import answer_by, refused_by
from fairgauge.client.site_settings import SiteSettings
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.study import Study


class AgentSite:
    """A site's records, behind an agent.

    Guarantee: exact; as for :func:`fairgauge.client.site_asked.answer_asked`, whatever those say who may only
    ask: as another user.

    Args:
        path: The site's own file (:class:`~fairgauge.client.site_settings.SiteSettings`); read anew for every study.
        mode: The permissions of the agent's socket: whoever may only ask must not read records or write any file.
    """

    def __init__(self, path: Path, mode: int) -> None:
        self._path, self._mode = path, mode

    def settings(self) -> SiteSettings:
        """Read the site's own file, and look at who may touch what it names.

        Raises:
            InvalidInput: If a file is not safe from whoever may ask, or the file is none.
        """
        own = SiteSettings.load(self._path)
        for field, path, forbidden, owned in (
            ("site", self._path, WRITE, True),
            ("ledger", own.ledger, READ | WRITE, True),
            ("records", own.records, READ | WRITE, False),
        ):
            problem = trouble(path, self._mode, forbidden, owned=owned)
            if problem is not None:
                raise InvalidInput(field, path, f"must be safe from others: {problem}")
        if (seen := length_seen(own.records, self._mode)) is not None:
            raise InvalidInput("records", own.records, f"must be safe from others: {seen}")
        return own

    def check(self, study: Study) -> Refusal | None:
        """Return why a study is refused whatever the records are; None if it would be answered, or was."""
        try:
            return refused_by(self.settings(), study)
        except FairgaugeError as problem:
            return Refusal("settings", str(problem))

    def answered(self, study: Study) -> bool:
        """Tell whether the study has its answer."""
        return Ledger(self.settings().ledger).state(study.digest) is not None

    def answer(self, study: Study) -> Answer | Refusal:
        """Answer a study that was checked, or repeat its answer."""
        return answer_by(self.settings(), study)
