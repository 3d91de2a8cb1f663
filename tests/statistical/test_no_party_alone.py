"""Each party alone, against people who trust all of them: issuer, relay and collector in three processes.

Everyone plays the same game: a person holds one of two inputs, 50 to 50, and somebody must say which.

* The **issuer** signs tickets for itself, fills the person's batch with answers of its own, and subtracts them.
* The **relay** does the same on a study that anyone may answer, with two bulk posts.
* The **collector** sees symbols. It notes which address asks for a study right before an envelope comes, or hands each
  person a study of their own, and knows the answer by its digest.

People answer with ``fairgauge answer``, each from an address of their own.  The issuer and the relay are promised the
crowd's epsilon; the collector sees symbols, and no address that it could tie one to: it is right half of the time.
Each attack is played again with its defence switched off, and succeeds then.  ``FAIRGAUGE_GAMES`` says how often;
``make attacks`` plays 500.
"""

import json
import math
import os
import random
import signal
import socket
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from dataclasses import dataclass, replace
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from scipy.stats import binom

from fairgauge.client import Ledger, Patience, Relay, issuer_client, send, study_source
from fairgauge.client.answer import Answer
from fairgauge.client.command import main
from fairgauge.collector.gateway import Gateway
from fairgauge.parties.blind_signing import key_in, make_key, sign_blinded
from fairgauge.parties.issuer_server import IssuerServer
from fairgauge.study import Issuer as Named
from fairgauge.study import Release, Study
from fairgauge.unlinkable.pass_token import answer_id, begin_pass, challenge_of, read_key, write_key
from tests.collecting.servers import ServerProcess, free_port
from tests.collecting.wire import answer_bytes
from tests.programs import COMMAND, Program, programs
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.statistical.guessing import DELTA, DRAWS, ONE, PLAIN, ROWS, TWO, likelier, luck

GAMES = int(os.environ.get("FAIRGAUGE_GAMES", "40"))
BATCH = 2
# The inputs between which somebody must guess, as a person types them.
TYPED = {ONE: ("--group", "female", "--value", "recall=1"), TWO: ("--group", "male", "--value", "recall=0")}
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
AT_ONCE = Patience(tries=2, first=0, longest=0, timeout=20)
SETTINGS = "[rates]\nanswers = 1e9\nopen = 1e9\ntickets = 1e9\nenvelopes = 1e9\nfaulty = 1e9\n"
# A collector whose operator writes down who asks for what, and what comes out of envelopes.
CURIOUS = """
import json, sys
from pathlib import Path
from fairgauge.collector.app import CollectorApp
from fairgauge.collector.config import read_config
from fairgauge.collector import gateway
from fairgauge.collector.workers import serve
from fairgauge.collector.stores import released_sums
book = open(Path(sys.argv[1]).parent / "heard.jsonl", "a", buffering=1, encoding="utf-8")
honest, opening = CollectorApp.__call__, gateway._inner_scope

async def listen(self, scope, receive, send):
    if scope["type"] == "http" and scope["client"]:
        print(json.dumps([scope["client"][0], scope["method"], scope["path"], ""]), file=book)
    await honest(self, scope, receive, send)

def look(opened, outer):
    scope, content = found = opening(opened, outer)
    print(json.dumps(["", scope["method"], scope["path"], content.decode()]), file=book)
    return found

CollectorApp.__call__, gateway._inner_scope = listen, look
"""
SERVE = "serve(read_config(Path(sys.argv[1])), announce=lambda address: print(address, flush=True))\n"
# The defence is switched off: what is drawn is no secret.
KNOWN_DRAWS = """
from collections import Counter
released_sums.draw_symbols = lambda _, count: Counter({0: count})
"""


# ------------------------------------------------------------------------------------------------------- the parties
@dataclass
class Scene:
    """Where the three are, and what each of them has."""

    folder: Path
    urls: dict[str, str]
    token: str
    blind: Study
    open_: Study
    issuer: IssuerServer

    def ask(self, path: str, body: bytes | None = None, kind: str = "application/json", token: str = "") -> Any:
        headers = {"Content-Type": kind, **({"Authorization": f"Bearer {token}"} if token else {})}
        request = urllib.request.Request(f"{self.urls['collector']}{path}", body, headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read())

    def publish(self, study: Study) -> Study:
        self.ask("/studies?results=public", study.to_bytes(), token=self.token)
        return study

    def counts(self, study: Study) -> list[int]:
        found: list[int] = self.ask(f"/studies/{study.digest}/tally")["counts"]
        return found

    def answer(self, study: Study, row: int, address: str) -> int:
        """Let a person at an address answer a study that they were given a link to."""
        typed = [f"{self.urls['collector']}/studies/{study.digest}", *TYPED[row], "--study-limit", "5"]
        typed += ["--send", self.urls["collector"], "--relay", self.urls["relay"]]
        if study.issuer is None:
            typed += ["--digest", study.digest]
        else:
            typed += ["--issuer", self.urls["issuer"], "--ticket", self.issuer.new_ticket()]
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder, coming_from(address), redirect_stdout(StringIO()):
            return main([*typed, "--ledger", f"{folder}/ledger"], patience=AT_ONCE)

    def heard(self) -> list[list[str]]:
        """Return what the collector's operator has written down since this was last asked."""
        book = self.folder / "heard.jsonl"
        lines = [json.loads(line) for line in book.read_text(encoding="utf-8").splitlines()]
        book.write_text("", encoding="utf-8")
        return lines


@contextmanager
def coming_from(address: str) -> Iterator[None]:
    """Let all connections of this process come from an address, as a device's do."""
    honest = socket.create_connection

    def connect(place: tuple[str, int], timeout: float | None = None, *_: object, **__: object) -> socket.socket:
        return honest(place, timeout, (address, 0))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "create_connection", connect)
        yield


def started(folder: Path, port: int, *words: str) -> Program:
    with (folder / f"log-{port}.txt").open("ab") as log:
        program = programs().start(
            COMMAND, *words, "--port", str(port), folder=folder, out=log.fileno(), err=log.fileno()
        )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and program.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
        except OSError:
            time.sleep(0.02)
        else:
            return program
    raise AssertionError((folder / f"log-{port}.txt").read_text())


@contextmanager
def three_processes(folder: Path, *, change: str = "") -> Iterator[Scene]:
    """Run collector, issuer and relay, each in a process and a folder of its own."""
    secrets = folder / "issuer"
    secrets.mkdir(mode=0o700)
    (folder / "secrets").mkdir(mode=0o700)
    key = write_key(make_key(secrets).public)
    gateway = Gateway.in_folder(folder / "secrets").config.to_text()
    open_ = replace(PLAIN, admission="open", gateway=gateway, release=Release(BATCH, DELTA, DRAWS))
    blind = replace(open_, admission="blind", issuer=Named("issuer.example", key))
    (folder / "study.json").write_bytes(blind.to_bytes())
    collector = ServerProcess(
        folder, f"sqlite:///{folder / 'gauge.db'}", settings=SETTINGS, code=CURIOUS + change + SERVE
    )
    ports = {"collector": collector.port, "issuer": free_port(), "relay": free_port()}
    urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    with collector:
        others = [
            started(folder, ports["relay"], "relay", "--to", urls["collector"]),
            started(folder, ports["issuer"], "issuer", "serve", "study.json", "--secrets", str(secrets)),
        ]
        issuer = IssuerServer(secrets, blind)
        scene = Scene(folder, urls, collector.token, blind, open_, issuer)
        try:
            scene.publish(open_)
            scene.publish(blind)
            yield scene
        finally:
            issuer.book.close()
            for program in others:
                program.send_signal(signal.SIGKILL)
                program.wait(60)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with three_processes(tmp_path_factory.mktemp("parties")) as found:
        yield found


@pytest.fixture(scope="module")
def without_draws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with three_processes(tmp_path_factory.mktemp("known"), change=KNOWN_DRAWS) as found:
        yield found


# --------------------------------------------------------------------------------------------- whoever reads counts
def subtract(
    scene: Scene, study: Study, fill: Callable[[int], None], address: str, *, known: int = 0
) -> tuple[int, int]:
    """Play all games: a person's answer and one of the attacker's make a batch; return rights, and symbols read off.

    Of the draws so many are ``known``, and all of the first symbol; so are the answers of the attacker.
    """
    chance = random.Random(11)
    held = [chance.choice((ONE, TWO)) for _ in range(GAMES)]
    seen = [scene.counts(study)]
    for row in held:
        assert scene.answer(study, row, address) == 0
        fill(BATCH - 1)
        seen.append(scene.counts(study))
    # Where draws are no draws the seal notices it, when the counts have left.
    with suppress(HTTPError) if known else nullcontext():
        scene.ask(f"/studies/{study.digest}/close", b"", token=scene.token)
    seen.append(scene.counts(study))
    steps = [[late - early for early, late in zip(*pair, strict=True)] for pair in pairwise(seen)]
    left = [[step[0] - (BATCH - 1) - known, *step[1:]] for step in steps if sum(step)]
    assert len(left) == GAMES
    right = sum(likelier(step) == row for step, row in zip(left, held, strict=True))
    return right, sum(sum(step) == 1 for step in left)


def by_the_issuer(scene: Scene) -> Callable[[int], None]:
    """Sign tickets for oneself, and send answers with them as devices do."""
    study, secret = scene.blind, key_in(scene.folder / "issuer")
    assert study.issuer is not None
    assert secret is not None
    key, challenge = read_key(study.issuer.key), challenge_of(study.issuer.name, study.digest)
    relay = Relay.of(study, scene.urls["relay"])

    def fill(count: int) -> None:
        for _ in range(count):
            begun = begin_pass(key)
            token = begun.token(key, challenge, sign_blinded(secret, begun.request(key, challenge)[3:]))
            forged = Answer(study.digest, answer_id(token), (0,))
            assert send(forged, scene.urls["collector"], token=token, relay=relay, patience=AT_ONCE) == "accepted"

    return fill


def by_the_relay(scene: Scene) -> Callable[[int], None]:
    """Post answers of one's own in bulk, past the relay, to a study that anyone may answer."""
    chance = random.Random(12)

    def fill(count: int) -> None:
        lines = [answer_bytes(scene.open_.digest, chance.randbytes(16), 0) for _ in range(count)]
        told = scene.ask(f"/studies/{scene.open_.digest}/answers", b"\n".join(lines), "application/x-ndjson")
        assert told["accepted"] == count

    return fill


def subtracted(scene: Scene, who: str, *, known: int = 0) -> tuple[int, int]:
    if who == "issuer":
        return subtract(scene, scene.blind, by_the_issuer(scene), "127.0.0.2", known=known)
    return subtract(scene, scene.open_, by_the_relay(scene), "127.0.0.2", known=known)


@pytest.mark.parametrize("who", ["issuer", "relay"])
def test_who_knows_all_other_answers_is_right_no_more_often_than_promised(scene: Scene, who: str) -> None:
    right, symbols = subtracted(scene, who)
    assert symbols == 0
    assert luck(right, GAMES) > FALSE_POSITIVE_RATE


@pytest.mark.parametrize("who", ["issuer", "relay"])
def test_who_knows_all_other_answers_reads_every_symbol_where_draws_are_no_secret(
    without_draws: Scene, who: str
) -> None:
    right, symbols = subtracted(without_draws, who, known=DRAWS)
    assert symbols == GAMES
    assert luck(right, GAMES) < FALSE_POSITIVE_RATE


# ------------------------------------------------------------------------------------------------- the collector
PEOPLE = ("127.0.0.2", "127.0.0.3")


def link(scene: Scene, given: dict[str, Study], tie: Callable[[list[list[str]]], dict[str, int]]) -> tuple[int, int]:
    """Play all games: two people hold the two inputs, and the collector must say which of them holds the first.

    Returns how often it is right, and how many symbols it tied to an address.

    Args:
        scene: The parties.
        given: By address, the study that a person has a link to.
        tie: What ties symbols to addresses in what the collector heard.
    """
    chance, right, tied = random.Random(13), 0, 0
    scene.heard()
    for _ in range(GAMES):
        rows = dict(zip(PEOPLE, chance.sample((ONE, TWO), 2), strict=True))
        for address in chance.sample(PEOPLE, 2):
            scene.answer(given[address], rows[address], address)
        symbols = tie(scene.heard())
        tied += len(symbols)
        # How likely what is tied is if the first person holds the one input and the second the other, and if not.
        first, second = (
            math.prod(ROWS[row][symbols[one]] for one, row in zip(PEOPLE, order, strict=True) if one in symbols)
            for order in ((ONE, TWO), (TWO, ONE))
        )
        guess = PEOPLE[0] if first > second else PEOPLE[1] if second > first else chance.choice(PEOPLE)
        right += rows[guess] == ONE
    return right, tied


def by_time(heard: list[list[str]]) -> dict[str, int]:
    """Tie an answer to the address, other than the relay's, that asked for something last before it came."""
    found: dict[str, int] = {}
    last = ""
    for address, method, path, content in heard:
        if address in PEOPLE:
            last = address
        elif not address and method == "POST" and path.endswith("/answers") and last:
            found[last] = json.loads(content)["symbol"]
    return found


def by_digest(given: dict[str, Study]) -> Callable[[list[list[str]]], dict[str, int]]:
    """Tie an answer to the person whose study it is."""

    def tie(heard: list[list[str]]) -> dict[str, int]:
        whose = {study.digest: address for address, study in given.items()}
        answers = [json.loads(content) for *_, path, content in heard if path.endswith("/answers") and content]
        return {whose[answer["study"]]: answer["symbol"] for answer in answers}

    return tie


def unreleased(scene: Scene, purpose: str) -> Study:
    return scene.publish(replace(scene.blind, release=None, purpose=purpose))


@pytest.fixture
def everybodys(scene: Scene) -> dict[str, Study]:
    study = scene.publish(replace(scene.open_, release=None, purpose="For everybody."))
    return dict.fromkeys(PEOPLE, study)


@pytest.fixture
def ones_own(scene: Scene) -> dict[str, Study]:
    return {address: unreleased(scene, f"For {address}.") for address in PEOPLE}


def test_a_collector_that_notes_who_asks_sees_nobody(scene: Scene, everybodys: dict[str, Study]) -> None:
    right, tied = link(scene, everybodys, by_time)
    assert tied == 0
    assert binom.sf(right - 1, GAMES, 0.5) > FALSE_POSITIVE_RATE
    assert sum(scene.counts(everybodys[PEOPLE[0]])) == 2 * GAMES, "all of them have answered"


def test_it_ties_every_answer_to_its_address_where_devices_ask_for_the_study_when_they_send(
    scene: Scene, everybodys: dict[str, Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = study_source.read_study
    monkeypatch.setattr(Ledger, "document", lambda *_: None)
    monkeypatch.setattr(study_source, "read_study", lambda source, *, digest, **_: honest(source, digest=digest))
    right, tied = link(scene, everybodys, by_time)
    assert tied == 2 * GAMES
    assert binom.sf(right - 1, GAMES, 0.5) < FALSE_POSITIVE_RATE


def test_a_collector_that_hands_everyone_a_study_of_their_own_gets_no_answer(
    scene: Scene, ones_own: dict[str, Study]
) -> None:
    right, tied = link(scene, ones_own, by_digest(ones_own))
    assert tied == 0
    assert binom.sf(right - 1, GAMES, 0.5) > FALSE_POSITIVE_RATE


def test_it_knows_every_answer_by_its_digest_where_devices_do_not_ask_the_issuer(
    scene: Scene, ones_own: dict[str, Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer_client, "check_signed_for", lambda *_, **__: None)
    right, tied = link(scene, ones_own, by_digest(ones_own))
    assert tied == 2 * GAMES
    assert binom.sf(right - 1, GAMES, 0.5) < FALSE_POSITIVE_RATE
