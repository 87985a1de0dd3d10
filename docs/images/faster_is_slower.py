"""Draws faster_is_slower.png: the whole curve of examples/faster_is_slower.py, with six rooms per speed; takes several minutes."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np

from agora.pedestrians.models.evacuation import Evacuation

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

HERE = Path(__file__).resolve().parent
SPEEDS = [0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0]
SEEDS, STEP, LONGEST = 6, 0.0025, 600.0
COUNTS = {200: "all 200", 180: "the first 180", 100: "the first 100"}


def main() -> None:
    """Run the rooms, then print and plot the means and their standard errors."""
    example = runpy.run_path(str(HERE.parents[1] / "examples" / "faster_is_slower.py"))
    gone = example["left"](SPEEDS, SEEDS, example["PEOPLE"], LONGEST, Evacuation(max_step=STEP))
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for count, label in COUNTS.items():
        there = gone >= count
        time = np.where(there.any(axis=0), there.argmax(axis=0) * example["DT"], np.nan)
        mean, error = time.mean(axis=1), time.std(axis=1, ddof=1) / np.sqrt(SEEDS)
        axes.errorbar(SPEEDS, mean, error, marker="o", markersize=4, capsize=2, label=label)
        for speed, m, e in zip(SPEEDS, mean, error, strict=True):
            print(f"{label:14s} {speed:4.2f} m/s {m:6.1f} +- {e:3.1f} s", flush=True)
    axes.set(xlabel="desired speed (m/s)", ylabel="time until they have left (s)", xlim=(0, None), ylim=(0, None))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "faster_is_slower.png", dpi=150)


if __name__ == "__main__":
    main()
