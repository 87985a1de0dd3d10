"""Compares the deep social force, through the engine's public step, with plain C on the same scene."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
from measure import Bench, Effort, Line, paired
from plain_c import PlainC, library
from scene import Worlds, halls

from agora.pedestrians.models.deep_social_force import DeepSocialForce


class _PlainPotential(PlainC):
    """The scene with the deep social force."""

    def __init__(self, scene: object, model: DeepSocialForce) -> None:
        super().__init__(scene)
        self._units = model.parameters().units
        self._social_force = library().deep_social_force
        self._forces = (*self._forces, ctypes.c_void_p(self._units.ctypes.data))


def deep_social_force(pedestrians: int, worlds: int, effort: Effort) -> Line:
    """Time pedestrians without a robot, after checking that one step agrees to 1 mm for 999 of 1,000 pedestrians (not all, because
    the field of view has an edge).
    """
    scene, model = halls(worlds, pedestrians), DeepSocialForce()
    mine, plain = Worlds(scene, model), _PlainPotential(scene, model)
    mine.engine.step()
    plain.step()
    apart = [np.abs(a[:, :pedestrians] - b) for a, b in zip(mine.world.pedestrians[:4], plain.people, strict=True)]
    if np.mean(np.max(apart, axis=0) > 1e-3) > 1e-3:
        raise RuntimeError(f"a step differs from plain C by {np.max(apart):.2g} m or m/s")

    def before() -> None:
        mine.restart()
        plain.restart()

    return Line.of(paired(mine.engine.step, plain.step, effort, before=before))


def benches() -> list[Bench]:
    """Return the lines of the table; none without gcc."""
    if library() is None:
        return []
    sizes = [(p, w) for p in (30, 300) for w in (1, 64, 1024)]
    return [Bench(f"deep-force-{p}-{w}", "C", 0.7, functools.partial(deep_social_force, p, w)) for p, w in sizes]
