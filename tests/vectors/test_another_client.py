"""A client in another language, after docs/another-client.md: it meets the vectors, and a collector counts it."""

import asyncio
import json
import re
import shutil
import socket
import subprocess
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from fairgauge.canonical_json import decode
from fairgauge.errors import InvalidInput
from tests.collecting.kills import publish
from tests.collecting.servers import ServerProcess
from tests.collecting.wire import Wire
from tests.samples import sample_study
from tests.vectors.node import HERE, NODE, needs_node, run_node

PAGE = HERE.parents[1] / "docs" / "another-client.md"
CLIENT = "another_client.mjs"
# What no device needs to answer privately: texts that people read, what estimates read, and the year 0 of `closes`.
NOT_CHECKED = {"title", "contact", "attributes[0].shares", "attributes[0].shares[1]", "tables[0].questions[0].target"}
# Studies that wait, hide who answers, or are for sites; this client refuses them.
NOT_READ = {f"4 full studies[{number}] is not read" for number in range(4)}


def missed(folder: Path, change: tuple[str, str] | None = None) -> list[str]:
    """Return the vectors that the client does not meet, as it is or with one change."""
    source = (HERE / CLIENT).read_text(encoding="utf-8")
    if change is not None:
        assert source.count(change[0]) == 1
        source = source.replace(*change)
    (folder / CLIENT).write_text(source, encoding="utf-8")
    for name in ("simple.json", "full.json"):
        shutil.copy(HERE / name, folder)
    found: list[str] = json.loads(run_node(folder, (HERE / "another_check.mjs").read_text(encoding="utf-8")))
    return found


@needs_node
def test_the_client_meets_the_vectors(tmp_path: Path) -> None:
    found = missed(tmp_path)
    unchecked = {line.rpartition(" ")[2] for line in found if line.startswith("4 simple bad ")}
    assert unchecked == NOT_CHECKED | {"closes"}
    assert {line for line in found if not line.startswith("4 simple bad ")} == NOT_READ


@needs_node
@pytest.mark.parametrize(
    ("step", "change"),
    [
        ("1", ('match[1] === "-" ? -n : n', "n")),
        ("2", (".sort().map((name)", ".map((name)")),
        ("3", ("high * ONE <= low * power", "high * ONE <= 2n * low * power")),
        ("4", ('refuse("it spends more than it says")', "0")),
        ("4", ("row.reduce((a, b) => a + b) === ROW", "true")),
        ("5", ("(sum += weight) > last", "(sum += weight) >= last")),
        ("5", ("while (picked >= tables.length)", "if (picked >= tables.length)")),
        ("6", ("{JSON.stringify(name)}:", "{JSON.stringify(name)}: ")),
        ("7", ("[408, 425, 429]", "[408, 429]")),
    ],
)
def test_a_mistake_in_any_step_misses_a_vector_of_that_step(step: str, change: tuple[str, str], tmp_path: Path) -> None:
    known = NOT_READ | {f"4 simple bad {field}" for field in NOT_CHECKED | {"closes"}}
    assert {line[0] for line in missed(tmp_path, change) if line not in known} >= {step}


def test_the_page_has_every_kind_of_vector_and_every_step() -> None:
    text = PAGE.read_text(encoding="utf-8")
    kinds = {
        f"{name}.{kind}"
        for name in ("simple", "full")
        for kind in json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    }
    assert {kind.partition(".")[2] for kind in kinds} <= set(re.findall(r"`(\w+)`", text)), "a kind is on no step"
    steps = re.findall(r"^\| (\d) \|", text, flags=re.MULTILINE)
    source = (HERE / CLIENT).read_text(encoding="utf-8")
    assert steps == re.findall(r"^// (\d)\. ", source, flags=re.MULTILINE) == list("1234567")
    assert all((HERE / name).exists() for name in re.findall(r"`(?:tests/vectors/)?(\w+\.m?js(?:on)?)`", text))


@needs_node
def test_a_collector_counts_what_it_sends(tmp_path: Path) -> None:
    """Forty people, each with a folder of their own: answered once, sent twice, counted once."""
    assert NODE is not None
    study = replace(sample_study(), admission="open", title="Another client")
    people = [{"group": group, "values": {"recall": value}} for group in ("female", None) for value in ("0.9", None)]
    script = f"""
        import {{ readFileSync }} from "node:fs";
        import * as client from "{(HERE / CLIENT).as_uri()}";
        const [collector, digest, folder] = {json.dumps(["URL", study.digest, str(tmp_path / "people")])};
        const bytes = new Uint8Array(await (await fetch(`${{collector}}/studies/${{digest}}`)).arrayBuffer());
        const [study, said] = [client.read(bytes, digest), []];
        for (const [i, person] of {json.dumps(people * 10)}.entries()) {{
          const drawn = [0, 1].map(() => client.answer(study, person, `${{folder}}/${{i}}`));
          const became = [];
          for (const body of drawn) became.push(await client.send(collector, digest, body));
          said.push([...drawn, ...became]);
        }}
        console.log(JSON.stringify(said));
    """
    with ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'gauge.db'}") as server:
        publish(server, study)
        said = json.loads(run_node(tmp_path, script.replace('"URL"', f'"http://127.0.0.1:{server.port}"')))
        folder = tmp_path / "by command"
        command = [NODE, str(HERE / CLIENT), f"http://127.0.0.1:{server.port}", study.digest, str(folder)]
        for _ in range(2):
            done = subprocess.run(
                command, input=json.dumps(people[0]), capture_output=True, text=True, check=True, timeout=60
            )
            assert done.stdout == "delivered\n"
        tally = _tally(server, study.digest)
    kept = json.loads((folder / f"{study.digest}.json").read_text(encoding="utf-8"))["answer"]
    assert all(first == second and ends == ["delivered", "delivered"] for first, second, *ends in said)
    symbols = Counter(decode(text.encode(), error=InvalidInput)["symbol"] for text in [*(one[0] for one in said), kept])
    assert tally == [symbols[symbol] for symbol in range(study.symbols)]


@needs_node
def test_nothing_is_drawn_that_the_collector_would_refuse(tmp_path: Path) -> None:
    study = replace(sample_study(), title="With tickets")
    closed = replace(study, title="Closed early")
    with ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'gauge.db'}") as server:
        _post(server, "/studies?admission=tickets", study.to_bytes())
        _post(server, "/studies", closed.to_bytes())
        _post(server, f"/studies/{closed.digest}/close", b"")
        for one, why in ((study, "it wants a ticket"), (closed, "it takes no answers")):
            done = _command(f"http://127.0.0.1:{server.port}", one.digest, tmp_path / "person")
            assert done.returncode == 1
            assert f"Error: {why}" in done.stderr
    assert not (tmp_path / "person").exists()


@needs_node
def test_no_more_is_read_than_a_document_may_have(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sent = []

        def pour() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                for _ in range(64):
                    connection.sendall(b"x" * 2**20)
                    sent.append(1)

        thread = Thread(target=pour)
        thread.start()
        done = _command(f"http://127.0.0.1:{listener.getsockname()[1]}", "0" * 64, tmp_path)
        thread.join()
    assert "Error: too long" in done.stderr
    assert len(sent) < 40


def _command(collector: str, digest: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    assert NODE is not None
    person = json.dumps({"group": {"sex": "female"}, "values": {"recall": "0.9"}})
    command = [NODE, str(HERE / CLIENT), collector, digest, str(folder)]
    return subprocess.run(command, input=person, capture_output=True, text=True, check=False, timeout=60)


def _post(server: ServerProcess, path: str, body: bytes) -> None:
    async def run() -> tuple[int, bytes]:
        async with Wire(server.port) as wire:
            return await wire.request("POST", path, body, token=server.token)

    status, said = asyncio.run(run())
    assert status in (200, 201), said


def _tally(server: ServerProcess, digest: str) -> Any:
    async def run() -> Any:
        async with Wire(server.port) as wire:
            return await wire.request("GET", f"/studies/{digest}/tally", b"", token=server.token)

    status, body = asyncio.run(run())
    assert status == 200, body
    return json.loads(body)["counts"]
