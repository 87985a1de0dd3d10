"""A crowd model with engine settings, and functions that simulate many starts at once."""

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

_TOGETHER = 256  # maximum number of worlds per batch


@dataclass(frozen=True)
class SimulatedCrowd:
    """A crowd model with engine settings. Experiments build engines only through this class.

    Attributes:
        model: crowd model, in either form.
        behaviours: behaviours that choose people's destinations before the model is called.
        routes: whether the engine routes people around walls.
        careful: whether the engine prevents people from stepping into walls, robots or other people.
        unsteady: fluctuation of pace and direction; None if there is no fluctuation.
        steps: limits on how fast people turn.
    """

    model: Any
    behaviours: tuple[Any, ...] = ()
    routes: bool = False
    careful: bool = False
    unsteady: Unsteady | None = None
    steps: Steps = field(default_factory=Steps)

    @staticmethod
    def of_suites(model: Any, *behaviours: Any, unsteady: Unsteady | None = None) -> SimulatedCrowd:
        """Return a crowd with the settings used by suites: with routes, with the last step, and with the behaviour `Groups`, which
        is added if it is missing.
        """
        grouped = behaviours if any(isinstance(part, Groups) for part in behaviours) else (*behaviours, Groups())
        return SimulatedCrowd(model, grouped, True, True, unsteady)

    @staticmethod
    def of(model: Any) -> SimulatedCrowd:
        """Return a crowd unchanged. A model without settings becomes a crowd for which all optional parts of the engine are
        switched off.
        """
        return model if isinstance(model, SimulatedCrowd) else SimulatedCrowd(model)

    def with_behaviours(self, *behaviours: Any) -> SimulatedCrowd:
        """Return a copy of the crowd with other behaviours."""
        return dataclasses.replace(self, behaviours=behaviours)

    def engine(self, starts: Sequence[Start], dt: float, threads: int = 1) -> Engine:
        """Return an engine with one world, already started, for each start.

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
    """Return the motion of the simulated pedestrians of each start: x, y, vx and vy (T, P, 4), m and m/s.

    The motion is sampled every ``every`` steps, starting at step 0.

    Starts with similar numbers of slots are run in one batch; worlds are independent of each other.

    Args:
        crowd: crowd model with its settings.
        starts: starts, one per world.
        duration: simulated time, s.
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
    """Return the motion like `simulate`, but with a separate crowd for each scene.

    Args:
        crowds: one crowd for all scenes, or crowds by scene.
        scenes: scene of each start.
        starts: as in `simulate`.
        duration: as in `simulate`.
        every: as in `simulate`.
        threads: as in `simulate`.
    """
    if isinstance(crowds, SimulatedCrowd):
        return simulate(crowds, starts, duration, every=every, threads=threads)
    done: dict[int, Doubles] = {}
    for scene in dict.fromkeys(scenes):
        which = [k for k, name in enumerate(scenes) if name == scene]
        seen = simulate(crowds[scene], [starts[k] for k in which], duration, every=every, threads=threads)
        done |= dict(zip(which, seen, strict=True))
    return [done[k] for k in range(len(starts))]
