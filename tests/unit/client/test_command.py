"""``fairgauge answer``: what it reads, prints and returns, and that it needs nothing installed."""

import io
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import Answer, Ledger, Patience
from fairgauge.client.command import _HELP, Request, _read_private, main, make_parser
from fairgauge.client.ledger import default_ledger
from fairgauge.errors import BadLedger, CannotAnswer, InvalidInput
from fairgauge.study import Attribute, Metric, Study
from tests.recorder import Reply, recorder
from tests.samples import RECALL, sample_question, sample_study, two_questions

SOURCE = Path(__file__).parents[3] / "src"
AT_ONCE = Patience(tries=2, first=0, longest=0, timeout=5)
TICKET = "0123456789abcdef" * 2


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "study.json").write_bytes(sample_study().to_bytes())
    (tmp_path / "two.json").write_bytes(two_questions().to_bytes())
    return tmp_path


class Terminal(io.StringIO):
    """Standard input with somebody before it."""

    def isatty(self) -> bool:
        return True


ARGUMENTS = ["study.json", "--group", "female", "--value", "recall=0.83", "--ledger", "ledger"]


class TestReading:
    def read(self, stdin: str = "", study: Study | None = None, **request: Any) -> tuple[str | None, Any]:
        return _read_private(Request("study.json", **request), study or sample_study(), io.StringIO(stdin))

    def test_from_arguments(self) -> None:
        assert self.read(group=["female"], value=["recall=0.83", "f=1=2"]) == (
            None,
            {"group": "female", "values": {"recall": "0.83", "f=1": "2"}},
        )

    def test_named_groups(self) -> None:
        _, profile = self.read(study=two_questions(), group=["sex=female", "age=old"], value=["recall=1"])
        assert profile["group"] == {"sex": "female", "age": "old"}

    @pytest.mark.parametrize("group", ["<65", ">=65", "=65", "=", "age=65", "--", "-other", "sex"])
    def test_a_mark_names_an_attribute_only_if_the_study_has_it(self, group: str) -> None:
        """How a text is split depends on the study, and not on the person."""
        for typed in (group, f"sex={group}"):
            read = group if typed == group else {"sex": group}
            assert self.read(group=[typed])[1]["group"] == read
            assert self.read(f"{typed}\n", group=["-"])[1]["group"] == read
            assert self.read(group=[typed], study=two_questions())[1]["group"] == (
                {"age": "65"} if typed == "age=65" else {"sex": group} if typed != group else group
            )

    def test_a_name_ends_at_the_first_mark_whatever_attributes_the_study_makes_up(self, tmp_path: Path) -> None:
        """The attack: an attribute called ``code=F``, named by ``code=F=female`` and not by ``code=M=male``.

        Charged by its name for women and for everything for men, it would soon be refused by men alone.
        """
        seen = []
        for who in ("code=F=female", "code=M=male"):
            ledger, answered = Ledger(tmp_path / who), []
            for number, made_up in enumerate((("code=F",), *[("code=F", "other")] * 3)):
                asked = [Attribute(name, ("one", "another")) for name in made_up]
                losses = (3,) if len(asked) == 1 else (2, 3)
                questions = [sample_question(attribute=a, loss=loss) for a, loss in zip(asked, losses, strict=True)]
                study = replace(sample_study(*questions), title=f"Study {number}")
                profile = self.read(group=[who], study=study)[1]
                assert profile["group"] == who
                assert self.read(f"{who}\nrecall=1\n", group=["-"], value=["-"], study=study)[1]["group"] == who
                try:
                    ledger.answer(study, profile, limit=Decimal("3.3"))
                    answered.append(True)
                except CannotAnswer:
                    answered.append(False)
            seen.append(answered)
        assert seen == [[True, True, True, False]] * 2

    def test_a_metric_whose_name_a_study_makes_up_takes_no_group_from_standard_input(self) -> None:
        study = sample_study(sample_question(Metric("sex=F", 0, 1)))
        for group in ("F=female", "M=male"):
            assert self.read(f"sex={group}\n", group=["-"], value=["-"], study=study)[1]["group"] == {"sex": group}

    @pytest.mark.parametrize("name", [">", "<", "x>", "a=", "!"])
    @pytest.mark.parametrize("others", ["pqrst", ["pq", "pq", "pq", "", ""]], ids=["beside dear ones", "afterwards"])
    def test_no_study_gives_a_group_that_begins_like_a_name_a_budget_of_its_own(
        self, name: str, others: Sequence[str], tmp_path: Path
    ) -> None:
        """The attack: ask about an attribute called ``>``, cheaply beside dear ones, or once the limit is reached.

        A script whose groups are ``>=65`` and ``<65`` would answer for the one and refuse for the other.
        """
        seen = []
        for number, group in enumerate((f"{name}=65", "65", "", "=")):
            ledger = Ledger(tmp_path / str(number))
            answered: list[bool] = []
            for dear in others:
                asked = [sample_question(attribute=Attribute(each, ("65", "old"))) for each in dear]
                if len(dear) < 2:
                    asked.append(sample_question(attribute=Attribute(name, ("65", "old")), loss=2 if dear else 3))
                study = replace(sample_study(*asked), title=f"Study {len(answered)}")
                try:
                    ledger.answer(study, self.read(group=[group], study=study)[1], limit=Decimal("3.3"))
                    answered.append(True)
                except CannotAnswer:
                    answered.append(False)
            seen.append(answered)
        assert seen == [[True] * 3 + [False] * 2] * 4

    def test_a_program_may_say_more_than_the_study_asks(self) -> None:
        assert self.read(group=["sex=female", "creed=one"])[1]["group"] == {"sex": "female"}

    def test_what_the_device_lacks(self) -> None:
        assert self.read() == (None, {"group": None, "values": {}})
        assert self.read(group=[""], value=["recall="])[1] == {"group": None, "values": {"recall": None}}
        assert self.read(group=["sex="])[1]["group"] == {"sex": None}

    def test_a_group_from_standard_input(self) -> None:
        assert self.read("\n female \n", group=["-"], value=["recall=1"])[1] == {
            "group": "female",
            "values": {"recall": "1"},
        }

    def test_values_from_standard_input(self) -> None:
        assert self.read("recall=1\nf1=0\n", group=["female"], value=["-"])[1] == {
            "group": "female",
            "values": {"recall": "1", "f1": "0"},
        }

    @pytest.mark.parametrize(
        "stdin", ["sex=female\nage=old\nrecall=1\nerror=2", "error=2\nage=old\nrecall=1\nsex=female"]
    )
    def test_both_from_standard_input_in_any_order(self, stdin: str) -> None:
        assert self.read(stdin, study=two_questions(), group=["-"], value=["-"])[1] == {
            "group": {"sex": "female", "age": "old"},
            "values": {"recall": "1", "error": "2"},
        }

    def test_a_ticket_from_standard_input_comes_first(self) -> None:
        ticket, profile = self.read(f"{TICKET}\nfemale\n", ticket="-", group=["-"])
        assert (ticket, profile["group"]) == (TICKET, "female")
        assert self.read("", ticket="-")[0] == "", "which is no ticket, and is refused"

    def test_standard_input_is_left_alone_unless_asked_for(self) -> None:
        stdin = io.StringIO("not for us")
        _read_private(Request("study.json", ["female"], ["recall=1"]), sample_study(), stdin)
        assert stdin.read() == "not for us"

    @pytest.mark.parametrize("number", ["secret", "1e999999999", "0x1", "1_0", "NaN", "٣", "--1", "9" * 401])
    def test_what_is_no_number_counts_as_missing(self, number: str) -> None:
        assert RECALL.nearest(self.read(value=[f"recall={number}"])[1]["values"]["recall"]) is None

    @pytest.mark.parametrize("number", ["1", "-1", "+0.5", ".5", "1.", "5e-1", "83E-02"])
    def test_numbers(self, number: str) -> None:
        assert self.read(value=[f"recall={number}"])[1]["values"] == {"recall": number}

    @pytest.mark.parametrize(
        ("request_", "said"),
        [
            ({"group": ["secret", "more"]}, "group=not shown: must name its attribute, one of sex: NAME=GROUP"),
            ({"group": ["sex=secret", "more"]}, "group=not shown: must name its attribute"),
            ({"group": ["sex=secret", "sex=secret"]}, "group=not shown: must be given once for each attribute"),
            ({"value": ["secret"]}, "value=not shown: must be METRIC=X, such as recall=0.83"),
        ],
    )
    def test_what_makes_no_sense_is_told_at_a_terminal_and_not_shown(self, request_: dict[str, Any], said: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            _read_private(Request("study.json", **request_), sample_study(), Terminal())
        assert str(caught.value).startswith(said)
        assert "secret" not in repr(caught.value)
        _, profile = self.read(**request_)
        assert profile["group"] in (None, {}, {"sex": None}, {"sex": "secret"}), "from a program it is no refusal"
        assert profile["values"] in ({}, {"": None})

    def test_bytes_that_are_no_text(self) -> None:
        stdin = io.TextIOWrapper(io.BytesIO(b"\xffsecret\nrecall=0.5\n"), encoding="utf-8")
        _, profile = _read_private(Request("study.json", ["-"], ["-"]), sample_study(), stdin)
        assert profile == {"group": "\ufffdsecret", "values": {"recall": "0.5"}}


class TestRunning:
    def test_without_a_place_to_send_it_stays_in_the_ledger(self, here: Path, capsys: Any) -> None:
        assert main(ARGUMENTS) == 0
        assert len(Ledger("ledger").pending()) == 1
        assert capsys.readouterr().out == "Sample: answered, not sent yet\n"

    def test_sent_once(self, here: Path, capsys: Any) -> None:
        with recorder() as server:
            for said in ("delivered", "delivered before"):
                assert main([*ARGUMENTS, "--send", server.url]) == 0
                assert capsys.readouterr().out == f"Sample: answered, {said}\n"
            assert [heard.method for heard in server.heard] == ["GET", "POST"]

    @pytest.mark.parametrize(
        ("state", "said"),
        [
            ("closed", "has closed the study; nothing was drawn, and no privacy was spent"),
            ("sealed", "has closed the study; nothing was drawn, and no privacy was spent"),
            ("not open yet", "does not take answers to the study yet; nothing was drawn: come again later"),
        ],
    )
    def test_asks_before_it_draws(self, here: Path, capsys: Any, state: str, said: str) -> None:
        with recorder() as server:
            server.script(Reply(200, json.dumps({"study": sample_study().digest, "status": state}).encode()))
            assert main([*ARGUMENTS, "--send", server.url]) == 1
            assert capsys.readouterr().err == f"fairgauge: {server.url} {said}\n"
            assert [heard.path for heard in server.heard] == [f"/studies/{sample_study().digest}/status"]
        assert Ledger("ledger").state(sample_study().digest) is None

    def test_a_state_of_another_study_stops_nothing(self, here: Path) -> None:
        with recorder() as server:
            server.script(Reply(200, b'{"study":"another","status":"closed"}'), Reply())
            assert main([*ARGUMENTS, "--send", server.url]) == 0

    def test_stays_until_its_moment_if_asked_to(self, here: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        waiting = replace(sample_study(), epoch=3600)
        waiting.save("study.json")
        clock = [1_800_000_000.0]
        monkeypatch.setattr(time, "time", lambda: clock[0])
        monkeypatch.setattr(time, "sleep", lambda seconds: clock.append(clock.pop() + seconds))
        with recorder() as server:
            assert main([*ARGUMENTS, "--send", server.url]) == 0
            assert [heard.method for heard in server.heard] == ["GET"]
            moment = Ledger("ledger").moment(waiting.digest)
            assert moment is not None
            assert main([*ARGUMENTS, "--send", server.url, "--wait"]) == 0
            assert [heard.method for heard in server.heard] == ["GET", "POST"]
        assert moment <= clock[0] < moment + 1
        said = capsys.readouterr()
        assert said.err.endswith(", and sends then\n")
        assert said.out.endswith("Sample: answered, delivered\n")
        assert main([*ARGUMENTS, "--wait", "--now"]) == 2

    def test_resumes_without_group_and_value(self, here: Path, capsys: Any) -> None:
        assert main([*ARGUMENTS, "--send", "http://127.0.0.1:1"], patience=AT_ONCE) == 1
        assert capsys.readouterr().err == (
            "fairgauge: http://127.0.0.1:1 does not answer (Connection refused); "
            "the answer is in the ledger, and the same command sends it again\n"
        )
        (answer,) = Ledger("ledger").pending()
        with recorder() as server:
            assert main(["study.json", "--ledger", "ledger", "--send", server.url]) == 0
            assert server.bodies == [answer.to_bytes()]

    def test_refused_by_the_collector(self, here: Path, capsys: Any) -> None:
        with recorder() as server:
            server.script(Reply(410))
            assert main([*ARGUMENTS, "--send", server.url]) == 1
            assert "has closed the study (HTTP status 410)" in capsys.readouterr().err
        assert main(ARGUMENTS) == 0
        assert "refused by the collector" in capsys.readouterr().out

    def test_to_a_file(self, here: Path) -> None:
        for _ in range(2):
            assert main([*ARGUMENTS, "--to-file", "answers"]) == 0
        (line,) = Path("answers").read_bytes().splitlines()
        assert Answer.from_bytes(line).study == sample_study().digest

    def test_json(self, here: Path, capsys: Any) -> None:
        assert main([*ARGUMENTS, "--json", "--ticket", TICKET]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document == {
            "study": sample_study().digest,
            "id": TICKET,
            "symbol": document["symbol"],
            "state": "pending",
        }

    def test_the_ledger_of_the_person_unless_told_otherwise(self, here: Path) -> None:
        assert main(ARGUMENTS[:-2]) == 0
        assert len(Ledger(here / "state" / "fairgauge" / "ledger.sqlite3").pending()) == 1

    def test_nowhere_to_put_it(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
        with pytest.raises(BadLedger, match="ledger=none given: must be given"):
            default_ledger()

    @pytest.mark.parametrize(
        ("more", "status", "said"),
        [
            (["--limit", "1"], 1, "sex has cost epsilon 0 on this device"),
            (["--study-limit", "1"], 1, "and this device allows 1 a study"),
            (["--limit", "x"], 2, "limit=x: must be a number from 0 up"),
            (["--limit", "-1"], 2, "limit=-1: must be a Decimal from 0 up"),
            (["--digest", "0" * 64], 2, "this is another study"),
            (["--ticket", "secret"], 2, "ticket=not shown"),
            (["--send", "x"], 2, "send=://: must be an address such as"),
            (["--send", "http://x", "--to-file", "y"], 2, "to-file=y: must not be given together with --send"),
            (["--to-file", "no/where"], 2, "file=no/where: cannot be written: No such file"),
            (["--ledger", "study.json"], 2, "ledger=study.json: is not a ledger"),
        ],
    )
    def test_refusals(self, here: Path, capsys: Any, more: list[str], status: int, said: str) -> None:
        assert main([*ARGUMENTS, *more]) == status
        shown = capsys.readouterr()
        assert said in shown.err
        assert shown.err.count("\n") == 1
        assert shown.out == ""

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (["--group", "platypus", "--value", "recall=0.5"], "sex must be one of female, male"),
            (["--group", "sex=", "--value", "recall=0.5"], "sex must be one of female, male"),
            (["--value", "recall=0.5"], "sex must be one of female, male"),
            (["--group", "female", "--value", "recall=2"], "recall must be a number from 0 to 1"),
            (["--group", "female", "--value", "recall=much"], "recall must be a number from 0 to 1"),
            (["--group", "female"], "recall must be a number from 0 to 1"),
        ],
    )
    def test_a_program_gets_an_answer_and_somebody_at_a_terminal_is_told_before(
        self, here: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, given: list[str], said: str
    ) -> None:
        typed = ["study.json", "--ledger", "ledger", *given]
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdin", Terminal())
            assert main(typed) == 1
            assert capsys.readouterr() == ("", f"fairgauge: {said}; nothing was drawn\n")
        assert Ledger("ledger").spent() == {}
        with recorder() as server:
            assert main([*typed, "--send", server.url]) == 0
            assert [heard.method for heard in server.heard] == ["GET", "POST"]
            assert Answer.from_bytes(server.bodies[-1]).study == sample_study().digest
        assert capsys.readouterr() == ("Sample: answered, delivered\n", f"answered all the same, but {said}\n")
        assert sum(Ledger("ledger").spent().values()) > 1

    @pytest.mark.parametrize("option", ["--group", "--value"])
    @pytest.mark.parametrize("text", ["<65", ">=65", "sex=>=65", "-other", "--", "--help", "--group", "-o", ""])
    def test_whatever_the_text_the_answer_and_what_pays_are_the_same(
        self, here: Path, capsys: Any, option: str, text: str
    ) -> None:
        for number, typed in enumerate(([option, text], [f"{option}={text}"])):
            ledger = f"ledger{number}"
            assert main([*typed, "study.json", "--ledger", ledger]) == 0
            assert Ledger(ledger).spent().keys() == {"sex"}
        assert capsys.readouterr().out == 2 * "Sample: answered, not sent yet\n"

    def test_an_option_without_its_text(self, here: Path, capsys: Any) -> None:
        with pytest.raises(SystemExit):
            main(["study.json", "--group"])
        assert "argument --group: expected one argument" in capsys.readouterr().err

    def test_standard_input_that_is_closed(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", None)
        assert main(ARGUMENTS) == 0
        assert main(["study.json", "--group", "-", "--value", "-", "--ledger", "another"]) == 0

    def test_a_command_for_what_is_there_already_draws_nothing(self, here: Path, capsys: Any) -> None:
        """With neither group nor value, not even empty ones, there is no profile."""
        assert main(["study.json", "--ledger", "ledger"]) == 2
        assert "group and value=nothing: must be given to answer" in capsys.readouterr().err
        assert Ledger("ledger").spent() == {}

    def test_a_study_that_is_not_private(self, here: Path, capsys: Any) -> None:
        Path("bad.json").write_bytes(sample_study(sample_question(epsilon="1.09")).to_bytes())
        assert main(["bad.json", *ARGUMENTS[1:]]) == 1
        assert "declares epsilon 1.09 but its table has epsilon 1.098" in capsys.readouterr().err
        assert not Path("ledger").exists()

    def test_a_refusal_before_sending_sends_nothing(self, here: Path) -> None:
        with recorder() as server:
            assert main([*ARGUMENTS, "--limit", "1", "--send", server.url]) == 1
            assert [heard.method for heard in server.heard] == ["GET"]  # whether the study is open


class TestStandardLibraryAlone:
    """typer has no part in it, whether it is installed or not."""

    def test_every_argument_has_its_help(self) -> None:
        assert {action.dest: action.help for action in make_parser()._actions if action.dest != "help"} == _HELP

    def test_a_bare_python_answers(self, here: Path) -> None:
        """No site-packages: neither typer nor anything else is there."""
        code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from fairgauge.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code, "answer", *ARGUMENTS, "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["state"] == "pending"

    def test_as_a_module(self, here: Path) -> None:
        done = subprocess.run([sys.executable, "-m", "fairgauge.client", *ARGUMENTS], check=False, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
    @pytest.mark.parametrize("error", ["/dev/full", None], ids=["full", "closed"])
    def test_what_cannot_be_said_does_not_show_in_how_it_ends(self, error: str | None, here: Path) -> None:
        """Who starts the command sees its status, and what does not fit is said to the person alone."""
        ended = []
        start = "from fairgauge.client.command import main; sys.exit(main(sys.argv[1:]))"
        code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); {start}"
        for group in ("female", "not-listed"):
            line = [sys.executable, "-c", code, "study.json", f"--group=sex={group}", "--value=recall=1"]
            redirected = f"2>{error}" if error else "2>&-"
            shell = f'exec "$@" </dev/null {redirected}'
            done = subprocess.run(
                ["sh", "-c", shell, "sh", *line, f"--ledger={group}"], check=False, capture_output=True
            )
            ended.append((done.returncode, done.stdout))
        assert ended == [(0, b"Sample: answered, not sent yet\n")] * 2
