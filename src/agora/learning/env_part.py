"""A part of a batch of environments: the worlds whose episodes fit into the same arrays."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agora.core.state import Array, Bools, Floats
from agora.episode import Batch, Conditions
from agora.learning.facts import Facts
from agora.learning.film import Film
from agora.learning.rewards import Clearances
from agora.planners.memory import reset

if TYPE_CHECKING:
    from agora.interfaces import Channel, Encoding, Fact, Limits, Memory, Observation, Transition
    from agora.world.start import Start


class EnvPart:
    """W worlds with R robots each, only some of them in use; row ``w * R + r`` is robot r of world w.

    Args:
        starts: the episodes.
        examples: some of the episodes, from which the array sizes are determined.
        conditions: conditions of all episodes.
        needs: channels required by the policy and by the reward's facts.
        worlds: number of worlds, W.
        threads: number of threads among which the worlds are divided.
        observe: encoding of observations and actions.
        asks: facts that the reward needs.
        filmed: whether images may be requested.

    Attributes:
        batch: the worlds.
        mine: (W,) whether a world's current episode is played in this part.
        film: recorder from which images are drawn; None if no images are requested.
        seen: latest observations of the robots, from the last call of `look`.
    """

    seen: Observation

    def __init__(
        self,
        starts: Sequence[Start],
        examples: Sequence[Start],
        conditions: Conditions,
        needs: Collection[str | Channel],
        worlds: int,
        threads: int,
        observe: Encoding,
        asks: Collection[str | Fact] = (),
        *,
        filmed: bool = False,
    ) -> None:
        self.batch = Batch(starts, conditions, needs, worlds, threads=threads, examples=examples)
        self.mine: Bools = np.zeros(worlds, np.bool_)
        self._clearances = Clearances(self.batch.world)
        self._facts = Facts(self.batch.world, asks)
        self._observe = observe
        self._memory: Memory = {}
        self.film = Film(self.batch, examples) if filmed else None

    def holds(self, start: Start) -> bool:
        """Return whether an episode fits into the arrays."""
        return self.batch.engine.holds(start) and (self.film is None or self.film.holds(start))

    @property
    def rows(self) -> Bools:
        """(N,) whether the current episode of each robot is played in this part."""
        return np.repeat(self.mine, self.batch.world.layout.robots)

    def leave(self, world: int) -> None:
        """Stop playing a world in this part."""
        self.mine[world] = False
        self.batch.leave(world)

    def begin(self, world: int, number: int, start: Start) -> None:
        """Start an episode in a world."""
        self.batch.begin(world, number, start)
        self.mine[world] = True
        if self._memory:
            began = np.arange(len(self.mine)) == world
            self._memory = reset(self._memory, np.repeat(began, self.batch.world.layout.robots))
        if self.film is not None:
            self.film.begin(world, start)

    def look(self, worlds: Collection[int] | None = None) -> None:
        """Take the sensor measurements that are due in all or the given worlds, and update ``seen``.

        This happens once per step, and once more in worlds whose next episode begins in the step.
        """
        self.batch.look(worlds)
        self.seen = self.batch.observer.observe()

    def write(self, out: Floats, worlds: Collection[int]) -> None:
        """Write the encoded observations of the robots in some worlds into their rows (N, D)."""
        count = self.batch.world.layout.robots
        if len(worlds):
            write = functools.partial(self._observe.write, self.seen, out)
            self.batch.world.threads.at(worlds, lambda first, last: write(first * count, last * count))

    def teach(self, teacher: Any, limits: Limits, actions: Floats) -> None:
        """For the worlds that this part simulates, write the actions that a planner would take, given robots with these limits
        (N,).
        """
        observers, rows = self.batch.observers, self.rows
        answer, _ = observers.ask(teacher, observers.observe(), self._memory, rows & self.batch.active)
        self._memory = answer.memory
        actions[rows] = self._observe.actions(answer.twists, limits, *self._ways())[rows]

    def step(self, actions: Array, brought: Transition, facts: dict[str, Floats]) -> None:
        """Advance by one control period, and write the results for all active robots in this part.

        Args:
            actions: (N, A) actions.
            brought: outcome, progress and clearance (N,), written for the active robots.
            facts: facts of the control period by name, each (N, ...); facts that are missing from the dictionary are added.
        """
        batch, world = self.batch, self.batch.world
        rows = self.rows & world.under_way
        twists = self._observe.twists(actions, batch.observer.limits, *self._ways())
        failed = np.flatnonzero(~np.isfinite(twists).all(axis=1) & rows).tolist()
        batch.command(twists, rows, failed)
        if self.film is not None:
            self.film.command(rows)
        self._clearances.restart()
        self._facts.begin(twists, self.seen)
        before = self._goal_distance()
        batch.advance(self._clearances.follow)
        if self.film is not None:
            self.film.sample()
        brought.outcome[rows] = world.status.ends.outcome.reshape(-1)[rows]
        brought.progress[rows] = (before - self._goal_distance())[rows]
        brought.clearance[rows] = self._clearances.values.reshape(-1)[rows]
        self.look()
        for name, values in self._facts.read(self.seen).items():
            facts.setdefault(name, np.zeros_like(values))[rows] = values[rows]

    def _ways(self) -> tuple[Floats, Floats]:
        """Return the poses (N, 3) and goals (N, 3) of the robots."""
        robots, goals = self.batch.world.robots, self.batch.world.status.goals
        pose, goal = ([array.reshape(-1) for array in (part.x, part.y, part.heading)] for part in (robots, goals))
        return np.stack(pose, 1), np.stack(goal, 1)

    def _goal_distance(self) -> Floats:
        robots, status = self.batch.world.robots, self.batch.world.status
        dx, dy = status.goals.x - robots.x, status.goals.y - robots.y
        distance: Floats = np.sqrt(dx * dx + dy * dy).reshape(-1)
        return distance
