from fairgauge.client.refusals import TEXT, TOLD, UNTOLD, refusal_code, refusal_text, summarise


def test_every_text_is_one_of_a_few_and_says_which() -> None:
    texts = [refusal_text(code) for code in (*TOLD, UNTOLD)]
    assert [refusal_code(text) for text in texts] == [*TOLD, UNTOLD]
    assert len(set(texts)) == len(texts)
    assert refusal_text("whatever else") == TEXT
    assert refusal_code(f"{TEXT}: female 0.75") is None


def test_the_most_common_reason_is_named_and_a_strangers_words_are_not() -> None:
    assert summarise([]) == ""
    assert summarise([TEXT]) == "1 gave none; most often: a reason that only the device's own log may tell (1)"
    told = summarise(["female 0.75", "female 0.75", refusal_text("limit")])
    assert told == "3 gave none; most often: an error that is not fairgauge's, whose text is not repeated here (2)"
