"""What is typed behind both programs of this example."""

import argparse
from pathlib import Path


def read(about: str | None) -> tuple[Path, int]:
    """Return the folder where everything goes, and how many sites there are."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0] if about else None)
    parser.add_argument("--output", type=Path, default=Path("build/nvflare"), help="where everything goes")
    parser.add_argument("--sites", type=int, default=2, help="how many sites there are (2)")
    options = parser.parse_args()
    return options.output.resolve(), options.sites
