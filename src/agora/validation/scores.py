"""How far every crowd is from recorded people: distances, displacement errors, and whether a classifier can tell them apart.

Scenes have two halves, ``training``, on which models are calibrated, and ``held_out``. The classifier that is asked about one half
has been trained on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agora.benchmark.statistics import Estimate
from agora.core.state import Doubles
from agora.pedestrians.groups import Groups
from agora.seeds import Stream
from agora.validation.classifier import shown, told_apart
from agora.validation.crowd import Crowd, simulate
from agora.validation.distances import RESAMPLES, mean, wasserstein
from agora.validation.quantities import FORMATION, QUANTITIES, formation, quantities
from agora.validation.replaced import Replaced, constant_velocity, draw, error, replaced_error
from agora.validation.stretches import DURATION, HELD_OUT, SAMPLES, TRAINING, Stretch, stretches
from agora.validation.window import Window, window

SPLITS = {"training": TRAINING, "held_out": HELD_OUT}

COLUMNS = {
    **QUANTITIES,
    **FORMATION,
    "crowd error": "m",
    "one error": "m",
    "told apart": "",
}
"""Columns of the table and their units: 1-Wasserstein distances of `QUANTITIES` and, under the behaviour `groups`, of `FORMATION`;
mean displacement error over 4.8 s of a whole crowd and of one replaced pedestrian; the classifier's balanced accuracy."""

_JITTER = 0.05  # standard deviation of each coordinate, m

Walked = Sequence[Doubles]
"""Places (20, N, 2) of the walkers of each stretch, m."""


@dataclass(frozen=True)
class Score:
    """A line of the table.

    Attributes:
        name: of the crowd or the control. split: which scenes.
        values: by column; without those that were not measured or do not apply.
    """

    name: str
    split: str
    values: Mapping[str, Estimate]


@dataclass(frozen=True, eq=False)
class Half:
    """The recorded people of one half of the scenes, and what is derived from them once.

    Attributes:
        cut: its stretches.
        most: walkers who are replaced one at a time, at most.
    """

    cut: Sequence[Stretch]
    most: int = 400

    @cached_property
    def windows(self) -> list[Window]:
        """The recorded window of each stretch."""
        return [window(stretch) for stretch in self.cut]

    @cached_property
    def samples(self) -> list[dict[str, Doubles]]:
        """`QUANTITIES` of each."""
        return [quantities(seen) for seen in self.windows]

    @cached_property
    def features(self) -> list[Doubles]:
        """What a classifier is shown of each."""
        return [shown(stretch) for stretch in self.cut]

    @cached_property
    def grouped(self) -> list[Stretch]:
        """The stretches in which walkers of known groups are."""
        return [stretch for stretch in self.cut if (stretch.group[: stretch.walkers] >= 0).any()]

    @cached_property
    def formations(self) -> list[dict[str, Doubles]]:
        """`FORMATION` of each of these."""
        return [formation(window(stretch)) for stretch in self.grouped]

    @cached_property
    def replaced(self) -> list[Replaced]:
        """Who is replaced, one at a time."""
        return draw(self.cut, self.most)

    def walked(self, crowd: Crowd, threads: int = 1) -> Walked:
        """Let a crowd take over every stretch."""
        return take_over(crowd, self.cut, threads)

    def distances(self, walked: Walked, resamples: int = RESAMPLES) -> dict[str, Estimate]:
        """Return the distance of each of `QUANTITIES`."""
        found = [quantities(window(stretch, way)) for stretch, way in zip(self.cut, walked, strict=True)]
        return compare(self.samples, found, tuple(QUANTITIES), resamples)

    def crowd_error(self, walked: Walked) -> Estimate:
        """Return the mean displacement error of whole crowds, m."""
        errors = [error(s.position[:, : s.walkers], way) for s, way in zip(self.cut, walked, strict=True)]
        return mean(np.array([e.sum() for e in errors]), np.array([float(len(e)) for e in errors]))


def take_over(crowd: Crowd, cut: Sequence[Stretch], threads: int = 1) -> Walked:
    """Let a crowd take over stretches: all walkers at once."""
    starts = [stretch.start(range(stretch.walkers)) for stretch in cut]
    return [seen[..., :2] for seen in simulate(crowd, starts, DURATION, every=8, threads=threads)]


def compare(
    recorded: Sequence[dict[str, Doubles]], other: Sequence[dict[str, Doubles]], names: Sequence[str], resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Return the distance of each quantity of two lists of samples by stretch."""
    return {name: wasserstein([s[name] for s in recorded], [s[name] for s in other], resamples=resamples) for name in names}


@dataclass(frozen=True, eq=False)
class Instrument:
    """Recorded people of both halves of the scenes, and everything that crowds are measured with.

    Attributes:
        halves: by name of the split.
        threads: over worlds.
        classify: whether a classifier is trained; needs scikit-learn.
    """

    halves: Mapping[str, Half]
    threads: int = 1
    classify: bool = True

    @staticmethod
    def of_scenes(*, parts: int = 1, most: int = 400, threads: int = 1, classify: bool = True) -> Instrument:
        """Read all scenes; only each ``parts``-th stretch is used, ``most`` walkers of a half are replaced one at a time.

        Raises:
            InputError: the data set is not there.
        """
        halves = {split: Half(stretches(scenes, parts=parts), most) for split, scenes in SPLITS.items()}
        return Instrument(halves, threads, classify)

    def score(self, name: str, crowd: Crowd) -> list[Score]:
        """Measure a crowd; a line for each split. Formations are those of the behaviour `groups` where the crowd has none."""
        grouped = crowd if crowd.behaviours else crowd.with_behaviours(Groups())
        walked = {split: half.walked(crowd, self.threads) for split, half in self.halves.items()}
        more = {}
        for split, half in self.halves.items():
            led = take_over(grouped, half.grouped, self.threads)
            found = [formation(window(stretch, way)) for stretch, way in zip(half.grouped, led, strict=True)]
            more[split] = compare(half.formations, found, tuple(FORMATION))
            more[split]["one error"] = replaced_error(half.cut, half.replaced, crowd, threads=self.threads)
        return self._lines(name, walked, more)

    def constant_velocity(self) -> list[Score]:
        """The line of people who keep their velocity and see nobody."""
        walked = {split: [constant_velocity(s, SAMPLES) for s in half.cut] for split, half in self.halves.items()}
        errors = {split: {"one error": replaced_error(half.cut, half.replaced, None)} for split, half in self.halves.items()}
        return self._lines("constant velocity", walked, errors)

    def jittered(self) -> list[Score]:
        """The line of recorded people whose places err by another 0.05 m: what is only annotation."""
        walked = {split: [_jittered(s) for s in half.cut] for split, half in self.halves.items()}
        return self._lines("recorded, jittered", walked, {split: {} for split in self.halves})

    def other_half(self) -> list[Score]:
        """The line of recorded people against others recorded in the same scenes: what is chance.

        Distances are those of even stretches from odd ones; the classifier is asked about every other walker of a stretch.
        """
        lines = []
        for split, half in self.halves.items():
            values = compare(*_paired(half.samples), tuple(QUANTITIES)) | compare(*_paired(half.formations), tuple(FORMATION))
            if self.classify:
                other = next(h for s, h in self.halves.items() if s != split)
                values["told apart"] = told_apart(_alternating(other.features), _alternating(half.features))
            lines.append(Score("recorded, others", split, values))
        return lines

    def _lines(self, name: str, walked: Mapping[str, Walked], more: Mapping[str, dict[str, Estimate]]) -> list[Score]:
        seen = {}
        if self.classify:
            for split, half in self.halves.items():
                seen[split] = [shown(s, way) for s, way in zip(half.cut, walked[split], strict=True)]
        lines = []
        for split, half in self.halves.items():
            values = half.distances(walked[split]) | {"crowd error": half.crowd_error(walked[split])} | more[split]
            if self.classify:
                other = next(s for s in self.halves if s != split)
                crowds = {s: (self.halves[s].features, seen[s]) for s in (other, split)}
                values["told apart"] = told_apart(crowds[other], crowds[split])
            lines.append(Score(name, split, values))
        return lines


def score_all(
    crowds: Mapping[str, Crowd], instrument: Instrument, progress: Callable[[str], None] = lambda what: None
) -> list[Score]:
    """Return the table: the controls, then every crowd, two lines each.

    Args:
        crowds: by name.
        instrument: what they are measured with.
        progress: called with the name of what is measured next.
    """
    progress("controls")
    lines = [*instrument.other_half(), *instrument.jittered(), *instrument.constant_velocity()]
    for name, crowd in crowds.items():
        progress(name)
        lines += instrument.score(name, crowd)
    return lines


def _paired(items: list[dict[str, Doubles]]) -> tuple[list[dict[str, Doubles]], list[dict[str, Doubles]]]:
    """Even and odd ones, as many of both."""
    return items[: len(items) // 2 * 2 : 2], items[1::2]


def _alternating(rows: list[Doubles]) -> tuple[list[Doubles], list[Doubles]]:
    """Even and odd walkers of each stretch."""
    return [walkers[::2] for walkers in rows], [walkers[1::2] for walkers in rows]


def _jittered(stretch: Stretch) -> Doubles:
    """Places (20, N, 2) of the walkers with independent errors."""
    recorded = stretch.position[:, : stretch.walkers]
    return np.asarray(recorded + Stream(stretch.scene, 0, "jitter").normal(0.0, _JITTER, recorded.shape))
