"""What people see while a design is searched for: a bar for each search, on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from fairgauge.cli.show import err
from fairgauge.designs.watching import watched


@contextmanager
def designing() -> Iterator[Callable[[str], object]]:
    """Show how far the search for a design is; yields what is told what is being worked out.

    A design may take several searches, and the bar starts anew with each: the number beside it says which it is.
    """
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        bar, named = progress.add_task("Designing channels", total=1.0), ["Designing channels"]

        def name(what: str) -> None:
            named[0] = what
            progress.update(bar, description=what, completed=0.0)

        def reached(number: int, part: float) -> None:
            progress.update(bar, description=f"{named[0]}, search {number}", completed=part)

        with watched(reached):
            yield name
