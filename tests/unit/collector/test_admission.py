"""Studies are taken on the terms that they state, and only what the collector can keep to."""

from dataclasses import replace

import pytest

from fairgauge.collector.admission import PublishingTerms, check_takes, terms_of
from fairgauge.errors import BadStudy, InvalidInput
from fairgauge.study import Release, Study
from tests.collecting.desk import Desk
from tests.samples import sample_study, two_questions, unlinked_study

STATED = replace(two_questions(), purpose="To know.", admission="tickets", aim="0.02", hourly=60)


def test_what_a_study_says_wins_over_how_it_is_published(ask):
    async def scene(desk: Desk) -> None:
        assert (await desk.publish(STATED, admission="open")).status_code == 201
        found = await desk.get(f"/studies/{STATED.digest}")
        assert found.headers["fairgauge-admission"] == "tickets"
        assert found.content == STATED.to_bytes()
        kept = await desk.collector.store.study(STATED.digest)
        assert kept is not None
        assert (kept.aim, kept.hourly) == ("0.02", 60)
        assert (await desk.answer(STATED, bytes(16), 1)).status_code == 403

    ask(scene)


def test_what_a_study_does_not_say_is_as_given() -> None:
    given = PublishingTerms(admission="tickets", results="public", aim="0.5", hourly=5)
    assert terms_of(sample_study(), given) == given
    wanted = PublishingTerms(admission="tickets", results="public", aim="0.02", hourly=60)
    assert terms_of(STATED, PublishingTerms(results="public", hourly=5)) == wanted


@pytest.mark.parametrize(
    ("study", "text"),
    [
        (
            replace(sample_study(), release=Release(10**12 + 1, "0.001", 9)),
            "release.batch=1000000000001: must be at most 1000000000000",
        ),
        (
            replace(sample_study(), release=Release(10, "0.001", 10**6 + 1)),
            "release.draws=1000001: must be at most 1000000",
        ),
        (replace(unlinked_study(), release=None), "gateway=AQAgMTIz: must be a key of this collector's gateway"),
        (
            replace(unlinked_study(), release=None, gateway=None),
            "issuer.key=MFkwEwYHKoZIzj0CAQ_-: must be the public key of an issuer (RFC 9578, type 2), in base64url",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(study: Study, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_takes(study, gateway={"AQ"})
    assert str(caught.value).startswith(text)


def test_a_study_in_the_crowd_takes_no_tickets_whose_sender_knows_every_id() -> None:
    """Who knows an id tries all symbols: against a leaf, against the seal of few answers, or by sending it again."""
    crowd = replace(sample_study(), release=Release(10, "0.001", 9))
    assert terms_of(crowd, PublishingTerms()).admission == "open"
    with pytest.raises(InvalidInput, match="admission=tickets: must be open or blind in the crowd"):
        terms_of(crowd, PublishingTerms(admission="tickets"))
    with pytest.raises(BadStudy, match="admission=tickets: must not be tickets where counts leave in batches"):
        replace(crowd, admission="tickets")
    assert terms_of(unlinked_study(), PublishingTerms()).admission == "tickets", "a blind one"
