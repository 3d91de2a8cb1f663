"""What people see while they wait: a bar where it is known how much there is to do, and what is being done.

Only on a terminal: what goes into a file or a pipe has none of it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn

from fairgauge.cli._console import err, out


class _Waiting:
    """A bar on standard error, which pulses as long as nobody says how much there is to do."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task, self._begun = progress, task, 0

    def reach(self, done: int, whole: int | None = None) -> None:
        """Show that so much is done, of so much if that is known."""
        self._progress.update(self._task, completed=done, total=whole)

    def advance(self, some: float) -> None:
        """Show that some more is done."""
        self._progress.advance(self._task, some)

    def begin(self, name: str) -> None:
        """Name the step that begins; those before it are done."""
        self._progress.update(self._task, description=escaped(name), completed=self._begun)
        self._begun += 1

    def say(self, text: str) -> None:
        """Name what is being done, and leave the bar as it is."""
        self._progress.update(self._task, description=escaped(text))


def escaped(text: str) -> str:
    """Return a text as it is to be shown, whatever characters a study's author put into it."""
    return "".join(c if c.isprintable() else " " for c in text)


@contextmanager
def waiting(what: str, *, total: float | None = None) -> Iterator[_Waiting]:
    """Show a bar while something runs.

    Args:
        what: What runs, for people.
        total: How much there is to do, if that is known.
    """
    with _shown() as progress:
        yield _Waiting(progress, progress.add_task(what, total=total))


@contextmanager
def designing() -> Iterator[Callable[[str], object]]:
    """Show how far the search for a design is; yields what is told what is being worked out.

    A design may take several searches, and the bar starts anew with each: the number beside it says which it is.
    """
    from fairgauge.designs.column_generation import watched  # commands that design nothing need none of it

    with _shown(TaskProgressColumn()) as progress:
        bar, named = progress.add_task("Designing channels", total=1.0), ["Designing channels"]

        def name(what: str) -> None:
            named[0] = what
            progress.update(bar, description=escaped(what), completed=0.0)

        def reached(number: int, part: float) -> None:
            progress.update(bar, description=f"{escaped(named[0])}, search {number}", completed=part)

        with watched(reached):
            yield name


@contextmanager
def _shown(*more: ProgressColumn) -> Iterator[Progress]:
    """Show a bar with what is being done before it, as it is: [brackets] are no markup."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), *more, TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        before, out.bar = out.bar, progress if err.is_terminal else None
        try:
            yield progress
        finally:
            out.bar = before
