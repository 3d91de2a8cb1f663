"""The bundle that a collector serves: who gets it, and with what in it."""

import asyncio
import io
import zipfile
from pathlib import Path

import pytest

from tests.collecting.desk import open_desk
from tests.samples import sample_study

STUDY = sample_study()
ONE = f"/studies/{STUDY.digest}"


@pytest.mark.parametrize(
    ("terms", "token", "names"),
    [
        ("results=public", "", ["answers.ndjson"]),
        ("results=public&admission=tickets", "", []),  # ids are tickets, and not for everyone
        ("results=public&admission=tickets", None, ["answers.ndjson"]),
        ("results=readers", None, ["answers.ndjson"]),
    ],
)
def test_answers_are_in_it_for_those_who_may_have_them(tmp_path: Path, terms: str, token: str | None, names: list[str]):
    async def ask() -> bytes:
        async with open_desk(f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path) as desk:
            await desk.post(f"/studies?{terms}", STUDY.to_bytes())
            await desk.post(f"{ONE}/close")
            found = await desk.get(f"{ONE}/bundle", token=token)
            assert found.status_code == 200
            return found.content

    with zipfile.ZipFile(io.BytesIO(asyncio.run(ask()))) as archive:
        assert archive.testzip() is None
        first = ["README.txt", "study.json", "signature.json", "tally.json", "sealed.json", "report.html"]
        assert archive.namelist() == [*first, *names]
        readme = archive.read("README.txt").decode()
        assert ("they are for readers with a token" in readme) is (names == [])


def test_it_needs_a_token_where_results_do_a_seal_and_a_place(tmp_path: Path):
    async def ask() -> list[int]:
        async with open_desk(f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path) as desk:
            await desk.publish(STUDY)
            early = await desk.get(f"{ONE}/bundle")
            await desk.post(f"{ONE}/close")
            stranger = await desk.get(f"{ONE}/bundle", token="")
            places = desk.collector.exports
            with places.taken("reader"), places.taken("reader"), places.taken("reader"), places.taken("reader"):
                crowded = await desk.get(f"{ONE}/bundle")
            fine = await desk.get(f"{ONE}/bundle")
            assert (early.json()["type"], places.used) == ("urn:fairgauge:problem:not-sealed", 0)
            return [early.status_code, stranger.status_code, crowded.status_code, fine.status_code]

    assert asyncio.run(ask()) == [404, 401, 503, 200]


def test_an_operator_says_how_many_were_asked(tmp_path: Path):
    async def ask() -> tuple[str, bytes, list[tuple[int, str]]]:
        async with open_desk(f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path) as desk:
            await desk.post("/studies?results=public", STUDY.to_bytes())
            for number in range(4):
                await desk.answer(STUDY, bytes([number] * 16), number)
            await desk.post(f"{ONE}/close")
            report = (await desk.get(f"{ONE}/report?asked=16", token=desk.operator)).text
            archive = (await desk.get(f"{ONE}/bundle?asked=16", token=desk.operator)).content
            tried = [("16", desk.reader), ("16", ""), ("3", desk.operator), ("-1", desk.operator)]
            refused = [await desk.get(f"{ONE}/report?asked={asked}", token=token) for asked, token in tried]
            return report, archive, [(one.status_code, one.json()["detail"]) for one in refused]

    report, archive, refused = asyncio.run(ask())
    assert "4 answers of 16 who were asked (25 %)" in report
    assert "75 % of those who were asked did not answer" in report
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        assert "of 16 who were asked" in found.read("report.html").decode()
    assert [status for status, _ in refused] == [400] * 4
    assert "must be said by an operator" in refused[0][1]
    assert "must be said by an operator" in refused[1][1]
    assert "must be 4 or more: so many answered" in refused[2][1]
