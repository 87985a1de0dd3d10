"""Irregular crowds for contract tests: worlds with nine, zero, one and six pedestrians in a hall with walls."""

from __future__ import annotations

import numpy as np

from agora.core.state import LOOP, RANDOM, STAY, Array
from agora.maps.grid import Map
from agora.robots.model import RobotModel
from agora.testing.scenes import Move
from agora.world.start import PedestrianStarts, RobotStart, Start
from agora.world.world import World

SIZES = (9, 0, 1, 6)
DT = 0.1
_CORNERS = np.array([[-3.7, 2.3], [9.2, 2.3], [9.2, 10.4], [-3.7, 10.4]])
_WALLS = np.array([[[-3.7, 6.0], [0.4, 5.2]], [[4.1, 10.4], [5.3, 7.7]]])
_PILLAR = np.array([6.3, 4.2])
_ROBOT = RobotModel(name="disc", kinematics="differential", radius=0.3, vx=(-0.5, 1.0), omega=1.5)


def hall(move: Move | None = None, *, walls: bool = True) -> Map:
    """Return a hall with two walls and a pillar.

    Args:
        move: rigid motion of the hall; for a hall with walls, only quarter turns and shifts by multiples of 0.1 m preserve the
            distance field.
        walls: whether the hall has walls.
    """
    move = move or Move()
    corners = move.points(_CORNERS)
    bounds = (*corners.min(0), *corners.max(0))
    if not walls:
        return Map.from_shapes(bounds=bounds, name="plain")
    return Map.from_shapes(
        segments=move.points(_WALLS).reshape(-1, 4), discs=[[*move.points(_PILLAR), 0.5]], bounds=bounds, name="hall"
    )


def crowd(sizes: tuple[int, ...] = SIZES, *, seed: int = 1, move: Move | None = None, walls: bool = True) -> tuple[Start, ...]:
    """Return one start per world, with a given number of walking pedestrians, some of them in groups, and two robots.

    Args:
        sizes: number of pedestrians in each world.
        seed: seed of the scene.
        move: rigid motion applied to the whole scene.
        walls: whether the hall has walls.
    """
    move, here = move or Move(), hall()
    map = hall(move, walls=walls)
    return tuple(_start(np.random.default_rng([seed, w]), w, size, here, map, move) for w, size in enumerate(sizes))


def _start(rng: np.random.Generator, w: int, size: int, here: Map, map: Map, move: Move) -> Start:
    places: list[Array] = []
    while len(places) < size + 2:
        place = rng.uniform(_CORNERS[0] + 0.6, _CORNERS[2] - 0.6)
        if here.gap(place[None])[0] > 0.4 and all(np.hypot(*(place - other)) > 0.7 for other in places):
            places.append(place)
    position = np.array(places)
    waypoints = rng.uniform(_CORNERS[0] + 0.6, _CORNERS[2] - 0.6, (size, 3, 2))
    pedestrians = PedestrianStarts(
        position=move.points(position[:size]),
        speed=rng.uniform(0.6, 1.6, size),
        radius=rng.uniform(0.2, 0.33, size),
        group=rng.integers(-1, 2, size).astype(np.int32),
        id=rng.permutation(100)[:size].astype(np.int32),
        waypoints=move.points(waypoints),
        waypoint_count=rng.integers(1, 4, size).astype(np.int32),
        mode=rng.integers(0, 3, size).astype(np.int32),
        tolerance=np.full(size, 0.3),
        velocity=move.vectors(rng.normal(0.0, 0.6, (size, 2))),
    )
    heading = rng.uniform(-3.0, 3.0, (2, 1))
    poses = move.poses(np.hstack((position[size:], heading)))
    robots = tuple(RobotStart(_ROBOT, pose, poses[:1]) for pose in poses)
    return Start(f"contract/crowd/{w}", 1, map, robots, pedestrians, timeout=60.0)


def arriving() -> Start:
    """Return a start without walls, with a robot at rest and six people 3 m from their destinations, in all waypoint modes."""
    ways = {LOOP: [1, 2], RANDOM: [1, 2], STAY: [1, 2]}
    mode, count = np.array([(mode, count) for mode, counts in ways.items() for count in counts], np.int32).T
    place = np.column_stack([np.linspace(-2.9, -1.4, len(mode)), np.linspace(2.9, 9.8, len(mode))])
    goal = place + (3.0, 0.2)
    waypoints = np.stack([goal, goal], axis=1)
    waypoints[(mode == STAY) & (count == 2), 0] = place[-1] + (1.5, -0.3)
    pedestrians = PedestrianStarts(
        position=place,
        speed=np.linspace(0.7, 1.5, len(mode)),
        radius=np.full(len(mode), 0.25),
        group=np.full(len(mode), -1, np.int32),
        id=np.arange(7, 7 + len(mode), dtype=np.int32),
        waypoints=waypoints,
        waypoint_count=count,
        mode=mode,
        tolerance=np.full(len(mode), 0.4),
        velocity=np.zeros((len(mode), 2)),
    )
    robot = RobotStart(_ROBOT, np.array([8.3, 4.1, 2.0]), np.array([[8.3, 9.0, 0.0]]))
    return Start("contract/crowd/arriving", 1, hall(walls=False), (robot,), pedestrians, timeout=60.0)


def standing(starts: tuple[Start, ...], *, slots: int = 0, seed: int = 1, move: Move | None = None) -> World:
    """Return a batch of worlds at the given starts, with moving robots. Every third pedestrian slot and the second robot slot are
    empty.

    Args:
        starts: starts, one per world.
        slots: number of pedestrian slots; by default, as many as the starts need.
        seed: seed of the robots' velocities.
        move: rigid motion applied to the whole scene.
    """
    world = World.of(starts, dt=DT, slots=slots)
    stand(world, starts, seed=seed, move=move)
    return world


def stand(world: World, starts: tuple[Start, ...], *, seed: int = 1, move: Move | None = None) -> None:
    """Begin episodes in worlds created by `standing`, one start per world."""
    velocity = (move or Move()).vectors(np.random.default_rng(seed).uniform(-0.8, 0.8, 2))
    for number, start in enumerate(starts):
        world.reset(number, start)
        world.pedestrians.active[number, 1 : start.crowd_size - 1 : 3] = False
    world.robots.world_vx[:], world.robots.world_vy[:] = velocity
    world.robots.active[:, 1] = False
