"""Re-run the sessions shown in the documentation, and check or rewrite their output.

    python docs/refresh.py --check     say what differs from what the pages show; exit 1 if anything does
    python docs/refresh.py --write     put today's output into the pages, and make examples/sealed-study again

Three kinds of fenced blocks are run, top to bottom, with one temporary folder and one Python namespace for
each page:

``console``  Lines that start with ``$ fairgauge``, ``$ cat``, ``$ cp`` or ``$ head`` run in the shell. Other commands
             are shown to the reader and never run. A command that fails is an error, unless the page shows
             the failure: ``$ echo $?`` as the next command prints its exit status.
``pycon``    Lines that start with ``>>>`` and ``...`` run as in the interactive interpreter.
``text``     Where its first line starts with ``$ fairgauge``: the same as ``console``, but read loosely. A line ``...``
             stands for any lines, and a number may be off by 2 %, as solvers on other processors have it.

What a page quotes of the bench, between ``<!-- bench ... -->`` and ``<!-- / -->``, is what was measured last
(``bench/results.py``).

The folder holds a link to ``examples/``, so what works here works from the root of a clone. Output of the first two is
compared exactly, and is the same on every processor: pages draw with a seed, and show no number of a table that they
have just designed. The solver's last bits differ between processors, which can lead to another table that is just as
good, so that pages which need a study copy one that is kept in ``examples/``.
"""

import argparse
import contextlib
import difflib
import doctest
import io
import os
import re
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench.results import QuoteError, quoted  # noqa: E402 - from the clone, wherever this is run

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUNS = ("fairgauge ", "cat ", "cp ", "head ")
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}

CLOSE = 0.02  # how far a number in a loose block may be off, as a part of it

_FENCE = re.compile(r"^```(console|pycon|text(?=\n\$ fairgauge))\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


class SessionError(Exception):
    """A command on a page failed, and the page does not show that it should."""


@dataclass
class Session:
    """What the blocks of one page share: a folder, a namespace and the last exit status."""

    folder: Path
    names: dict[str, object] = field(default_factory=dict)
    status: int = 0

    def console(self, body: str) -> str:
        """Run a console block and return it with fresh output."""
        return "".join(self._commands(body))

    def text(self, body: str) -> str:
        """Run a loose block, and return it as it is where that is near enough, else with fresh output."""
        fresh = self.console(body)
        return body if agrees(body, fresh) else fresh

    def _commands(self, body: str) -> Iterator[str]:
        for command, shown in split_commands(body):
            yield f"$ {command}\n"
            # An empty line before the next command is the author's, and stays.
            apart = "\n" if f"\n{shown}".endswith("\n\n") else ""
            if command == "echo $?":
                yield f"{self.status}\n{apart}"
                self.status = 0
                continue
            self.require_success()
            yield self._shell(command) + apart if command.startswith(RUNS) else shown
        self.require_success()

    def _shell(self, command: str) -> str:
        # A plan depends on its command alone, and finding designs is what takes long: the same on two pages runs once.
        alone = command.startswith("fairgauge plan ") and not re.search(r"[<>|]| -o| --plot", command)
        self.status, printed = once(command) if alone else shell(command, self.folder)
        self._last = f"$ {command}\n{printed}"
        return tidy(printed)

    def require_success(self) -> None:
        """Refuse to go on after a failure that the page does not show."""
        if self.status:
            raise SessionError(f"exit status {self.status}\n{self._last}")

    def pycon(self, body: str) -> str:
        """Run a block of an interactive Python session and return it with fresh output."""
        fresh = []
        for example in doctest.DocTestParser().get_examples(body):
            first, *rest = example.source.splitlines()
            fresh += [f">>> {first}\n", *(f"... {line}".rstrip() + "\n" for line in rest)]
            fresh.append(self._python(example.source))
        return "".join(fresh)

    def _python(self, source: str) -> str:
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            try:
                exec(compile(source, "<page>", "single"), self.names)
            except Exception as error:  # noqa: BLE001 - a page may show any exception
                lines = traceback.format_exception_only(error)
                printed.write("Traceback (most recent call last):\n  ...\n" + "".join(lines))
        return tidy(printed.getvalue())


def shell(command: str, folder: Path) -> tuple[int, str]:
    """Run a command in a folder; return its exit status and all that it printed."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, **TERMINAL, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@cache
def once(command: str) -> tuple[int, str]:
    """Run a command that reads and writes no file, the first time that it is asked for."""
    return shell(command, ROOT)


def split_commands(body: str) -> Iterator[tuple[str, str]]:
    """Split a console block into commands (with their continuation lines) and the output shown under each."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        match = re.match(r"(?:.*\\\n)*.*\n", part)
        assert match is not None, part
        yield match[0].removesuffix("\n"), part[match.end() :]


def agrees(shown: str, fresh: str) -> bool:
    """Tell whether fresh output is what is shown, where ``...`` is any lines and numbers are off by little."""
    have, at = fresh.splitlines(), 0
    parts = re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)
    for number, part in enumerate(parts):
        want = part.splitlines()
        last = len(have) - len(want)
        places = [at] if number == 0 else range(last if number == len(parts) - 1 else at, last + 1)
        found = (here for here in places if here >= at and all(map(_near, want, have[here : here + len(want)])))
        here = next(found, None)
        if here is None or here > last:
            return False
        at = here + len(want)
    return len(parts) > 1 or at == len(have)


def _near(shown: str, fresh: str) -> bool:
    """Tell whether two lines have the same words, and numbers that are near each other."""
    words = [" ".join(_NUMBER.sub("#", line).split()) for line in (shown, fresh)]
    pairs = zip(*(_NUMBER.findall(line) for line in (shown, fresh)), strict=False)
    values = ([float(number.replace(",", "")) for number in pair] for pair in pairs)
    return words[0] == words[1] and all(abs(a - b) <= CLOSE * max(abs(a), abs(b)) for a, b in values)


def tidy(output: str) -> str:
    """Drop trailing blanks and outer empty lines, which no reader sees."""
    text = "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")
    return f"{text}\n" if text else ""


def refresh(text: str) -> str:
    """Return a page with the output of every block as it is today."""
    with tempfile.TemporaryDirectory(prefix="fairgauge-") as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        session = Session(Path(folder))

        def rerun(match: re.Match[str]) -> str:
            kind, body = match.groups()
            fresh = {"console": session.console, "pycon": session.pycon, "text": session.text}[kind](body)
            return f"```{kind}\n{fresh}```"

        return quoted(_FENCE.sub(rerun, text))


def difference(page: Path) -> str:
    """Return a unified diff from what a page shows to what it should show; empty if they agree."""
    shown = page.read_text(encoding="utf-8")
    name = str(page.relative_to(ROOT))
    lines = difflib.unified_diff(
        shown.splitlines(keepends=True),
        refresh(shown).splitlines(keepends=True),
        f"{name} (shown)",
        f"{name} (now)",
    )
    return "".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or rewrite the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="say what differs; exit 1 if anything does")
    mode.add_argument("--write", action="store_true", help="rewrite the output in the pages")
    parser.add_argument("pages", nargs="*", type=Path, default=PAGES, help="default: README.md and docs/*.md")
    options = parser.parse_args(arguments)
    stale = False
    if options.write:
        runpy.run_path(str(ROOT / "examples" / "sealed-study" / "make.py"), run_name="__main__")
    for page in (path.resolve() for path in options.pages):
        name = page.relative_to(ROOT)
        try:
            if options.check:
                change = difference(page)
                stale |= bool(change)
                print(change or f"{name}: current", end="" if change else "\n")
            else:
                text = page.read_text(encoding="utf-8")
                fresh = refresh(text)
                if fresh != text:
                    page.write_text(fresh, encoding="utf-8")
                print(f"{name}: {'rewritten' if fresh != text else 'current'}")
        except (SessionError, QuoteError) as failure:
            stale = True
            print(f"{name}: {failure}", file=sys.stderr)
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
