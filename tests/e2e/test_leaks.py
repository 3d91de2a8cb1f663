"""Nothing that a person gave is anywhere but in the symbol: not printed, not sent, not remembered, not in a traceback.

The person's group and value are marked, the program is run in every way that works or fails, in development mode and
with everything logged, and each byte that it leaves behind is searched for the marks.
"""

import json
import logging
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import Ledger, answer
from fairgauge.errors import FairgaugeError
from fairgauge.study import Attribute, Study
from tests.recorder import Recorder, Reply, recorder
from tests.samples import RECALL, sample_question, sample_study

# The group is in the study, as groups are; so messages may list it only where all groups are listed.
GROUP, VALUE = "zz-quokka", "0.7731902846"
STUDY = sample_study(sample_question(RECALL, Attribute("animal", (GROUP, "wombat"))))
OTHER = sample_study(sample_question(RECALL, Attribute("animal", ("wombat", "koala"))))
NARROW_VALUE = "77319028.46"
MARKS = [GROUP.encode(), b"7731902"]  # of both values


@pytest.fixture
def server():
    with recorder() as found:
        yield found


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "study.json").write_bytes(STUDY.to_bytes())
    (tmp_path / "other.json").write_bytes(OTHER.to_bytes())
    (tmp_path / "diary").write_text("not a ledger")
    return tmp_path


def answering(here: Path, *arguments: str, stdin: str = "") -> bytes:
    """Run the command with all warnings and development checks, and return everything that it printed."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "always", "-m", "fairgauge.client", *arguments],
        cwd=here,
        input=stdin.encode(),
        capture_output=True,
        check=False,
        timeout=300,
    )
    return done.stdout + done.stderr


def left_behind(here: Path, server: Recorder) -> bytes:
    files = [path for path in sorted(here.rglob("*")) if path.is_file() and path.suffix != ".json"]
    heard = [repr(heard).encode() for heard in server.heard]
    return b"".join([path.name.encode() + path.read_bytes() for path in files] + heard)


def marks_in(data: bytes) -> list[bytes]:
    return [mark for mark in MARKS if mark in data]


PRIVATE = ["--group", GROUP, "--value", f"recall={VALUE}", "--ledger", "ledger"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "reply"),
    [
        (["study.json", *PRIVATE, "--json"], "", 200),
        (["study.json", *PRIVATE, "--send", "URL"], "", 200),
        (["study.json", *PRIVATE, "--send", "URL"], "", 400),
        (["study.json", *PRIVATE, "--to-file", "answers"], "", 200),
        (["study.json", "--group", "-", "--value", "-", "--ledger", "ledger"], f"{GROUP}\nrecall={VALUE}\n", 200),
        (["study.json", "--group", "-", "--value", "-", "--ledger", "ledger"], f"x\n{GROUP}\nrecall={VALUE}\n", 200),
        (["study.json", "--group", "-", "--value", "-", "--ledger", "ledger"], f"{GROUP}\nrecal={VALUE}\n", 200),
        (["other.json", *PRIVATE], "", 200),
        (["study.json", "--group", "wombat", "--value", f"recall={NARROW_VALUE}", "--ledger", "ledger"], "", 200),
        (["study.json", "--group", "wombat", "--value", f"{NARROW_VALUE}", "--ledger", "ledger"], "", 200),
        (["study.json", *PRIVATE, "--limit", "1"], "", 200),
        (["study.json", *PRIVATE, "--ledger", "diary"], "", 200),
        (["study.json", *PRIVATE, "--ledger", "no/where"], "", 200),
        (["study.json", *PRIVATE, "--to-file", "no/where"], "", 200),
        (["study.json", *PRIVATE, "--grup", GROUP], "", 200),
        (["study.json", GROUP, *PRIVATE], "", 200),
        (["study.json", f"--json={GROUP}", *PRIVATE], "", 200),
        (["study.json", f"--{GROUP}", VALUE], "", 200),
        (["nothing.json", *PRIVATE], "", 200),
        (["study.json", *PRIVATE, "--group", GROUP], "", 200),
    ],
)
def test_no_mark_is_left_anywhere(here: Path, server: Recorder, arguments: list[str], stdin: str, reply: int) -> None:
    server.script(Reply(reply))
    printed = answering(here, *(server.url if item == "URL" else item for item in arguments), stdin=stdin)
    assert printed
    printed = printed.replace(f"animal must be one of {GROUP}, wombat".encode(), b"")
    assert marks_in(printed + left_behind(here, server)) == []


def test_a_search_that_finds_marks_where_they_are(here: Path, server: Recorder) -> None:
    """The mutant twin: a ledger that remembers the person would be found."""
    answering(here, "study.json", *PRIVATE)
    connection = Ledger(here / "ledger")._open()
    connection.execute("CREATE TABLE notes (x)")
    connection.execute("INSERT INTO notes VALUES (?)", (f"{GROUP} {VALUE}",))
    connection.close()
    assert marks_in(left_behind(here, server)) == MARKS


def test_what_the_operating_system_shows_of_the_process(here: Path, server: Recorder) -> None:
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("this system shows processes elsewhere")
    process = subprocess.Popen(
        [sys.executable, "-m", "fairgauge.client", "study.json", "--group", "-", "--value", "-", "--ledger", "ledger"],
        cwd=here,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    folder = Path(f"/proc/{process.pid}")
    while not (command := (folder / "cmdline").read_bytes()):  # for a moment a new process has none
        time.sleep(0.01)
    shown = command + (folder / "environ").read_bytes()
    out, _ = process.communicate(f"{GROUP}\nrecall={VALUE}\n".encode())
    assert process.returncode == 0
    assert b"study.json" in shown
    assert marks_in(shown + out) == []


class Odd:
    """A value that fails in its own way, and says what it is."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __index__(self) -> int:
        raise self.error(f"cannot convert {VALUE}")

    def __repr__(self) -> str:
        return VALUE


PROFILES: list[tuple[Study, Any]] = [
    (OTHER, {"group": GROUP, "values": {"recall": VALUE}}),
    (OTHER, {"group": {"animal": GROUP}, "values": {"recall": VALUE}}),
    (OTHER, {"group": {"beast": GROUP}, "values": {"recall": VALUE}}),
    (OTHER, {"group": [GROUP], "values": {"recall": VALUE}}),
    (OTHER, {"group": "koala", "values": {"recall": NARROW_VALUE}}),
    (OTHER, {"group": "koala", "values": {"recall": f"{VALUE}x"}}),
    (OTHER, {"group": "koala", "values": {"recall": [VALUE]}}),
    (OTHER, {"group": "koala", "values": {"recall": Odd(TypeError)}}),
    (OTHER, {"group": "koala", "values": {"recall": Odd(ValueError)}}),
    (OTHER, {"group": "koala", "values": VALUE}),
    (OTHER, {"group": "koala", "values": {VALUE: 1}}),
    (OTHER, {"group": GROUP, VALUE: 1}),
    (OTHER, {GROUP: VALUE}),
    (OTHER, [GROUP, VALUE]),
]


@pytest.mark.parametrize("way", ["answer", "ledger"])
@pytest.mark.parametrize(("study", "profile"), PROFILES, ids=[str(i) for i in range(len(PROFILES))])
def test_no_mark_in_a_traceback(
    study: Study, profile: Any, way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ways: dict[str, Callable[[Study, Any], object]] = {"answer": answer, "ledger": Ledger(tmp_path / "ledger").answer}
    error: BaseException | None = None
    report = ""
    with caplog.at_level(logging.DEBUG):
        try:
            report = repr(ways[way](study, profile))
        except FairgaugeError as caught:
            error = caught
            report = "".join(traceback.format_exception(caught))
    is_profile = isinstance(profile, dict) and profile.keys() == {"group", "values"} and profile["values"] != VALUE
    assert (error is None) == is_profile, "whatever is in a profile is answered"
    while error is not None:
        report += f"{error!r} {error.args} {vars(error)}"
        error = error.__cause__ or error.__context__  # also where it is hidden
    assert marks_in((report + caplog.text).encode()) == []


def test_a_mistake_of_ours_tells_where_but_not_what(here: Path) -> None:
    """Whatever exception escapes, its text, which may hold anything, is not printed."""
    code = (
        "import sys\n"
        "from fairgauge.client import randomiser\n"
        "from fairgauge.client.command import main\n"
        "def draw(channel, group, position):\n"
        "    raise KeyError(f'{group} {position} " + f"{GROUP} {VALUE}" + "')\n"
        "randomiser.draw_symbol = draw\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    (here / "broken.json").write_text(code)
    done = subprocess.run(
        [sys.executable, "-X", "dev", "broken.json", "study.json", *PRIVATE], cwd=here, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"a mistake in fairgauge, KeyError, at" in done.stderr
    assert b"in answer" in done.stderr
    assert marks_in(done.stderr.replace(code.splitlines()[4].strip().encode(), b"")) == []


def test_an_answer_has_three_members(here: Path) -> None:
    answering(here, "study.json", *PRIVATE, "--to-file", "answers")
    (line,) = (here / "answers").read_text().splitlines()
    assert sorted(json.loads(line)) == ["id", "study", "symbol"]
