"""Count the answers in a data frame: one expression for every engine that narwhals knows.

Each answer gets a key: its symbol, or a negative number that says what is wrong with it.  The engine counts keys and
nothing else, so what it hands back is as short as the study's list of symbols, whatever the frame holds.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.study import Study
from fairgauge.tallies.tally import Tally

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoFrame

OUTSIDE, ELSEWHERE, NAMELESS, CONFLICT = -1, -2, -3, -4
_KEY, _LEAST, _MOST, _COUNT = "key", "least", "most", "count"


def from_frame(study: Study, frame: "IntoFrame", *, deduplicate: bool = False) -> Tally:
    """Count the answers in a data frame of pandas, Polars, Arrow, PySpark, Dask, DuckDB or another engine.

    The frame has a column ``symbol``, of integers or of text.  If it has a column ``study``, every answer must be to
    this study.  A lazy frame is counted by its own engine, and only the counts are fetched.

    Args:
        study: The study that was answered.
        frame: One row for each answer.
        deduplicate: Count answers of the same ``id`` once.  They must have the same symbol: which of two different
            ones came first cannot be known from a frame, so a conflict is refused.

    Raises:
        InvalidInput: If a column is missing, or an answer is not one to this study; with how many and an example.
    """
    rows = _rows(frame)
    counts = count(study, rows, deduplicate=deduplicate)
    if min(counts, default=0) < 0:
        raise refusal(study, counts, example(study, rows, deduplicate=deduplicate))
    return tally_of(study, counts)


def count(study: Study, rows: "nw.LazyFrame[Any]", *, deduplicate: bool) -> dict[int, int]:
    """Return how many answers have each key."""
    import narwhals as nw

    marked = _marked(study, rows, deduplicate=deduplicate)
    keys = _once(marked) if deduplicate else marked
    found = keys.group_by(_KEY).agg(nw.len().alias(_COUNT))
    # Streaming keeps the memory flat; the other lazy engines do so unasked.
    streaming = {"engine": "streaming"} if rows.implementation.is_polars() else {}
    fetched = found.collect(**streaming)  # type: ignore[arg-type]
    return {int(key): int(number) for key, number in fetched.select(_KEY, _COUNT).iter_rows()}


def repeated(rows: "nw.LazyFrame[Any]") -> int | None:
    """Return how many answers have an id that came before; None where answers have no ids."""
    import narwhals as nw

    if "id" not in rows.collect_schema():
        return None
    each = rows.filter(~nw.col("id").is_null()).group_by("id").agg(nw.len().alias(_COUNT))
    fetched = each.filter(nw.col(_COUNT) > 1).select(nw.col(_COUNT).sum(), nw.len().alias(_KEY)).collect()
    for answers, ids in fetched.select(_COUNT, _KEY).iter_rows():
        return 0 if not ids else int(answers) - int(ids)
    return 0


def as_one(study: Study, several: Sequence["nw.LazyFrame[Any]"]) -> "nw.LazyFrame[Any]":
    """Return frames of several formats as one, whose columns are text; an id that a frame has not is missing there."""
    import narwhals as nw

    found = []
    for rows in several:
        schema = rows.collect_schema()
        if "symbol" not in schema:
            raise InvalidInput("column", "symbol", f"must be there; the answers have {', '.join(schema.names())}")
        columns = [nw.col("symbol").cast(nw.String)]
        # A Parquet file names its study beside its rows, and that is looked at elsewhere.
        for name, otherwise in (("id", None), ("study", study.digest)):
            own = nw.col(name) if name in schema else nw.lit(otherwise)
            columns.append(own.cast(nw.String).alias(name))
        found.append(rows.select(*columns))
    return nw.concat(found)


def example(study: Study, rows: "nw.LazyFrame[Any]", *, deduplicate: bool) -> dict[str, Any] | None:
    """Return an answer that must be refused, or None; where answers only contradict each other, their id."""
    import narwhals as nw

    marked = _marked(study, rows, deduplicate=deduplicate)
    for keys in (marked, _once(marked)) if deduplicate else (marked,):
        found = keys.filter(nw.col(_KEY) < 0).head(1).collect()
        for row in found.iter_rows(named=True):
            return row
    return None


def refusal(
    study: Study, counts: dict[int, int], row: dict[str, Any] | None, *, file: str | None = None
) -> InvalidInput:
    """Return the error that says what is wrong with how many answers, and where one of them is."""
    key = min(counts) if row is None else row[_KEY]
    field, value, rule, _ = _fault(study, key, row or {})
    wrong = [f"{number:,} {_fault(study, each, {})[3]}" for each, number in sorted(counts.items()) if each < 0]
    place = [f"id {_hexadecimal(row['id'])}"] if row is not None and row.get("id") is not None else []
    place += [f"file {file}"] if file is not None else []
    where = f" (such as {', '.join(place)})" if place else ""
    return InvalidInput(
        field, value, f"{rule}; wrong among {sum(counts.values()):,} answers: {', '.join(wrong)}{where}"
    )


def tally_of(study: Study, counts: dict[int, int]) -> Tally:
    """Return the tally of keys that are all symbols."""
    return Tally(study.digest, tuple(counts.get(symbol, 0) for symbol in range(study.symbols)))


def _rows(frame: "IntoFrame") -> "nw.LazyFrame[Any]":
    try:
        import narwhals as nw
    except ImportError:
        raise MissingExtra("reading data frames needs narwhals", "lab") from None
    try:
        return nw.from_native(frame).lazy()
    except TypeError:
        rule = "must be a data frame of pandas, Polars, Arrow, PySpark, Dask, DuckDB or another engine of narwhals"
        raise InvalidInput("frame", type(frame).__name__, rule) from None


def _marked(study: Study, rows: "nw.LazyFrame[Any]", *, deduplicate: bool) -> "nw.LazyFrame[Any]":
    """Return the frame with each answer's key."""
    import narwhals as nw

    schema = rows.collect_schema()
    for name in ("symbol", "id") if deduplicate else ("symbol",):
        if name not in schema:
            raise InvalidInput("column", name, f"must be there; the answers have {', '.join(schema.names()) or 'none'}")
    symbol, kind = nw.col("symbol"), schema["symbol"]
    if kind in (nw.String, nw.Object):
        fits, key = symbol.is_in([str(n) for n in range(study.symbols)]), symbol
        marked = nw.when(fits & ~symbol.is_null()).then(key).otherwise(nw.lit(str(OUTSIDE))).cast(nw.Int64)
        kind = nw.Int64()
    elif kind.is_integer():
        fits, key = symbol.is_between(0, study.symbols - 1), symbol
        if kind.is_unsigned_integer():
            # There is room for what is wrong below 0; and some engines cannot cast a null, which does not fit anyway.
            key, kind = symbol.fill_null(0).cast(nw.Int64), nw.Int64()
        marked = nw.when(fits & ~symbol.is_null()).then(key).otherwise(nw.lit(OUTSIDE, kind))
    else:
        raise InvalidInput("column symbol", kind, "must hold integers, or text")
    # No condition is ever null, which is neither true nor false: engines disagree on what follows from it.
    if "study" in schema:
        named = nw.col("study")
        ours = (named == study.digest) & ~named.is_null()
        marked = nw.when(ours).then(marked).otherwise(nw.lit(ELSEWHERE, kind))
    if deduplicate:
        marked = nw.when(~nw.col("id").is_null()).then(marked).otherwise(nw.lit(NAMELESS, kind))
    return rows.with_columns(marked.alias(_KEY))


def _once(marked: "nw.LazyFrame[Any]") -> "nw.LazyFrame[Any]":
    """Return one row for each id: with its key, with a fault of any of its answers, or with a contradiction."""
    import narwhals as nw

    least, most = nw.col(_LEAST), nw.col(_MOST)
    once = marked.group_by("id").agg(nw.col(_KEY).min().alias(_LEAST), nw.col(_KEY).max().alias(_MOST))
    agreed = (least == most) | (least < 0)
    return once.with_columns(nw.when(agreed).then(least).otherwise(nw.lit(CONFLICT)).alias(_KEY))


def _fault(study: Study, key: int, row: dict[str, Any]) -> tuple[str, object, str, str]:
    """Return field, value and rule of a fault, and how to speak of the answers that have it."""
    if key == OUTSIDE:
        return (
            "symbol",
            _shown(row.get("symbol")),
            f"must be an integer from 0 to {study.symbols - 1}",
            "with no such symbol",
        )
    if key == ELSEWHERE:
        return "study", _shown(row.get("study")), f"must be {study.digest}", "to another study or to none"
    if key == NAMELESS:
        return "id", "(none)", "must be there to count every answer once", "without an id"
    symbols = f"{row.get(_LEAST)} and {row.get(_MOST)}"
    return "symbol", symbols, "must be the same in all answers of one id", "of an id with several symbols"


def _shown(value: object) -> str:
    """Return an entry; engines have several words for one that is missing."""
    return "(none)" if value is None or str(value) in ("", "nan", "<NA>") else str(value)


def _hexadecimal(name: object) -> str:
    """Return an id as it is sent: engines that count bytes hand back bytes."""
    return bytes(name).hex() if isinstance(name, bytes | bytearray | memoryview) else str(name)
