"""The issuer's book: a ticket is exchanged once, for one request, and that lasts.

Covers: fairgauge.parties.issuer_server
"""

import random
from pathlib import Path

import pytest

from fairgauge.errors import InvalidInput, StoreError
from fairgauge.parties.issuer_server import _BOOK_FILE, Book

STUDY, TICKET = "5" * 64, b"t" * 16


def test_a_ticket_is_exchanged_for_one_request(tmp_path: Path):
    book = Book(tmp_path, STUDY)
    assert book.exchange(TICKET, b"one")
    assert book.exchange(TICKET, b"one")
    assert not book.exchange(TICKET, b"two")
    assert book.exchange(b"u" * 16, b"two")
    assert book.count() == 2
    book.close()
    again = Book(tmp_path, STUDY)
    assert not again.exchange(TICKET, b"two")
    again.close()


def test_the_file_has_no_time_no_order_and_no_request(tmp_path: Path):
    book = Book(tmp_path, STUDY)
    for number in (9, 3, 7):
        book.exchange(bytes([number]) * 16, b"the blinded message")
    kept = book._file.execute("SELECT * FROM exchanged").fetchall()
    assert [row[0][0] for row in kept] == [3, 7, 9]
    assert {len(row[1]) for row in kept} == {32}
    book.close()
    assert b"the blinded message" not in (tmp_path / _BOOK_FILE).read_bytes()
    assert (tmp_path / _BOOK_FILE).stat().st_mode & 0o777 == 0o600


def test_where_rows_lie_in_the_file_does_not_tell_who_came_first(tmp_path: Path):
    chance = random.Random(6)
    tickets = [chance.randbytes(16) for _ in range(40)]

    def by_place() -> list[bytes]:
        data = (tmp_path / _BOOK_FILE).read_bytes()
        return sorted(tickets, key=data.index, reverse=True)  # SQLite fills a page from its end

    book = Book(tmp_path, STUDY)
    for ticket in tickets:
        book.exchange(ticket, b"a request")
    assert by_place() == tickets
    Book(tmp_path, STUDY)._file.close()  # a start, as after a crash
    assert by_place() == sorted(tickets)
    book.close()
    assert by_place() == sorted(tickets)


def test_a_book_is_for_one_study(tmp_path: Path):
    Book(tmp_path, STUDY).close()
    with pytest.raises(InvalidInput, match=f"must be {STUDY}: an issuer's key is for one study"):
        Book(tmp_path, "6" * 64)


def test_what_is_no_book_is_left_alone(tmp_path: Path):
    (tmp_path / _BOOK_FILE).write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match="SQLITE_NOTADB"):
        Book(tmp_path, STUDY)
    with pytest.raises(StoreError, match="cannot be used"):
        Book(tmp_path / "nowhere", STUDY)


def test_what_cannot_be_kept_is_not_exchanged(tmp_path: Path):
    book = Book(tmp_path, STUDY)
    book._file.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match="the issuer's book: SQLITE_READONLY"):
        book.exchange(TICKET, b"one")
    book.close()


def test_an_exchange_is_on_the_disk_before_anyone_hears_of_it(tmp_path: Path):
    """EXTRA: the journal's removal, too, or a power cut would bring it back and undo the exchange."""
    book = Book(tmp_path, STUDY)
    assert book._file.execute("PRAGMA synchronous").fetchone() == (3,)
    assert book._file.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert not book._file.in_transaction
    book.exchange(TICKET, b"one")
    assert not book._file.in_transaction
    book.close()
