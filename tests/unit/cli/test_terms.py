"""``fairgauge terms``, ``issuer``, ``relay`` and ``key gateway``: keys go into a study, and what is wrong is said.

Covers: fairgauge.cli.terms, fairgauge.cli.issuer, fairgauge.cli.relay
"""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.study import Release, Study
from tests.samples import sample_study
from tests.unit.cli.conftest import Run, refused


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.json"
    sample_study().save(path)
    return path


def test_keys_go_into_a_study_and_an_issuer_takes_it(fairgauge: Run, study: Path, tmp_path: Path):
    secrets, output = tmp_path / "issuer", tmp_path / "unlinked.json"
    key = fairgauge("issuer", "key", "--secrets", secrets).out.strip()
    assert fairgauge("issuer", "key", "--secrets", secrets, "--json").json == {"key": key}
    gateway = fairgauge("key", "gateway", "--secrets", tmp_path / "collector").out.strip()
    assert fairgauge("key", "gateway", "--secrets", tmp_path / "collector", "--json").json == {"gateway": gateway}
    given = ("--issuer", f"issuer.example={key}", "--gateway", gateway, "--epoch", "86400", "-o", output)
    done = fairgauge("terms", study, *given)
    found = Study.load(output)
    assert (done.status, done.out, done.err) == (0, f"{output}: digest {found.digest}\n", "")
    assert found.issuer is not None
    assert (found.admission, found.issuer.key, found.gateway, found.epoch) == ("blind", key, gateway, 86400)
    tickets = fairgauge("issuer", "ticket", output, "--count", "3", "--secrets", secrets).out.split()
    assert len(set(tickets)) == 3
    assert len(fairgauge("issuer", "ticket", output, "--secrets", secrets, "--json").json["tickets"]) == 1
    other = fairgauge("issuer", "ticket", study, "--secrets", secrets)
    assert other.status == 2
    assert "must name the key of this issuer: see fairgauge issuer key" in other.err


def test_what_is_missing_for_the_promise_is_said(fairgauge: Run, study: Path, tmp_path: Path):
    done = fairgauge("terms", study, "--epoch", "3600", "-o", tmp_path / "out.json")
    assert done.status == 0
    assert done.err == (
        "It takes all three to keep answers from being linked to people. Here who gives out tickets recognises them "
        "when they are spent (--issuer); the collector sees addresses (--gateway).\n"
    )
    assert fairgauge("terms", study, "--admission", "tickets", "-o", tmp_path / "out.json", "--json").json["digest"]
    assert fairgauge("terms", study, "--admission", "tickets", "-o", tmp_path / "out.json").err == ""


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["--issuer", "issuer.example"], "issuer=issuer.example: must be HOST=KEY"),
        (["--issuer", "issuer.example=AAAA"], "issuer=AAAA: must be the public key of an issuer"),
        (["--gateway", "AAAA"], "gateway=AAAA: must be a key configuration (RFC 9458)"),
        (["--epoch", "5"], "epoch=5: must be an integer from 60 to 2678400"),
        (["--admission", "blind"], "issuer=nothing: must be given where admission is blind"),
    ],
)
def test_what_is_wrong_is_named(fairgauge: Run, study: Path, tmp_path: Path, given: list[str], text: str):
    done = fairgauge("terms", study, *given, "-o", tmp_path / "out.json")
    assert refused(done, text)
    assert not (tmp_path / "out.json").exists()


def test_a_relay_needs_an_address(fairgauge: Run):
    done = fairgauge("relay", "--to", "collector.example")
    assert (done.status, done.err) == (2, "fairgauge: to=://: must be an address such as https://example.org\n")


def test_a_study_whose_answers_come_in_waves(fairgauge: Run, study: Path, tmp_path: Path):
    output = tmp_path / "by-country.json"
    assert fairgauge("terms", study, "--order", "waves", "-o", output).status == 0
    assert Study.load(output).order == "waves"
    wrong = fairgauge("terms", study, "--order", "random", "-o", output)
    assert wrong.status == 2
    assert "order=random: must be waves, or left out" in wrong.err


@pytest.mark.parametrize(
    ("epoch", "said", "few"),
    [
        (
            "60",
            "About 0.149 others share an epoch with an answer, and 86% of answers are alone in theirs: below 20",
            True,
        ),
        ("3600", "About 8.93 others share an epoch with an answer: below 20 the moment tells much", True),
        ("86400", "About 214 others share an epoch with an answer.", False),
    ],
)
def test_how_many_share_an_epoch_is_said(fairgauge: Run, tmp_path: Path, epoch: str, said: str, few: bool):
    opens, closes = "2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z"
    replace(sample_study(), planned=3000, opens=opens, closes=closes).save(tmp_path / "study.json")
    done = fairgauge("terms", tmp_path / "study.json", "--epoch", epoch, "-o", tmp_path / "out.json")
    assert said in " ".join((done.err if few else done.out).split())


def test_counts_in_batches_have_half_of_their_blanket_as_draws_unless_said(fairgauge: Run, tmp_path: Path):
    study = sample_study()
    study.save(tmp_path / "study.json")
    done = fairgauge("terms", "study.json", "--batch", "10000", "-o", "out.json")
    part = sum(min(column) for column in zip(*study.questions[0].channel.table, strict=True)) / 2**53
    made = Study.load(tmp_path / "out.json").release
    assert made == Release(10_000, "0.00000001", math.ceil(part * 5000))
    assert f"It rests on the collector adding {made.draws:,} secret random answers" in " ".join(done.out.split())
    typed = ("--batch", "100", "--draws", "7", "--delta", "1e-6")
    assert fairgauge("terms", "study.json", *typed, "-o", "out.json").status == 0
    assert Study.load(tmp_path / "out.json").release == Release(100, "0.000001", 7)
    nobody = fairgauge("terms", "study.json", "--batch", "100", "--admission", "tickets", "-o", "nobody.json")
    rule = "must not be tickets where counts leave in batches: who gives out a ticket could read the answer"
    assert (nobody.status, nobody.err) == (2, f"fairgauge: admission=tickets: {rule}\n")
    assert not (tmp_path / "nobody.json").exists()
    wrong = fairgauge("terms", "study.json", "--draws", "7", "-o", "out.json")
    assert (wrong.status, wrong.err) == (2, "fairgauge: draws=7: must be given with --batch\n")
