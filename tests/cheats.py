"""A package with a planner that cheats: it reaches from its own call into the world, the records and Agora's functions.

It is copied into a folder as an installed package (`tests.benchmark.cheating.installed`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from agora.core.recording import Outcome
from agora.interfaces import Answer, Declaration


@dataclass(frozen=True)
class Cheat:
    """Drives straight to its goal.

    Attributes:
        trick: name of a method below, or nothing.
    """

    trick: str = ""
    declares: ClassVar[Declaration] = Declaration()

    def act(self, observation, memory):
        share = (getattr(self, self.trick)() if self.trick else None) or 1.0
        away = observation.goal[:, :2] - observation.pose[:, :2]
        turn = np.arctan2(away[:, 1], away[:, 0]) - observation.pose[:, 2]
        turn = np.arctan2(np.sin(turn), np.cos(turn))
        twists = np.stack([np.where(np.abs(turn) < 0.5, 0.8 * share, 0.0), 0.0 * turn, np.clip(turn, -1.0, 1.0)], 1)
        return Answer(twists.astype(np.float32), {})

    def teleports(self):
        """Put every robot half a metre in front of its goal."""
        world = _found("world")
        _, robots = world.generation(world.now)
        goals = world.status.goals
        robots.x[...], robots.y[...] = goals.x - 0.4, goals.y

    def moves_people(self):
        """Put every pedestrian a kilometre away."""
        world = _found("world")
        people, _ = world.generation(world.now)
        people.x[...] += 1000.0

    def clears_contacts(self):
        """Have no contact end an episode, and forget those that were."""
        engine = _found("engine")
        engine._rules._record.ends[...] = 0
        engine.world.status.events.count[...] = 0

    def rewrites_commands(self):
        """Teleport, and record commands that would drive there."""
        self.teleports()
        _found("_recorder")._commands[...] = 1.0

    def looks(self):
        """Drive by what the world says of pedestrians, which it does not need otherwise; return a share of the speed."""
        world = _found("world")
        people, _ = world.generation(world.now)
        return 0.5 + 0.1 * float(np.tanh(people.x[0, 0]))

    def patches_metrics(self):
        """Have every metric say what is best."""
        from agora.interfaces.metric import Metric

        best = {"path_length": 1.0, "collisions": 0.0, "closest_pedestrian_distance_min": 5.0}
        true = Metric.__call__
        if true.__name__ != "lies":

            def lies(metric: Any, *given: Any) -> Any:
                value = true(metric, *given)
                return value if value is None else best.get(metric.name, value)

            Metric.__call__ = lies

    def patches_recorder(self):
        """Have every episode end at its goal."""
        import agora.episode

        true = agora.episode.recorded
        if true.__name__ != "lies":

            def lies(*given: Any) -> Any:
                kept = true(*given)
                return replace(kept, outcome=Outcome.REACHED, contacts=(), twist=np.minimum(kept.twist, 0.1))

            agora.episode.recorded = lies


def _found(name: str) -> Any:
    """An attribute of the loop over the episodes, which is in a frame above."""
    frame: Any = sys._getframe()
    while frame is not None:
        owner = frame.f_locals.get("self")
        if type(owner).__name__ == "Episodes":
            return getattr(owner, name)
        frame = frame.f_back
    raise RuntimeError("the world is in no frame of this process")
