"""An interplanner in front of a local planner: together they are a local planner."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from agora.core.recording import Reason
from agora.core.state import Floats
from agora.interfaces import NOTE, NOTES, Guidance, Limits, Memory, Observation
from agora.planners import lift
from agora.planners.final_turn import turns_at_goal
from agora.registry import Named, Plug

TOP_SPEED = ("max_vel_x", "max_speed", "preferred_speed", "speed")
"""Parameters by which local planners say how fast they drive at most; without one it is the robot that limits them."""

_OWN = "inter."


@dataclass(frozen=True)
class Guided:
    """A local planner that follows the path of an interplanner, at most as fast as that allows.

    Attributes:
        planner: the local planner.
        interplanner: what it follows.
    """

    planner: Annotated[Named, Plug("planners")]
    interplanner: Annotated[Named, Plug("interplanners")]

    @property
    def needs(self) -> frozenset[str]:
        """What either of them needs."""
        return frozenset(self.planner.part.needs | self.interplanner.part.needs | {"path"})

    @property
    def concurrent(self) -> bool:
        """Whether threads may ask both at the same time."""
        return all(getattr(one.part, "concurrent", False) for one in (self.planner, self.interplanner))

    @property
    def turns_at_goal(self) -> bool:
        """Whether the local planner turns to the goal's heading."""
        return turns_at_goal(self.planner.part)

    @property
    def notes(self) -> frozenset[str]:
        """What the interplanner says besides its path, and what the local planner notes."""
        return frozenset(NOTES)

    @property
    def window(self) -> Any:
        """The local costmap of the local planner, or of the interplanner where the local planner reads none."""
        own = getattr(self.planner.part, "window", None)
        return own if "costmap" in self.planner.part.needs else getattr(self.interplanner.part, "window", own)

    @property
    def semantics(self) -> Any:
        """The semantic maps of the local planner, or of the interplanner."""
        return getattr(self.planner.part, "semantics", getattr(self.interplanner.part, "semantics", None))

    def act(self, observation: Observation, memory: Memory) -> tuple[Floats, Memory]:
        """Return the twists (N, 3) of the local planner, and the memory of both."""
        guidance, own = self.guidance(observation, memory)
        rest = {name: array for name, array in lift.unnoted(memory).items() if not name.startswith(_OWN)}
        planner = lift.rows(self.planner.part)
        twists, after = planner.act(guided(observation, guidance, self.planner.part), rest)
        if guidance.twist is not None and guidance.overrules is not None:
            twists = np.where(guidance.overrules[:, None], guidance.twist, twists)
        reason = np.zeros(len(twists), np.int8) if guidance.reason is None else guidance.reason
        said = after.get(NOTE + "reason", reason)
        assert observation.path_count is not None
        lost = (guidance.path_count == 0) & (observation.path_count > 0) & (said != Reason.RECOVERING)
        twists = np.where(lost[:, None], np.float32(0.0), twists)
        noted = {"reason": np.where(said == 0, reason, said), "speed_limit": guidance.speed, "danger": guidance.danger}
        return twists, after | own | {NOTE + name: value.astype(NOTES[name]) for name, value in noted.items()}

    def guidance(self, observation: Observation, memory: Memory) -> tuple[Guidance, Memory]:
        """Return what the interplanner says, and its part of the memory."""
        own = {name.removeprefix(_OWN): array for name, array in memory.items() if name.startswith(_OWN)}
        found, after = self.interplanner.part.guide(observation, own)
        return found, {_OWN + name: array for name, array in after.items()}


def guided(observation: Observation, guidance: Guidance, planner: Any) -> Observation:
    """Return what the local planner is told: the path, its end as goal, pedestrians, and limits that hold its speed down."""
    o, g = observation, guidance
    people = o.pedestrians if g.pedestrians is None else g.pedestrians
    limits = _slowed(o.limits, g.speed, top_speed(planner))
    return replace(o, path=g.path, path_count=g.path_count, goal=g.goal, pedestrians=people, limits=limits)


def top_speed(planner: Any) -> float:
    """Return how fast a local planner drives at most, m/s; infinity where it does not say."""
    named = (getattr(planner, name, None) for name in TOP_SPEED)
    return next((float(value) for value in named if value is not None), math.inf)


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
