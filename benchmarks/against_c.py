"""Compares the engine's public step with plain C on the same scene."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import cycle

import numpy as np
from measure import Bench, Effort, Line, paired
from plain_c import PlainC, library
from scene import SOCIAL_FORCE, Worlds, free_points, hall, halls

from agora.pedestrians.models.evacuation import Evacuation


def _check(worlds: Worlds, plain: PlainC, robots: bool) -> None:
    """Check that both do the same work: one step and one scan of each must agree."""
    if robots:
        ranges = worlds.scanner.scan()[:, 0]
        plain.scan()
        off = float(np.mean(np.abs(ranges - plain.ranges) > 1e-3))
        if off > 1e-3:
            raise RuntimeError(f"{100 * off:.2g} % of the beams differ from plain C by more than 1 mm")
    _check_step(worlds, plain, plain.step)


def _check_step(worlds: Worlds, plain: PlainC, step: Callable[[], None]) -> None:
    """Check that one step of each moves the pedestrians to the same positions."""
    worlds.engine.step()
    step()
    people, count = worlds.world.pedestrians, plain.people[0].shape[1]
    off = max(float(np.abs(mine[:, :count] - its).max()) for mine, its in zip(people[:4], plain.people, strict=True))
    if off > 1e-3:
        raise RuntimeError(f"a step differs from plain C by {off:.2g} m or m/s")


def world_step(worlds: int, effort: Effort) -> Line:
    """Time 32 pedestrians, a robot and its scan. In a single world, the robot is at a different position at every call, because
    otherwise the processor would learn the branches.
    """
    scene = halls(worlds, 32)
    mine, plain = Worlds(scene, SOCIAL_FORCE, robots=True), PlainC(scene)
    _check(mine, plain, robots=True)
    engine = mine.engine
    places = free_points(np.random.default_rng(3), hall(0), 512, 0.4).astype(np.float32)
    poses = cycle(np.column_stack([places, np.linspace(-3.0, 3.0, len(places), dtype=np.float32)]))
    moves = worlds == 1

    def ours() -> None:
        if moves:
            now = mine.world.robots
            now.x[0, 0], now.y[0, 0], now.heading[0, 0] = next(poses)
        engine.step()
        mine.scanner.scan()

    def other() -> None:
        if moves:
            plain.robot[:, 0] = next(poses)
        plain.step()
        plain.scan()

    def before() -> None:
        mine.restart()
        plain.restart()

    return Line.of(paired(ours, other, effort, before=before))


def social_force(pedestrians: int, worlds: int, effort: Effort) -> Line:
    """Time pedestrians without a robot."""
    scene = halls(worlds, pedestrians)
    mine, plain = Worlds(scene, SOCIAL_FORCE), PlainC(scene)
    _check(mine, plain, robots=False)

    def before() -> None:
        mine.restart()
        plain.restart()

    return Line.of(paired(mine.engine.step, plain.step, effort, before=before))


def evacuation(pedestrians: int, worlds: int, effort: Effort) -> Line:
    """Time one substep of pedestrians who may be in contact."""
    scene, model = halls(worlds, pedestrians), Evacuation()
    mine, plain = Worlds(scene, model, dt=model.max_step), PlainC(scene)
    _check_step(mine, plain, plain.evacuate)

    def before() -> None:
        mine.restart()
        plain.restart()

    return Line.of(paired(mine.engine.step, plain.evacuate, effort, before=before))


def benches() -> list[Bench]:
    """Return the lines of the table; none without gcc."""
    if library() is None:
        return []
    steps = [Bench(f"world-step-{w}", "C", 1.2, functools.partial(world_step, w)) for w in (1, 64, 1024)]
    forces = [
        Bench(f"social-force-{p}-{w}", "C", 0.8, functools.partial(social_force, p, w)) for p in (30, 300) for w in (1, 64, 1024)
    ]
    panics = [Bench(f"evacuation-{p}-{w}", "C", 0.7, functools.partial(evacuation, p, w)) for p in (30, 300) for w in (1, 64, 1024)]
    return steps + forces + panics
