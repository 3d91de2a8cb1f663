"""The collector as one object: what the routes call, and what runs between requests."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakValueDictionary

import msgspec

from fairgauge.collector.admission import Gate, PublishingTerms, check_takes, kept_terms, terms_of
from fairgauge.collector.audit_log import taken_notes
from fairgauge.collector.config import Config
from fairgauge.collector.gateway import Gateway
from fairgauge.collector.group_commit import Intake
from fairgauge.collector.load_limits import Asker, Desk, Hourly, Lane, Room, Slots, Turnstile
from fairgauge.collector.metrics import Metrics
from fairgauge.collector.retention import Retention
from fairgauge.collector.seal import PURPOSE, batch_of, leaves_at_end, seal_of, sealed_document
from fairgauge.collector.seal_record import join, learn, open_record
from fairgauge.collector.sessions import Sessions
from fairgauge.collector.signatures import remember_keys
from fairgauge.collector.stores.store import Event, Published, Store
from fairgauge.errors import CannotEstimate, InvalidInput, StoreAway, StoreError
from fairgauge.estimation import Estimate, estimate
from fairgauge.server.bearer_tokens import Gatekeeper
from fairgauge.server.coarse_time import bucket_of, moment_of, seconds_of
from fairgauge.server.logs import log, log_fault
from fairgauge.server.server_errors import NoStudy, OtherTerms, RecordContradicted
from fairgauge.server.tickets import Tickets
from fairgauge.study import Release, Study
from fairgauge.tallies import Tally

_CACHED_STUDIES = 10_000
_PARSED_STUDIES = 16
_DOCUMENTS, _DOCUMENT_BYTES = 64, 2**24  # at hand, of all studies together
_SHOWN_SECONDS = 1.0  # for which a study that was there is taken to be there
_COMMIT_SECONDS = 10.0  # how long a commit that succeeded shows that the store can commit
_FAILED_SECONDS = 15.0  # how long a commit that failed shows that the store cannot, unless one succeeds
_LEAST_BYTES = 512  # of an answer, for everything but its numbers
_NUMBER_BYTES = 16  # for one number, with its comma and some white space
_LEARN_SECONDS = 30.0  # how often to look what collectors with a record of their own have sealed or released
_LOOK_SECONDS = 2.0  # how often to look for studies whose time is over


@dataclass(slots=True)
class Entry:
    """What must be known about a study for every answer: how it is published, without its document, and its numbers."""

    kept: Published
    symbols: int
    gate: Gate | None = None
    numbers: int = 1  # that one answer holds
    contributors_known: bool = False
    release: Release | None = None
    hidden: bool = False  # whether its answers come through a relay

    @property
    def number(self) -> int:
        """The study's number in the store."""
        return self.kept.number

    @property
    def digest(self) -> str:
        """The study's name."""
        return self.kept.digest

    def shown(self, counts: Mapping[int, int]) -> Tally:
        """Return the tally of counts that readers see, where all who answered are counted, and draws are known."""
        sums = tuple(counts.get(place, 0) for place in range(self.symbols))
        if self.release is None:
            return Tally(self.digest, sums)
        return Tally(self.digest, sums, self.release.answers(sum(sums)))

    def most_bytes(self, usual: int) -> int:
        """Return how many bytes an answer has at most, if one of few numbers has so many."""
        return max(usual, _LEAST_BYTES + _NUMBER_BYTES * self.numbers)


@dataclass(slots=True, eq=False, weakref_slot=True)
class PublicStudy:
    """A study as everyone may have it, and when the store last had it: one copy, however many are being sent it."""

    kept: Published
    looked: float


class Collector:
    """Everything that a running collector holds."""

    def __init__(self, config: Config, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self.secrets = folder = Path(config.secrets)
        self.config = config
        self.store = store
        self.clock = clock
        self.metrics = Metrics()
        self.gatekeeper = Gatekeeper(folder, clock=clock)
        self.sessions = Sessions.in_folder(folder, self.gatekeeper, clock=clock)
        self.tickets = Tickets.in_folder(folder)
        self.signer, self.recorded = open_record(folder, moment_of(bucket_of(clock(), config.bucket_seconds)))
        self.gateway = Gateway.in_folder(folder)
        self.turnstile = Turnstile(config.rates)
        self.lane = Lane()
        self.desk = Desk(self.lane)
        self.hourly = Hourly(store, clock)
        self.retention = Retention(store, self.study)
        self.bodies = Room(config.limits.held_bytes)
        self.exports = Slots("exports", config.limits.exports)
        self.intake = Intake(
            store,
            self.metrics,
            self.bucket,
            window=config.commit_milliseconds / 1000,
            most=config.limits.waiting,
        )
        self.ready = False
        self._entries: dict[str, Entry] = {}
        self._studies: dict[str, Study] = {}
        self._shown: WeakValueDictionary[str, PublicStudy] = WeakValueDictionary()
        self._at_hand: dict[str, PublicStudy] = {}
        self._watching: asyncio.Task[None] | None = None
        self._sealing = asyncio.Lock()
        self._committed = self._learned = float("-inf")
        self._contradicted: set[str] = set()  # studies that cannot be sealed, which was said

    async def start(self) -> None:
        """Begin to take answers, and to seal studies whose time is over.

        Raises:
            RecordContradicted: If the store and the record have different seals of one study.
        """
        await remember_keys(self.store, self.secrets, self.bucket())
        for digest in await join(self.store, self.recorded, self.bucket):
            log("contradicts the record", study=digest)
        await self._forget_gateway_keys()
        self.intake.start()
        self._watching = asyncio.get_running_loop().create_task(self._watch())
        self.ready = True

    async def _forget_gateway_keys(self) -> None:
        """Forget keys of the gateway that no study names which still takes answers."""
        if self.gateway.named == {self.gateway.config.to_text()}:
            return
        running = [kept.digest for kept in await self.store.studies() if kept.closed is None]
        named = [(await self.study(digest)).gateway for digest in running]
        self.gateway = await asyncio.to_thread(Gateway.forget, self.secrets, named)

    async def stop(self) -> None:
        """Finish what was taken, then let go of the store."""
        self.ready = False
        await self.intake.stop()
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        await self.store.close()

    def bucket(self) -> int:
        """Return the time as it may be stored."""
        return bucket_of(self.clock(), self.config.bucket_seconds)

    async def record(self, who: str, did: str, about: str = "") -> None:
        """Add a line to the audit log: the name of a token, or ``clock``, or ``command line``; never a secret."""
        await self.store.record(Event(self.bucket(), who, did, about))

    async def check_commits(self) -> None:
        """Raise ``StoreError`` unless the store can commit: as the last commit showed, or by trying.

        A row that means nothing may fit where answers do not: while they fail, that is what counts.
        """
        now = time.monotonic()
        if self.intake.failure is not None and now - self.intake.failed < _FAILED_SECONDS:
            raise self.intake.failure
        if self.intake.failing or now - self._committed > _COMMIT_SECONDS:
            await self.store.commit_something()
            self._committed = now

    # ------------------------------------------------------------------ studies
    async def publish(self, data: bytes, terms: PublishingTerms) -> tuple[Published, bool]:
        """Check, sign and keep a study; the second value is False if it was there already.

        Raises:
            InvalidInput, NotPrivate: If it must not be published.
            OtherTerms: If it is there on other terms.
        """
        study = await asyncio.to_thread(Study.from_bytes, data)
        check_takes(study, gateway=self.gateway.named)
        terms, document = terms_of(study, terms), study.to_bytes()
        found = Published(
            study.digest,
            document,
            terms.admission,
            self.signer.sign("study", document),
            self.bucket(),
            None if study.closes is None else int(seconds_of(study.closes)),
            title=study.title,
            public=terms.results == "public",
            aim=terms.aim,
            opens=None if study.opens is None else int(seconds_of(study.opens)),
            hourly=terms.hourly or None,
            key=self.signer.public,
            batch=batch_of(study),
            at_end=leaves_at_end(study),
        )
        if await asyncio.to_thread(self.recorded.knows, study.digest) and await self.store.study(study.digest) is None:
            raise RecordContradicted(
                "This study was here before, and results of it were let go: it is not published again."
            )
        created = await self.store.publish(found)
        kept = await self.store.study(study.digest)
        if kept is None:
            raise StoreError("a study that was just published is gone")
        on = kept_terms(kept)
        if on != terms:
            told = ", ".join(f"{name}={value}" for name, value in msgspec.structs.asdict(on).items())
            why = "People were told so before they answered: to show more at the end, pass on the sealed bundle."
            raise OtherTerms(f"This study is published already, with {told}. {why}")
        if created:
            log("published", study=study.digest)
        return kept, created

    async def entry(self, digest: str) -> Entry:
        """Return what must be known about a study.

        Raises:
            NoStudy: If there is none of this name.
        """
        found = self._entries.get(digest)
        if found is None:
            found = await self._load(digest)
        return found

    async def current(self, digest: str) -> Entry:
        """Return the same as the store has it now: another process may have closed the study, or deleted it."""
        found = await self.entry(digest)
        try:
            found.kept = replace(await self.document(digest), document=b"")
        except NoStudy:
            self._entries.pop(digest, None)
            raise
        return found

    async def _load(self, digest: str) -> Entry:
        self.turnstile.enter("answers")  # asking for studies that do not exist costs as much as answering
        kept = await self.document(digest)
        study = await self._parsed(kept)
        own = study.mechanism
        entry = Entry(
            replace(kept, document=b""), study.symbols, Gate.of(study), own.numbers, own.contributors_known,
            study.release, study.gateway is not None,
        )  # fmt: skip
        if len(self._entries) >= _CACHED_STUDIES:
            self._entries.clear()
        return self._entries.setdefault(digest, entry)

    async def document(self, digest: str) -> Published:
        """Return a study as it is published.

        Raises:
            NoStudy: If there is none of this name.
        """
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise NoStudy("A study's name is 64 lower-case hexadecimal digits.")
        kept = await self.store.study(digest)
        if kept is None:
            raise NoStudy("No study with this digest is published here.")
        return kept

    async def shown(self, digest: str) -> PublicStudy:
        """Return a study's document and terms, which never change, if the store had it within the last second.

        Who asks again then waits for no thread: a thousand who did held up commits of answers by a tenth of a second.
        What any process removes is shown for no longer than that, and its bytes are let go soon after.

        Raises:
            NoStudy: If there is none of this name.
        """
        now, found = time.monotonic(), self._shown.get(digest)
        if found is None or now - found.looked > _SHOWN_SECONDS:
            kept = await self.document(digest)
            found = self._shown.setdefault(digest, PublicStudy(kept, now))
            found.kept, found.looked = replace(kept, document=found.kept.document), now
            self._at_hand.pop(digest, None)
            self._at_hand[digest] = found
            while len(self._at_hand) > _DOCUMENTS or self._bytes_at_hand() > _DOCUMENT_BYTES:
                del self._at_hand[next(iter(self._at_hand))]
        return found

    def _bytes_at_hand(self) -> int:
        return sum(len(shown.kept.document) for shown in self._at_hand.values())

    async def directory(self) -> list[str]:
        """Return the studies that have their answers sent through a relay and are not over: the same for everyone."""
        running = [one for one in await self.store.studies() if one.state(self.clock()) in ("not open yet", "open")]
        return sorted([one.digest for one in running if (await self.entry(one.digest)).hidden])

    async def expect(self, digest: str, names: Iterable[str]) -> dict[str, str]:
        """Return the ticket of each contributor, and remember whose it is.

        Raises:
            InvalidInput: If a name is none, or it is a secret who contributes.
        """
        entry = await self.entry(digest)
        if not entry.contributors_known:
            raise InvalidInput("site", "names", "must not be given in a study that is not for sites")
        made = {name: self.tickets.of_site(digest, name) for name in names}
        await self.store.expect(entry.number, {bytes.fromhex(one): name for name, one in made.items()})
        return made

    # ------------------------------------------------------------------ results
    async def tally(self, entry: Entry) -> Tally:
        """Return the sum of what answers hold, as far as readers may see it: of a study with batches, closed ones."""
        counts = await self.store.tally(entry.number)
        if not entry.kept.at_end:
            return entry.shown(counts)
        sums = tuple(counts.get(place, 0) for place in range(entry.symbols))
        return Tally(entry.digest, sums, await self.answers(entry) if counts else 0)  # all leave at once, or none

    async def answers(self, entry: Entry) -> int:
        """Return how many answers came, whether their counts may be seen or not."""
        return sum((await self.store.arrivals(entry.number)).values())

    async def study(self, digest: str) -> Study:
        """Return a study that is published here."""
        return self._studies.get(digest) or await self._parsed(await self.document(digest))

    async def _parsed(self, kept: Published) -> Study:
        """Return a study whose document is at hand; the last ones stay, since what has a digest never changes.

        Who asks again then waits for no thread: a thousand who did held up commits of answers by a fifth of a second.
        """
        found = self._studies.get(kept.digest)
        if found is None:
            found = await asyncio.to_thread(Study.from_bytes, kept.document)
            if len(self._studies) >= _PARSED_STUDIES:
                self._studies.clear()
            self._studies[kept.digest] = found
        return found

    async def estimate(self, entry: Entry, *, confidence: float, interval: str, asker: Asker) -> Estimate:
        """Return what the tally says now, to somebody; the cost depends on the symbols, not on answers."""
        study, kept = await self.study(entry.digest), await self.document(entry.digest)
        if study.order is not None and kept.closed is None:
            raise CannotEstimate(f"answers to this study come in {study.order}, and no interval holds before it closes")
        if kept.at_end and kept.closed is None:
            raise CannotEstimate("answers to this study are summed up when it closes, and nothing is shown before")
        tally = await self.tally(entry)
        return await self.desk.work(lambda: estimate(study, tally, confidence=confidence, interval=interval), asker)

    # ------------------------------------------------------------------ the end of a study
    async def close(self, digest: str) -> None:
        """Take no more answers to a study, then seal it; again is fine."""
        entry = await self.entry(digest)
        closes = entry.kept.closes
        # The end that a study names is public, so it is kept as it is; any other moment to the hour only.
        at = self.bucket() if closes is None or self.clock() < closes else closes
        await self.store.close_study(entry.number, at)
        entry.kept = replace(await self.document(digest), document=b"")
        await self.seal(digest)
        await self._forget_gateway_keys()

    async def seal(self, digest: str) -> None:
        """Seal a closed study, unless it is sealed."""
        async with self._sealing:
            kept = await self.document(digest)
            if kept.sealed or kept.closed is None:
                return
            study = await self._parsed(kept)
            seal = await seal_of(self.store, study, kept, recorded=self.recorded.since)
            await asyncio.to_thread(self.recorded.seal, digest, seal.digest, seal.closed)
            signature = self.signer.sign(PURPOSE, seal.to_bytes())
            document = await asyncio.to_thread(
                sealed_document, seal, study, key=self.signer.public, signature=signature
            )
            if await self.store.seal(kept.number, document):
                self.retention.look_again()
                log("sealed", study=digest)

    async def _watch(self) -> None:
        while True:
            late = time.monotonic() - _SHOWN_SECONDS
            self._at_hand = {digest: shown for digest, shown in self._at_hand.items() if shown.looked > late}
            try:
                await self.close_what_is_due()
                await self.retention.keep_to(self.clock(), self.bucket())
                self.sessions.remember_ended(await self.store.ended_sessions(int(self.clock())))
                await self.write_notes()
                await self.learn()
            except (StoreError, InvalidInput, OSError, ValueError) as error:  # the store, or the folder with notes
                log("waiting", reason=type(error).__name__)
            await asyncio.sleep(_LOOK_SECONDS)

    async def learn(self) -> None:
        """Put into the record what other collectors of this store let go, and forget what others removed."""
        if time.monotonic() - self._learned > _LEARN_SECONDS:
            self._learned = time.monotonic()
            await learn(self.store, self.recorded, self.bucket())
            here = {kept.digest for kept in await self.store.studies()}
            for held in (self._entries, self._studies):
                for digest in held.keys() - here:  # another process removed it
                    del held[digest]

    async def close_what_is_due(self) -> None:
        """Close and seal the studies whose time is over, unless the clock contradicts what is stored."""
        now = int(self.clock())
        due = await self.store.due(now)
        if due and await self.store.latest() > now:
            log("waiting", reason="the clock is behind what is stored")
            return
        for digest in due:
            if digest not in self._contradicted:
                await self._close_when_due(digest)

    async def write_notes(self) -> None:
        """Put into the audit log what commands did in the secrets folder, whether a collector ran or not."""
        with taken_notes(self.secrets) as notes:
            for note in notes:
                await self.store.record(note.event)
                if note.site is not None:
                    with contextlib.suppress(NoStudy, InvalidInput):
                        await self.expect(note.event.about, [note.site])

    async def _close_when_due(self, digest: str) -> None:
        try:
            closed = (await self.document(digest)).closed
            await self.close(digest)
            if closed is None:
                await self.record("clock", "closed", digest)
        except StoreAway:
            raise
        except RecordContradicted:
            self._contradicted.add(digest)
            log("contradicts the record", study=digest)
        except Exception as error:  # noqa: BLE001 - a study that cannot be sealed must not keep others from it
            log_fault(error)
