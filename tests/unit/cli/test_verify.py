"""``fairgauge verify``.

Covers: fairgauge.cli._crowd.
"""

import csv
import json
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from fairgauge import __version__
from fairgauge.channel import ROW_SUM, Channel
from fairgauge.collector.signatures import Signer
from fairgauge.crowd import crowd_of, factor_sentence, guess_sentence
from fairgauge.study import Study
from tests.samples import full_study, sample_study, site_study
from tests.surveys import ENDS, coin_question, study, tells_all
from tests.unit.cli.conftest import Run, refused

Files = tuple[Path, Path]


def test_json_is_as_promised(fairgauge: Run, files: Files):
    done = fairgauge("verify", files[0], "--json")
    asked = Study.from_bytes(files[0].read_bytes())
    assert done.status == 0
    assert done.json == {
        "digest": asked.digest,
        "private": True,
        "questions": [
            {
                "metric": "recall",
                "attribute": "sex",
                "epsilon_declared": 1.1,
                "epsilon_exact": asked.epsilon,
                "symbols": 4,
                "levels": 2,
            }
        ],
        "verified": True,
        "verdict": "holds",
        "checks": [],
        "not_looked_at": [],
    }


def test_it_says_what_it_means_for_a_person(fairgauge: Run, files: Files):
    done = fairgauge("verify", files[0])
    assert done.status == 0
    title, digest, verdict, words = done.out.splitlines()
    assert title == "Survey"
    assert digest == f"digest {Study.from_bytes(files[0].read_bytes()).digest}"
    assert verdict == "recall by sex: private. Exact epsilon 1.09861, declared 1.1."
    # The factor is rounded up: e^1.09861 is a hair below 3.
    assert words.endswith("can change their odds about your sex and your recall by at most a factor 3.00.")


def test_several_questions_do_not_add_up(fairgauge: Run, elsewhere: Path):
    from tests.samples import RECALL

    (elsewhere / "s.json").write_bytes(study(coin_question(), tells_all("0.5", "0.5", metric=RECALL)).to_bytes())
    assert "picked by its own coin: the largest epsilon counts" in fairgauge("verify", "s.json").out


def test_tables_that_answer_several_questions_are_named(fairgauge: Run, elsewhere: Path):
    full_study().save("s.json")
    lines = fairgauge("verify", "s.json").out.splitlines()
    assert lines[2] == "understood by sex by age: private. Exact epsilon 1.09861, declared 1.1."
    assert lines[-2:] == [
        "Questions that share a table are answered together, by one symbol.",
        "A device answers one of these tables, picked by its own coin: the largest epsilon counts.",
    ]
    site_study().save("s.json")
    assert "Counts of sites by sex: private." in fairgauge("verify", "s.json").out


def lying() -> Study:
    """A study whose table spends more than it declares."""
    return study(replace(coin_question(), epsilon="1"))


def leaking() -> Study:
    """A study one of whose symbols is sent by one group only."""
    half = ROW_SUM // 2
    rows = ((half, half, 0), (half, 0, half), (half, half, 0), (half, half, 0))
    return study(replace(coin_question(), mechanism=Channel(rows, ENDS, 2)))


def test_a_study_that_lies_exits_with_1(fairgauge: Run, elsewhere: Path):
    (elsewhere / "s.json").write_bytes(lying().to_bytes())
    done = fairgauge("verify", "s.json", "--json")
    assert done.status == 1
    assert done.json["private"] is False
    assert done.json["questions"][0]["epsilon_declared"] == 1.0
    assert done.json["questions"][0]["epsilon_exact"] == pytest.approx(1.0986123)
    done = fairgauge("verify", "s.json")
    assert done.status == 1
    assert "value by sex: NOT PRIVATE. Exact epsilon 1.09861, declared 1." in done.out


def test_a_table_without_privacy_has_no_number(fairgauge: Run, elsewhere: Path):
    (elsewhere / "s.json").write_bytes(leaking().to_bytes())
    done = fairgauge("verify", "s.json", "--json")
    assert done.status == 1
    assert done.json["questions"][0]["epsilon_exact"] is None
    assert "there is no privacy in it" in fairgauge("verify", "s.json").out


@pytest.mark.parametrize("command", ["simulate", "estimate"])
def test_other_commands_refuse_a_study_that_lies(fairgauge: Run, elsewhere: Path, command: str):
    (elsewhere / "s.json").write_bytes(lying().to_bytes())
    (elsewhere / "p.csv").write_text("group,value,count\nfemale,0,10\n")
    (elsewhere / "t.json").write_text(json.dumps({"study": lying().digest, "counts": [1, 1]}))
    rest = ("p.csv", "-o", "new.json") if command == "simulate" else ("t.json",)
    done = fairgauge(command, "s.json", *rest)
    assert done.status == 1
    assert done.out == ""
    assert done.err.startswith("fairgauge: s.json: questions[0] (value by sex) declares epsilon 1 but its table has")
    assert not (elsewhere / "new.json").exists()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "s.json: document="),
        (b"not json", "s.json: document="),
        (b"\xff", "s.json: document="),
        (b"[]", "s.json: "),
        (b"{}", "s.json: format="),
        (b'{"format": 3}', "s.json: format=3: must be 1"),
    ],
)
def test_what_is_no_study_is_refused(fairgauge: Run, elsewhere: Path, content: bytes, text: str):
    (elsewhere / "s.json").write_bytes(content)
    assert refused(fairgauge("verify", "s.json"), text)


def test_a_missing_file_is_named(fairgauge: Run):
    assert refused(fairgauge("verify", "nowhere.json"), "file=nowhere.json: cannot be read: No such file or directory")
    assert refused(fairgauge("verify", "."), "study=.: has no study in it: give the study too")


def test_a_forged_field_cannot_steer_the_terminal(fairgauge: Run, elsewhere: Path):
    document = json.loads(lying().to_bytes()) | {"title": "\x1b[31mred"}
    (elsewhere / "s.json").write_text(json.dumps(document))
    done = fairgauge("verify", "s.json")
    assert refused(done, "s.json: title=")
    assert "\x1b" not in done.err


class TestSignature:
    def test_of_the_collector_is_checked(self, fairgauge: Run, elsewhere: Path):
        study, signer = sample_study(), Signer(b"k" * 32)
        (elsewhere / "study.json").write_bytes(study.to_bytes())
        signature = signer.sign("study", study.to_bytes())
        done = fairgauge("verify", "study.json", "--signature", signature, "--key", signer.public)
        assert done.status == 0
        assert "holds     The holder of that key published this study." in done.out
        assert done.out.splitlines()[-1] == "Everything that was checked holds."
        done = fairgauge("verify", "study.json", "--signature", signature, "--key", signer.public, "--json")
        assert done.json["checks"][0]["outcome"] == "holds"

    @pytest.mark.parametrize("purpose", ["study", "seal"])
    def test_by_another_key_or_for_another_purpose_is_refused(self, fairgauge: Run, elsewhere: Path, purpose: str):
        study, signer = sample_study(), Signer(b"k" * 32)
        (elsewhere / "study.json").write_bytes(study.to_bytes())
        forger = Signer(b"f" * 32) if purpose == "study" else signer
        signature = forger.sign(purpose, study.to_bytes())
        done = fairgauge("verify", "study.json", "--signature", signature, "--key", signer.public)
        assert done.status == 1
        assert "BROKEN    The signature of the study is not by the holder of this key." in done.out
        assert done.out.splitlines()[-1] == "NOT VERIFIED: 1 thing is broken."

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            (["--signature", "AAAA"], "key=nothing: must be given with --signature"),
            (["--key", "AAAA"], "key=AAAA: must be given with --signature, or with a file that is signed"),
            (["--signature", "AAAA", "--key", "no key"], "key=no key: must be an Ed25519 public key"),
        ],
    )
    def test_needs_a_key(self, fairgauge: Run, elsewhere: Path, options: list[str], text: str):
        (elsewhere / "study.json").write_bytes(sample_study().to_bytes())
        done = fairgauge("verify", "study.json", *options)
        assert done.status == 2
        assert text in done.err


class TestCrowd:
    def test_json_is_as_promised(self, fairgauge: Run, files: Files):
        done = fairgauge("verify", files[0], "--draws", "1e4", "--json")
        assert done.status == 0
        found = done.json["crowd"]
        assert list(found) == ["draws", "delta", "epsilon"]
        assert found == {"draws": 10_000, "delta": 1e-8, "epsilon": crowd_of(Study.load(files[0]), 10_000).number}

    def test_what_is_typed_counts(self, fairgauge: Run, files: Files):
        found = fairgauge("verify", files[0], "--draws", "5000", "--delta", "1e-6", "--json").json["crowd"]
        crowd = crowd_of(Study.load(files[0]), 5000, delta=Decimal("1e-6"))
        assert found == {"draws": 5000, "delta": 1e-6, "epsilon": crowd.number}

    def test_the_first_study(self, fairgauge: Run):
        study = str(Path(__file__).parents[2] / "vectors" / "study-centred.json")
        for draws, epsilon in (("1000", 0.14505), ("5000", 0.062741)):
            found = fairgauge("verify", study, "--draws", draws, "--delta", "1e-8", "--json").json["crowd"]
            assert found["epsilon"] == epsilon

    def test_it_says_both_true_sentences_and_of_whom(self, fairgauge: Run, files: Files):
        done = fairgauge("verify", files[0], "--draws", "10000")
        crowd = crowd_of(Study.load(files[0]), 10_000)
        *_, number, factor, guess, rests, whom = done.out.splitlines()
        assert number == (
            "Counts with 10,000 secret draws, even towards someone who knows every other answer: crowd epsilon "
            f"{crowd.epsilon} at delta 1e-8, certified from the integers."
        )
        assert factor == f"  {factor_sentence(crowd)}"
        assert "had you answered otherwise its probability would differ by at most a factor 1." in factor
        assert guess == f"  {guess_sentence(crowd)}"
        assert rests.startswith("  It rests on the collector adding 10,000 secret random answers")
        assert whom.endswith("towards them the epsilon of each question holds, and no other.")

    def test_a_large_delta_is_called_one(self, fairgauge: Run, files: Files):
        for delta, large in (("0.01", True), ("0.00001", False)):
            told = fairgauge("verify", files[0], "--draws", "100", "--delta", delta).out
            assert ("This delta is large: publishing one of 100 answers as it is" in told) == large

    @pytest.mark.parametrize(
        ("typed", "said"),
        [
            (["--draws", "0"], "draws=0: must be a whole number from 1"),
            (["--draws", "many"], "draws=many: must be a number"),
            (["--draws", "100", "--delta", "0"], "delta=0: must be above 0 and below 1"),
            (["--delta", "1e-8"], "delta=1e-8: must be given with --draws"),
        ],
    )
    def test_what_makes_no_sense(self, fairgauge: Run, files: Files, typed: list[str], said: str):
        assert refused(fairgauge("verify", files[0], *typed), said)


def test_a_report_that_claims_another_version_does_not_pass(fairgauge: Run, tmp_path: Path):
    bundle = tmp_path / "bundle"
    shutil.copytree(Path(__file__).parents[3] / "examples" / "sealed-study" / "bundle", bundle)
    page = bundle / "report.html"
    text = page.read_text(encoding="utf-8")
    assert "between 7 and 22 points" in text
    forged = text.replace(__version__, "0.1.0").replace("between 7 and 22 points", "between 1 and 2 points")
    page.write_text(forged, encoding="utf-8")
    done = fairgauge("verify", bundle)
    assert done.status == 3
    assert "between 1 and 2 points" in done.out
    assert "NOT VERIFIED: nothing is broken, but words that another version wrote were not compared." in done.out
    told = fairgauge("verify", bundle, "--json").json
    assert (told["verified"], told["verdict"]) == (False, "words not compared")
    # What is broken comes before what was not compared.
    (bundle / "tally.json").write_text((bundle / "tally.json").read_text().replace("[", "[1", 1))
    assert fairgauge("verify", bundle).status == 1


def test_the_checks_as_a_table(fairgauge: Run, files: Files):
    done = fairgauge("verify", *files, "--csv")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert list(rows[0]) == ["about", "outcome", "sentence", "epsilon_exact", "epsilon_declared"]
    assert (rows[0]["about"], rows[0]["outcome"], rows[0]["epsilon_declared"]) == ("privacy", "holds", "1.1")
    assert {row["about"] for row in rows[1:]} == {"tally", "export"}
    assert fairgauge("verify", *files, "--markdown").out.startswith("| about | outcome | sentence |")
    assert refused(fairgauge("verify", *files, "--csv", "--json"), "--json and --csv: must be one of them")


def test_the_last_line_says_that_nothing_is_sealed(fairgauge: Run, files: Files):
    lines = fairgauge("verify", *files).out.splitlines()
    assert lines[-2] == "Everything that was checked holds."
    assert lines[-1] == "NOT SEALED: no seal that holds covers these numbers, and anyone could have made them."
    assert fairgauge("verify", *files, "--strict").status == 1
