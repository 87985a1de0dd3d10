"""Compares the engine's public step with published packages on the same scene; packages that are not installed have no line."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import logging
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import Bench, Effort, Line, paired
from scene import DT, Worlds, crowd

from agora.maps.grid import Map
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.orca import Orca
from agora.pedestrians.models.pysocial import PySocial

DENSITY = 0.25  # pedestrians per square metre; the dense scenes for the comparison with JuPedSim have three times as many


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Context manager for packages that print, or that log everything into the folder from which they are imported."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    here = Path.cwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
            for added in set(root.handlers) - set(handlers):
                root.removeHandler(added)
                added.close()
            root.setLevel(level)


def _scatter(count: int, density: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return positions (P, 2) on a jittered lattice in a square that starts at (0, 0), goals opposite its centre, and its side
    length, m.
    """
    rng = np.random.default_rng(11)
    side, cells = math.sqrt(count / density), math.ceil(math.sqrt(count))
    lattice = np.stack(np.meshgrid(np.arange(cells), np.arange(cells)), -1).reshape(-1, 2)[:count]
    places = (lattice + rng.uniform(0.25, 0.75, (count, 2))) * side / cells
    return places, side - places, side


def _check(mine: Worlds, others: Any, peer: str) -> None:
    """Check that a step of a package that has the same model moves 19 of 20 pedestrians to the same positions (P, 2).

    Members of groups are left out, and not all others need to agree, because two slips of PySocialForce are not restated in
    `agora.pedestrians.models.pysocial`: one in the force between members of a group, one in the angles between two pedestrians.
    """
    people, theirs = mine.world.pedestrians, np.asarray(others, np.float64)
    ours = np.column_stack([people.x[0], people.y[0]])[: len(theirs)]
    apart = np.abs(ours - theirs).max(1)[mine.world.traits.group[0, : len(theirs)] < 0]
    if np.mean(apart > 1e-3) > 0.05:
        raise RuntimeError(f"a step differs from {peer} by up to {apart.max():.2g} m")


def orca(count: int, effort: Effort) -> Line:
    """Compare with pyrvo's ``do_step`` alone: its preferred velocities are set outside the timed part; ours are part of the
    step.
    """
    import pyrvo

    model = Orca(neighbour_distance=10.0, max_neighbours=10, horizon=5.0, padding=0.0)
    places, goals, side = _scatter(count, DENSITY)
    place = Map.open((-20.0, -20.0), (side + 20.0, side + 20.0))
    mine = Worlds(crowd(places, goals, place, radius=0.3, speed=1.2), model)
    other = pyrvo.RVOSimulator(DT, 10.0, 10, 5.0, 5.0, 0.3, 1.2)
    ways = goals - places
    wanted = (ways / np.linalg.norm(ways, axis=1, keepdims=True) * 1.2).tolist()
    for point in places.tolist():
        other.add_agent(point)

    def before() -> None:
        mine.restart()
        for k, point in enumerate(places.tolist()):
            other.set_agent_position(k, point)
            other.set_agent_velocity(k, [0.0, 0.0])
            other.set_agent_pref_velocity(k, wanted[k])

    before()
    mine.engine.step()
    other.do_step()
    _check(mine, [other.get_agent_position(k).to_tuple() for k in range(count)], "pyrvo")
    return Line.of(paired(mine.engine.step, other.do_step, effort, pairs=(61, 15), most=30, before=before))


def pysocialforce(effort: Effort) -> Line:
    """Compare with PySocialForce's step: 50 pedestrians, of whom 20 walk in pairs, and three walls."""
    with quiet():
        import pysocialforce
    places, goals, side = _scatter(50, DENSITY)
    walls = np.array([[0.0, -2.0, side, -2.0], [0.0, side + 2.0, side, side + 2.0], [side + 2.0, 0.0, side + 2.0, side]])
    group = np.where(np.arange(50) < 20, np.arange(50) // 2, -1).astype(np.int32)
    place = Map.from_shapes(segments=walls, margin=4.0)
    dt = 0.1
    mine = Worlds(crowd(places, goals, place, radius=0.35, speed=1.3, group=group), PySocial(), dt=dt)
    state = np.hstack([places, np.zeros((50, 2)), goals])
    segments = [[x0, x1, y0, y1] for x0, y0, x1, y1 in walls.tolist()]
    pairs = [[2 * k, 2 * k + 1] for k in range(10)]
    simulator: list[Any] = []

    def before() -> None:
        mine.restart()
        with quiet():
            simulator[:] = [pysocialforce.Simulator(state.copy(), groups=pairs, obstacles=segments)]
            people = simulator[0].peds
            people.step_width = dt
            people.initial_speeds = np.full(50, 1.3 / people.max_speed_multiplier)  # else those of the state, 0: all would stand
            people.max_speeds = np.full(50, 1.3)

    before()
    mine.engine.step()
    simulator[0].step()
    _check(mine, simulator[0].peds.state[:, :2], "PySocialForce")
    return Line.of(paired(mine.engine.step, lambda: simulator[0].step(), effort, pairs=(11, 5), most=200, before=before))


def jupedsim(count: int, cutoff: float, effort: Effort) -> Line:
    """Compare with JuPedSim's social force model with its cell grid; targets are set outside the timed part, so no routing is
    included.
    """
    import jupedsim
    import shapely

    places, goals, side = _scatter(count, 3 * DENSITY)
    dt = 0.05
    place = Map.open((-10.0, -10.0), (side + 10.0, side + 10.0))
    mine = Worlds(crowd(places, goals, place, radius=0.25, speed=1.2), Helbing(cutoff=cutoff), dt=dt)
    simulation: list[Any] = []

    def before() -> None:
        mine.restart()
        ground = shapely.box(-10.0, -10.0, side + 10.0, side + 10.0)
        fresh = jupedsim.Simulation(model=jupedsim.SocialForceModel(), geometry=ground, dt=dt)
        stage = fresh.add_direct_steering_stage()
        journey = fresh.add_journey(jupedsim.JourneyDescription([stage]))
        for point, goal in zip(places.tolist(), goals.tolist(), strict=True):
            walker = jupedsim.SocialForceModelAgentParameters(
                position=tuple(point), journey_id=journey, stage_id=stage, radius=0.25, desired_speed=1.2
            )
            fresh.agent(fresh.add_agent(walker)).target = tuple(goal)
        simulation[:] = [fresh]

    return Line.of(
        paired(mine.engine.step, lambda: simulation[0].iterate(), effort, pairs=(15, 7), block=0.1, most=100, before=before)
    )


_IRSIM = """
world: {{height: 24, width: 24, step_time: {dt}, collision_mode: unobstructed}}
robot:
  - kinematics: {{name: diff}}
    shape: {{name: circle, radius: 0.3}}
    state: [6, 6, 0.3]
    goal: [18, 18, 0]
    behavior: {{name: dash}}
    sensors:
      - {{name: lidar2d, range_min: 0, range_max: 10, angle_range: 6.2831, number: 360}}
  - number: 30
    distribution: {{name: circle, radius: 9, center: [12, 12]}}
    kinematics: {{name: omni}}
    shape: {{name: circle, radius: 0.3}}
    group_behavior:
      {{name: orca, neighborDist: 10.0, maxNeighbors: 10, timeHorizon: 5.0, timeHorizonObst: 5.0, maxSpeed: 1.2, safe_radius: 0.0}}
    vel_max: [1.2, 1.2]
    vel_min: [-1.2, -1.2]
obstacle:
  - shape: {{name: linestring, vertices: [[2, 1], [22, 1]]}}
    state: [0, 0, 0]
  - shape: {{name: linestring, vertices: [[2, 23], [22, 23]]}}
    state: [0, 0, 0]
  - shape: {{name: linestring, vertices: [[1, 2], [1, 22]]}}
    state: [0, 0, 0]
"""


def irsim(effort: Effort) -> Line:
    """Compare with ir-sim in one world: a robot with 360 beams, 30 ORCA pedestrians on a circle, and three walls."""
    with quiet():
        import irsim

        Path("world.yaml").write_text(_IRSIM.format(dt=DT))
        environment = irsim.make("world.yaml", display=False, log_level="ERROR")
    angles = 2 * math.pi / 30 * np.arange(30)
    places = 12.0 + 9.0 * np.stack([np.cos(angles), np.sin(angles)], 1)
    walls = [[2.0, 1.0, 22.0, 1.0], [2.0, 23.0, 22.0, 23.0], [1.0, 2.0, 1.0, 22.0]]
    place = Map.from_shapes(segments=walls, bounds=(0.0, 0.0, 24.0, 24.0))
    model = Orca(neighbour_distance=10.0, max_neighbours=10, horizon=5.0, padding=0.0)
    scene = crowd(places, 24.0 - places, place, radius=0.3, speed=1.2)
    scene.robot[0] = 6.0, 6.0, 0.3
    mine = Worlds(scene, model, robots=True)
    command = np.array([[[0.5, 0.0, 0.1]]], np.float32)

    def ours() -> None:
        mine.engine.step(command)
        mine.scanner.scan()

    def before() -> None:
        mine.restart()
        with quiet():
            environment.reset()

    try:
        return Line.of(paired(ours, environment.step, effort, pairs=(11, 5), block=0.3, most=100, before=before))
    finally:
        with quiet():
            environment.end()


def benches() -> list[Bench]:
    """Return the lines for the packages that are installed."""
    lines: list[tuple[str, str, str, float, Callable[[bool], Line]]] = [
        ("orca-30", "pyrvo", "pyrvo", 4.0, functools.partial(orca, 30)),
        ("orca-1000", "pyrvo", "pyrvo", 3.0, functools.partial(orca, 1000)),
        ("pysocial-50", "pysocialforce", "PySocialForce", 20.0, pysocialforce),
        ("social-force-300", "jupedsim", "JuPedSim", 4.0, functools.partial(jupedsim, 300, 0.0)),
        ("social-force-3000", "jupedsim", "JuPedSim", 1.0, functools.partial(jupedsim, 3000, 5.0)),
        ("robot-lidar-30", "irsim", "ir-sim", 100.0, irsim),
    ]
    installed = {module: importlib.util.find_spec(module) is not None for _, module, *_ in lines}
    return [Bench(name, peer, target, measure) for name, module, peer, target, measure in lines if installed[module]]
