"""Count the words of all pages, prose and reference apart, and the sentences that are long.

    python docs/words.py            print the table; exit 1 if a limit is passed

A word is what ``wc -w`` counts: everything on a page, code, tables and output too.  Prose is what somebody reads from
top to bottom, and has a reader; reference is what one looks up.  Limits may only fall.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Whose way leads through a page; the first who is named counts it.
READERS = {
    "everyone": ["README.md", "docs/index.md", "docs/limits.md"],
    "ML engineer": [
        "docs/tutorial.md", "docs/which-epsilon.md", "docs/who-answers.md", "docs/several.md", "docs/sites.md",
        "docs/flower.md", "docs/nvflare.md", "docs/fairlearn.md", "docs/own-pipeline.md", "docs/devices.md",
        "docs/agent.md", "docs/engines.md", "docs/older-people.md", "examples/hospitals/README.md",
        "examples/sex-by-age/README.md",
    ],
    "operator": [
        "docs/operators.md", "docs/pages.md", "docs/browser.md", "docs/languages.md", "docs/two-promises.md",
        "docs/no-party-alone.md", "docs/scale.md",
    ],
    "auditor or lawyer": [
        "docs/regulation.md", "docs/threat-model.md", "docs/audit.md", "examples/sealed-study/README.md", "SECURITY.md",
    ],
    "person who is asked": ["docs/how-privacy-works.md"],
    "contributor": ["CONTRIBUTING.md"],
}  # fmt: skip
REFERENCE = [
    "docs/agent-protocol.md", "docs/another-client.md",
    "docs/api.md", "docs/attacks.md", "docs/collector-api.md", "docs/commands.md", "docs/coverage.md", "docs/errata.md",
    "docs/glossary.md", "docs/javascript.md", "docs/licences.md", "docs/maths.md", "docs/paper.md", "docs/settings.md",
    "docs/study-file.md", "docs/study-format.md",
]  # fmt: skip
# What programs write into these folders is included in pages, and counts as reference.
INCLUDED = ["docs/flower", "docs/older-people", "docs/paper", "docs/whitepaper"]

MOST_PROSE = 30_000
MOST_README = 900
LONG = 30  # words; a sentence with more is hard to follow
MOST_LONG = 0

_FENCE = re.compile(r"^ *(`{3,}|:{3,}).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FORMULA = re.compile(r"^\$\$.*?\$\$$", re.MULTILINE | re.DOTALL)
_APART = re.compile(r"^\s*(?:[-*] |\d+\. |#|\||\[\^|\([\w-]+\)=|!\[|$)")
_END = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"”)])|(?<=[.!?]\*\*))\s+(?=[\"“*({\[]*(?:[A-Z0-9]|`|doc\}|term\}))")


def words(page: Path) -> int:
    """Return how many words a page has, as ``wc -w`` counts."""
    return len(page.read_text(encoding="utf-8").split())


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page: of paragraphs and lists, not of blocks, tables, headings and formulas."""
    for pattern in (_COMMENT, _FENCE, _FORMULA):
        text = pattern.sub("\n", text)
    paragraph: list[str] = []
    for line in [*text.splitlines(), ""]:
        if _APART.match(line):
            if paragraph:
                yield from _END.split(" ".join(paragraph))
            paragraph = []
            if re.match(r"\s*(#|\||\([\w-]+\)=|!\[)", line):
                continue
        if line.strip():
            paragraph.append(re.sub(r"^\s*(?:[-*]|\d+\.|\[\^\w+\]:)\s", "", line).strip())


def long_sentences(page: Path) -> list[str]:
    """Return the sentences of a page that have more than ``LONG`` words."""
    return [one for one in sentences(page.read_text(encoding="utf-8")) if len(one.split()) > LONG]


def pages() -> set[str]:
    """Return all pages that count, by their paths; what changed, and what programs wrote for a page, are not pages."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*/README.md")]
    return {str(path.relative_to(ROOT)) for path in found} - {"CHANGELOG.md", "docs/changelog.md"}


def main() -> int:
    """Print the table and what passes a limit."""
    prose, long = 0, 0
    for reader, names in READERS.items():
        counted = {name: words(ROOT / name) for name in names}
        prose += sum(counted.values())
        print(f"{sum(counted.values()):>7,}  {reader}")
        for name, number in counted.items():
            found = len(long_sentences(ROOT / name))
            long += found
            print(f"{number:>7,}    {name}" + (f" ({found} long sentences)" if found else ""))
    reference = {name: words(ROOT / name) for name in REFERENCE}
    reference |= {folder: sum(map(words, (ROOT / folder).glob("*.md"))) for folder in INCLUDED}
    print(f"{sum(reference.values()):>7,}  reference")
    for name, number in reference.items():
        print(f"{number:>7,}    {name}")
    limits = {
        f"words of prose (limit {MOST_PROSE:,})": (prose, MOST_PROSE),
        f"words in README.md (limit {MOST_README})": (words(ROOT / "README.md"), MOST_README),
        f"sentences of prose with more than {LONG} words (limit {MOST_LONG})": (long, MOST_LONG),
    }
    print(*(f"{number:>7,}  {what}" for what, (number, _) in limits.items()), sep="\n")
    return int(any(number > most for number, most in limits.values()))


if __name__ == "__main__":
    sys.exit(main())
