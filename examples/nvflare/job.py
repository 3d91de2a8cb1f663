"""Ask every site of an NVFlare simulation how well a model serves it.

    python examples/nvflare/job.py --output build/nvflare

It needs ``pip install nvflare``.
"""

import argparse
from pathlib import Path

import numpy as np
from nvflare.recipe import SimEnv

from server import MetricsRecipe

HERE = Path(__file__).parent


def main() -> None:
    """Make the job, and run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=Path("build/nvflare"), help="where everything goes")
    parser.add_argument("--sites", type=int, default=2, help="how many sites there are (2)")
    options = parser.parse_args()
    folder: Path = options.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "model.npz", weights=np.array([1.0, -0.2, 0.4]))
    recipe = MetricsRecipe(
        HERE / "recall.py",
        output=folder / "metrics.json",
        model=str(folder / "model.npz"),
        min_clients=options.sites,
    )
    recipe.execute(SimEnv(num_clients=options.sites, workspace_root=str(folder / "work")))
    print((folder / "metrics.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
