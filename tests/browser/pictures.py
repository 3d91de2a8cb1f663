"""Take the pictures of the page where a person takes part, for the documentation.

``python -m tests.browser.pictures`` writes docs/pictures/take-part-*.png.  Look at them.
"""

import io
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from fairgauge.designs import make_channel
from fairgauge.goals.goal import Goal
from fairgauge.study import Attribute, Metric, Question, Study
from tests.browser.conftest import CHROMIUM, FLAGS, Collecting
from tests.collecting.servers import ServerProcess

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SIZES: dict[str, Any] = {"wide": {"width": 960, "height": 700}, "phone": {"width": 390, "height": 700}}


def study() -> Study:
    """A study that people could be asked to take part in."""
    name, channel = make_channel(Goal(shares=(0.5, 0.5), abstain=True), Decimal(1), design="randomized-response")
    sex = Attribute("sex", ("female", "male"), ("0.5", "0.5"))
    help_ = "Of the last 100 commands that you gave, the part that the assistant understood."
    understood = Metric("share of commands understood", "0", "1", help=help_)
    return Study(
        "Does the assistant understand everyone?",
        (Question(understood, sex, "gap", name, "1", channel),),
        operator="Fairness Office, Example University",
        purpose="To find out whom the assistant understands less well, so that the next version is trained for them.",
        retention=30,
        contact="fairness@example.org",
    )


def keep(page: Page, name: str) -> None:
    """Save the page, in few colours: text and lines need no more."""
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    picture.quantize(64, dither=Image.Dither.NONE).save(FOLDER / f"take-part-{name}.png", optimize=True)


def main() -> None:
    """Take part four times, and take pictures on the way."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        store, drafts = f"sqlite:///{folder / 'gauge.db'}", "drafts = true"
        with ServerProcess(folder, store, settings=drafts) as process, sync_playwright() as playwright:
            collector = Collecting(process, f"http://127.0.0.1:{process.port}")
            address = collector.url + collector.publish(study(), results="public") + "/take-part"
            chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for scheme in ("light", "dark"):
                for size, viewport in SIZES.items():
                    page = chromium.new_context(color_scheme=scheme, viewport=viewport).new_page()
                    page.goto(address)
                    page.get_by_text("Work it out").click()
                    page.get_by_label("female", exact=True).check()
                    page.get_by_label("How many were right").fill("83")
                    page.get_by_label("Out of how many").fill("100")
                    page.get_by_role("heading", name="Your answer").click()
                    keep(page, f"{scheme}-{size}")
                    page.get_by_role("button", name="Randomise").click()
                    page.get_by_role("button", name="Send").wait_for()
                    if (scheme, size) in (("light", "wide"), ("dark", "phone")):
                        keep(page, f"leaves-{scheme}-{size}")
                        page.get_by_role("button", name="Send").click()
                        page.get_by_text("How to check").click()
                        page.get_by_role("button", name="Is my answer counted?").click()
                        page.get_by_text("Yes: the collector").wait_for()
                        keep(page, f"thanks-{scheme}-{size}")
            chromium.close()


if __name__ == "__main__":
    main()
