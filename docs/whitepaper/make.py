"""Make the whitepaper from the pages of the documentation: one HTML file that stands alone, and a PDF of it.

    python docs/whitepaper/make.py            docs/_build/whitepaper/fairgauge.html, and .pdf where Chromium is
    python docs/whitepaper/make.py --refresh  run the commands of its five numbers again, and write what they print

``paper.md`` has the order of things, and little text of its own.  A line ``[[page.md#Heading]]`` is what stands on a
page below a heading, up to the next one; with ``from`` and ``until`` a part of it, by the first lines with these texts.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import myst_parser.parsers.docutils_ as myst
from docutils import nodes
from docutils.core import publish_string
from docutils.utils.math.latex2mathml import tex2mathml
from docutils.writers.html5_polyglot import HTMLTranslator, Writer

import fairgauge

HERE = Path(__file__).parent
DOCS = HERE.parent
OUT = DOCS / "_build" / "whitepaper"
MOST_PAGES = 15

_PIECE = re.compile(
    r"^\[\[(?P<page>[^#\]]+)#(?P<heading>[^|\]]+?)(?: \| from: (?P<first>.+?))?(?: \| until: (?P<last>.+?))?\]\]$", re.M
)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_ROLE = re.compile(r"\{(doc|term|class)\}`(?:([^`<]+?) <[^`>]+>|([^`]+))`")
_SIZES = re.compile(r"\\[bB]igg?[lrm]?(?![a-zA-Z])")


def title_of(page: str) -> str:
    """Return what a page is called."""
    found = _HEADING.search((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{page}.md has no title")
    return found[1]


def piece(page: str, heading: str, first: str | None, last: str | None) -> str:
    """Return what stands on a page below a heading, or a part of it.

    Raises:
        ValueError: If the page has no such heading or text: it was written anew, and so must the paper be.
    """
    text = (DOCS / page).read_text(encoding="utf-8")
    for found in _HEADING.finditer(text):
        if found[1] == heading:
            rest = text[found.end() :]
            following = _HEADING.search(rest)
            lines = rest[: following.start() if following else None].strip("\n").splitlines()
            begin = _line(lines, first, page) if first else 0
            end = _line(lines, last, page) if last else len(lines)
            return "\n".join(lines[begin:end]).strip("\n")
    raise ValueError(f"{page} has no heading {heading!r}")


def _line(lines: list[str], text: str, page: str) -> int:
    for number, line in enumerate(lines):
        if text in line:
            return number
    raise ValueError(f"{page} has no line with {text!r}")


def _plain(text: str) -> str:
    """Return text without what only a page of the documentation can do: its links, anchors, numbers kept fresh."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^\([\w-]+\)=\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]+)\]\((?!https?://)[^)]*\)", r"\1", text)

    def role(found: re.Match[str]) -> str:
        kind, shown, name = found.groups()
        return shown or (f"*{title_of(name)}*" if kind == "doc" else name.rpartition(".")[2])

    return _ROLE.sub(role, re.sub(r"\{math\}`([^`]+)`", r"$\1$", text))


def source() -> str:
    """Return the whole paper as one page."""
    text = (HERE / "paper.md").read_text(encoding="utf-8").replace("{{version}}", fairgauge.__version__)
    text = text.replace("../pictures/", f"{DOCS / 'pictures'}/")
    return _PIECE.sub(lambda found: _plain(piece(*found.groups())), _plain_own(text))


def _plain_own(text: str) -> str:
    return _ROLE.sub(lambda found: f"*{title_of(found[3])}*", text)


def _formula(node: nodes.Element, *, as_block: bool) -> str:
    return str(tex2mathml(_SIZES.sub("", node.astext()), as_block=as_block))


class _Translator(HTMLTranslator):
    """Writes formulas as MathML, as the pages do."""

    def visit_math(self, node: nodes.math) -> None:
        self.body.append(_formula(node, as_block=False))
        raise nodes.SkipNode

    def visit_math_block(self, node: nodes.math_block) -> None:
        self.body.append(f'<div class="math">{_formula(node, as_block=True)}</div>\n')
        raise nodes.SkipNode


def html() -> str:
    """Return the paper as a page that needs no other file."""
    writer = Writer()
    writer.translator_class = _Translator
    settings = {
        "myst_enable_extensions": ["dollarmath", "colon_fence", "deflist"],
        "myst_suppress_warnings": ["myst.header"],
        "stylesheet_path": str(HERE / "paper.css"),
        "embed_stylesheet": True,
        "syntax_highlight": "none",
        "math_output": "MathML",
        "image_loading": "embed",
        "halt_level": 2,
        "output_encoding": "unicode",
        "initial_header_level": "2",
        "generator": False,
    }
    made = publish_string(source(), parser=myst.Parser(), writer=writer, settings_overrides=settings)
    # No line begins with the comma after a formula.
    return re.sub(
        r"(<math\b(?:(?!</math>).)*</math>)([.,;:)]+)", r'<span class="whole">\1\2</span>', str(made), flags=re.DOTALL
    )


def sessions(text: str) -> list[tuple[str, str]]:
    """Return the commands of the five numbers, each with what is printed below it."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    found = []
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            found.append((command, printed))
    return found


def printed_by(commands: list[str], programs: Path) -> list[str]:
    """Run commands one after the other in an empty folder, and return what each prints."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PATH": path, "COLUMNS": "200"}
        return [
            subprocess.run(
                ["sh", "-c", f"{{ {command}\n}} 2>&1"], cwd=folder, env=env, capture_output=True, text=True, check=False
            ).stdout
            for command in commands
        ]


def refresh() -> None:
    """Write what the commands print now."""
    path = HERE / "paper.md"
    text = path.read_text(encoding="utf-8")
    before = sessions(text)
    after = printed_by([command for command, _ in before], Path(sys.executable).parent)
    for (command, old), new in zip(before, after, strict=True):
        text = text.replace(f"$ {command}\n{old}", f"$ {command}\n{new}")
    path.write_text(text, encoding="utf-8")


def pages_of(pdf: Path) -> int:
    """Return how many pages a PDF has."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf.read_bytes()))


def main() -> int:
    """Make both files, or refresh the numbers; return 1 if it is longer than it may be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--refresh", action="store_true")
    if parser.parse_args().refresh:
        refresh()
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    page, pdf = OUT / "fairgauge.html", OUT / "fairgauge.pdf"
    page.write_text(html(), encoding="utf-8")
    print(page)
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("there is no Chromium here, which makes the PDF", file=sys.stderr)
        return 0
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={pdf}"]
    subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True, timeout=300)
    count = pages_of(pdf)
    print(f"{pdf}: {count} pages")
    return int(count > MOST_PAGES)


if __name__ == "__main__":
    sys.exit(main())
