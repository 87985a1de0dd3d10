"""Some of a batch of environments: those whose episodes fit into the same arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Array, Bools, Floats
from agora.episode import Batch, Conditions
from agora.learning.facts import Facts
from agora.learning.rewards import Clearances, Transition
from agora.planners.memory import reset

if TYPE_CHECKING:
    from agora.interfaces import Channel, Memory
    from agora.policies.encoding import Encoding
    from agora.world.start import Start


class Part:
    """Worlds of one robot each, of which some are in use.

    Args:
        starts: the episodes. examples: of them, that say how large they are.
        conditions: what they have in common.
        needs: the channels that the policy sees.
        worlds: W.
        threads: threads over worlds.
        observe: what actions mean.
        asks: facts that the reward reads.

    Attributes:
        batch: the worlds. mine: (W,) environments whose episodes are played here.
    """

    def __init__(
        self,
        starts: Sequence[Start],
        examples: Sequence[Start],
        conditions: Conditions,
        needs: Collection[str | Channel],
        worlds: int,
        threads: int,
        observe: Encoding,
        asks: Collection[str] = (),
    ) -> None:
        self.batch = Batch(starts, conditions, needs, worlds, threads=threads, examples=examples)
        self.mine: Bools = np.zeros(worlds, np.bool_)
        self.batch.world.status.clock.done[:] = True
        self._clearances = Clearances(self.batch.world)
        self._facts = Facts(self.batch, asks)
        self._observe = observe
        self._memory: Memory = {}

    def leave(self, world: int) -> None:
        """Play an environment here no longer."""
        self.mine[world], self.batch.world.status.clock.done[world] = False, True

    def begin(self, world: int, number: int, start: Start) -> None:
        """Play an episode in an environment."""
        self.batch.begin(world, number, start)
        self.mine[world] = True
        rows = np.zeros(len(self.mine), np.bool_)
        rows[world] = True
        self._memory = reset(self._memory, rows)

    def teach(self, teacher: Any, actions: Floats) -> None:
        """Write the actions that a planner takes in the environments that are played here."""
        observers = self.batch.observers
        answer, _ = observers.ask(teacher, observers.observe(), self._memory, self.mine & self.batch.active)
        self._memory = answer.memory
        actions[self.mine] = self._observe.actions(answer.twists, observers.one.limits, *self._ways())[self.mine]

    def step(self, actions: Array, brought: Transition) -> None:
        """Let one control period pass, and write what it brought to the environments that are played here."""
        batch, mine = self.batch, self.mine
        twists = self._observe.twists(actions, batch.observer.limits, *self._ways())
        failed = np.flatnonzero(~np.isfinite(twists).all(axis=1) & mine).tolist()
        batch.world.command(twists, mine, failed)
        self._clearances.restart()
        self._facts.begin(twists)
        before = self._goal_distance()
        batch.advance(self._clearances.follow)
        brought.outcome[mine] = batch.world.status.ends.outcome[mine, 0]
        brought.progress[mine] = (before - self._goal_distance())[mine]
        brought.clearance[mine] = self._clearances.values[mine]
        self._facts.end()
        batch.look()
        for name, values in self._facts.read().items():
            brought.facts[name][mine] = values[mine]

    def _ways(self) -> tuple[Floats, Floats]:
        """The poses (W, 3) and goals (W, 3) of the robots."""
        robots, goals = self.batch.world.robots, self.batch.world.status.goals
        pose, goal = ([part.x[:, 0], part.y[:, 0], part.heading[:, 0]] for part in (robots, goals))
        return np.stack(pose, 1), np.stack(goal, 1)

    def _goal_distance(self) -> Floats:
        robots, status = self.batch.world.robots, self.batch.world.status
        dx, dy = status.goals.x[:, 0] - robots.x[:, 0], status.goals.y[:, 0] - robots.y[:, 0]
        distance: Floats = np.sqrt(dx * dx + dy * dy)
        return distance
