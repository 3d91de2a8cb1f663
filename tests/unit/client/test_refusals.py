from dataclasses import replace
from pathlib import Path

from fairgauge.client import Ledger, Limits
from fairgauge.client.refusals import _TEXT, TOLD, UNTOLD, check_whoever, refusal_code, refusal_text, summarise
from fairgauge.study import Issuer, Release
from tests.samples import sample_study


def test_every_text_is_one_of_a_few_and_says_which() -> None:
    texts = [refusal_text(code) for code in (*TOLD, UNTOLD)]
    assert [refusal_code(text) for text in texts] == [*TOLD, UNTOLD]
    assert len(set(texts)) == len(texts)
    assert refusal_text("whatever else") == _TEXT
    assert refusal_code(f"{_TEXT}: female 0.75") is None


def test_the_most_common_reason_is_named_and_a_strangers_words_are_not() -> None:
    assert summarise([]) == ""
    assert summarise([_TEXT]) == "1 gave none; most often: a reason that only the device's own log may tell (1)"
    told = summarise(["female 0.75", "female 0.75", refusal_text("limit")])
    assert told == "3 gave none; most often: an error that is not fairgauge's, whose text is not repeated here (2)"


def test_an_answer_that_must_leave_another_way_is_not_handed_on(tmp_path: Path) -> None:
    study, ledger = sample_study(), Ledger(tmp_path / "ledger")
    assert check_whoever(study, ledger, Limits()) is None
    blind = replace(study, admission="blind", issuer=Issuer("issuer.example", "AQAgMTIz"))
    drawn = replace(study, release=Release(2, "0.001", 1500))
    for other in (replace(study, gateway="AQAgMTIz"), replace(study, epoch=60), blind, drawn):
        found = check_whoever(other, ledger, Limits())
        assert found is not None
        assert found.code == "unable"
