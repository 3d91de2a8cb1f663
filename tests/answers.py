"""Answers in every format, made once for the tests of tallies."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from fairgauge.study import Study
from fairgauge.tallies import Tally
from tests.samples import two_questions

STUDY = two_questions()
FORMATS = ("parquet", "ndjson", "csv")


@dataclass(frozen=True)
class Answers:
    """Ids and symbols; some answers come twice."""

    ids: Sequence[bytes]
    symbols: Sequence[object]

    @classmethod
    def drawn(cls, answers: int, *, twice: int) -> "Answers":
        source = random.Random(answers)
        ids = [source.randbytes(16) for _ in range(answers - twice)]
        symbols = [source.randrange(STUDY.symbols) ** 2 // STUDY.symbols for _ in ids]
        return cls([*ids, *ids[:twice]], [*symbols, *symbols[:twice]])

    def tally(self, *, once: bool) -> Tally:
        """Count in plain Python, which shares nothing with the engines."""
        symbols = list(dict(zip(self.ids, self.symbols, strict=True)).values()) if once else self.symbols
        return Tally(STUDY.digest, tuple(symbols.count(symbol) for symbol in range(STUDY.symbols)))

    def write(self, file: Path, study: Study = STUDY) -> Path:
        """Write the file that its name asks for."""
        rows = list(zip(self.ids, self.symbols, strict=True))
        if file.suffix == ".parquet":
            columns = {"id": pa.array(self.ids, pa.binary(16)), "symbol": pa.array(self.symbols, pa.int32())}
            pq.write_table(pa.table(columns).replace_schema_metadata({"fairgauge.study": study.digest}), file)
        elif file.suffix == ".csv":
            lines = [f"{study.digest},{name.hex()},{'' if symbol is None else symbol}" for name, symbol in rows]
            file.write_text("\n".join(["study,id,symbol", *lines, ""]))
        else:
            answers = [{"id": name.hex(), "study": study.digest, "symbol": symbol} for name, symbol in rows]
            file.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        return file
