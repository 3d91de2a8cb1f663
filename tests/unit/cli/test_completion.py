"""Completion, in the shells themselves where they are installed."""

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from fairgauge.cli import make_app
from fairgauge.cli.commands import COMMANDS
from fairgauge.cli.completion import _SHELLS, install, script
from tests.unit.cli.conftest import Run, refused


@cache
def written(shell: str, _: object = None) -> str:
    return script(shell, make_app)


def shell(name: str, code: str, home: Path) -> list[str]:
    """Run code in a shell that reads nothing of the user's, and return what it prints, line by line."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    alone = {"bash": ["bash", "--norc"], "zsh": ["zsh", "-f"], "fish": ["fish", "--no-config"]}[name]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "TERM": "dumb"}
    done = subprocess.run([*alone, "-c", code], cwd=home, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def in_bash(home: Path, *typed: str) -> list[str]:
    (home / "c.bash").write_text(written("bash"))
    listed = " ".join(f"'{word}'" for word in ("fairgauge", *typed))
    code = (
        f". ./c.bash; COMP_WORDS=({listed}); COMP_CWORD={len(typed)}; _fairgauge; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    return shell("bash", code, home)


def test_bash_completes_commands_options_and_files(tmp_path: Path):
    assert in_bash(tmp_path, "ver") == ["verify"]
    assert set(COMMANDS) <= set(in_bash(tmp_path, ""))
    assert in_bash(tmp_path, "estimate", "--conf") == ["--confidence"]
    assert in_bash(tmp_path, "token", "re") == ["revoke"]
    assert in_bash(tmp_path, "answer", "--study-l") == ["--study-limit"]
    (tmp_path / "study.json").write_text("{}")
    assert in_bash(tmp_path, "verify", "stu") == ["study.json"]


def test_fish_completes_commands_and_options(tmp_path: Path):
    (tmp_path / "c.fish").write_text(written("fish"))
    assert shell("fish", "source c.fish; complete -C 'fairgauge ver'", tmp_path)[0] == "verify"
    assert shell("fish", "source c.fish; complete -C 'fairgauge estimate --conf'", tmp_path) == ["--confidence"]


def test_zsh_takes_the_script(tmp_path: Path):
    (tmp_path / "c.zsh").write_text(written("zsh"))
    assert shell("zsh", ". ./c.zsh; print $_comps[fairgauge]", tmp_path) == ["_fairgauge"]


STARTUP = {
    "bash": (".bashrc", "PS1='ready> '"),
    "zsh": (".zshrc", "PS1='ready> '"),
    "fish": (".config/fish/config.fish", "function fish_greeting; end; function fish_prompt; echo -n 'ready> '; end"),
}
LONGEST = 120.0  # seconds until a shell that says nothing has failed


@contextmanager
def at_a_terminal(name: str, home: Path) -> Iterator[int]:
    """Give a terminal in which a person's shell runs, with the person's own startup files."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(home)
        env = {"PATH": f"{home / 'bin'}:/usr/bin:/bin", "HOME": str(home), "TERM": "xterm"}
        os.execve(shutil.which(name) or name, [name, "-i"], env)
    try:
        yield terminal
    finally:
        os.close(terminal)
        os.kill(process, 9)
        os.waitpid(process, 0)


def shown(terminal: int, awaited: str) -> bool:
    """Say whether a text comes to a terminal."""
    text, end = "", time.monotonic() + LONGEST
    while awaited not in text and time.monotonic() < end:
        if select.select([terminal], [], [], 1.0)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")
    return awaited in text


@pytest.mark.parametrize("name", _SHELLS)
def test_a_person_presses_tab(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    monkeypatch.setattr("fairgauge.cli.completion.script", written)
    file, line = STARTUP[name]
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(line)
    (tmp_path / "pretty good.json").write_text("{}")
    # fish completes nothing for a command that is not there.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "fairgauge").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "fairgauge").chmod(0o755)
    install(name, tmp_path, make_app)
    with at_a_terminal(name, tmp_path) as terminal:
        assert shown(terminal, "ready> ")
        for typed, awaited in (
            ("fairgauge esti", "mate"),
            ("--conf", "idence"),
            ("0.9 pret", "ty\\ good.json"),
        ):
            os.write(terminal, f"{typed}\t".encode())
            assert shown(terminal, awaited), (typed, awaited)


def test_folders_that_a_shell_was_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairgauge.cli.completion.script", written)
    for variable in ("ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    home = tmp_path / "home"
    home.mkdir()
    target, startup = install("zsh", home, make_app)
    assert (target.parent.parent.name, startup) == ("XDG_DATA_HOME", tmp_path / "ZDOTDIR" / ".zshrc")
    assert install("fish", home, make_app)[0].is_relative_to(tmp_path / "XDG_CONFIG_HOME")
    assert list(home.iterdir()) == []


@pytest.fixture(autouse=True)
def no_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)


def test_every_script_has_every_command_and_option():
    for name in _SHELLS:
        text = written(name)
        assert all(command in text for command in COMMANDS)
        assert "deduplicate" in text


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_installing_adds_one_line_once(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairgauge.cli.completion.script", written)
    (tmp_path / f".{name}rc").write_text("alias ll='ls -l'")
    target, startup = install(name, tmp_path, make_app)
    assert target.read_text() == written(name)
    assert startup == tmp_path / f".{name}rc"
    lines = startup.read_text().splitlines()
    assert (lines[0], len(lines)) == ("alias ll='ls -l'", 2)
    assert install(name, tmp_path, make_app) == (target, None)
    assert startup.read_text().splitlines() == lines


def test_the_command_installs_for_the_shell_that_runs(fairgauge: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairgauge.cli.completion.script", written)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    done = fairgauge("--install-completion")
    target = tmp_path / ".config" / "fish" / "completions" / "fairgauge.fish"
    assert done.out == f"{target}: completion for fish.\nOpen a new shell to use it.\n"
    assert target.read_text() == written("fish")
    assert refused(fairgauge("--install-completion", "tcsh"), "shell=tcsh: must be one of bash, zsh, fish")
    monkeypatch.setenv("SHELL", "")
    assert refused(fairgauge("--show-completion"), "shell=nothing: must be one of")
