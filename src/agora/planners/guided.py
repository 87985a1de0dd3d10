"""An interplanner combined with a local planner; the combination is itself a local planner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from agora.core.answers import LARGEST, numbers
from agora.core.recording import Reason
from agora.core.state import Array, Floats
from agora.errors import ComponentError
from agora.interfaces import NOTES, Answer, Declaration, Guidance, Limits, Memory, Observation, Tracks
from agora.planners import adapters
from agora.registry import Named, Plug


@dataclass(frozen=True)
class GuidedPlanner:
    """A local planner that follows the path from an interplanner, no faster than the interplanner allows.

    Attributes:
        planner: the local planner.
        interplanner: the interplanner that provides the path.
    """

    planner: Annotated[Named, Plug("planners")]
    interplanner: Annotated[Named, Plug("interplanners")]

    @cached_property
    def declares(self) -> Declaration:
        """Return the properties of the local planner, extended by the channels that the interplanner reads and the notes of both.

        If both read a channel, the local planner's parameters are used.
        """
        mine: Declaration = self.planner.part.declares
        other: Declaration = self.interplanner.part.declares
        channels = {"path": None} | other.channels | mine.channels
        return replace(
            mine,
            needs=tuple(name if one is None else one for name, one in channels.items()),
            notes=tuple(NOTES),
            tunable={},
            concurrent=mine.concurrent and other.concurrent,
            danger_threshold=other.danger_threshold,
            requires=tuple(dict.fromkeys((*mine.requires, *other.requires))),
        )

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3) of the local planner, the memory of both, and their notes."""
        part = self.planner.part
        guidance, own = self.guidance(observation, memory)
        answer = adapters.as_batch_planner(part).act(
            guided_observation(observation, guidance, part.declares.top_speed), memory.get("planner", {})
        )
        twists = answer.twists
        if guidance.twist is not None and guidance.overrules is not None:
            twists = np.where(guidance.overrules[:, None], guidance.twist, twists)
        reason = np.zeros(len(twists), np.int8) if guidance.reason is None else guidance.reason
        said = answer.notes.get("reason", reason)
        assert observation.path_count is not None
        lost = (guidance.path_count == 0) & (observation.path_count > 0) & (said != Reason.RECOVERING)
        twists = np.where(lost[:, None], np.float32(0.0), twists)
        noted = {"reason": np.where(said == 0, reason, said), "speed_limit": guidance.speed, "danger": guidance.danger}
        notes = {name: value.astype(NOTES[name]) for name, value in noted.items()}
        return Answer(twists, {"planner": answer.memory, "interplanner": own}, notes)

    def guidance(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return the interplanner's guidance, and its part of the memory.

        Raises:
            ComponentError: the interplanner returned something else.
        """
        who = f"interplanner {self.interplanner.name}"
        found = self.interplanner.part.guide(observation, memory.get("interplanner", {}))
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], Guidance)):
            raise ComponentError(f"{who} returned {type(found).__name__}; expected a Guidance and a memory")
        return _check_guidance(who, found[0], len(observation.pose)), found[1]


def _check_guidance(who: str, given: Guidance, rows: int) -> Guidance:
    """Check guidance for N rows, and return it with arrays of the right type.

    Raises:
        ComponentError: an array has the wrong shape, or contains an invalid number.
    """

    def array(what: str, *axes: int | None, low: float = -LARGEST, high: float = LARGEST, kind: type = np.float32) -> Array:
        value = numbers(who, what, getattr(given, what), (rows, *axes))
        if not ((value >= low) & (value <= high)).all():
            raise ComponentError(f"{who} returned {what} {value.tolist()}; expected numbers from {low:g} to {high:g}")
        return value.astype(kind, copy=False)

    overrules = given.overrules
    if (given.twist is None) != (overrules is None) or (overrules is not None and np.shape(overrules) != (rows,)):
        raise ComponentError(f"{who} returned twist or overrules alone, or overrules that are not of shape ({rows},)")
    if given.pedestrians is not None:
        _check_tracks(who, given.pedestrians, rows)
    path = array("path", None, 2)
    return replace(
        given,
        path=path,
        path_count=array("path_count", high=path.shape[1], low=0, kind=np.int32),
        goal=array("goal", 3),
        speed=array("speed", low=0.0, high=1.0),
        danger=array("danger", low=0.0, high=1.0),
        reason=None if given.reason is None else array("reason", low=0, high=max(Reason), kind=np.int8),
        twist=None if given.twist is None else array("twist", 3),
    )


def _check_tracks(who: str, told: Tracks, rows: int) -> None:
    """Raise a `ComponentError` unless the pedestrians passed to the local planner are tracks for N rows."""
    if not isinstance(told, Tracks) or told.present.dtype != np.bool_ or told.present.shape[:1] != (rows,):
        raise ComponentError(f"{who} returned pedestrians as {type(told).__name__}; expected Tracks of {rows} rows")
    for what, tail in {"position": (2,), "velocity": (2,), "radius": (), "id": (), "group": ()}.items():
        numbers(who, f"pedestrians.{what}", getattr(told, what), (*told.present.shape, *tail), where=told.present)


def guided_observation(observation: Observation, guidance: Guidance, top_speed: float) -> Observation:
    """Return the observation for a local planner with this top speed, m/s: with the path, goal and pedestrians from the guidance,
    and with reduced limits.
    """
    o, g = observation, guidance
    people = o.pedestrians if g.pedestrians is None else g.pedestrians
    limits = _reduced_limits(o.limits, g.speed, top_speed)
    return replace(o, path=g.path, path_count=g.path_count, goal=g.goal, pedestrians=people, limits=limits)


def _reduced_limits(limits: Limits, speed: Floats, top: float) -> Limits:
    """Return the limits of robots whose speed is limited to a fraction ``speed`` (N,) of the local planner's top speed ``top``, in
    m/s.
    """
    slow = speed < 1.0
    if not slow.any():
        return limits
    most = np.clip(speed, 0.0, 1.0) * np.minimum(limits.max_vx, np.float32(top))
    return replace(
        limits,
        max_vx=np.where(slow, most, limits.max_vx),
        min_vx=np.where(slow, np.maximum(limits.min_vx, -most), limits.min_vx),
        max_vy=np.where(slow, np.minimum(limits.max_vy, most), limits.max_vy),
    )
