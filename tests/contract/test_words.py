"""Pages stay short: words and long sentences are counted as ``make docs`` counts them, and every page has a place."""

import re
from pathlib import Path

import pytest

from docs import words
from fairgauge.languages import catalogue


def test_every_page_is_prose_with_one_reader_or_reference():
    prose = [page for named in words.READERS.values() for page in named]
    listed = [*prose, *words.REFERENCE]
    assert sorted(listed) == sorted(words.pages())


def test_the_front_page_has_a_way_through_for_every_reader():
    index = (words.ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    ways = dict(re.findall(r"^\*\*(You .*?)\.\*\* (.*?)\n\n", index, re.MULTILINE | re.DOTALL))
    readers = [reader for reader in words.READERS if reader != "everyone"]
    assert len(ways) == len(readers)
    for way, reader in zip(ways.values(), readers, strict=True):
        pages = [Path(page).stem for page in words.READERS[reader] if page.startswith("docs/")]
        assert [page for page in pages if f"{{doc}}`{page}`" not in way] == []


def test_words_and_sentences_are_within_their_limits(capsys: pytest.CaptureFixture[str]):
    assert words.main() == 0, capsys.readouterr().out


def test_a_word_more_than_a_limit_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(words, "MOST_README", words.words(words.ROOT / "README.md") - 1)
    assert words.main() == 1
    assert f"(limit {words.MOST_README})" in capsys.readouterr().out


def test_a_long_sentence_more_than_the_limit_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(words, "LONG", 3)
    assert words.main() == 1


@pytest.mark.parametrize("tag", ["en", "de"])  # where a sentence begins with a capital letter
def test_what_people_are_told_is_short(tag: str):
    long = [
        (name, sentence)
        for name, text in catalogue()[tag].items()
        for form in (text.values() if isinstance(text, dict) else [text])
        for sentence in words.sentences(str(form))
        if len(sentence.split()) > words.LONG
    ]
    assert long == []


def test_words_are_what_wc_counts(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n\n```text\n$ two words\n```\n\n| a | b |\n", encoding="utf-8")
    assert words.words(page) == 3 + 1 + 3 + 1 + 5


def test_sentences_are_those_of_paragraphs_and_lists():
    text = """# A heading. Of two.

First one,
over two lines. Second (in `code.py` 1.5)! **Third?** "Fourth."

- An item. Two.
- Another one: it goes
  on.

| a table. | Has none. |
|---|---|

```text
A block. Has none.
```

<!-- A comment. Has none. -->
1. A step.

$$a. B$$
"""
    assert list(words.sentences(text)) == [
        "First one, over two lines.",
        "Second (in `code.py` 1.5)!",
        "**Third?**",
        '"Fourth."',
        "An item.",
        "Two.",
        "Another one: it goes on.",
        "A step.",
    ]
