"""Every session shown in the documentation prints today what the page says it prints."""

import platform
import re
import shlex
import tempfile
from pathlib import Path

import numpy as np
import pytest

from docs import refresh
from docs.refresh import shell
from tests.programs import COMMAND, Programs

# Commands compute as on the oldest processor that OpenBLAS and NumPy know, which rounds differently from that of
# whoever wrote the page: what is shown must not depend on it.
OLDEST = {"NPY_DISABLE_CPU_FEATURES": " ".join(np.show_config(mode="dicts")["SIMD Extensions"]["found"])}
if platform.machine() == "x86_64":
    OLDEST["OPENBLAS_CORETYPE"] = "Prescott"


@pytest.fixture(scope="module")
def oldest() -> Programs:
    return Programs(OLDEST | refresh.TERMINAL)


@pytest.mark.parametrize("page", refresh.PAGES, ids=lambda page: page.name)
def test_the_page_shows_what_the_commands_print(page: Path, oldest: Programs, monkeypatch: pytest.MonkeyPatch):
    for name, value in OLDEST.items():
        monkeypatch.setenv(name, value)

    def forked(command: str, folder: Path) -> tuple[int, str]:
        # What is printed may go on into a pipe or a file.
        parts = re.fullmatch(r"fairgauge ([^<>|;&$`*]*)([|>][^<;&$`]*)?", command.replace("\\\n", " "))
        if parts is None:
            return shell(command, folder)
        with tempfile.NamedTemporaryFile() as printed, tempfile.TemporaryFile() as complained:
            out, err = printed.fileno(), (complained if parts[2] else printed).fileno()
            status = oldest.start(COMMAND, *shlex.split(parts[1]), folder=folder, out=out, err=err).wait()
            printed.seek(0)
            if parts[2] is None:
                return status, printed.read().decode()
            complained.seek(0)
            last, said = shell(f"cat {printed.name} {parts[2]}", folder)
            return last or status, complained.read().decode() + said

    monkeypatch.setattr(refresh, "shell", forked)
    assert refresh.difference(page) == ""


def page(*lines: str) -> str:
    return "\n".join([*lines, ""])


def test_stale_output_is_replaced():
    shown = page("Text.", "```console", "$ head -n 1 examples/first-study/population.csv", "grup,value", "```", "More.")
    assert refresh.refresh(shown) == shown.replace("grup,value", "group,value,count")


def test_missing_output_is_filled_in():
    shown = page("```console", "$ cat \\", "    examples/first-study/population.csv | head -n 1", "```")
    assert refresh.refresh(shown) == shown.replace("head -n 1\n", "head -n 1\ngroup,value,count\n")


def test_an_empty_line_between_commands_stays():
    head = "$ head -n 1 examples/first-study/population.csv"
    shown = page("```console", head, "", head, "old", "", head, "```")
    assert refresh.refresh(shown) == page(
        "```console",
        head,
        "group,value,count",
        "",
        head,
        "group,value,count",
        "",
        head,
        "group,value,count",
        "```",
    )


def test_a_command_that_is_only_for_the_reader_is_left_alone():
    shown = page("```console", "$ rm -rf everything", "not run", "```")
    assert refresh.refresh(shown) == shown


def test_a_hidden_failure_is_refused():
    with pytest.raises(refresh.SessionError, match="exit status 1"):
        refresh.refresh(page("```console", "$ cat nothing.json", "```"))


def test_a_failure_that_is_shown_is_fine():
    shown = page("```console", "$ cat nothing.json", "$ echo $?", "0", "```")
    assert "No such file" in refresh.refresh(shown)
    assert "$ echo $?\n1\n" in refresh.refresh(shown)


def test_python_shares_the_folder_and_the_names_of_earlier_blocks():
    shown = page(
        "```console",
        "$ head -n 1 examples/first-study/population.csv > first.txt",
        "```",
        "```pycon",
        ">>> from pathlib import Path",
        "```",
        "```pycon",
        '>>> for line in Path("first.txt").read_text().splitlines():',
        "...     print(line)",
        "...",
        "wrong",
        ">>> 1 / 0",
        "```",
    )
    fresh = refresh.refresh(shown)
    assert "wrong" not in fresh
    assert "\ngroup,value,count\n>>> 1 / 0\nTraceback" in fresh
    assert fresh.endswith("ZeroDivisionError: division by zero\n```\n")


def test_a_number_that_is_off_by_its_last_digit_is_noticed():
    shown = page("```pycon", ">>> print(0.0402)", "0.0403", "```")
    assert refresh.refresh(shown) == shown.replace("0.0403", "0.0402")


SHOWN = page("$ fairgauge plan", "error 0.0245, 300,000 people", "more", "the end")


@pytest.mark.parametrize(
    ("shown", "fresh", "near"),
    [
        (SHOWN, SHOWN, True),
        (SHOWN, SHOWN.replace("300,000", "  301,000"), True),
        (SHOWN, SHOWN.replace("300,000", "310,000"), False),
        (SHOWN, SHOWN.replace("more", "less"), False),
        (SHOWN, SHOWN + "and more\n", False),
        (SHOWN.replace("more", "..."), SHOWN, True),
        (SHOWN.replace("more", "..."), SHOWN.replace("more", "one\ntwo"), True),
        (SHOWN.replace("more", "..."), SHOWN.replace("the end", "another end"), False),
        (SHOWN.replace("the end", "..."), SHOWN + "and more\n", True),
        (SHOWN.replace("the end", "..."), "$ fairgauge plan\n", False),
    ],
)
def test_a_loose_block_allows_other_last_digits_and_nothing_else(shown: str, fresh: str, near: bool):
    assert refresh.agrees(shown, fresh) is near


def test_a_loose_block_is_run_and_replaced_where_it_is_wrong():
    wrong = page("```text", "$ fairgauge verify examples/first-study/study.json", "another study", "...", "```")
    assert "another study" not in refresh.refresh(wrong)
    right = wrong.replace("another study", "Falls found, by sex")
    assert refresh.refresh(right) == right
    assert refresh.refresh("```text\nfairgauge verify nothing\n```\n") == "```text\nfairgauge verify nothing\n```\n"


def test_the_same_plan_on_two_pages_is_made_once(monkeypatch: pytest.MonkeyPatch):
    ran: list[str] = []

    def shell(command: str, folder: Path) -> tuple[int, str]:
        ran.append(command)
        return 0, f"run {len(ran)}\n"

    monkeypatch.setattr(refresh, "shell", shell)
    refresh.once.cache_clear()
    asked = page("```console", "$ fairgauge plan --never --asked", "$ fairgauge verify study.json", "```")
    first, second = refresh.refresh(asked), refresh.refresh(asked)
    refresh.once.cache_clear()
    assert ran == ["fairgauge plan --never --asked", "fairgauge verify study.json", "fairgauge verify study.json"]
    assert "asked\nrun 1\n" in first
    assert "asked\nrun 1\n" in second
