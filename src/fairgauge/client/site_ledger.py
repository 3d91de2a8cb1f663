"""A site's ledger: the noisy counts are on the disk before anyone sees them, so that noise is drawn once.

Whoever saw the counts of one site twice, with noise of its own each time, could take the mean.  The file is that of
devices, with one more table; what an answer costs is in the same sums.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from sqlite3 import Connection

from fairgauge.client.answer import check_ticket
from fairgauge.client.ledger import Ledger, State
from fairgauge.client.limits import Limits, site_charges
from fairgauge.client.site import Record, SiteAnswer, answer_for_site
from fairgauge.errors import BadLedger, CannotAnswer, InvalidInput
from fairgauge.study import Study

_TABLE = """CREATE TABLE IF NOT EXISTS site_answers (
    study TEXT NOT NULL PRIMARY KEY CHECK (length(study) = 64),
    id TEXT NOT NULL CHECK (length(id) = 32),
    counts TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'refused'))
) WITHOUT ROWID"""


class SiteLedger(Ledger):
    """A site's memory of what it answered and what that cost each of its people."""

    def answer_for_site(
        self, study: Study, records: Iterable[Record], *, limit: Limits | None = None, ticket: str | None = None
    ) -> SiteAnswer:
        """Answer a study for sites, or return the answer that it got before; either way it is on the disk first.

        Guarantee: exact; over the ledger's lifetime each study gets noise once, and the answers about an attribute
        have a summed epsilon within the lifetime limit.

        Args:
            study: A study for sites.
            records: As for :func:`fairgauge.client.site.answer_for_site`; not read if the study was answered before.
            limit: What the site is willing to spend for each person.
            ticket: Proof that the site may answer; it becomes the answer's id.  An answer that was refused gets another
                one, with the same counts: a ticket may have been mistyped, and noise is drawn once.

        Raises:
            NotPrivate: If the study spends more than one study may.
            CannotAnswer: If the study is for devices or not open, or the lifetime limit forbids it.
        """
        if study.site is None:
            raise CannotAnswer("the study is for devices of one person each, and this is a site that holds many people")
        limits = limit or Limits()
        with self._with_table() as connection:
            found = self._site_answer(connection, study.digest)
            if found is None:
                limits.check_study(study)
                costs = site_charges(study.site)
                limits.check_lifetime(costs, self._charges(connection))
                found = answer_for_site(study, records, limit=limits, ticket=ticket)
                row = (found.study, found.id, json.dumps(found.counts))
                connection.execute("INSERT INTO site_answers VALUES (?, ?, ?, 'pending')", row)
                self._charge(connection, study, costs)
            elif ticket is not None and ticket != found.id:
                found = self._with_ticket(connection, found, ticket)
        self._sync_folder()
        return found

    def site_state(self, study: str) -> State | None:
        """Return what became of the answer to the study with this digest; None if there is none."""
        with self._with_table() as connection:
            return self._state_of(connection, "site_answers", study)

    def mark_site(self, answer: SiteAnswer, state: State) -> None:
        """Remember what became of an answer; what was delivered stays delivered."""
        with self._with_table() as connection:
            if self._site_answer(connection, answer.study) != answer:
                raise InvalidInput("answer", answer.id, "is not in this ledger")
            self._set_state(connection, "site_answers", answer.study, state)

    def _with_ticket(self, connection: Connection, found: SiteAnswer, ticket: str) -> SiteAnswer:
        """Give an answer that was refused another ticket; any other keeps the one that it has."""
        check_ticket(ticket)
        sql = "UPDATE site_answers SET id = ?, state = 'pending' WHERE study = ? AND state = 'refused'"
        changed = connection.execute(sql, (ticket, found.study)).rowcount
        return SiteAnswer(found.study, ticket, found.counts) if changed else found

    @contextmanager
    def _with_table(self) -> Iterator[Connection]:
        with self._transaction() as connection:
            connection.execute(_TABLE)
            yield connection

    def _site_answer(self, connection: Connection, study: str) -> SiteAnswer | None:
        row = connection.execute("SELECT study, id, counts FROM site_answers WHERE study = ?", (study,)).fetchone()
        if row is None:
            return None
        try:
            return SiteAnswer(row[0], row[1], tuple(json.loads(row[2])))
        except (InvalidInput, ValueError, TypeError):
            raise BadLedger("ledger", self.path, "is damaged: the counts of an answer are not counts") from None
