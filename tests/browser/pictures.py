"""Take the pictures of taking part, and of results in other languages, for the documentation.

``python -m tests.browser.pictures`` writes docs/pictures/take-part-*.png, study-de-phone.png and others.  Look at them.
"""

import io
import random
import secrets
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from fairgauge.designs import make_channel
from fairgauge.simulation import Cell, Population, simulate_exactly
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.browser.conftest import CHROMIUM, FLAGS, Collecting
from tests.collecting.servers import ServerProcess

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SIZES: dict[str, Any] = {"wide": {"width": 960, "height": 700}, "phone": {"width": 390, "height": 700}}


SPOKEN = {
    "de": {
        "title": "Versteht der Assistent alle?",
        "purpose": "Um zu erfahren, wen der Assistent schlechter versteht, und die nächste Version zu verbessern.",
        "metrics[0].name": "Anteil verstandener Befehle",
        "metrics[0].help": "Von den letzten 100 Befehlen, die Sie gaben, der Anteil, den der Assistent verstand.",
        "attributes[0].name": "Geschlecht",
        "attributes[0].groups[0]": "weiblich",
        "attributes[0].groups[1]": "männlich",
    },
    "ar": {
        "title": "هل يفهم المساعد الجميع؟",
        "purpose": "لمعرفة من يفهمهم المساعد أقل من غيرهم، حتى تُدرَّب النسخة القادمة من أجلهم.",
        "metrics[0].name": "نسبة الأوامر المفهومة",
        "metrics[0].help": "نسبة ما فهمه المساعد من آخر 100 أمر أعطيته.",
        "attributes[0].name": "الجنس",
        "attributes[0].groups[0]": "أنثى",
        "attributes[0].groups[1]": "ذكر",
    },
}


def study() -> Study:
    """A study that people could be asked to take part in, in three languages."""
    name, channel = make_channel(
        Scores(Target(shares=(0.5, 0.5), abstain=True)), Decimal(1), design="randomized-response"
    )
    sex = Attribute("sex", ("female", "male"), ("0.5", "0.5"), answering="alike")
    help_ = "Of the last 100 commands that you gave, the part that the assistant understood."
    understood = Metric("share of commands understood", "0", "1", help=help_)
    return Study(
        "Does the assistant understand everyone?",
        (Question(understood, sex, "gap", name, "1", channel),),
        operator="Fairness Office, Example University",
        purpose="To find out whom the assistant understands less well, so that the next version is trained for them.",
        retention=30,
        contact="fairness@example.org",
        language="en",
        translations=SPOKEN,
    )


def keep(page: Page, name: str, kind: str = "take-part") -> None:
    """Save the page, in few colours: text and lines need no more."""
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    picture.quantize(64, dither=Image.Dither.NONE).save(FOLDER / f"{kind}-{name}.png", optimize=True)


def answer(collector: Collecting, asked: Study) -> None:
    """Let simulated devices answer, so that there are results to show."""
    people = Population((Cell("female", Decimal("0.74"), 1000), Cell("male", Decimal("0.86"), 1000)))
    for seed, clients in enumerate((300, 1500, 6000, 50_000)):
        counts = simulate_exactly(asked, people, clients=clients, seed=seed).counts
        symbols = [symbol for symbol, count in enumerate(counts) for _ in range(count)]
        random.Random(seed).shuffle(symbols)  # the band holds for answers in random order
        lines = [f'{{"id":"{secrets.token_hex(16)}","study":"{asked.digest}","symbol":{one}}}' for one in symbols]
        for start in range(0, clients, 10_000):
            httpx.post(
                f"{collector.url}/studies/{asked.digest}/answers",
                content="\n".join(lines[start : start + 10_000]),
                headers={"content-type": "application/x-ndjson"},
                timeout=60,
            ).raise_for_status()


def visit(page: Page, prefix: str, *, further: bool) -> None:
    """Take part, and take pictures on the way."""
    page.locator("#form").wait_for()
    page.locator(".counts summary").click()
    page.locator(".choices .choice").first.click()
    page.locator("#part-0").fill("83")
    page.locator("#whole-0").fill("100")
    page.locator("#form-title").click()
    keep(page, prefix)
    page.locator("#draw").click()
    page.locator("#send").wait_for()
    if further:
        keep(page, f"leaves-{prefix}")
        page.locator("#send").click()
        page.locator("#counted summary").click()
        page.locator("#recheck").click()
        page.locator("#rechecked:not(:empty)").wait_for()
        keep(page, f"thanks-{prefix}")


def main() -> None:
    """Take part in English in light and dark, narrow and wide, and in the other languages on a phone."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        store = f"sqlite:///{folder / 'gauge.db'}"
        with ServerProcess(folder, store) as process, sync_playwright() as playwright:
            collector = Collecting(process, f"http://127.0.0.1:{process.port}")
            asked = study()
            address = collector.url + collector.publish(asked, results="public") + "/take-part"
            chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for scheme in ("light", "dark"):
                for size, viewport in SIZES.items():
                    page = chromium.new_context(color_scheme=scheme, viewport=viewport).new_page()
                    page.goto(address)
                    visit(page, f"{scheme}-{size}", further=(scheme, size) in (("light", "wide"), ("dark", "phone")))
            for locale in ("de-DE", "ar-EG"):
                page = chromium.new_context(locale=locale, viewport=SIZES["phone"]).new_page()
                page.goto(address)
                visit(page, f"{locale[:2]}-phone", further=False)
            answer(collector, asked)
            for locale in ("de-DE", "ar-EG"):
                page = chromium.new_context(locale=locale, viewport=SIZES["phone"]).new_page()
                for kind, path in (("study", f"/studies/{asked.digest}"), ("index", "/")):
                    page.goto(collector.url + path)
                    page.locator(".live:not(:empty)" if kind == "study" else ".cards").wait_for()
                    keep(page, f"{locale[:2]}-phone", kind)
            chromium.close()


if __name__ == "__main__":
    main()
