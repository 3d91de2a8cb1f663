"""What was measured, of which commit, when, on what, and beside how much else; and how pages quote it.

``results.json`` is for programs and ``results.md`` for people.  Every line stands under a stamp: a number whose origin
is unknown is no result.  Pages quote lines by their names (`quoted`), so that a page cannot keep a number that was
measured again, or one whose line is gone.
"""

import ast
import json
import operator
import os
import platform
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from bench.lines import Line

HERE = Path(__file__).parent
# Other programs that take more of the cores than this, in cores, make a time worthless.
QUIET = 0.3
_WATCHED = 2.0
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
_QUOTE = re.compile(r"<!-- bench (.+?) -->(.*?)<!-- / -->", re.DOTALL)
_NAMED = re.compile(r"\{([^{}]+)\}")
_MEANS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


class QuoteError(Exception):
    """A page quotes something that was not measured."""


@dataclass(frozen=True)
class Stamp:
    """Where the lines of a topic are from.

    Attributes:
        commit: The commit that was measured, with a plus where files differed from it.
        date: The day on which it ended, in UTC.
        processor: The processor's name and how many cores there were.
        load: How many cores other programs kept busy, at the beginning or at the end, whichever was more.
        seconds: How long all of the topic took.
        timed: Whether times are among its lines, which a busy machine makes longer.
    """

    commit: str
    date: str
    processor: str
    load: float
    seconds: float
    timed: bool = True

    @property
    def busy(self) -> bool:
        """Whether others were at work, so that times mean little."""
        return self.timed and self.load > QUIET

    def __str__(self) -> str:
        with_others = f"**busy: {self.load:.1f}**" if self.busy else f"{self.load:.1f}"
        return f"commit {self.commit}, {self.date}, {self.processor}; cores that other programs took: {with_others}"


@dataclass(frozen=True)
class Record:
    """A topic that was measured."""

    stamp: Stamp
    lines: tuple[Line, ...]


def measured(work: Callable[[], list[Line]], before: float, *, timed: bool = True) -> Record:
    """Run a topic and stamp what it found.

    Args:
        work: The topic.
        before: How many cores others kept busy before it.
        timed: Whether times are among its lines.
    """
    began = time.monotonic()
    lines = tuple(work())
    took = time.monotonic() - began
    load = max(before, others_load())
    date = datetime.now(UTC).date().isoformat()
    return Record(Stamp(commit(), date, processor(), round(load, 2), round(took, 1), timed), lines)


@cache
def commit() -> str:
    """Return the commit of this clone when it is first asked for, with a plus if what is measured differs from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()

    changed = git(
        "status", "--porcelain", "--untracked-files=no", "--", "../src", "../tests", ":(exclude)results.*", "."
    )
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def processor() -> str:
    """Return what the processor calls itself, and how many cores we may use."""
    about = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.+)$", about.read_text(), re.MULTILINE) if about.exists() else []
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def others_load(wait: float = _WATCHED) -> float:
    """Return how many cores are busy while this program only waits."""
    before, cores = _ticks(), os.cpu_count() or 1
    time.sleep(wait)
    busy, idle = (now - then for now, then in zip(_ticks(), before, strict=True))
    return cores * busy / max(busy + idle, 1)


def _ticks() -> tuple[int, int]:
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except OSError:  # elsewhere the system's own average, over a minute, has to do
        share = min(os.getloadavg()[0] / (os.cpu_count() or 1), 1)
        now = int(time.monotonic() * 1000)
        return round(now * share), round(now * (1 - share))
    idle = fields[3] + fields[4]
    return sum(fields) - idle, idle


def read_results(file: Path = HERE / "results.json") -> dict[str, Record]:
    """Return what was measured, by topic."""
    if not file.exists():
        return {}
    return {
        name: Record(Stamp(**topic["stamp"]), tuple(Line(**line) for line in topic["lines"]))
        for name, topic in json.loads(file.read_text(encoding="utf-8")).items()
    }


def write_results(found: Mapping[str, Record], file: Path = HERE / "results.json") -> None:
    """Write what was found, for programs and, beside it, for people."""
    page = [
        "# Bench",
        "",
        "Written by `make bench`. Things in one line were measured side by side. The mechanisms of the source paper's",
        "published code are those of the papers they rest on, unless a line says that the code itself ran.",
    ]
    for name, record in found.items():
        page += ["", f"## {name}", "", f"{record.stamp}; {record.stamp.seconds:.0f} s.", ""]
        page += ["| what | measured | against | ratio | aim |", "|---|---|---|---|---|"]
        page += [
            f"| {line.what} | {line.value} | {line.against} | {line.ratio:.3g} | {line.aim} |" for line in record.lines
        ]
    file.with_suffix(".md").write_text("\n".join([*page, ""]), encoding="utf-8")
    document = {name: asdict(record) for name, record in found.items()}
    file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def quoted(text: str, results: Mapping[str, Record] | None = None) -> str:
    """Return a page with what it quotes of the bench as it was measured last.

    A quotation is a comment before and one after what it shows.  `{topic: what}` is the first number of the line that
    has these words, `{topic: what; 2}` its second, `{topic: what; ratio}` its ratio and `{topic: what; against}` the
    number that it was compared with; `{topic}` is where the topic's lines are from.  Numbers may be computed with, and
    then have a format:

    >>> stamp = Stamp("abc", "2026-11-18", "a processor, 2 cores", 0.1, 2.0)
    >>> results = {"wire": Record(stamp, (Line("bytes of an answer", "127", "50 in binary", 2.54),))}
    >>> quoted("An answer has <!-- bench {wire: bytes of an answer} -->?<!-- / --> bytes.", results)
    'An answer has <!-- bench {wire: bytes of an answer} -->127<!-- / --> bytes.'
    >>> quoted("<!-- bench 1e9 * {wire: bytes of} / 1e12 | .2f -->?<!-- / --> TB", results)
    '<!-- bench 1e9 * {wire: bytes of} / 1e12 | .2f -->0.13<!-- / --> TB'
    """
    known = _recorded() if results is None else results
    return _QUOTE.sub(lambda match: f"<!-- bench {match[1]} -->{_value(match[1], known)}<!-- / -->", text)


@cache
def _recorded() -> Mapping[str, Record]:
    return read_results()


def _value(asked: str, results: Mapping[str, Record]) -> str:
    """Return what a quotation shows."""
    formula, _, form = (part.strip() for part in asked.partition(" | "))
    if not form:
        alone = _NAMED.fullmatch(formula)
        if alone is None:
            raise QuoteError(f"{asked}: what is computed needs a format, such as | .2g")
        return _named(alone[1], results)
    plain = _NAMED.sub(lambda match: _named(match[1], results).replace(",", ""), formula)
    return format(_computed(ast.parse(plain, mode="eval").body), form)


def _named(name: str, results: Mapping[str, Record]) -> str:
    topic, _, rest = (part.strip() for part in name.partition(":"))
    if topic not in results:
        raise QuoteError(f"{name}: there is no result of {topic}")
    if not rest:
        return str(results[topic].stamp)
    words, _, part = (part.strip() for part in rest.partition(";"))
    lines = [line for line in results[topic].lines if words in line.what]
    lines = [line for line in lines if line.what == words] or lines
    if len(lines) != 1:
        raise QuoteError(f"{name}: {len(lines)} lines of {topic} have these words")
    if part == "ratio":
        return f"{lines[0].ratio:.3g}"
    if part == "against":
        return _numbers(lines[0].against)[0]
    return _numbers(lines[0].value)[int(part or 1) - 1]


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(text)


def _computed(node: ast.expr) -> float:
    """Return the value of a sum, a difference, a product, a quotient or a power of numbers."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _MEANS:
        return _MEANS[type(node.op)](_computed(node.left), _computed(node.right))
    raise QuoteError(f"{ast.unparse(node)}: not a number, nor one that is computed from numbers")
