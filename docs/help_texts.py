"""What ``fairgauge COMMAND --help`` shows, made from the commands: ``src/fairgauge/cli/help.json``.

    python -m docs.help_texts --check     say which texts are not today's; exit 1 if any is not
    python -m docs.help_texts --write     make them again

To read a command's options is to load its module, and that loads all that the command runs on.  Whoever asks for help
waits for none of it: the texts are kept.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from fairgauge.cli.entry import HELP_TEXTS, make_app

# What stands for a value, in place of the name of a type.
_VALUES = {"path": "FILE", "int": "NUMBER", "float": "NUMBER"}
_TYPE = re.compile(r"<(?:list\[)?(str|path|int|float)\]?>", re.IGNORECASE)
# An argument's name says what it is.
_ARGUMENT = re.compile(rf"^(  \[?[A-Z_ ]+\]?(?:\.\.\.)?) {_TYPE.pattern}", re.MULTILINE | re.IGNORECASE)


def texts() -> dict[str, str]:
    """Return the texts of all commands as they are today, by what is typed before ``--help``."""
    return dict(sorted(_texts(get_command(make_app()), "fairgauge")))


def _texts(command: Any, path: str) -> Iterator[tuple[str, str]]:
    for name, one in getattr(command, "commands", {}).items():
        with one.make_context(f"{path} {name}", [], resilient_parsing=True, terminal_width=80) as context:
            text = _ARGUMENT.sub(lambda found: found[1].ljust(len(found[0])), one.get_help(context))
            text = _TYPE.sub(lambda found: _VALUES.get(found[1].lower(), "TEXT").ljust(len(found[0])), text)
        yield f"{path} {name}".partition(" ")[2], "\n".join(map(str.rstrip, text.splitlines())) + "\n"
        yield from _texts(one, f"{path} {name}")


def main() -> int:
    """Check or write the texts."""
    parser = argparse.ArgumentParser(description="What fairgauge COMMAND --help shows.")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--write", action="store_true")
    today = texts()
    if parser.parse_args().write:
        HELP_TEXTS.write_text(json.dumps(today, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    kept = json.loads(HELP_TEXTS.read_text(encoding="utf-8"))
    stale = [name for name in sorted({*today, *kept}) if today.get(name) != kept.get(name)]
    for name in stale:
        sys.stdout.write(f"fairgauge {name} --help is not today's\n")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
