"""The kernel that makes people stand back or take another way agrees with its plain twin."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.engine.plain_standing_back import BACK, FREE, ROUND, STAY, Scene, other_way, stand_back_plainly
from tests.engine.test_making_way import aisle
from tests.engine.test_standing_back import rooms
from tests.pedestrians.crowds import empty

from agora.core import state
from agora.core.jit import bind, kernel
from agora.core.state import SOCIAL_STATES
from agora.engine import other_routes
from agora.engine.detour import CELLS
from agora.engine.progress import Progress
from agora.engine.routes import _empty_routes
from agora.engine.standing_back import Backs, stand_back
from agora.maps.grid import Map
from agora.maps.roads import RoadStore, roads_of
from agora.maps.store import build_store
from agora.testing.scenes import Move
from agora.world import records


def pinched():
    """An aisle of 1.3 m that two pairs of posts narrow to 0.66 m."""
    posts = [[x, y, x, end] for x in (5.9, 9.1) for y, end in ((0.0, 0.32), (0.98, 1.3))]
    return Map.from_shapes(segments=[*aisle(1.3).segments, *posts], margin=0.0)


PLANS = (
    (rooms(2.0, 6.0), Move(3.7, -2.3, turn=0.31), [(8.0, 2.0), (8.0, 6.0)], 8.0),
    (rooms(4.0), Move(-11.9, 5.3, turn=-0.83, mirror=True), [(8.0, 4.0)], 8.0),
    (aisle(2.0), Move(0.7, 41.1, turn=1.27), [(7.5, 1.0)], 2.0),
    (pinched(), Move(-5.3, -0.9, turn=2.6), [(7.5, 0.65)], 1.3),
)
"""Maps, each with its transform, its doors or the middle of its aisle, and its width, m."""

OF_WORLDS = [0, 0, 0, 0, 1, 2, 2, 3, 3]
SLOTS, ROBOTS = 16, 2
PERIOD, CALLS = 0.4, 5
STANDING = [SOCIAL_STATES.index(name) for name in ("idle", "idle", "talking", "sitting", "working")]
WALKING = SOCIAL_STATES.index("walking")

HAPPENS = (
    "asks a standing person", "queues", "queues, and gives up", "meets an oncomer", "does not meet an oncomer",
    "sees somebody stuck", "sees no path", "has no other way", "is the first",
    "takes another way", "stops", "stops once more", "steps back", "steps back once more", "has forgotten another blocked place",
    "asks those behind", "asks those behind, and gives up", "is asked",
    "goes to its place", "cannot get to its place", "waits", "waits short of its place", "has waited long enough",
    "finds the place free", "goes elsewhere", "goes round", "has got round", "does not get round",
)  # fmt: skip
"""Actions and conditions that must occur at least three times."""


def tilted(place, move):
    """A map of segments turned by any angle."""
    return Map.from_shapes(segments=move.points(place.segments.reshape(-1, 2, 2)).reshape(-1, 4), margin=0.7)


MAPS = [tilted(place, move) for place, move, *_ in PLANS]
assert all(one.shape[0] != one.shape[1] for one in MAPS)


@kernel
def _way(roads, maps, x, y, to_x, to_y, barred_x, barred_y, radius):
    return other_routes.alternative_place(roads, maps, 0, 0, x, y, to_x, to_y, barred_x, barred_y, radius)


def _inside(rng, m, around, spread, width):
    """A free point about another one, in the frame of the plan."""
    while True:
        point = np.clip(rng.normal(around, spread), (0.3, 0.25), (15.7, width - 0.25))
        if MAPS[m].clearance_at(PLANS[m][1].points(point)) > 0.15:
            return point


def _drawn_person(rng, m, door, width, crowded):
    """The place of a pedestrian, its waypoint, the point that it walks to, and the one where it was held up."""
    at = _inside(rng, m, door, (1.3, 0.8) if crowded else (2.2, 1.5), width)
    side = np.sign(door[0] - at[0]) if rng.random() < 0.85 else rng.choice([-1.0, 1.0])
    to = door[0] + side * rng.uniform(0.5, 7.0), rng.uniform(0.25, width - 0.25)
    next_ = door + (side * rng.uniform(-0.2, 1.5), rng.normal(0.0, 0.4)) if rng.random() < 0.8 else at + rng.normal(0.0, 1.0, 2)
    barred = at + 0.6 * (next_ - at) / np.hypot(*(next_ - at)) + rng.normal(0.0, rng.choice([0.4, 1.0, 2.0]), 2)
    return [PLANS[m][1].points(np.asarray(point)) for point in (at, to, next_, barred)]


def drawn(seed, pairs=False):
    """People near doors and in aisles, some of them held up for long or already standing back; or two people in each world, who
    may hold each other up.
    """
    rng = np.random.default_rng(seed)
    leads = [roads_of(one, 0.3) for one in MAPS]
    worlds = len(OF_WORLDS)
    shape = worlds, SLOTS
    crowd = empty(worlds, SLOTS, ROBOTS, build_store(MAPS, OF_WORLDS))
    people, traits, waypoints, robots = crowd.pedestrians, crowd.traits, crowd.waypoints, crowd.robots
    minds, routes, progress, backs = state.minds(*shape), _empty_routes(shape), Progress.of_nobody(*shape), Backs.of_nobody(*shape)
    for w, m in enumerate(OF_WORLDS):
        _, move, doors, width = PLANS[m]
        door, count, crowded = (
            np.array(doors[rng.integers(len(doors))]),
            rng.choice([0, 1, 2, 4, 7, 12], p=(0.05, 0.15, 0.2, 0.2, 0.2, 0.2)),
            rng.random() < 0.6,
        )
        count, crowded = (2, True) if pairs else (count, crowded)
        used = np.sort(rng.permutation(min(SLOTS, count + 3))[:count])
        people.active[w, used], traits.count[w] = True, used[-1] + 1 if count else 0
        for i in range(SLOTS):
            at, to, next_, barred = _drawn_person(rng, m, door, width, crowded)
            people.x[w, i], people.y[w, i] = at
            waypoints.x[w, i], waypoints.y[w, i] = to
            routes.x[w, i], routes.y[w, i] = next_
            backs.barred_x[w, i], backs.barred_y[w, i] = barred
            away = rng.normal(0.0, rng.choice([0.1, 1.5]), 2)
            backs.x[w, i], backs.y[w, i] = at + away
            seen = leads[m].seen.reshape(-1, leads[m].seen.shape[-1])[leads[m].cell_of(*to)]
            routes.last[w, i] = seen[0] if seen[0] >= 0 else 0
            routes.hop[w, i] = rng.integers(len(leads[m].place)) if rng.random() < 0.6 else -1
        traits.speed[w] = rng.uniform(0.5, 1.5, SLOTS) * (rng.random(SLOTS) < rng.choice([0.7, 1.0]))
        robots.active[w] = rng.random(ROBOTS) < rng.choice([0.0, 0.9])
        robots.world_vx[w] = rng.uniform(0.0, 0.8, ROBOTS) * (rng.random(ROBOTS) < 0.3)
        for r in range(ROBOTS):
            robots.x[w, r], robots.y[w, r] = move.points(_inside(rng, m, door, rng.choice([0.2, 1.5], p=(0.7, 0.3)), width))
        routes.roads[w] = np.where(rng.random(SLOTS) < 0.85, m, -1)
    crowd.robot_traits.radius[...] = rng.uniform(0.2, 0.45, robots.x.shape)
    traits.radius[...], traits.id[...] = rng.uniform(0.2, 0.35, shape), rng.permuted(np.tile(np.arange(SLOTS), (worlds, 1)), axis=1)
    stands = traits.speed == 0.0
    people.vx[...] = rng.uniform(0.0, 1.0, shape) * (rng.random(shape) < 0.3) * ~stands
    minds.state[...] = np.where(stands, rng.choice(STANDING, shape), WALKING)
    minds.taken[...] = rng.random(shape) < 0.05
    other = rng.random(shape) < 0.3
    routes.route_x[...] = routes.x + other * rng.normal(0.0, 1.5, shape)
    routes.route_y[...] = routes.y + other * rng.normal(0.0, 1.5, shape)
    routes.rest[...] = rng.uniform(0.0, 5.0, shape) * (rng.random(shape) < 0.6)
    routes.through_x[...], routes.through_y[...] = rng.normal(size=(2, *shape))
    routes.wanted_x[...], routes.wanted_y[...] = waypoints.x, waypoints.y
    progress.stalled[...] = rng.uniform(0.0, 14.0, shape) * (rng.random(shape) < 0.7)
    progress.late[...] = rng.uniform(0.0, 11.0, shape) * (rng.random(shape) < 0.5)
    backs.what[...] = rng.choice([FREE, BACK, ROUND, STAY], size=shape, p=(0.6, 0.2, 0.1, 0.1))
    backs.times[...] = rng.integers(0, 4, shape) * (rng.random(shape) < 0.6) + (backs.what != FREE)
    backs.since[...] = rng.uniform(0.0, 60.0, shape)
    backs.time[...] = rng.uniform(0.0, 12.0, shape) * (rng.random(shape) < 0.5)
    backs.asks[...] = rng.random(shape) < 0.3
    if pairs:
        robots.active[...], backs.what[...], minds.taken[...] = False, FREE, False
        traits.speed[...], progress.stalled[...] = np.maximum(traits.speed, 0.5), np.maximum(progress.stalled, 4.5)
    return Scene(crowd, minds, routes, progress, backs, leads, rng.random(worlds) < 0.08)


def copied(record):
    """A deep copy of a record."""
    if isinstance(record, np.ndarray):
        return record.copy()
    return record if isinstance(record, list) else record._make(map(copied, record))


def stored(leads):
    """Roads as kernels take them, in the same order."""
    store = RoadStore(len(leads), max(len(one.place) for one in leads), max(one.nearest.size for one in leads))
    assert store.use(0, leads) == list(range(len(leads)))
    return store.arrays


def compiled(scene, sees):
    """The kernel, bound to a scene."""
    worlds, slots = scene.crowd.pedestrians.x.shape
    clock = records.status(worlds, ROBOTS, slots, delay=0).clock
    clock.done[:] = scene.done
    people, traits, waypoints, robots, robot_traits, maps = scene.crowd
    there = (stored(scene.roads), maps, people, traits, waypoints, scene.minds, robots, robot_traits, clock)
    found = scene.routes, scene.progress, scene.backs, np.zeros((worlds, CELLS), np.float32)
    return bind(stand_back, np.float32(PERIOD), np.int64(sees), *there, *found)


def changed(scene):
    """The fields that the kernel may change, by name."""
    at = scene.crowd.waypoints
    fields = {"waypoints.x": at.x, "waypoints.y": at.y, "speed": scene.crowd.traits.speed}
    for record in (scene.backs, scene.progress):
        fields |= {f"{type(record).__name__}.{name}": values for name, values in record._asdict().items()}
    return fields


def time_passes(rng, scenes, wishes):
    """Move some people, add and remove robots, and restore everybody's original waypoints and speeds."""
    seen, shape = scenes[0], scenes[0].crowd.pedestrians.x.shape
    people, waypoints, speed = seen.crowd.pedestrians, seen.crowd.waypoints, seen.crowd.traits.speed
    dx, dy = waypoints.x - people.x, waypoints.y - people.y
    distance = np.hypot(dx, dy) + 1e-6
    share = np.minimum(rng.uniform(0.0, 0.9, shape) * (rng.random(shape) < 0.6) * speed / distance, 1.0)
    x, y = people.x + share * dx, people.y + share * dy
    gets_on, gives_up = rng.random((2, *shape)) < np.array([0.2, 0.1])[:, None, None]
    goes = rng.random(seen.crowd.robots.active.shape) < 0.2
    for scene in scenes:
        scene.crowd.pedestrians.x[...], scene.crowd.pedestrians.y[...] = x, y
        scene.crowd.waypoints.x[...], scene.crowd.waypoints.y[...], scene.crowd.traits.speed[...] = wishes
        scene.progress.stalled[...] = np.where(gets_on, 0.0, scene.progress.stalled + PERIOD)
        scene.progress.late[...] = np.where(gets_on, 0.0, scene.progress.late + PERIOD)
        scene.progress.hopeless[...] = gives_up
        scene.crowd.robots.active[...] ^= goes


def compare(seed, sees, pairs=False):
    """Play a scene with the kernel and with the twin; return how often each action happened."""
    scene = drawn(seed, pairs)
    twin, rng, happened, run = copied(scene), np.random.default_rng((seed, 1)), Counter(), compiled(scene, sees)
    wishes = copied(scene.crowd.waypoints.x), copied(scene.crowd.waypoints.y), copied(scene.crowd.traits.speed)
    for call in range(CALLS):
        run(0, len(OF_WORLDS))
        happened += stand_back_plainly(twin, PERIOD, sees)
        for (name, found), expected in zip(changed(scene).items(), changed(twin).values(), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-4, err_msg=f"{name}, seed {seed}, call {call}")
        time_passes(rng, (scene, twin), wishes)
    return happened


@pytest.mark.parametrize("mirrored", [False, True])
def test_kernel_and_twin_choose_the_same_other_way(mirrored):
    """Three doors connect two rooms, and one door is blocked; with ``mirrored``, the other two are symmetric about it."""
    plan = rooms(1.5, 4.0, 6.5)
    rng, leads, found = np.random.default_rng(5), roads_of(plan, 0.3), Counter()
    roads, maps, radius = stored([leads]), build_store([plan], [0]), np.float32(0.3)
    for _ in range(600):
        far = rng.choice([1.7, 5.0])
        start, end = rng.uniform((8.0 - far, 1.0), (7.6, 7.0)), rng.uniform((8.4, 1.0), (8.0 + far, 7.0))
        barred = np.array([8.0, rng.choice([1.5, 4.0, 6.5])]) + rng.normal(0.0, 0.2, 2)
        if mirrored:
            start[1], end[1], barred[1] = 4.0, 4.0, 4.0
        if rng.random() < 0.5:
            start, end = end, start
        start, end, barred = (point.astype(np.float32) for point in (start, end, barred))
        twin = other_way(leads, maps, 0, radius, *(tuple(point.tolist()) for point in (start, end, barred)))
        assert _way(roads, maps, *start, *end, *barred, radius) == (-1 if twin is None else twin), (start, end, barred)
        found[twin] += 1
    assert found.pop(None) > 50 and found.total() > 50 and len(found) > 2


def test_kernel_and_twin_agree():
    happened = sum((compare(seed, 3) for seed in range(30)), Counter())
    assert min(happened[what] for what in HAPPENS) > 2, happened


def test_kernel_and_twin_agree_on_pairs_of_people():
    happened = sum((compare(seed, 1, pairs=True) for seed in range(200, 240)), Counter())
    assert min(happened["meets an oncomer"], happened["does not meet an oncomer"]) > 40, happened


@pytest.mark.parametrize("sees", [0, 1, 2])
def test_kernel_and_twin_agree_if_people_do_not_see_everybody(sees):
    happened = sum((compare(seed, sees) for seed in range(100, 104)), Counter())
    assert happened["steps back"] + happened["queues"] > 10
