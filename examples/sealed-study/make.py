"""Make the sealed study of this folder again: ``python examples/sealed-study/make.py``.

Everything in it is invented: the watches, the operator, and the key that signs, which is no secret.  Whatever is made
is made the same again, to the bit, so that pages and tests can show it; only the report and the sealed estimate change,
when a new version says the same in other words.
"""

import hashlib
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from fairgauge import Attribute, Population, Question, Study, Tally, estimate, simulate
from fairgauge.canonical_json import encode
from fairgauge.collector.seal import PURPOSE, AnswerDigest, Seal, read_sealed, sealed_document
from fairgauge.collector.signatures import Signer
from fairgauge.reports.html_report import render_report
from fairgauge.reports.provenance import Provenance
from fairgauge.study import Model

HERE = Path(__file__).parent
KEPT = HERE.parent / "first-study" / "study.json"
SIGNER = Signer(hashlib.sha256(b"an example, and no secret").digest())
CLOSED = "2026-10-31T23:00:00Z"


def make_study() -> Study:
    """Return the study: the table of the first study, and who asks whom for what."""
    question = Study.load(KEPT).questions[0]
    sex = Attribute(
        "sex", {"female": 0.5, "male": 0.5}, share_source="Owners' accounts, an invented count of 1 October 2026"
    )
    asked = Question(question.metric, sex, question.target, question.design, question.epsilon, question.channel)
    return Study(
        "Falls found, by sex",
        [asked],
        language="en",
        purpose="To learn whether the fall detector serves women and men alike, before its next version is released.",
        operator="Examplewatch, Responsible AI",
        contact="fairness@examplewatch.example",
        model=Model("fall-detector", "3.1"),
        opens="2026-10-01T00:00:00Z",
        closes=CLOSED,
        retention=90,
        planned=20_000,
    )


def make(folder: Path) -> None:
    """Write the study, its signature, the answers, the tally, the seal and the report."""
    folder.mkdir(parents=True, exist_ok=True)
    study = make_study()
    study.save(folder / "study.json")
    signed = {"study": study.digest, "key": SIGNER.public, "signature": SIGNER.sign("study", study.to_bytes())}
    (folder / "signature.json").write_bytes(encode(signed))

    tally = simulate(study, Population.from_csv(HERE / "population.csv"), seed=7)
    tally.save(folder / "tally.json")
    answers = answers_of(tally)
    write_answers(folder / "answers.parquet", study, answers)

    digest = AnswerDigest(study.digest)
    digest.add([(id_, str(symbol)) for id_, symbol in answers])
    seal = Seal.of(study, digest, CLOSED)
    sealed = sealed_document(seal, study, key=SIGNER.public, signature=SIGNER.sign(PURPOSE, seal.to_bytes()))
    (folder / "sealed.json").write_bytes(sealed)

    said = Provenance(date="2026-11-02", asked=50_000, seal=read_sealed(sealed).note)
    page = render_report(study, tally, estimate(study, tally, tolerance=0.05), said)
    (folder / "report.html").write_text(page, encoding="utf-8")


def answers_of(tally: Tally) -> list[tuple[bytes, int]]:
    """Return answers that give a tally, with ids that look random and are the same each time, sorted by id."""
    symbols = (symbol for symbol, count in enumerate(tally.counts) for _ in range(count))
    return sorted((hashlib.sha256(str(n).encode()).digest()[:16], symbol) for n, symbol in enumerate(symbols))


def write_answers(path: Path, study: Study, answers: list[tuple[bytes, int]]) -> None:
    """Write the export, as a collector does."""
    schema = pa.schema(
        [pa.field("id", pa.binary(16), nullable=False), pa.field("symbol", pa.int32(), nullable=False)],
        metadata={"fairgauge.study": study.digest},
    )
    ids, symbols = zip(*answers, strict=True)
    table = pa.table({"id": pa.array(ids, pa.binary(16)), "symbol": pa.array(symbols, pa.int32())}, schema)
    if not path.exists() or not parquet.read_table(path).equals(
        table, check_metadata=True
    ):  # versions write other bytes
        parquet.write_table(table, path)


if __name__ == "__main__":
    make(HERE / "bundle")
