"""The paper's M_R and M_L end to end: thousands of devices answer, and both estimators read what they sent.

    python examples/the-paper/both_mechanisms.py

Each device checks the study's exact epsilon and sends one symbol.  A collector takes `answers-M_R.ndjson` as it is.
"""

import sys
from pathlib import Path

import numpy as np

import fairgauge as fg
from fairgauge.paper.estimator import published_estimate

DEVICES = 4_000
TPR = fg.Metric("tpr", 0, 1)
# The paper takes the groups' sizes for known: all answer alike.
SEX = fg.Attribute("sex", {"male": 0.5, "female": 0.5}, answering="alike")
# What M_R with ε1 = ε2 = 1 costs is 1.38, though Theorem 1 claims 1.  M_L with k = 2 costs what Theorem 2 claims.
STUDIES = {"M_R": ("randomized-response(1:1)", "1.38"), "M_L": ("laplace(0.5:1)", "1")}


def make_study(name: str) -> fg.Study:
    """Make the study of a mechanism of the paper, with the paper's budgets."""
    design, epsilon = STUDIES[name]
    return fg.Study(f"{name} of the paper", fg.design(TPR, SEX, epsilon=epsilon, design=design))


def answers(study: fg.Study, devices: int = DEVICES) -> list[fg.Answer]:
    """Let devices answer: half of them of men with a TPR of about 0.89, half of women with one of about 0.72."""
    held = {"male": (0.8, 0.98), "female": (0.6, 0.84)}
    profiles = [{"group": group, "values": {"tpr": held[group][n % 2]}} for n in range(devices // 2) for group in held]
    return [fg.answer(study, profile) for profile in profiles]


def show(name: str, study: fg.Study, tally: fg.Tally) -> None:
    """Print what both estimators say of the gap."""
    theirs = published_estimate(study, tally, np.random.default_rng(0))
    gap, half = theirs.gaps["male", "female"]
    ours = fg.estimate(study, tally)["tpr"].gap("male", "female")
    exact = study.questions[0].mechanism.epsilon
    print(f"{name}: {tally.contributors:,} devices, exact epsilon {exact:.4f}; the true gap is 0.17")
    print(f"  the paper's estimator  {gap:+.4f}, within ±{half:.4f} by Chebyshev's inequality")
    print(f"  ours                   {ours.estimate:+.4f}, from {ours.low:+.4f} to {ours.high:+.4f}")


def main(folder: Path) -> None:
    """Run both."""
    for name in STUDIES:
        study = make_study(name)
        sent = answers(study)
        (folder / f"answers-{name}.ndjson").write_bytes(b"".join(one.to_bytes() + b"\n" for one in sent))
        study.save(folder / f"study-{name}.json")
        show(name, study, fg.Tally.of(study, sent))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
