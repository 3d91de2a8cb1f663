"""Names keep their order and labels are whole, by the boxes of their letters in a real Chromium."""

import random
import secrets
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page

from fairgauge.designs import make_channel
from fairgauge.simulation import Cell, Population, simulate_exactly
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.visitor import barriers

WIDE, PHONE = {"width": 1000, "height": 900}, {"width": 360, "height": 700}
LONG = "People of sixty-five years or more who live ALONE in the country"
# Each is read from left to right, whatever runs around it: no letter of it stands left of the one before.
ORDERED = ("65+", "18–29 − 65+", "65+ − WOMEN OF 65+", "18–29", "±")
# Where letters of a text stand, and which parts of it are read in another order than they are written.
TURNED = """
  (root, ordered) => {
    const found = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.parentElement.checkVisibility()) continue;
      const letters = [...node.data].flatMap((letter, i) => (/\\p{Cf}/u.test(letter) ? [] : [[letter, i]]));
      const text = letters.map(([letter]) => letter).join("");
      for (const part of ordered) {
        for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
          const after = part === "±" ? text.slice(at).match(/^±[\\d٠-٩.,٫]+/)?.[0].length ?? 1 : part.length;
          const lefts = letters.slice(at, at + after).map(([letter, i]) => {
            const range = document.createRange();
            range.setStart(node, i);
            range.setEnd(node, i + letter.length);
            const box = range.getBoundingClientRect();
            return letter.trim() ? [box.left, box.top] : null;
          }).filter(Boolean);
          const back = lefts.some(([x, y], k) => k && Math.abs(y - lefts[k - 1][1]) < 3 && x < lefts[k - 1][0] - 0.5);
          if (back) found.push(text);
        }
      }
    }
    return found;
  }
"""
# Differences of two names, by where the names' middles are: the ones whose first name is not where the page begins.
PAIRS = """
  (root, [pairs, first]) => {
    const found = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const letters = [...node.data].flatMap((letter, i) => (/\\p{Cf}/u.test(letter) ? [] : [[letter, i]]));
      const text = letters.map(([letter]) => letter).join("");
      for (const [one, other] of pairs) {
        const at = text.indexOf(`${one} − ${other}`);
        if (at < 0 || !node.parentElement.checkVisibility() || node.parentElement.closest("pre")) continue;
        const [a, b] = [[at, one], [at + one.length + 3, other]].map(([start, name]) => {
          const range = document.createRange();
          range.setStart(node, letters[start][1]);
          range.setEnd(node, letters[start + name.length - 1][1] + 1);
          return range.getBoundingClientRect();
        });
        found.push([text, Math.abs(a.top - b.top) > 5 || (first === "left") === a.left < b.left]);
      }
    }
    return found;
  }
"""
# Words of pictures that are cut, that leave their picture, or that stand on others.
CUT = """
  () => [...document.querySelectorAll("svg")].filter((svg) => svg.checkVisibility()).flatMap((svg) => {
    const whole = svg.getBoundingClientRect();
    const words = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    const out = words.filter(([said, box]) => said.includes("…") || box.left < whole.left - 1
      || box.right > whole.right + 1 || box.top < whole.top - 1 || box.bottom > whole.bottom + 1);
    const over = words.filter(([, a], i) => words.some(([, b], k) => k < i && a.left < b.right - 1
      && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4));
    return [...out, ...over].map(([said]) => said);
  })
"""


def study(groups: tuple[str, ...]) -> Study:
    scores = Scores(Target((0.25, 0.25, 0.5), kind="means"))
    name, channel = make_channel(scores, Decimal(2), design="randomized-response")
    ages = Attribute("age_band", groups, ("0.25", "0.25", "0.5"), answering="alike", share_error="0.01")
    wait = Metric("wait", 0, 500, unit="ms", better="lower")
    return Study("65+, 18–29", (Question(wait, ages, "means", name, "2", channel),))


LATIN, MIXED = ("18–29", "65+", LONG), ("18–29", "65+", "كبار السن ممن يعيشون وحدهم")
ARABIC = ("شباب", "كهول", "شيوخ")


@pytest.fixture(scope="module")
def told(collector: Collecting) -> dict[str, str]:
    """Studies with answers: by what kind of names, their paths."""
    found = {}
    for kind, groups in (("latin", LATIN), ("mixed", MIXED), ("arabic", ARABIC)):
        asked = study(groups)
        found[kind] = collector.publish(asked, results="public")
        people = Population(
            tuple(
                Cell(g, Decimal(v), 1000 * n) for g, v, n in zip(groups, ("90", "240", "410"), (1, 1, 2), strict=True)
            )
        )
        for seed, clients in enumerate((400, 3000)):  # two looks, so that the past is drawn
            counts = simulate_exactly(asked, people, clients=clients, seed=seed).counts
            symbols = [symbol for symbol, count in enumerate(counts) for _ in range(count)]
            random.Random(seed).shuffle(symbols)
            lines = [f'{{"id":"{secrets.token_hex(16)}","study":"{asked.digest}","symbol":{one}}}' for one in symbols]
            httpx.post(
                f"{collector.url}{found[kind]}/answers",
                content="\n".join(lines),
                headers={"content-type": "application/x-ndjson"},
                timeout=60,
            ).raise_for_status()
    return found


def turned(page: Page, root: str = "body") -> list[str]:
    found: list[str] = page.locator(root).evaluate(TURNED, list(ORDERED))
    return found


def cut(page: Page) -> list[str]:
    found: list[str] = page.evaluate(CUT)
    return found


@pytest.mark.parametrize(
    "look", [("en", WIDE), ("de", PHONE), ("ar-EG", PHONE), ("ar-MA", WIDE)], ids=lambda look: look[0]
)
def test_no_pair_of_names_is_turned_around_and_no_label_is_cut(
    told: dict[str, str], visitor: OpenVisitor, collector: Collecting, look: Any
) -> None:
    tag, size = look
    page = visitor(locale=tag, viewport=size).open("/studies")
    for path, kind in product(("", "/report", "/take-part"), ("latin", "mixed")):
        page.goto(collector.url + told[kind] + path)
        page.locator("#form, table").first.wait_for()
        check_order(page, path, kind)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def check_order(page: Page, path: str, kind: str) -> None:
    root = "fairgauge-study .take-part" if path == "/take-part" else "body"
    assert "65+" in page.locator(root).inner_text()
    assert turned(page, root) == []
    assert cut(page) == []
    if kind == "mixed":  # others are the same elements with shorter names
        assert barriers(page) == []


@pytest.mark.parametrize(
    "read",
    [
        ("latin", "ar", "left"),
        ("mixed", "de", "left"),
        ("mixed", "ar", "right"),
        ("arabic", "ar", "right"),
        ("arabic", "en", "left"),
    ],
    ids="-".join,
)
def test_a_difference_begins_where_its_reader_begins(
    told: dict[str, str], visitor: OpenVisitor, collector: Collecting, read: tuple[str, str, str]
) -> None:
    kind, tag, first = read
    one, two, three = {"latin": LATIN, "mixed": MIXED, "arabic": ARABIC}[kind]
    pairs = [(one, three), (two, three)] if kind == "mixed" else [(one, two), (one, three), (two, three)]
    page = visitor(locale=tag, viewport=WIDE).open(told[kind])
    for path in ("", "/report"):
        page.goto(collector.url + told[kind] + path)
        page.locator("table").first.wait_for()
        found = page.locator("body").evaluate(PAIRS, [pairs, first])
        assert len(found) >= len(pairs)
        assert [text for text, right in found if not right] == []


def test_a_pair_that_is_turned_and_a_label_that_is_cut_are_found(visitor: OpenVisitor, tmp_path: Path) -> None:
    """The mutant twin: without anything that keeps them apart, names are turned around."""
    (tmp_path / "page.html").write_text(
        '<!doctype html><html dir="rtl"><meta charset="utf-8"><p>18–29 − 65+</p><p>عمر 65+</p><p>±11</p>'
        '<svg viewBox="0 0 100 40" width="100"><text x="0" y="20">a label that is longer</text></svg>',
        encoding="utf-8",
    )
    page = visitor("file://").open(str(tmp_path / "page.html"))
    assert len(turned(page)) >= 2
    assert cut(page) == ["a label that is longer"]
