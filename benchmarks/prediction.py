"""Evaluates predictors on people from whom they have not learned: `python benchmarks/prediction.py`, optionally with one of the
arguments below.

Without an argument: leave-one-out on ETH/UCY, as is common in trajectory prediction (A. Gupta et al., "Social GAN", CVPR 2018). The
weights of `learned_motion` are learned from four of the sets eth, hotel, univ, zara01 and zara02 and evaluated on the fifth,
without simulated data (10 minutes; needs the extra learning). ``both``: the same, but also learned from simulated people.
``held_out``: the weights that come with Agora, on scenes that they have not seen. ``simulated``: predictors among people in test
suites, who do not see any robot.

Differences are relative to constant velocity for the same people at the same times. Their 95 % intervals come from resampling
sections of 4.8 s or, for simulated people, whole episodes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from agora.config import parse_component
from agora.core.state import Array, Doubles
from agora.datasets.eth_ucy import read_scene
from agora.interfaces import Memory, Predictor
from agora.learning.motion import CROWDS as LEARNED
from agora.learning.motion import Crowd, lessons, save
from agora.learning.walks import Walks, simulated
from agora.predictors.constant_velocity import ConstantVelocity
from agora.predictors.learned_motion import LearnedMotion
from agora.reporting.statistics import Estimate
from agora.tasks.suite import load_suite
from agora.testing import observation
from agora.validation.distances import mean
from agora.validation.prediction import AHEAD, Samples
from agora.validation.stretches import HELD_OUT

SETS = {"univ": ("students001", "students003")} | {name: (name,) for name in ("zara01", "zara02", "eth", "hotel")}
STEPS, SEED = 3000, 1
CROWDS = (
    *(("attngraph", stage, "", 0.25) for stage in ("randomised", "fixed")),
    ("crowdnav", "invisible", "", 0.25),
    ("social", "", "", 0.2),
    *(("social", "canteen", model, 0.2) for model in ("helbing", "pedsim", "pysocial", "orca")),
)
"""Suite; stage, or nothing for all stages; crowd model, or nothing for the stage's own; and sampling interval, s."""

PREDICTORS = ("goal_directed", "crowd_rollout:walls=false", "learned_motion")
EPISODES, SECONDS, EVERY = 8, 25.0, 4


def cells(plain: Sequence[Array], ours: Sequence[Array]) -> list[str]:
    """Return both means and the mean difference of errors that are grouped in blocks."""
    count = np.array([float(part.size) for part in plain])
    theirs, mine = (np.array([part.sum() for part in parts]) for parts in (plain, ours))
    off: Estimate = mean(mine - theirs, count)
    return [
        f"{theirs.sum() / count.sum():.3f}",
        f"{mine.sum() / count.sum():.3f}",
        f"{off.value:+.3f} [{off.low:+.3f}, {off.high:+.3f}]",
    ]


def heads(*names: str) -> str:
    """Return the header of a table whose columns are those of `cells` for several names."""
    first = [cell for name in names for cell in (f"{name}: constant velocity", "predictor", "difference")]
    return f"| people | {' | '.join(first)} |\n|{' --- |' * (len(first) + 1)}"


def recorded(name: str, scenes: Sequence[str], predictor: Predictor) -> str:
    """Return a line with the average and final errors on recorded people, m."""
    found = [[Samples.of(read_scene(scene)).errors(one) for scene in scenes] for one in (ConstantVelocity(), predictor)]
    line = [name]
    for which in (0, 1):
        blocks = [[block for part in one for block in stretches(part[which])] for one in found]
        line += cells(*blocks)
    return f"| {' | '.join(line)} |"


def stretches(values: Sequence[Doubles]) -> Iterator[Array]:
    """Yield the errors in sections of 4.8 s."""
    for k in range(0, len(values), AHEAD):
        yield np.concatenate(values[k : k + AHEAD])


def left_out(crowds: Sequence[Crowd]) -> None:
    """Print a line per ETH/UCY set, for weights learned from the other sets and from ``crowds``."""
    from agora.learning.trainers.motion import fit

    more = list(lessons((), crowds=crowds))
    with tempfile.TemporaryDirectory() as folder:
        for name, scenes in SETS.items():
            others = [scene for other, parts in SETS.items() if other != name for scene in parts]
            sets, shares = zip(*lessons(others, crowds=()), *more, strict=True)
            path = Path(folder) / f"{name}.safetensors"
            save(fit(sets, shares, steps=STEPS, seed=SEED), path, {"data": " ".join(others)})
            print(recorded(name, scenes, LearnedMotion(str(path))), flush=True)


def errors(walks: Walks, predictor: Predictor) -> list[Array]:
    """Return the prediction errors (S, T) at all times of the next 4.8 s, m, world by world."""
    last, found, worlds = round(4.8 / walks.step), [], []
    memory: Memory = {}
    for moment in range(len(walks.position) - last):
        tracks = walks.tracks(moment)
        scene = replace(observation(len(tracks.id), 0, dt=walks.step), pedestrians=tracks, robots=None)
        scene = replace(scene, pose=np.full_like(scene.pose, 1e4))
        answer = predictor.predict(scene, last, walks.step, memory)
        memory = answer.memory
        span = slice(moment, moment + last + 1)
        counts = (walks.present[span] & (walks.id[span] == tracks.id)).all(0)
        if moment and moment % EVERY == 0:
            ways = np.moveaxis(walks.position[span][1:], 0, 2)
            found.append(np.linalg.norm(answer.position - ways, axis=-1)[counts])
            worlds.append(np.nonzero(counts)[0])
    return [np.concatenate(found)[np.concatenate(worlds) == world] for world in range(walks.present.shape[1])]


def among_simulated() -> None:
    """Print a line per suite and predictor with errors after 1.2 s, on average, and after 4.8 s, m."""
    for suite, stage, model, step in CROWDS:
        names = [stage] if stage else [one.name for one in load_suite(suite).stages]
        crowds = [simulated(suite, name, EPISODES, seconds=SECONDS, every=step, model=model) for name in names]
        plain = [part for walks in crowds for part in errors(walks, ConstantVelocity())]
        some = [k for k, part in enumerate(plain) if part.size]
        for text in PREDICTORS:
            predictor = parse_component("predictors", text, "predictor").part
            ours = [part for walks in crowds for part in errors(walks, predictor)]
            line = []
            for which in range(3):
                line += cells(*([chosen(parts[k], step)[which] for k in some] for parts in (plain, ours)))
            who = " ".join(word for word in (f"`{suite}`", stage, f"by `{model}`" if model else "") if word)
            print(f"| {who}, `{text}` | {' | '.join(line)} |", flush=True)


def chosen(part: Array, step: float) -> tuple[Array, Array, Array]:
    """Return, from errors (S, T), those after 1.2 s, on average, and after 4.8 s."""
    return part[:, round(1.2 / step) - 1], part.mean(1), part[:, -1]


def main() -> None:
    """Print the table requested on the command line."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if word == "simulated":
        print(heads("after 1.2 s", "average", "after 4.8 s"))
        among_simulated()
        return
    print(heads("average", "final"))
    if word == "held_out":
        for scene in HELD_OUT:
            print(recorded(scene, (scene,), LearnedMotion()), flush=True)
    else:
        left_out(LEARNED if word == "both" else ())


if __name__ == "__main__":
    main()
