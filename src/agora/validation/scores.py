"""Scores crowds against recorded people: distances, displacement errors, and whether a classifier can distinguish the two.

A table has one or more parts, each of which covers some scenes. The classifier that judges a scene was trained on all other scenes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from agora.benchmark.stop_token import StopToken
from agora.core.state import Bools, Doubles
from agora.pedestrians.behaviours.groups import Groups
from agora.reporting.statistics import Estimate
from agora.seeds import Stream
from agora.validation.classifier import Samples, judge, shown, told_apart
from agora.validation.crowd import SimulatedCrowd, simulate_scenes
from agora.validation.distances import RESAMPLES, mean, wasserstein
from agora.validation.events import Measuring
from agora.validation.motion import motion
from agora.validation.quantities import FORMATION, QUANTITIES, formation, quantities
from agora.validation.replaced import Replaced, constant_velocity, draw, error, replaced_error
from agora.validation.stretches import DURATION, HELD_OUT, SAMPLES, SCENES, TRAINING, Stretch, stretches
from agora.validation.window import TrackWindow, window

LEFT_OUT = {"each scene left out": SCENES}
TESTED = "other scenes"
"""Part of a table with scenes on which the classifier is tested, but never trained."""

HALVES = {"training": TRAINING, "held out": HELD_OUT}
"""Parts of a table and their scenes: the scenes used for calibration, and the scenes used to test the calibration."""

COLUMNS = {
    **QUANTITIES,
    **FORMATION,
    "crowd error": "m",
    "one error": "m",
    "told apart": "",
}
"""Columns of the table and their units: 1-Wasserstein distances for `QUANTITIES` and, with the `groups` behaviour, for `FORMATION`;
mean displacement error over 4.8 s for a whole crowd and for a single replaced pedestrian; balanced accuracy of the classifier.
"""

_JITTER = 0.05  # m, standard deviation of the error added to each coordinate

Walked = Sequence[Doubles]
"""Simulated positions (20, N, 2) of the walkers in each stretch, m."""

Crowds = SimulatedCrowd | Mapping[str, SimulatedCrowd]
"""One crowd for all scenes, or one crowd per scene."""


@dataclass(frozen=True)
class Score:
    """A line of the table.

    Attributes:
        name: name of the crowd or the control.
        part: part of the table.
        values: estimates, by column; columns that were not measured or do not apply are missing.
        scenes: accuracy of the classifier, by scene.
    """

    name: str
    part: str
    values: Mapping[str, Estimate]
    scenes: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Recorded:
    """The recorded people in some scenes, with cached data derived from the recordings.

    Attributes:
        cut: stretches into which the scenes were cut.
        most: maximum number of walkers that are replaced one at a time.
    """

    cut: Sequence[Stretch]
    most: int = 400

    def without(self, scene: str) -> Recorded:
        """Return the recorded people in all scenes except one."""
        return Recorded([stretch for stretch in self.cut if stretch.scene != scene], self.most)

    @cached_property
    def windows(self) -> list[TrackWindow]:
        """The recorded window of each stretch."""
        return [window(stretch) for stretch in self.cut]

    @cached_property
    def samples(self) -> list[dict[str, Doubles]]:
        """The samples of `QUANTITIES` in each window."""
        return [quantities(seen) for seen in self.windows]

    @cached_property
    def motions(self) -> list[dict[str, Doubles]]:
        """The samples of each stretch as computed by `agora.validation.motion.motion`."""
        return [motion(seen) for seen in self.windows]

    @cached_property
    def features(self) -> list[Doubles]:
        """The features of each stretch that the classifier uses."""
        return [shown(stretch) for stretch in self.cut]

    @cached_property
    def grouped(self) -> list[Stretch]:
        """The stretches in which some walkers belong to known groups."""
        return [stretch for stretch in self.cut if (stretch.group[: stretch.walkers] >= 0).any()]

    @cached_property
    def formations(self) -> list[dict[str, Doubles]]:
        """The samples of `FORMATION` in each of the stretches in `grouped`."""
        return [formation(window(stretch)) for stretch in self.grouped]

    @cached_property
    def replaced(self) -> list[Replaced]:
        """The pedestrians to replace, one at a time."""
        return draw(self.cut, self.most)

    def walked(self, crowd: Crowds, threads: int = 1) -> Walked:
        """Let a crowd take over every stretch, and return the walkers' positions."""
        return take_over(crowd, self.cut, threads)

    def distances(self, walked: Walked, resamples: int = RESAMPLES) -> dict[str, Estimate]:
        """Return the distance between the recorded and the simulated samples of each of `QUANTITIES`."""
        found = [quantities(window(stretch, way)) for stretch, way in zip(self.cut, walked, strict=True)]
        return compare(self.samples, found, tuple(QUANTITIES), resamples)

    def crowd_error(self, walked: Walked) -> Estimate:
        """Return the mean displacement error of whole crowds, m."""
        errors = [error(s.position[:, : s.walkers], way) for s, way in zip(self.cut, walked, strict=True)]
        return mean(np.array([e.sum() for e in errors]), np.array([float(len(e)) for e in errors]))


def take_over(crowd: Crowds, cut: Sequence[Stretch], threads: int = 1) -> Walked:
    """Let a crowd take over stretches, and return the walkers' positions; all walkers in a stretch are simulated together."""
    starts, scenes = [stretch.start(range(stretch.walkers)) for stretch in cut], [stretch.scene for stretch in cut]
    return [seen[..., :2] for seen in simulate_scenes(crowd, scenes, starts, DURATION, every=8, threads=threads)]


def compare(
    recorded: Sequence[dict[str, Doubles]], other: Sequence[dict[str, Doubles]], names: Sequence[str], resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Return the distance for each quantity between two lists of samples, which contain one entry per stretch."""
    return {name: wasserstein([s[name] for s in recorded], [s[name] for s in other], resamples=resamples) for name in names}


@dataclass(frozen=True, eq=False)
class Instrument:
    """The recorded data and every measurement taken of a crowd.

    Attributes:
        parts: parts of the table, by name.
        threads: number of threads; the worlds are divided among them.
        classify: whether a classifier is trained, which requires scikit-learn.
        tested: scenes on which the classifier is tested, but never trained.
    """

    parts: Mapping[str, Recorded]
    threads: int = 1
    classify: bool = True
    tested: Collection[str] = ()

    @staticmethod
    def of_scenes(
        parts: Mapping[str, Sequence[str]] = LEFT_OUT,
        *,
        every: int = 1,
        most: int = 800,
        threads: int = 1,
        classify: bool = True,
        tested: Collection[str] = (),
    ) -> Instrument:
        """Read the scenes of all parts, and return an instrument.

        Args:
            parts: scenes of each part of the table, by name of the part.
            every: only every ``every``-th stretch is used.
            most: maximum number of walkers, over all parts, that are replaced one at a time.
            threads: number of threads; the worlds are divided among them.
            classify: whether a classifier is trained.
            tested: scenes on which the classifier is tested, but never trained.

        Raises:
            InputError: the data set is missing.
        """
        read = {part: Recorded(stretches(scenes, parts=every), most // len(parts)) for part, scenes in parts.items()}
        return Instrument(read, threads, classify, tuple(tested))

    def score(self, name: str, crowd: Crowds) -> list[Score]:
        """Measure a crowd, and return one line per part. If the crowd has no behaviours, formations are measured with the `groups`
        behaviour.
        """
        walked = {part: people.walked(crowd, self.threads) for part, people in self.parts.items()}
        more = {}
        for part, people in self.parts.items():
            led = take_over(_grouped(crowd), people.grouped, self.threads)
            found = [formation(window(stretch, way)) for stretch, way in zip(people.grouped, led, strict=True)]
            more[part] = compare(people.formations, found, tuple(FORMATION))
            more[part]["one error"] = replaced_error(people.cut, people.replaced, crowd, threads=self.threads)
        return self._lines(name, walked, more)

    def constant_velocity(self) -> list[Score]:
        """Return the lines for simulated people who keep their velocity and ignore everyone else."""
        walked = {part: [constant_velocity(s, SAMPLES) for s in people.cut] for part, people in self.parts.items()}
        errors = {p: {"one error": replaced_error(people.cut, people.replaced, None)} for p, people in self.parts.items()}
        return self._lines("constant velocity", walked, errors)

    def jittered(self) -> list[Score]:
        """Return the lines for recorded people with an added position error of 0.05 m, which show the effect of annotation errors
        alone.
        """
        walked = {part: [_jittered(s) for s in people.cut] for part, people in self.parts.items()}
        return self._lines("recorded, jittered", walked, {part: {} for part in self.parts})

    def others(self) -> list[Score]:
        """Return the lines for recorded people compared with other people recorded in the same scenes, which show the effect of
        chance.

        Distances are computed between even and odd stretches; the classifier compares alternate walkers of a stretch.
        """
        own = [walkers[::2] for people in self.parts.values() for walkers in people.features]
        other = [walkers[1::2] for people in self.parts.values() for walkers in people.features]
        lines = []
        for part, people in self.parts.items():
            values = compare(*_paired(people.samples), tuple(QUANTITIES)) | compare(*_paired(people.formations), tuple(FORMATION))
            lines.append(self._judged(Score("recorded, others", part, values), own, other))
        return lines

    def _lines(self, name: str, walked: Mapping[str, Walked], more: Mapping[str, dict[str, Estimate]]) -> list[Score]:
        own = [features for people in self.parts.values() for features in people.features] if self.classify else []
        other = [
            shown(s, way) for p, people in self.parts.items() for s, way in zip(people.cut, walked[p], strict=True) if self.classify
        ]
        lines = []
        for part, people in self.parts.items():
            values = people.distances(walked[part]) | {"crowd error": people.crowd_error(walked[part])} | more[part]
            lines.append(self._judged(Score(name, part, values), own, other))
        return lines

    def _judged(self, score: Score, own: Samples, other: Samples) -> Score:
        """Return a line with the classifier results added for the scenes of its part; each classifier was trained on all other
        scenes, except those in ``tested``.

        Args:
            score: line without the classifier results.
            own: features of the recorded people in the stretches of all parts.
            other: features, in the same stretches, of the people with whom they are compared.
        """
        if not self.classify:
            return score
        scenes = np.array([stretch.scene for people in self.parts.values() for stretch in people.cut])
        training_scenes, judged = ~np.isin(scenes, list(self.tested)), {}
        for scene in dict.fromkeys(stretch.scene for stretch in self.parts[score.part].cut):
            training, test = (_both(own, other, chosen) for chosen in (training_scenes & (scenes != scene), scenes == scene))
            judged[scene] = judge(training, test, threads=self.threads)
        values = {**score.values, "told apart": told_apart(judged.values())}
        return replace(score, values=values, scenes={scene: told_apart([one]) for scene, one in judged.items()})


def score_all(crowds: Mapping[str, Crowds], instrument: Instrument, token: StopToken | None = None) -> Iterator[Measuring | Score]:
    """Yield the lines of the table, one per part: first for the controls, then for every crowd.

    An event that names the crowd precedes its lines.

    To stop, close the iterator, or call ``token.stop()`` from another thread; the function stops after the current crowd.

    Args:
        crowds: crowds by name.
        instrument: instrument that takes the measurements.
        token: token with which another thread can stop the measurement.

    Raises:
        StoppedError: a stop was requested through ``token``.
    """
    token = token or StopToken()
    yield Measuring("controls")
    for control in (instrument.others, instrument.jittered, instrument.constant_velocity):
        token.check()
        yield from control()
    for name, crowd in crowds.items():
        yield Measuring(name)
        token.check()
        yield from instrument.score(name, crowd)


def _both(own: Samples, other: Samples, chosen: Bools) -> tuple[Samples, Samples]:
    """Return the samples of both crowds in the chosen stretches."""
    which = np.flatnonzero(chosen).tolist()
    return [own[k] for k in which], [other[k] for k in which]


def _paired(items: list[dict[str, Doubles]]) -> tuple[list[dict[str, Doubles]], list[dict[str, Doubles]]]:
    """Return the even-numbered and the odd-numbered items; both lists have the same length."""
    return items[: len(items) // 2 * 2 : 2], items[1::2]


def _grouped(crowd: Crowds) -> Crowds:
    """Return the crowd with the `groups` behaviour if it has no behaviours."""
    if isinstance(crowd, SimulatedCrowd):
        return crowd if crowd.behaviours else crowd.with_behaviours(Groups())
    return {scene: one if one.behaviours else one.with_behaviours(Groups()) for scene, one in crowd.items()}


def _jittered(stretch: Stretch) -> Doubles:
    """Return the positions (20, N, 2) of the walkers with independent random errors added."""
    recorded = stretch.position[:, : stretch.walkers]
    return np.asarray(recorded + Stream(f"{stretch.scene} {stretch.begin:.1f} s", 0, "jitter").normal(0.0, _JITTER, recorded.shape))
