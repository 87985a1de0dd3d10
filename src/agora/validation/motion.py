"""A single set of parameters that can be fitted to how people move: turning, unsteadiness and walking groups.

The crowd model itself is not changed. The search compares the distributions of the quantities in `MOTION` and the position errors;
it does not use the classifier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Doubles
from agora.draft.steps import Steps
from agora.draft.unsteady import Unsteady
from agora.interfaces.span import Span
from agora.pedestrians.behaviours.groups import Groups
from agora.validation.crowd import SimulatedCrowd
from agora.validation.movement import percentile
from agora.validation.quantities import formation, quantities
from agora.validation.replaced import error
from agora.validation.stretches import STEP, Stretch
from agora.validation.window import TrackWindow, apart

if TYPE_CHECKING:
    from agora.validation.scores import Crowds, Recorded, Score

MOTION = {
    "speed": 1.0,
    "people": 1.0,
    "group distance": 1.0,
    "group angle": 1.0,
    "turning": 1.0,
    "pace change": 1.0,
    "bend": 1.0,
    "group drift": 1.0,
    "crowd error": 1.0,
}
"""Weights of the compared quantities, which are Wasserstein distances, in standard deviations of recorded people, and the mean
displacement error of whole crowds, divided by the error of the constant-velocity baseline.
"""

_SPANS = {
    "lateral": Span(0.4, 2.5, log=True),
    "pace": Span(0.02, 0.4, log=True),
    "pace_time": Span(1.0, 30.0, log=True),
    "direction": Span(0.02, 0.4, log=True),
    "direction_time": Span(1.0, 30.0, log=True),
    "spacing": Span(0.5, 1.0),
    "drift": Span(0.02, 0.5, log=True),
    "drift_time": Span(0.5, 30.0, log=True),
}
_WALKS = 0.5  # m/s, minimum speed at which turning is measured
_REACH = 3.0  # m, distance within which a member of the same group counts


@dataclass(frozen=True)
class _Declared:
    """A declaration of parameters that can be fitted."""

    tunable: dict[str, Span]


@dataclass(frozen=True)
class Motion:
    """Parameters of how people move, combined from `Steps`, `Unsteady` and `Groups`.

    Attributes:
        lateral: as in `Steps`.
        pace: as in `Unsteady`.
        pace_time: as in `Unsteady`.
        direction: as in `Unsteady`.
        direction_time: as in `Unsteady`.
        spacing: as in `Groups`.
        drift: as in `Groups`.
        drift_time: as in `Groups`.
    """

    lateral: float = Steps.lateral
    pace: float = Unsteady.pace
    pace_time: float = Unsteady.pace_time
    direction: float = Unsteady.direction
    direction_time: float = Unsteady.direction_time
    spacing: float = Groups.spacing
    drift: float = Groups.drift
    drift_time: float = Groups.drift_time

    @property
    def declares(self) -> _Declared:
        """The declaration of the parameters, with their ranges."""
        return _Declared(_SPANS)

    def crowd(self, model: SimulatedCrowd) -> SimulatedCrowd:
        """Return a copy of a crowd that moves with these parameters."""
        groups = Groups(spacing=self.spacing, drift=self.drift, drift_time=self.drift_time)
        others = tuple(part for part in model.behaviours if not isinstance(part, Groups))
        return replace(
            model,
            behaviours=(*others, groups),
            unsteady=Unsteady(self.pace, self.pace_time, self.direction, self.direction_time),
            steps=Steps(lateral=self.lateral),
        )

    def block(self) -> dict[str, Any]:
        """Return the parameters as keys of a suite's ``crowd``."""
        groups = {"name": "groups", "spacing": self.spacing, "drift": self.drift, "drift_time": self.drift_time}
        unsteady = {name: getattr(self, name) for name in ("pace", "pace_time", "direction", "direction_time")}
        return {"behaviours": [groups], "unsteady": unsteady, "steps": {"lateral": self.lateral}}


def motion(seen: TrackWindow) -> dict[str, Doubles]:
    """Return the samples of a window: quantities, formations, and changes in the walkers' pace, direction and distance to their
    group.

    Turning is the angle between successive velocities, degrees. Pace change is the standard deviation of a walker's speed, m/s.
    Bend is the maximum distance of a walker from the straight line between its first and last positions, m. Group drift is the
    standard deviation of the distance from a walker to the nearest member of its group, m.
    """
    n = seen.walkers
    velocity, position = seen.velocity[:, :n], seen.position[:, :n]
    speed, direction = np.hypot(velocity[..., 0], velocity[..., 1]), np.arctan2(velocity[..., 1], velocity[..., 0])
    walks = speed > _WALKS
    turn = np.degrees(np.abs(np.angle(np.exp(1j * np.diff(direction, axis=0)))))
    chord = position[-1] - position[0]
    length = np.maximum(np.hypot(chord[:, 0], chord[:, 1]), 1e-9)
    off = np.abs(chord[:, 0] * (position - position[0])[..., 1] - chord[:, 1] * (position - position[0])[..., 0]) / length
    together = (seen.group[:n, None] == seen.group) & (seen.group[:n, None] >= 0)
    near = np.where(together, apart(seen), np.inf).min(-1, initial=np.inf)
    near = near[:, (near < _REACH).all(0)]
    return {
        **quantities(seen),
        **formation(seen),
        "turning": turn[walks[1:] & walks[:-1]],
        "pace change": speed.std(0),
        "bend": off.max(0),
        "group drift": near.std(0),
    }


def turning(cut: Sequence[Stretch], walked: Sequence[Doubles] | None = None) -> tuple[float, float]:
    """Return the 50th and 95th percentiles of the change of direction in 0.4 s at speeds above 0.5 m/s, degrees.

    Positions are not smoothed, as in `agora.validation.movement`.

    Args:
        cut: stretches of recordings.
        walked: simulated positions (20, N, 2) of the walkers in each stretch, m; if omitted, the recorded positions are used.
    """
    counts = np.zeros(181)
    for k, stretch in enumerate(cut):
        step = np.diff(stretch.position[:, : stretch.walkers] if walked is None else walked[k], axis=0)
        walks = np.hypot(step[..., 0], step[..., 1]) > _WALKS * STEP
        direction = np.arctan2(step[..., 1], step[..., 0])
        turn = np.degrees(np.abs(np.angle(np.exp(1j * np.diff(direction, axis=0)))))[walks[1:] & walks[:-1]]
        counts += np.bincount(np.rint(turn).astype(np.int64), minlength=181)
    return percentile(counts, 0.5), percentile(counts, 0.95)


def held_out(people: Recorded, crowds: Mapping[str, Crowds], scores: Sequence[Score], threads: int = 1) -> str:
    """Return a Markdown table with the classifier's accuracy, percentiles of turning, and crowd error, by crowd and scene.

    Args:
        people: recorded people.
        crowds: crowds, by name; if there is one crowd per scene, each was fitted to the other scenes.
        scores: lines of the score table for the same crowds.
        threads: number of threads; the worlds are divided among them.
    """
    lines = ["| scene | crowd | told apart | turn 50 % | turn 95 % | crowd error (m) |", "|---|---|---|---|---|---|"]
    told = {(score.name, scene): found.value for score in scores for scene, found in score.scenes.items()}
    walked = {name: people.walked(crowd, threads) for name, crowd in crowds.items()}
    for scene in dict.fromkeys(stretch.scene for stretch in people.cut):
        which = [k for k, stretch in enumerate(people.cut) if stretch.scene == scene]
        cut = [people.cut[k] for k in which]
        half, most = turning(cut)
        lines.append(f"| {scene} | recorded | | {half:.0f} | {most:.0f} | |")
        for name in crowds:
            ways = [walked[name][k] for k in which]
            half, most = turning(cut, ways)
            errors = [error(stretch.position[:, : stretch.walkers], way) for stretch, way in zip(cut, ways, strict=True)]
            apart_by = told.get((name, scene))
            accuracy = "-" if apart_by is None else f"{apart_by:.2f}"
            lines.append(f"| {scene} | {name} | {accuracy} | {half:.0f} | {most:.0f} | {np.concatenate(errors).mean():.2f} |")
    return "\n".join(lines) + "\n"
