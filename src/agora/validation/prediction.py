"""Compares predictors with recorded people, by the distance between predicted and actual positions.

The errors are defined as in trajectory prediction (S. Pellegrini et al., ICCV 2009; A. Gupta et al., "Social GAN", CVPR 2018): at
every sample (every 0.4 s), each person who has been present for 3.2 s and stays for another 4.8 s counts, whether standing or
walking. The current velocity is the mean velocity over the last 0.4 s. Predictors see everyone present, like an invisible robot
with perfect perception.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from agora.core.state import Bools, Doubles
from agora.datasets.eth_ucy import RecordedScene, read_scene
from agora.errors import InputError
from agora.files import write_whole
from agora.interfaces import Costmap, Limits, Memory, Observation, Predictor, Tracks
from agora.reporting.statistics import Estimate
from agora.validation.distances import mean
from agora.validation.events import Measuring
from agora.validation.stretches import RADIUS, SCENES, STEP
from agora.validation.table import words

SEEN, AHEAD = 8, 12
"""Number of samples for which a pedestrian must have been present, including the current one, and number of predicted samples."""

_FAR = 1e4  # m, distance of the robot from all people
_LETHAL = 254


@dataclass(frozen=True)
class PredictionScore:
    """The errors of one predictor in some scenes.

    Attributes:
        name: name of the predictor.
        part: name of the scene, or of the set of scenes.
        average: mean distance over the 12 samples of the next 4.8 s, m.
        final: mean distance at the last of these samples, m.
    """

    name: str
    part: str
    average: Estimate
    final: Estimate


@dataclass(frozen=True, eq=False)
class Samples:
    """The people in a scene, sampled at the scene's own rate; values of absent people are undefined.

    Attributes:
        position: (T, P, 2) positions, m.
        present: (T, P) whether each person is present.
        counts: (T, P) whether the error of a prediction made at this time counts.
        walls: walls of the scene, as a costmap with a batch size of one.
    """

    position: Doubles
    present: Bools
    counts: Bools
    walls: Costmap

    @staticmethod
    def of(scene: RecordedScene) -> Samples:
        """Return the samples of a scene."""
        people, map = scene.trajectories, scene.map
        begin = float(people.start.min()) if people.count else 0.0
        last = float(people.end.max()) if people.count else 0.0
        moments = [people.at(begin + k * STEP + 1e-6) for k in range(round((last - begin) / STEP))]
        present = np.array([moment.present for moment in moments]).reshape(len(moments), people.count)
        counts = np.zeros_like(present)
        for k in range(SEEN - 1, len(moments) - AHEAD):
            counts[k] = present[k - SEEN + 1 : k + AHEAD + 1].all(0)
        cost = np.where(map.cells, np.uint8(_LETHAL), np.uint8(0))[None]
        walls = Costmap(cost, np.asarray(map.origin, np.float32)[None], float(map.resolution))
        return Samples(np.array([m.position for m in moments]).reshape(*present.shape, 2), present, counts, walls)

    def errors(self, predictor: Predictor) -> tuple[list[Doubles], list[Doubles]]:
        """Return the average and the final errors of a predictor, m, at each sample at which any person counts."""
        average, final = [], []
        memory: Memory = {}
        for k in range(1, len(self.present) - AHEAD):
            o = self._observation(k)
            answer = predictor.predict(o, AHEAD, STEP, memory)
            memory = answer.memory
            if (who := np.flatnonzero(self.counts[k])).size:
                ways = self.position[k + 1 : k + AHEAD + 1, who].swapaxes(0, 1)
                off = np.linalg.norm(answer.position[0, who] - ways, axis=2)
                average.append(off.mean(1))
                final.append(off[:, -1])
        return average, final

    def _observation(self, k: int) -> Observation:
        """Return the observation of a very distant robot at sample ``k``."""
        f = np.float32
        here, before = self.present[k], self.present[k - 1]
        step = np.where((here & before)[:, None], self.position[k] - self.position[k - 1], 0.0) / STEP
        count = len(here)
        tracks = Tracks(
            np.where(here[:, None], self.position[k], 0.0).astype(f)[None],
            step.astype(f)[None],
            np.full((1, count), RADIUS, f),
            here[None],
            np.arange(count, dtype=np.int32)[None],
            np.full((1, count), -1, np.int32),
        )
        one, zero = np.ones(1, f), np.zeros(1, f)
        limits = Limits(np.zeros(1, np.bool_), zero, one, zero, one, one, one, one, zero)
        pose = np.array([[_FAR, _FAR, 0.0]], f)
        return Observation(pose, 0 * pose, pose, one, np.zeros((1, 0, 2), f), limits, STEP, pedestrians=tracks, costmap=self.walls)


def score_predictors(predictors: Mapping[str, Predictor], scenes: Sequence[str] = SCENES) -> Iterator[Measuring | PredictionScore]:
    """Yield the errors of every predictor in each scene and over all scenes.

    An event that names the scene precedes the errors in a scene.

    Args:
        predictors: predictors by name.
        scenes: names of ETH/UCY scenes.

    Raises:
        InputError: the data set is missing.
    """
    found: dict[str, list[tuple[list[Doubles], list[Doubles]]]] = {name: [] for name in predictors}
    for scene in scenes:
        yield Measuring(scene)
        samples = Samples.of(read_scene(scene))
        for name, predictor in predictors.items():
            errors = samples.errors(predictor)
            found[name].append(errors)
            yield PredictionScore(name, scene, *map(_mean, errors))
    if len(scenes) > 1:
        for name, parts in found.items():
            every = [[error for part in parts for error in part[which]] for which in (0, 1)]
            yield PredictionScore(name, "all", *map(_mean, every))


def _mean(errors: list[Doubles]) -> Estimate:
    """Return the mean of errors, with a 95 % interval from resampling stretches of 12 samples."""
    parts = [np.concatenate(errors[k : k + AHEAD]) for k in range(0, len(errors), AHEAD)]
    return mean(np.array([part.sum() for part in parts]), np.array([float(part.size) for part in parts]))


def markdown(scores: Sequence[PredictionScore]) -> str:
    """Return a Markdown table of average and final errors, m, with intervals in brackets; one row per predictor."""
    scenes, names = (list(dict.fromkeys(getattr(score, key) for score in scores)) for key in ("part", "name"))
    lines = [f"| average / final error (m) | {' | '.join(scenes)} |", "|" + "---|" * (len(scenes) + 1)]
    for name in names:
        mine = {score.part: score for score in scores if score.name == name}
        cells = [f"{words(mine[scene].average)} / {words(mine[scene].final)}" for scene in scenes]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write(scores: Sequence[PredictionScore], folder: Path) -> Path:
    """Write ``predictors.md`` and ``predictors.json`` to a folder, and return the path of the table.

    Raises:
        InputError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "predictors.json", json.dumps([asdict(score) for score in scores], indent=1))
        write_whole(folder / "predictors.md", markdown(scores))
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
    return folder / "predictors.md"
