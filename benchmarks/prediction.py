"""The learned predictor on scenes that it has not learned from: `python benchmarks/prediction.py`.

ETH/UCY leave one set out, as trajectory prediction does (A. Gupta et al., "Social GAN", CVPR 2018): weights are learned from four
of the sets eth, hotel, univ, zara01 and zara02 and judged on the fifth. Nothing simulated is learned from. ``--own`` judges the
weights that come with Agora instead, on the scenes that they have not seen. Differences are from constant velocity for the same
people at the same moments, with intervals of 95 % from drawing stretches of 4.8 s anew. It needs the extra learning and ETH/UCY,
and 10 minutes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agora.core.state import Doubles
from agora.datasets.eth_ucy import read_scene
from agora.interfaces import Predictor
from agora.learning.motion import lessons, save
from agora.learning.trainers.motion import fit
from agora.predictors.constant_velocity import ConstantVelocity
from agora.predictors.learned_motion import LearnedMotion
from agora.validation.distances import mean
from agora.validation.prediction import AHEAD, Samples
from agora.validation.stretches import HELD_OUT

SETS = {name: (name,) for name in ("eth", "hotel", "zara01", "zara02")} | {"univ": ("students001", "students003")}
STEPS, SEED = 3000, 1


def errors(predictor: Predictor, scenes: Sequence[str]) -> list[tuple[list[Doubles], list[Doubles]]]:
    """The average and the final errors in each scene, sample by sample, m."""
    return [Samples.of(read_scene(name)).errors(predictor) for name in scenes]


def stretches(values: Sequence[Doubles]) -> tuple[Doubles, Doubles]:
    """The sums over stretches of 4.8 s, and how many values each has."""
    parts = [np.concatenate(values[k : k + AHEAD]) for k in range(0, len(values), AHEAD)]
    return np.array([part.sum() for part in parts]), np.array([float(part.size) for part in parts])


def row(name: str, scenes: Sequence[str], predictor: Predictor) -> str:
    """A line: the errors of both, and their difference."""
    cells = [name]
    ours, plain = errors(predictor, scenes), errors(ConstantVelocity(), scenes)
    for which in (0, 1):
        sums = [stretches(part[which]) for part in ours]
        others = [stretches(part[which]) for part in plain]
        count = np.concatenate([counts for _, counts in sums])
        mine, theirs = (np.concatenate([one for one, _ in parts]) for parts in (sums, others))
        off = mean(mine - theirs, count)
        cells += [f"{theirs.sum() / count.sum():.2f}", f"{mine.sum() / count.sum():.2f}"]
        cells.append(f"{off.value:+.3f} [{off.low:+.3f}, {off.high:+.3f}]")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print a line for each set."""
    print("| set | constant velocity, average | learned | difference | constant velocity, final | learned | difference |")
    print("|" + " --- |" * 7)
    if "--own" in sys.argv[1:]:
        for scene in HELD_OUT:
            print(row(scene, (scene,), LearnedMotion()), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, scenes in SETS.items():
            others = [scene for other, parts in SETS.items() if other != name for scene in parts]
            sets, shares = zip(*lessons(others, crowds=()), strict=True)
            path = Path(folder) / f"{name}.safetensors"
            save(fit(sets, shares, steps=STEPS, seed=SEED), path, {"data": " ".join(others)})
            print(row(name, scenes, LearnedMotion(str(path))), flush=True)


if __name__ == "__main__":
    main()
