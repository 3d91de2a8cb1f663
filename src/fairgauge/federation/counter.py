"""The server's part of a federation: count each answer once and each node once, and say what they tell so far."""

from collections.abc import Iterable
from pathlib import Path

from fairgauge.canonical_json import write_file
from fairgauge.client import Answer, send
from fairgauge.client.answer_file import append_all
from fairgauge.client.durable_files import make_folder, sync_folder
from fairgauge.errors import InvalidInput
from fairgauge.estimation import Estimate, Interval, QuestionEstimate, estimate
from fairgauge.estimation.inference import live_kind
from fairgauge.study import Study
from fairgauge.tallies import Tally


class NodeCounter:
    """What the nodes of a federation answered, each counted once, over all rounds and runs.

    An answer counts once by its id.  Where the node that it came from is known, that node counts once as well: one that
    lost its ledger, or pretends to, cannot answer again under a new id.

    Args:
        study: The study that the nodes answer.
        confidence: How often all intervals of all rounds are to hold the truth together.
        path: A file that keeps the answers, one a line, and beside it ``.nodes`` with the nodes that gave one.  A later
            run that is given the same file goes on from there.

        nodes: The names of the only nodes that count; None for any.  An answer of which the node is not known does not
            count then.

    Raises:
        InvalidInput: If the file holds answers to another study, or the study promises that its counts are held back:
            what a federation has learnt is shown after every round.
    """

    def __init__(
        self,
        study: Study,
        *,
        confidence: float = 0.99,
        path: str | Path | None = None,
        nodes: "Iterable[str] | None" = None,
    ) -> None:
        if study.release is not None:
            rule = "must have no release: a federation shows counts after every round, and a collector holds them back"
            raise InvalidInput("study", study.title, rule)
        self.study = study
        self.confidence = confidence
        self.path = None if path is None else Path(path).absolute()
        self.nodes = None if nodes is None else frozenset(nodes)
        self._answers: dict[str, Answer] = {}
        self._read: tuple[int, list[tuple[str, Interval | None]]] | None = None
        self._nodes = NodeList(None if self.path is None else self.path.with_name(f"{self.path.name}.nodes"))
        if self.path is not None and self.path.exists():
            self._go_on(self.path)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Every answer, in the order in which they came."""
        return tuple(self._answers.values())

    @property
    def tally(self) -> Tally:
        """The count of every symbol, or the sums of what sites counted."""
        return Tally.of(self.study, self.answers)

    def add(self, answers: "Iterable[tuple[str | None, Answer]]") -> int:
        """Count answers, each with the node that it came from or None, and return how many are new.

        What is no answer to this study is left out, and so is a second answer with the same id or of the same node, and
        every answer of a node that does not count.
        """
        new, seen = [], False
        for node, answer in answers:
            if not self._fits(answer) or (self.nodes is not None and node not in self.nodes):
                continue
            if answer.id not in self._answers:
                if node is not None and node in self._nodes:
                    continue
                self._answers[answer.id] = answer
                new.append(answer)
            if node is not None and self._nodes.add(node):
                seen = True
        if self.path is not None and (new or seen):
            make_folder(self.path)
            append_all(new, self.path)
            # After the answers: a crash in between leaves a node that sends the same answer again, and is seen then.
            if seen:
                self._nodes.keep()
        return len(new)

    def estimate(self) -> Estimate:
        """Return what the answers say so far, with intervals that hold at every look together.

        Where answers come in waves (``study.order``), or from sites that hold many people, no interval does: they hold
        when all have come, at one look.
        """
        return estimate(self.study, self.tally, confidence=self.confidence, interval=live_kind(self.study))

    def numbers(self) -> dict[str, float]:
        """Return what is known so far.

        ``answers`` is how many there are.  For each metric and pair of groups, ``recall female - male`` is the gap,
        with ``... low`` and ``... high`` around it.  Where the answers do not tell yet, these three are missing.
        """
        found: dict[str, float] = {"answers": len(self._answers)}
        for name, gap in self._gaps():
            if gap is not None:
                found[name], found[f"{name} low"], found[f"{name} high"] = _numbers(gap)
        return found

    def report(self) -> str:
        """Return what is known so far in words, one line for each gap."""
        lines = []
        for name, gap in self._gaps():
            known = "not yet" if gap is None else "{:.4f} [{:.4f}, {:.4f}]".format(*_numbers(gap))
            lines.append(f"{name}: {known}")
        return "\n".join([f"{len(self._answers):,} answers", *lines])

    def forward(self, url: str) -> None:
        """Send every answer to a collector, which counts each once, however often it is sent."""
        for answer in self.answers:
            send(answer, url)

    def _go_on(self, path: Path) -> None:
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break  # cut off by a crash
                answer = Answer.from_bytes(line)
                if answer.study != self.study.digest:
                    rule = f"holds answers to another study, {answer.study[:16]}...; give each study a file of its own"
                    raise InvalidInput("path", path, rule)
                if self._fits(answer):
                    self._answers.setdefault(answer.id, answer)

    def _fits(self, answer: Answer) -> bool:
        """Tell whether it is an answer to this study, whoever sent it."""
        try:
            self.study.check_payload(answer.payload)
        except InvalidInput:
            return False
        return answer.study == self.study.digest

    def _gaps(self) -> list[tuple[str, Interval | None]]:
        """Return every gap's name with the gap, or with None where the answers do not tell yet.

        Reading them is what takes time, so a round without new answers does not do it again.
        """
        if self._read is None or self._read[0] != len(self._answers):
            self._read = len(self._answers), list(self._read_gaps())
        return self._read[1]

    def _read_gaps(self) -> Iterable[tuple[str, Interval | None]]:
        metrics = [question.metric.name for question in self.study.questions]
        for question, found in zip(self.study.questions, self.estimate().questions, strict=True):
            name = question.metric.name
            if metrics.count(name) > 1:
                name = f"{name} by {question.attribute.name}"
            groups = question.attribute.groups
            for pair in ((a, b) for i, a in enumerate(groups) for b in groups[i + 1 :]):
                yield f"{name} {pair[0]} - {pair[1]}", _told(found, pair, 2 * question.metric.scale)


def _told(found: QuestionEstimate, pair: tuple[str, str], largest: float) -> Interval | None:
    """Return a gap whose interval is within what any two groups could have; a wider one says nothing."""
    gap = found.gaps.get(pair)
    return gap if gap is not None and -largest <= gap.low and gap.high <= largest else None


def _numbers(gap: Interval) -> tuple[float, float, float]:
    return gap.estimate, gap.low, gap.high


class NodeList:
    """The names of nodes, each once, in memory and, where there is a file, in it.

    >>> nodes = NodeList(None)
    >>> nodes.add("site-1"), nodes.add("site-1"), "site-1" in nodes
    (True, False, True)

    Args:
        path: A file with a name a line.

    Raises:
        InvalidInput: If the file cannot be read.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._names: set[str] = set()
        if path is not None and path.exists():
            try:
                whole = path.read_text(encoding="utf-8")
            except (OSError, ValueError):
                raise InvalidInput("path", path, "must be a list of nodes") from None
            self._names.update(line for line in whole.splitlines() if line)

    def __contains__(self, name: str) -> bool:
        return _line(name) in self._names

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: str) -> bool:
        """Remember a node, and tell whether it is new; :meth:`keep` writes it out."""
        line = _line(name)
        new = line not in self._names
        self._names.add(line)
        return new

    def keep(self) -> None:
        """Write all names to the file, sorted: the order in which they came is that of the answers."""
        if self._path is not None:
            write_file(self._path, "".join(f"{line}\n" for line in sorted(self._names)).encode(), field="path")
            sync_folder(self._path)


def _line(name: str) -> str:
    """Return a name on one line, whatever a stranger called its node."""
    return name if name.isprintable() else ascii(name)
