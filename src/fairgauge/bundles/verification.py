"""Everything that belongs together, checked in order; each check has an outcome, and a sentence for people."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from fairgauge.bundles.bundle_files import KINDS, Bundle, Piece, printable, reading
from fairgauge.bundles.report_comparison import Compared, compare_report
from fairgauge.bundles.seal_check import Export, agreement, check_answers, digest_of, wrong_draws
from fairgauge.collector.seal import PURPOSE, Seal, Sealed, check_draws, read_sealed, shown_answers
from fairgauge.collector.stores.released_sums import payload_of
from fairgauge.errors import BadTally, FairgaugeError, InvalidInput, MissingExtra, SealBroken
from fairgauge.reports.display import display_of
from fairgauge.study import Study
from fairgauge.tallies import Tally

_COMPARE = (
    "Whether that is the collector's key is not checked: compare it with the one that the operator publishes "
    "elsewhere, or give it with --key."
)

_TOLD = 10_000
_NEEDS = "checking a signature needs cryptography"
Outcome = Literal["holds", "broken", "open"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Args:
        about: What it is about: ``study``, ``signature``, ``tally``, ``seal``, ``record``, ``export``, ``report``, or
            ``words`` for the words of a report or a seal.
        outcome: ``holds``, ``broken``, or ``open`` if it was not, or could not be checked.
        sentence: What was found, for people.
    """

    about: str
    outcome: Outcome
    sentence: str

    def to_dict(self) -> dict[str, str]:
        """Return it for JSON."""
        return {"about": self.about, "outcome": self.outcome, "sentence": self.sentence}


@dataclass(frozen=True)
class Signatures:
    """What signatures are checked with.

    Args:
        keys: The collector's public keys, as whoever checks knows them: one, or several where it changed its key in
            between.  Without any, the files' own word is taken.
        study: The signature of the study, if it was given by hand.
        strict: Whether numbers that no seal covers are broken; with a key they always are.
        record: The collector's record of its seals, if it was given.
    """

    keys: tuple[str, ...] = ()
    study: str | None = None
    strict: bool = False
    record: Piece | None = None


@dataclass(frozen=True)
class Verification:
    """What was found about the files of a study.

    Args:
        checks: Everything that was looked at.
        sealed: Whether a seal with a good signature covers the numbers; None if there are no numbers to cover.
        by: Who sealed them, in words.
    """

    checks: tuple[Check, ...]
    sealed: bool | None = None
    by: str = ""

    @property
    def broken(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "broken")

    @property
    def unread(self) -> tuple[Check, ...]:
        """What was not compared though a reader goes by it: the words of a report or a seal.

        Whoever forges them also writes which version made them, so that is no reason to let them pass.
        """
        return tuple(check for check in self.checks if check.about == "words" and check.outcome == "open")


Progress = Callable[[int, int | None], object]


def _quiet(_done: int, _whole: int | None) -> None:
    """Tell nobody."""


def verify(study: Study, bundle: Bundle, signatures: Signatures, *, progress: Progress = _quiet) -> Verification:
    """Check everything of a bundle that belongs together; what is broken does not keep the rest from being checked.

    The exact epsilon is the study's own (``study.questions[i].private``).

    Args:
        study: The study.
        bundle: Its files.
        signatures: What signatures are checked with.
        progress: Told how many answers of the export were counted so far, and how many there are, if that is known.

    Raises:
        InvalidInput: If a file is not what it seems to be, or cannot be read.
    """
    run = _Run(study, bundle, signatures, progress)
    run.study_bytes()
    run.published()
    run.sealed()
    run.recorded()
    run.counted()
    run.reported()
    run.covered(bundle)
    return Verification(tuple(run.checks), run.sealed_numbers, run.by)


class _Run:
    def __init__(self, study: Study, bundle: Bundle, signatures: Signatures, progress: Progress) -> None:
        self._progress = progress
        self._study, self._pieces, self._signatures = study, bundle.pieces, signatures
        self.checks: list[Check] = []
        self._seal: Sealed | None = None  # as far as it is of this study
        self._seal_name = ""
        self.by = ""  # who sealed it, in words; nobody, unless the signature is good
        self._named: str | None = None  # the key that a file names for the study
        self._display = display_of(study.mechanism)
        self._counted = self._display.counted  # answers, or sites
        self._tally = self._read_tally()

    def _say(self, about: str, outcome: Outcome, sentence: str) -> None:
        # Names of files and words of a report come from whoever made them, and shall not rewrite what is said here.
        self.checks.append(Check(about, outcome, printable(sentence)))

    def _read_tally(self) -> Tally | None:
        piece = self._pieces.get("tally")
        if piece is None:
            return None
        tally = Tally.from_bytes(piece.read())
        try:
            tally.check(self._study)
        except BadTally as error:
            what = "is of another study" if error.field == "study" else "does not fit the study"
            self._say("tally", "broken", f"{piece.name} {what}: {error}.")
            return None
        self._say("tally", "holds", f"{piece.name} counts {tally.contributors:,} {self._display.answered}.")
        if self._study.release is not None and tally.contributors:
            drawn = tally.draws(self._study)
            said = f"{drawn:,} secret draws are among its counts" if drawn else "it has none of the secret draws"
            self._say("tally", "holds" if drawn else "broken", f"{piece.name}: {said} that the study promises.")
        return tally

    # ------------------------------------------------------------------ the study
    def study_bytes(self) -> None:
        """Say so if the file's own SHA-256 is not the digest: somebody will try."""
        piece = self._pieces["study"]
        if sha256(piece.read()).hexdigest() != self._study.digest:
            self._say(
                "study",
                "holds",
                f"{piece.name} says what its digest names, but is written in another way: sha256sum of the file gives "
                "another number. The digest is that of the canonical bytes.",
            )

    def published(self) -> None:
        """Check the collector's signature of the study."""
        piece, signature, named = self._pieces.get("signature"), self._signatures.study, None
        if signature is None and piece is not None:
            document = _read_signature(piece)
            if document["study"] != self._study.digest:
                self._say("signature", "broken", f"{piece.name} is about another study: {document['study']}.")
                return
            signature, named = document["signature"], document["key"]
        if signature is None:
            return
        keys = self._signatures.keys or ((named,) if named is not None else ())
        if not keys:
            raise InvalidInput("key", "nothing", "must be given with --signature: the collector's public key")
        good = self._good(keys, "study", self._study.to_bytes(), signature)
        if good is None:
            self._say("signature", "open", f"The signature of the study was not checked: {_NEEDS}.")
        elif not good:
            self._say("signature", "broken", "The signature of the study is not by the holder of this key.")
        elif piece is not None and named not in (None, *keys):
            self._say("signature", "broken", f"{piece.name} names {named}, which is not the key that signed it.")
        elif self._signatures.keys:
            self._say("signature", "holds", "The holder of that key published this study.")
        else:
            self._named = named
            said = f"The study is signed with the key {named}, which the files name themselves. {_COMPARE}"
            self._say("signature", "open", said)

    # ------------------------------------------------------------------ the seal
    def sealed(self) -> None:
        """Check the seal: of this study, with this tally and this estimate, by this key."""
        piece = self._pieces.get("seal")
        if piece is None:
            return
        sealed = read_sealed(piece.read())
        seal, name = sealed.seal, piece.name
        if seal.study != self._study.digest:
            self._say("seal", "broken", f"{name} is of another study: {seal.study}, and this is {self._study.digest}.")
            return
        try:
            tally = seal.counted
            if not seal.fits(self._study):
                raise BadTally("sealed", "its parts", "must be those that seals of such studies have")
            tally.check(self._study)
        except BadTally as error:
            self._say("seal", "broken", f"The tally in {name} cannot be one of this study: {error}.")
            return
        self._seal, self._seal_name = sealed, name
        shown = shown_answers(self._study, seal.answers)
        if tally.contributors != shown:
            has = f"its tally has {tally.contributors:,} {self._counted}, and it says {shown:,}"
            self._say("seal", "broken", f"{name} contradicts itself: {has}.")
        elif (wrong := wrong_draws(self._study, seal)) is not None:
            self._say("seal", "broken", f"{name} contradicts itself: {wrong}.")
        elif shown < seal.answers:
            said = f"{name} shows none of the {seal.answers:,} {self._counted}: they are {self._display.few}."
            self._say("seal", "holds", said)
        self._seal_and_tally(seal, tally)
        self._sealed_estimate(sealed)
        self._seal_signature(sealed)

    def _seal_and_tally(self, seal: Seal, sealed: Tally) -> None:
        piece = self._pieces.get("tally")
        if piece is None:
            self._tally = sealed
        elif self._tally is None:
            return  # which is named as broken already
        elif sealed not in (self._tally, self._tally.shown):
            said = difference(self._tally, sealed)
            self._say("tally", "broken", f"{piece.name} is not the tally that was sealed: {said}.")
        else:
            self._say("tally", "holds", f"{piece.name} is the tally that was sealed on {seal.closed}.")
            if self._tally.products and "export" not in self._pieces:
                said = "its sums of products are in no seal, and there is no export to make them from again"
                self._say("tally", "broken", f"{piece.name}: {said}.")

    def _sealed_estimate(self, sealed: Sealed) -> None:
        name = self._seal_name
        try:
            found = agreement(self._study, sealed)
        except (FairgaugeError, TypeError, AttributeError) as error:
            self._say("seal", "broken", f"The estimate in {name} cannot be one of this tally: {error}.")
            return
        if found == "none":
            self._say("seal", "broken", f"The estimate in {name} is not the one that the sealed tally gives.")
        elif found == "whole":
            self._say("seal", "holds", f"The estimate in {name} is the one that the sealed tally gives.")
        else:
            self._say("seal", "holds", f"The numbers in {name} are those that the sealed tally gives.")
            said = f"version {sealed.version} sealed it, and says them in its own words."
            self._say("words", "open", f"The sentences in {name} were not compared: {said}")

    def _seal_signature(self, sealed: Sealed) -> None:
        name, keys = self._seal_name, self._signatures.keys
        good = self._good(keys or (sealed.key,), PURPOSE, sealed.seal.to_bytes(), sealed.signature)
        if good is None:
            self._say("seal", "open", f"The signature of {name} was not checked: {_NEEDS}.")
        elif not good:
            whose = "the holder of this key" if keys else "the holder of the key that it names"
            said = f"The signature of {name} is not by {whose}: the seal is forged, or was changed."
            self._say("seal", "broken", said)
        elif keys and sealed.key not in keys:  # which a reader of the file, or of a report of it, would take for good
            self._say("seal", "broken", f"{name} names {sealed.key}, which is not the key that signed it.")
        elif keys:
            self.by = "by the holder of that key"
            self._say("seal", "holds", f"{name} is signed with that key.")
        elif sealed.key == self._named:
            self.by = f"with the key {sealed.key}, which these files name themselves"
            self._say("seal", "open", f"{name} is signed with the same key.")
        else:
            self.by = f"with the key {sealed.key}, which these files name themselves"
            said = f"{name} is signed with the key {sealed.key}, which it names itself. {_COMPARE}"
            self._say("seal", "open", said)

    def recorded(self) -> None:
        """Look for the seal in the collector's record, if there is one: it has one seal of a study, ever."""
        seal = None if self._seal is None else self._seal.seal
        if seal is not None and seal.recorded is not None:
            said = f"The collector lost its record of seals before {seal.recorded}"
            self._say("record", "open", f"{said}: whether it sealed this study before that is not known.")
        piece = self._signatures.record
        if piece is None:
            return
        try:
            from fairgauge.collector import seal_record as record
        except ImportError:
            raise MissingExtra(_NEEDS, "collector") from None
        try:
            found = record.History().read(piece.read(), piece.name)
        except InvalidInput as error:
            self._say("record", "broken", f"{piece.name} is no whole record of seals: {error}.")
            return
        line = found.seals.get(self._study.digest)
        given = self._signatures.keys
        if not all(
            self._good(given or (one.key,), record.PURPOSE, one.signed(), one.signature)
            for one in (found.last, line)
            if one is not None
        ):
            whose = "the holder of this key" if given else "the holder of the key that it names"
            self._say("record", "broken", f"{piece.name} is not signed by {whose}.")
            return
        if seal is None and line is not None:  # numbers of a sealed study come with its seal
            outcome: Outcome = "open" if self.sealed_numbers is None else "broken"
            self._say("record", outcome, f"{piece.name} has a seal of this study, which is not here.")
        elif seal is None or line is None:
            outcome = "open" if seal is None else "broken"
            self._say("record", outcome, f"{piece.name} has no seal of this study.")
        elif line.digest != seal.digest:
            self._say("record", "broken", f"{piece.name} has another seal of this study, closed {line.at}.")
        elif not given and self._seal is not None and line.key != self._seal.key:
            said = f"{piece.name} has this seal, in a line by another key than the seal's: give the collector's keys"
            self._say("record", "open", f"{said} with --key.")
        else:
            self._say("record", "holds", f"{piece.name} has this seal, and no other of this study.")

    def _good(self, keys: tuple[str, ...], purpose: str, data: bytes, signature: str) -> bool | None:
        """Tell whether a signature is good; None if that cannot be told here, and nobody gave a key to do it with."""
        try:
            from fairgauge.collector.signatures import signature_is_good
        except ImportError:
            if not self._signatures.keys:
                return None
            raise MissingExtra(_NEEDS, "collector") from None
        return any(signature_is_good(key, purpose, data, signature) for key in keys)

    # ------------------------------------------------------------------ the answers
    def counted(self) -> None:
        """Count the exported answers again."""
        piece = self._pieces.get("export")
        if piece is None:
            self._not_counted()
            return
        known = None if self._tally is None else self._tally.contributors
        if self._seal is not None:
            known = self._seal.seal.answers
        try:
            with reading(piece.name):
                export = _Watched(Export(piece.open, self._study), lambda done: self._progress(done, known))
                if self._seal is not None:
                    check_answers(self._study, self._seal.seal, export)
                    said = f"{self._seal.seal.answers:,} {self._counted}, which are the sealed ones."
                    self._say("export", "holds", f"{piece.name} was counted again: {said}")
                    self._multiplied(piece, export)
                else:
                    self._add_up(piece, export)
        except SealBroken as error:
            self._say("export", "broken", f"{piece.name} is not what was sealed: {error}.")
        except InvalidInput as error:
            if error.field.endswith((": symbol", ": counts")):
                self._say("export", "broken", f"{piece.name} has what is no answer to this study: {error}.")
            elif error.field.endswith(": study"):
                self._say("export", "broken", f"{piece.name} has answers to another study: {error}.")
            else:
                raise

    def _add_up(self, piece: Piece, export: "_Watched") -> None:
        found = digest_of(self._study, export)
        has = f"{piece.name} has {found.answers:,} {self._counted}"
        if self._tally is None:
            self._say("export", "open", f"{has}, and there is no tally to compare with.")
            return
        sums = tuple(found.counts.get(place, 0) for place in range(self._study.symbols))
        products = self._study.products(payload_of(payload) for _, payload in export) if self._tally.products else ()
        added = Tally(self._study.digest, sums, found.answers, products)
        if self._study.release is not None and found.answers == self._tally.contributors:
            check_draws(self._study, found.counts, found.answers, self._tally.counts)
            added = self._tally
        if added != self._tally:
            said = f"{piece.name} does not give the tally: {difference(added, self._tally, 'the tally')}."
            self._say("export", "broken", said)
            return
        said = f"{piece.name} was added up again: its {found.answers:,} {self._counted} give the tally."
        self._say("export", "holds", said)
        self._say("export", "open", f"Whether these are all the {self._counted} that came: there is no seal.")

    def _multiplied(self, piece: Piece, export: "_Watched") -> None:
        """Make the sums of products again: a seal has none."""
        wanted = () if self._tally is None else self._tally.products
        if wanted and wanted != self._study.products(payload_of(payload) for _, payload in export):
            self._say("tally", "broken", f"The tally's sums of products are not those of {piece.name}.")

    def _not_counted(self) -> None:
        if self._seal is not None:
            said = "Whether the answers give the sealed tally: there is no export, so nobody counted again."
            self._say("export", "open", said)
        elif self._tally is not None:
            who = self._display.who
            said = f"Whether {who} sent what the tally counts: there is neither an export to count again nor a seal."
            self._say("export", "open", said)

    # ------------------------------------------------------------------ the report
    def reported(self) -> None:
        """Make the report again, and compare."""
        piece = self._pieces.get("report")
        if piece is None:
            return
        if self._tally is None:
            said = f"{piece.name} was not compared: that takes the study's tally, or its seal."
            self._say("report", "open", said)
            return
        try:
            page = piece.read().decode()
        except UnicodeDecodeError:
            raise InvalidInput("report", piece.name, "must be text in UTF-8") from None
        found = compare_report(page, self._study, self._tally)
        self._say("report", *_report_words(piece.name, found))
        if found.outcome == "numbers":
            said = f"the file says that fairgauge {found.stated.version} made it, and this is another version"
            words = (
                f"The words and pictures of {piece.name}: {said}. Compare with that one. Unlike this version's report, "
            )
            self._say("words", "open", f"{words}{found.why}.")
        if found.outcome != "other":
            self._report_and_seal(piece.name, found)

    def _report_and_seal(self, name: str, found: Compared) -> None:
        said = found.stated.particulars
        if said.seal is not None and self._seal is None:
            self._say("report", "open", f"{name} tells of a seal that is not here: give the seal too.")
        elif said.seal is not None and self._seal is not None and said.seal != self._seal.note:
            self._say("report", "broken", f"{name} tells of another seal than {self._seal_name}.")
        elif said.seal is not None:
            self._say("report", "holds", f"{name} tells of this seal.")
        if self._seal is not None:
            terms = {"interval": found.stated.interval, "confidence": found.stated.confidence}
            for what, value in terms.items():
                if value != (sealed := self._seal.estimate.get(what)):
                    self._say("report", "broken", f"{name} has {what} {value}, and {self._seal_name} has {sealed}.")
        if said.date is not None:
            when = f"{name} says that it was made on {said.date}; nothing signs that date."
            if said.seal is not None and said.date < said.seal.closed[:10]:
                self._say("report", "broken", f"{when} That is before the study was closed, {said.seal.closed}.")
            else:
                self._say("report", "open", when)
        if said.asked is not None:
            self._say("report", "open", f"That {said.asked:,} were asked is the word of whoever made {name}.")

    # ------------------------------------------------------------------ what is not there
    @property
    def sealed_numbers(self) -> bool | None:
        """Whether a good seal covers what a reader goes by, and all of it fits; None if there is nothing of it."""
        if not {"tally", "report", "export", "seal"} & set(self._pieces):
            return None
        return bool(self.by) and not any(check.outcome == "broken" for check in self.checks)

    def covered(self, bundle: Bundle) -> None:
        """Say which parts cannot be read, which are missing, and which numbers no seal covers."""
        for name, kind in bundle.unread.items():
            self._say(kind, "broken", f"{name} is named like {KINDS[kind]}, and cannot be read as one.")
        if bundle.missing:
            absent = ", ".join(KINDS[kind] for kind in bundle.missing)
            self._say("bundle", "open", f"What a collector's bundle has, and is not here: {absent}.")
        if self.by or not (self._signatures.keys or self._signatures.strict):
            return
        for kind in ("tally", "report", "export"):
            if kind in self._pieces:
                said = f"{self._pieces[kind].name} is covered by no good seal: anyone could have made it."
                self._say(kind, "broken", said)


class _Watched:
    """Answers that can be read again and again, and tell how many of them were read."""

    def __init__(self, answers: Export, progress: Callable[[int], object]) -> None:
        self._answers, self._progress = answers, progress

    def __iter__(self) -> Iterator[tuple[bytes, str]]:
        for number, answer in enumerate(self._answers):
            if number % _TOLD == 0:
                self._progress(number)
            yield answer


def _report_words(name: str, found: Compared) -> tuple[Outcome, str]:
    if found.outcome == "same":
        return "holds", f"{name} is what this study and this tally give, byte for byte: every number, word and picture."
    if found.outcome == "digits":
        said = "but for the last digits of numbers for programs, which differ between processors"
        return "holds", f"{name} is what this study and this tally give, {said}."
    if found.outcome == "numbers":
        return "holds", f"The numbers for programs in {name} are those that these files give."
    return "broken", f"{name} is not what this study and this tally give: {found.why}."


def _read_signature(piece: Piece) -> dict[str, str]:
    document: dict[str, str] = json.loads(piece.read())
    for field, value in document.items():
        if not isinstance(value, str):
            raise InvalidInput(f"{piece.name}: {field}", value, "must be text")
    return document


def difference(here: Tally, there: Tally, whose: str = "the seal") -> str:
    """Return the first thing in which a tally differs from another one of the same study.

    >>> difference(Tally("a" * 64, (3, 1)), Tally("a" * 64, (3, 2)))
    'it has 1 at place 1 of its counts, and the seal 2'
    """
    pairs = enumerate(zip(here.counts, there.counts, strict=True))
    place, one, other = next(((at, *pair) for at, pair in pairs if pair[0] != pair[1]), (0, 0, 0))
    if one != other:
        return f"it has {one:,} at place {place} of its counts, and {whose} {other:,}"
    if here.contributors != there.contributors:
        return f"it has {here.contributors:,} answers, and {whose} {there.contributors:,}"
    return "its sums of products are others"
