"""Templates and the style sheet that the report and the pages share."""

import re
from functools import lru_cache
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fairgauge.languages import PLAIN
from fairgauge.reports.units import steady

# An option of a command, which lines break within otherwise: behind its two hyphens.
_OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")


def environment(*packages: str) -> Environment:
    """Return templates of this room, and of others that build on them: escaped always, and strict about names."""
    loaders = [PackageLoader(package, "templates") for package in (*packages, __package__)]
    found = Environment(
        loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters["count"] = lambda number: f"{number:,}"
    # Where a number ends a line, its sign goes with it.
    found.filters["kept"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    found.filters["steady"] = steady
    found.filters["unbroken"] = lambda html: Markup(  # noqa: S704 - what a template gives is escaped
        _OPTION.sub(r'<span class="whole">\g<0></span>', str(html))  # or what is put in would be escaped
    )
    found.globals["voice"] = PLAIN  # pages bring another one
    return found


@lru_cache(maxsize=1)
def style() -> str:
    """Return the style sheet."""
    return files(__package__).joinpath("fairgauge.css").read_text(encoding="utf-8")
