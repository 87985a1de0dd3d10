"""A crowd model with the engine's settings, and functions that simulate many starts at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agora.core.state import Array, Doubles
from agora.draft.periods import Periods
from agora.draft.steps import Steps
from agora.draft.unsteady import Unsteady
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.pedestrians.behaviours.groups import Groups
from agora.world.start import Start

_TOGETHER = 256  # worlds of one batch


@dataclass(frozen=True)
class SimulatedCrowd:
    """A crowd model with the engine's settings. Experiments build their engines only here.

    Attributes:
        model: crowd model, in either form.
        behaviours: behaviours that choose people's destinations before the model is called.
        routes: whether the engine routes people round walls.
        careful: whether the engine prevents everyone from stepping into a wall, a robot or a pedestrian.
        unsteady: fluctuation of pace and direction; None for no fluctuation.
        steps: limits on turning.
    """

    model: Any
    behaviours: tuple[Any, ...] = ()
    routes: bool = False
    careful: bool = False
    unsteady: Unsteady | None = None
    steps: Steps = field(default_factory=Steps)

    @staticmethod
    def of_suites(model: Any, *behaviours: Any, unsteady: Unsteady | None = None) -> SimulatedCrowd:
        """Return a crowd as suites configure it: with routes, the last step, and `Groups` if someone walks in a group."""
        grouped = behaviours if any(isinstance(part, Groups) for part in behaviours) else (*behaviours, Groups())
        return SimulatedCrowd(model, grouped, True, True, unsteady)

    @staticmethod
    def of(model: Any) -> SimulatedCrowd:
        """Return a crowd unchanged; a bare model becomes a crowd with all optional engine parts switched off."""
        return model if isinstance(model, SimulatedCrowd) else SimulatedCrowd(model)

    def with_behaviours(self, *behaviours: Any) -> SimulatedCrowd:
        """Return the same crowd with other behaviours."""
        return dataclasses.replace(self, behaviours=behaviours)

    def engine(self, starts: Sequence[Start], dt: float, threads: int = 1) -> Engine:
        """Return an engine with one started world for each start.

        Args:
            starts: starts, one per world.
            dt: physics step, s.
            threads: number of threads; the worlds are divided among them.
        """
        conditions = Conditions(
            Periods(dt, dt, dt, dt),
            self.model,
            tuple(self.behaviours),
            routes=self.routes,
            careful=self.careful,
            unsteady=self.unsteady,
            steps=self.steps,
        )
        engine = Engine.of(starts, conditions, threads=threads)
        for number, start in enumerate(starts):
            engine.reset(number, start)
        engine.world.status.clock.time_limit[...] = np.iinfo(np.int32).max
        engine.world.status.clock.done[...] = False
        return engine


def simulate(
    crowd: SimulatedCrowd, starts: Sequence[Start], duration: float, *, dt: float = 0.05, every: int = 2, threads: int = 1
) -> list[Doubles]:
    """Return the motion of each start's simulated pedestrians: (T, P, 4) x, y, vx, vy, every ``every`` steps, starting at step 0.

    Starts with similar numbers of slots run in one batch; worlds are independent of each other.

    Args:
        crowd: crowd model with its settings.
        starts: starts, one per world.
        duration: duration, s.
        dt: physics step, s.
        every: number of steps between two samples.
        threads: number of threads; the worlds are divided among them.
    """
    done: list[Doubles] = [np.zeros((0, 0, 4))] * len(starts)
    order = sorted(range(len(starts)), key=lambda k: starts[k].crowd_size)
    for begin in range(0, len(order), _TOGETHER):
        batch = order[begin : begin + _TOGETHER]
        engine = crowd.engine([starts[k] for k in batch], dt, threads)
        samples: list[Array] = []
        steps = round(duration / dt)
        for step in range(steps + 1):
            if step % every == 0:
                now = engine.world.pedestrians
                samples.append(np.stack([now.x, now.y, now.vx, now.vy], -1))
            if step < steps:
                engine.step()
        engine.close()
        kept = np.array(samples, np.float64)
        for world, k in enumerate(batch):
            done[k] = kept[:, world, : len(starts[k].pedestrians.id)]
    return done


def simulate_scenes(
    crowds: SimulatedCrowd | Mapping[str, SimulatedCrowd],
    scenes: Sequence[str],
    starts: Sequence[Start],
    duration: float,
    *,
    every: int = 2,
    threads: int = 1,
) -> list[Doubles]:
    """Return the motion as `simulate` does, but with a separate crowd for each scene.

    Args:
        crowds: a crowd for all scenes, or crowds by scene.
        scenes: scene of each start.
        starts: as for `simulate`.
        duration: as for `simulate`.
        every: as for `simulate`.
        threads: as for `simulate`.
    """
    if isinstance(crowds, SimulatedCrowd):
        return simulate(crowds, starts, duration, every=every, threads=threads)
    done: dict[int, Doubles] = {}
    for scene in dict.fromkeys(scenes):
        which = [k for k, name in enumerate(scenes) if name == scene]
        seen = simulate(crowds[scene], [starts[k] for k in which], duration, every=every, threads=threads)
        done |= dict(zip(which, seen, strict=True))
    return [done[k] for k in range(len(starts))]
