"""Terms of a study: releases, strata, issuers, models and keys."""

from collections.abc import Callable
from typing import Any

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.study import Issuer, Model, Release, Stratum
from fairgauge.study.terms import check_key


def test_a_release_is_typed_with_numbers() -> None:
    assert Release(10_000, 1e-8, 5) == Release(10_000, "0.00000001", 5)


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: Release(10, 0.1, 0), "draws=0: must be an integer from 1 to 9007199254740991"),
    (lambda: Release(10, 0.1, 0.5), "draws=0.5: must be an integer"),  # type: ignore[arg-type]
    (lambda: Release(0, 0.1, 1), "batch=0: must be an integer from 1 to 9007199254740991"),
    (lambda: Model(""), "name='': must be text of 1 to 200 characters"),
    (lambda: Model("m", "\n"), "version="),
    (lambda: Issuer("i", "a+b"), "key=a+b: must be a key in base64url, of 1 to 2000 characters"),
    (lambda: Issuer("", "a"), "name='': must be text"),
    (lambda: check_key("gateway", "x" * 2001), "gateway=xxx"),
    (lambda: Stratum("", "north", 0.4), "of='': must be text"),
    (lambda: Stratum("region", "", 0.4), "name='': must be text"),
    (lambda: Stratum("region", "north", 1), "share=1: must be above 0 and below 1"),
    (lambda: Release("10", 0.1, 1), "batch=10: must be an integer from 1 to"),  # type: ignore[arg-type]
    (lambda: Release(10, 1, 1), "delta=1: must be above 0 and below 1"),
]


@pytest.mark.parametrize(("mistake", "text"), MISTAKES, ids=[text[:40] for _, text in MISTAKES])
def test_a_mistake_gets_one_line(mistake: Callable[[], Any], text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        mistake()
    assert str(caught.value).startswith(text)
