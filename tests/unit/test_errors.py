"""The exception tree: what each error is, what it says, and that it survives a process boundary."""

import pickle

import pytest

from fairgauge import errors

EVERY_ERROR = [
    errors.InvalidInput("epsilon", -1, "must be above 0"),
    errors.BadTable("table[3][2]", -5, "must not be negative"),
    errors.BadStudy("title", "", "must not be empty"),
    errors.BadTally("counts[0]", "x", "must be an integer"),
    errors.BadRecords("row 3: sex", "x", "must be female or male"),
    errors.BadLedger("ledger", "ledger.db", "is not a ledger"),
    errors.NotPrivate("too much"),
    errors.CannotAnswer("no value"),
    errors.CannotSend("no connection"),
    errors.AnswerRefused("closed"),
    errors.CannotEstimate("no answers"),
    errors.Impossible("no epsilon does"),
    errors.MissingExtra("drawing plots needs matplotlib", "lab"),
    errors.NotSigned("by somebody else"),
    errors.SealBroken("another tally"),
    errors.StoreError("no schema"),
    errors.StoreFull("no room"),
    errors.StoreDamaged("a page is gone"),
    errors.StoreAway("no connection"),
    errors.Refused("no"),
]


def test_the_list_above_names_every_error() -> None:
    public = {name for name, item in vars(errors).items() if isinstance(item, type) and issubclass(item, Exception)}
    assert {type(error).__name__ for error in EVERY_ERROR} == public - {"FairgaugeError"}


def test_the_docstring_draws_every_error() -> None:
    for error in EVERY_ERROR:
        assert f"── {type(error).__name__} " in (errors.__doc__ or "")


@pytest.mark.parametrize("error", EVERY_ERROR, ids=lambda error: type(error).__name__)
def test_every_error_has_the_root_and_survives_pickling(error: errors.FairgaugeError) -> None:
    assert isinstance(error, errors.FairgaugeError)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)


def test_builtin_parents() -> None:
    assert issubclass(errors.InvalidInput, ValueError)
    assert issubclass(errors.MissingExtra, ImportError)
    assert issubclass(errors.BadTable, errors.InvalidInput)
    assert issubclass(errors.BadStudy, errors.InvalidInput)
    assert issubclass(errors.BadTally, errors.InvalidInput)
    assert issubclass(errors.BadLedger, errors.InvalidInput)
    assert issubclass(errors.AnswerRefused, errors.CannotSend)
    assert not issubclass(errors.NotPrivate, ValueError)


def test_invalid_input_names_field_value_and_rule() -> None:
    error = errors.InvalidInput("epsilon", -1, "must be above 0")
    assert str(error) == "epsilon=-1: must be above 0"
    assert (error.field, error.value, error.rule) == ("epsilon", -1, "must be above 0")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("", "''"),
        ("female", "female"),
        ("größer", "größer"),
        ("a\nb", r"'a\nb'"),
        ("\x1b[31mred", r"'\x1b[31mred'"),
        (None, "None"),
        ([1, 2], "[1, 2]"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 57 + "..."),
    ],
)
def test_values_are_shown_on_one_short_printable_line(value: object, shown: str) -> None:
    assert str(errors.InvalidInput("title", value, "rule")) == f"title={shown}: rule"


def test_an_integer_that_python_does_not_write_out_is_no_second_error() -> None:
    assert str(errors.InvalidInput("sum", 10**5000, "rule")) == "sum=int too long to show: rule"


def test_missing_extra_says_what_to_install() -> None:
    error = errors.MissingExtra("drawing plots needs matplotlib", "lab")
    assert str(error) == "drawing plots needs matplotlib: pip install 'fairgauge[lab]'"
