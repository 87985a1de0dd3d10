"""An interplanner in front of a local planner: together they are a local planner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from agora.core.recording import Reason
from agora.core.state import Floats
from agora.interfaces import NOTES, Answer, Declaration, Guidance, Limits, Memory, Observation
from agora.planners import lift
from agora.registry import Named, Plug


@dataclass(frozen=True)
class GuidedPlanner:
    """A local planner that follows the path of an interplanner, at most as fast as the interplanner allows.

    Attributes:
        planner: the local planner.
        interplanner: interplanner that makes its path.
    """

    planner: Annotated[Named, Plug("planners")]
    interplanner: Annotated[Named, Plug("interplanners")]

    @cached_property
    def declares(self) -> Declaration:
        """The properties of the local planner, with the channels that the interplanner reads and the notes of both.

        A channel that both read has the local planner's parameters.
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
        answer = lift.rows(part).act(guided(observation, guidance, part.declares.top_speed), memory.get("planner", {}))
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
        """Return the guidance of the interplanner, and its part of the memory."""
        found: tuple[Guidance, Memory] = self.interplanner.part.guide(observation, memory.get("interplanner", {}))
        return found


def guided(observation: Observation, guidance: Guidance, top_speed: float) -> Observation:
    """Return the observation of a local planner with this top speed, m/s: path and goal, pedestrians, limits that slow it down."""
    o, g = observation, guidance
    people = o.pedestrians if g.pedestrians is None else g.pedestrians
    limits = _slowed(o.limits, g.speed, top_speed)
    return replace(o, path=g.path, path_count=g.path_count, goal=g.goal, pedestrians=people, limits=limits)


def _slowed(limits: Limits, speed: Floats, top: float) -> Limits:
    """Limits of rows that may only be ``speed`` (N,) times as fast as the local planner's ``top`` m/s."""
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
