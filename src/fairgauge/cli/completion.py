"""``fairgauge --install-completion``: shells complete commands, options and files.

The scripts are written once and start no Python, so that completing is immediate.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.canonical_json import write_file
from fairgauge.cli.commands import BARE, COMMANDS
from fairgauge.errors import InvalidInput

if TYPE_CHECKING:
    import click
    import typer

_SHELLS = ("bash", "zsh", "fish")
Words = dict[str, list[str]]
_Application = Callable[[], "typer.Typer"]  # with every command
_TOP = ("--help", "--version", "--install-completion", "--show-completion")


def words(make_app: _Application) -> Words:
    """Return what can follow each command: its own commands if it is a group, and its options."""
    from typer.main import get_command

    top = get_command(make_app())
    found: Words = {}
    for name in COMMANDS:
        found[name] = _bare(name) if name in BARE else _typed(top.commands[name])  # type: ignore[attr-defined]
    return found


def _typed(command: "click.Command") -> list[str]:
    inner = list(getattr(command, "commands", {}).values())
    options = [text for one in inner or [command] for each in one.params for text in each.opts if text.startswith("-")]
    return [*(str(one.name) for one in inner), *sorted({*options, "--help"})]


def _bare(name: str) -> list[str]:
    if name == "answer":
        from fairgauge.client.command import make_parser
    else:
        from fairgauge.client.agent_command import make_parser
    return sorted({text for action in make_parser()._actions for text in action.option_strings})


def script(shell: str, make_app: _Application) -> str:
    """Return the script for a shell.

    Raises:
        InvalidInput: If the shell is none of those that we know.
    """
    if shell not in _SHELLS:
        raise InvalidInput("shell", shell, f"must be one of {', '.join(_SHELLS)}")
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](words(make_app))


def install(shell: str, home: Path, make_app: _Application) -> tuple[Path, Path | None]:
    """Write the script, and see to it that the shell reads it.

    Returns:
        The script, and the file of the shell that a line was added to, if any.
    """
    text = script(shell, make_app).encode()
    if shell == "fish":
        target = _folder("XDG_CONFIG_HOME", home / ".config") / "fish" / "completions" / "fairgauge.fish"
        _write(target, text)
        return target, None
    target = _folder("XDG_DATA_HOME", home / ".local" / "share") / "fairgauge" / f"completion.{shell}"
    _write(target, text)
    startup = (_folder("ZDOTDIR", home) if shell == "zsh" else home) / f".{shell}rc"
    line = f'[ -f "{target}" ] && . "{target}"  # fairgauge'
    before = startup.read_text(encoding="utf-8") if startup.exists() else ""
    if line in before.splitlines():
        return target, None
    apart = "" if not before or before.endswith("\n") else "\n"
    write_file(startup, f"{before}{apart}{line}\n".encode(), field="startup")
    return target, startup


def named(typed: list[str]) -> str:
    """Return the shell that is meant: the one that is typed, or the one that is running.

    Raises:
        InvalidInput: If neither is one that we know.
    """
    found = typed[0] if typed else Path(os.environ.get("SHELL", "")).name
    if len(typed) > 1 or found not in _SHELLS:
        raise InvalidInput("shell", " ".join(typed) or found or "nothing", f"must be one of {', '.join(_SHELLS)}")
    return found


def run(typed: list[str], make_app: _Application) -> str:
    """Do what ``--install-completion`` or ``--show-completion`` asks for, and return what to say."""
    shell = named(typed[1:])
    if typed[0] == "--show-completion":
        return script(shell, make_app)
    target, startup = install(shell, Path.home(), make_app)
    also = "" if startup is None else f"{startup}: reads it from now on.\n"
    return f"{target}: completion for {shell}.\n{also}Open a new shell to use it.\n"


def _folder(variable: str, otherwise: Path) -> Path:
    """Return where a shell keeps what it reads, if it was told, or else where it does."""
    told = os.environ.get(variable, "")
    return Path(told) if Path(told).is_absolute() else otherwise


def _write(target: Path, data: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("completion", target, f"cannot be written: {error.strerror}") from None
    write_file(target, data, field="completion")


def _bash(found: Words) -> str:
    cases = "\n".join(f'        {name}) words="{" ".join(after)}" ;;' for name, after in found.items())
    return f"""# Completion of fairgauge for bash.
_fairgauge() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{" ".join([*found, *_TOP])}" -- "$cur"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    case $cur in
        -*) return ;;
    esac
    # A name on each line, so that one with a space stays whole.
    local name
    while IFS= read -r name; do
        COMPREPLY+=("$name")
    done < <(compgen -f -- "$cur")
}}
complete -o filenames -F _fairgauge fairgauge
"""


def _zsh(found: Words) -> str:
    cases = "\n".join(f"        {name}) after=({' '.join(after)}) ;;" for name, after in found.items())
    return f"""# Completion of fairgauge for zsh.
_fairgauge() {{
    local -a after
    if (( CURRENT == 2 )); then
        compadd -- {" ".join([*found, *_TOP])}
        return
    fi
    case $words[2] in
{cases}
    esac
    compadd -- $after
    [[ $PREFIX == -* ]] || _files
}}
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
compdef _fairgauge fairgauge
"""


def _fish(found: Words) -> str:
    lines = ["# Completion of fairgauge for fish."]
    for name, sentence in COMMANDS.items():
        said = sentence.replace("\\", "\\\\").replace("'", "\\'")
        lines.append(f"complete -c fairgauge -n __fish_use_subcommand -f -a {name} -d '{said}'")
        for word in found[name]:
            seen = f"-n '__fish_seen_subcommand_from {name}'"
            how = (
                f"-l {word[2:]}"
                if word.startswith("--")
                else f"-s {word[1:]}"
                if word.startswith("-")
                else f"-a {word}"
            )
            lines.append(f"complete -c fairgauge {seen} {how}")
    return "\n".join([*lines, ""])
