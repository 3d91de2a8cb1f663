"""Vectors of limits: what the Python client, which is the reference, says of costs and limits.

defaults    what a device spends unless it says otherwise
studies     a factor that a study's table loses, a limit for one study (absent: the default), and the refusal or null
lifetimes   charges and what was spent, as [name, epsilon], a lifetime limit (absent: the default), and the refusal or
            null
"""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from fairgauge.client.budget import LIFETIME_LIMIT, STUDY_LIMIT, Limits
from fairgauge.errors import FairgaugeError
from tests.samples import sample_question, sample_study

FILE = Path(__file__).parent / "limits.json"
Vector = dict[str, Any]


def _said(work: Any, *given: Any) -> str | None:
    try:
        work(*given)
    except FairgaugeError as error:
        return f"{type(error).__name__}: {error}"
    return None


def _study(loss: int, limit: str | None) -> Vector:
    study = sample_study(sample_question(loss=loss, epsilon="9"))
    limits = Limits() if limit is None else Limits(study=Decimal(limit))
    said = _said(limits.check_study, study)
    # The clients show the epsilon that is too large with different numbers of digits.
    verdict = None if said is None else said.partition(" spends ")[0] + said[said.index(", and this") :]
    return {"text": study.to_bytes().decode(), **({} if limit is None else {"limit": limit}), "said": verdict}


def _lifetime(charges: dict[str, str], spent: list[tuple[str, str]], limit: str | None) -> Vector:
    limits = Limits() if limit is None else Limits(Decimal(limit))
    past = [(name, Decimal(cost)) for name, cost in spent]
    said = _said(limits.check_lifetime, {name: Decimal(cost) for name, cost in charges.items()}, past)
    given = {} if limit is None else {"limit": limit}
    return {"charges": list(charges.items()), "spent": spent, **given, "said": said}


def make() -> dict[str, Any]:
    """Return all vectors."""
    four = [("sex", "4"), ("sex", "4")]
    return {
        "defaults": {"study": str(STUDY_LIMIT), "lifetime": str(LIFETIME_LIMIT)},
        "studies": [
            _study(loss, limit) for loss in (3, 54, 55, 400) for limit in (None, "0", "1.1", "3.99", "4", "5.5", "6")
        ],
        "lifetimes": [
            _lifetime({"sex": "4"}, four[:1], None),
            _lifetime({"sex": "0.00000000000000000000000000000001"}, four, None),
            _lifetime({"sex": "0"}, four, None),
            _lifetime({"sex": "4", "age": "4.1"}, four[:1], None),
            _lifetime({"sex": "2"}, [("sex", "6"), ("age", "7")], None),
            _lifetime(
                {"sex": "2.000000000000000000000000000000000000000000000001"}, [("sex", "6"), ("age", "7")], None
            ),
            _lifetime({"sex": "2"}, [("sex", "4"), ("sex", "2.1")], None),
            _lifetime({"sex": "1", "age": "1"}, [("age", "7.5")], None),
            _lifetime({"sex": "1"}, [("sex", "0.1")] * 9, "1.9"),
            _lifetime({"sex": "1"}, [("sex", "0.1")] * 9, "1.89999999"),
            _lifetime({"sex": "0"}, [], "0"),
            _lifetime({"sex": "30"}, [], "30"),
        ],
    }


def written() -> str:
    """Return the file."""
    return json.dumps(make(), indent=1) + "\n"
