"""What a job runs at every site: measure a model on the site's own readings, and send the metrics.

It knows nothing of fairgauge.  What leaves the site is for the site's own privacy.json to say.
"""

import numpy as np
import nvflare.client as flare

READINGS = 200


def main() -> None:
    """Measure every model that comes."""
    flare.init()
    while flare.is_running():
        model = flare.receive()
        if model is None:
            break
        flare.send(flare.FLModel(metrics={"recall": recall(model.params["weights"], flare.get_site_name())}))


def recall(weights: "np.ndarray", site: str) -> float:
    """Return how many of the cases at a site the model finds; the readings are invented, and differ by site."""
    rng = np.random.default_rng(sum(site.encode()))
    cases = rng.normal(0.5, 1.0, (READINGS, len(weights)))
    return float(np.mean(cases @ weights > 0))


if __name__ == "__main__":
    main()
