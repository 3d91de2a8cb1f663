"""Ask every site of an NVFlare simulation how well a model serves it.

    python examples/nvflare/job.py --output build/nvflare

It needs ``pip install nvflare``.
"""

from pathlib import Path

import numpy as np
from nvflare.recipe import SimEnv

import typed
from server import MetricsRecipe

HERE = Path(__file__).parent


def main() -> None:
    """Make the job, and run it."""
    folder, sites = typed.read(__doc__)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "model.npz", weights=np.array([1.0, -0.2, 0.4]))
    recipe = MetricsRecipe(
        HERE / "recall.py",
        output=folder / "metrics.json",
        model=str(folder / "model.npz"),
        min_clients=sites,
    )
    recipe.execute(SimEnv(num_clients=sites, workspace_root=str(folder / "work")))
    print((folder / "metrics.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
