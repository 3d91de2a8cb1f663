"""The clients: 87 trials of older people who wore a sensor, from the UCI archive, or invented ones of the same shape.

Each trial is a table of readings (acceleration along three axes, and how the radio signal came in) with a label of what
the person did.  The sex is the last letter of a file's name.
"""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Labels = NDArray[np.bool_]

SEXES = {"F": "female", "M": "male"}
MEN, WOMEN = 25, 62
LYING = 3
TEST_SHARE = 0.3
# What each column is about, and how far it goes: known from the sensor, so that no client has to tell anything about
# its data.  The first column is the time, which says nothing about another trial.
CENTRES = np.array([0.0, 0.0, 0.0, 2.5, -60.0, 3.14, 922.5])
WIDTHS = np.array([1.0, 1.0, 1.0, 1.5, 10.0, 3.14, 2.5])


@dataclass(frozen=True)
class Trial:
    """One client's readings, eight numbers each, and whether the person lay down at each."""

    sex: str
    readings: Matrix
    lying: Labels

    @property
    def features(self) -> Matrix:
        """The readings without the time, centred and scaled by what is known of the sensor."""
        scaled: Matrix = (self.readings[:, 1:] - CENTRES) / WIDTHS
        return scaled

    def split(self, seed: int) -> tuple["Trial", "Trial"]:
        """Return what the client trains on and what it evaluates on."""
        test = np.random.default_rng(seed).random(len(self.lying)) < TEST_SHARE
        return self._part(~test), self._part(test)

    def _part(self, here: Labels) -> "Trial":
        return Trial(self.sex, self.readings[here], self.lying[here])


def load(archive: Path | None) -> list[Trial]:
    """Return the trials of the archive, or invented ones if there is none."""
    return invent(np.random.default_rng(1)) if archive is None else read(archive)


def read(archive: Path) -> list[Trial]:
    """Read the archive as UCI publishes it: one file of comma-separated numbers for each trial."""
    trials = []
    with zipfile.ZipFile(archive) as found:
        for name in sorted(found.namelist()):
            if name[-1] in SEXES and name.rpartition("/")[2].startswith("d"):
                rows = np.loadtxt(io.BytesIO(found.read(name)), delimiter=",", ndmin=2)
                trials.append(Trial(SEXES[name[-1]], rows[:, :8], rows[:, 8] == LYING))
    if not trials:
        raise SystemExit(f"{archive}: no trial was found in it")
    return trials


def invent(rng: np.random.Generator) -> list[Trial]:
    """Make up trials in which lying down looks less clear for women, and a few in which nobody lies down."""
    trials = []
    for sex, count, clearness in (("female", WOMEN, 0.8), ("male", MEN, 1.6)):
        for _ in range(count):
            readings = int(rng.lognormal(5.5, 0.8)) + 20
            lying = rng.random(readings) < rng.choice([0.0, 0.4, 0.7, 0.8])
            centre = np.where(lying[:, None], 0.4, -0.4) * clearness * np.array([1, -0.5, 1, 0, 0.3, 0, 0])
            features = centre + rng.normal(0, 0.2, 7) + rng.normal(0, 0.6, (readings, 7))
            times = np.arange(readings, dtype=float)
            trials.append(Trial(sex, np.column_stack([times, features * WIDTHS + CENTRES]), lying))
    return trials
