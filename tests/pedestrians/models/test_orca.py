"""ORCA against RVO2 (pyrvo), and against what it promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyrvo
import pytest
from scipy.ndimage import distance_transform_edt

from agora.core import state
from agora.core.cells import extent, index_in, select_nearest, sort_into_cells
from agora.core.jit import bind, kernel
from agora.errors import InputError
from agora.interfaces import CrowdRecord
from agora.pedestrians.models.orca import Orca, search_cells, search_slots

F = np.float32
BOTH, PEDESTRIANS, ROBOTS, NOBODY = 3, 1, 2, 0


def one_map(clearance=None, resolution=0.1, origin=(0.0, 0.0), segments=(), worlds=1) -> state.Maps:
    """A map that all worlds use; without a clearance field there is nothing on it."""
    field_ = np.full((4, 4), 1e6, F) if clearance is None else clearance.astype(F)
    rows, columns = field_.shape
    return state.Maps(
        index=np.zeros(worlds, np.int32),
        start=np.zeros(1, np.int64),
        clearance_start=np.zeros(1, np.int64),
        rows=np.array([rows], np.int32),
        columns=np.array([columns], np.int32),
        resolution=np.array([resolution], F),
        origin_x=np.array([origin[0]], F),
        origin_y=np.array([origin[1]], F),
        occupied=np.zeros(field_.size, np.uint8),
        distance=np.full(field_.size, 1e6, F),
        clearance=field_.reshape(-1),
        segments=np.array(segments, F).reshape(-1, 4),
        discs=np.zeros((0, 3), F),
        segment_start=np.zeros(1, np.int32),
        segment_end=np.array([len(segments)], np.int32),
        disc_start=np.zeros(1, np.int32),
        disc_end=np.zeros(1, np.int32),
    )


@dataclass
class Crowd:
    """Worlds of pedestrians; ``position``, ``velocity`` and ``goal`` are (W, N, 2)."""

    position: Any
    velocity: Any
    goal: Any
    radius: Any = 0.3
    speed: Any = 1.0
    slots: Any = None
    size: int = 0
    robots: state.Robots | None = None
    robot_radius: float = 0.3
    maps: state.Maps | None = None
    dt: float = 0.25
    parts: tuple = field(init=False)

    def __post_init__(self) -> None:
        worlds, count = np.shape(self.position)[:2]
        self.at = np.arange(count) if self.slots is None else np.asarray(self.slots)
        slots = self.size or state.padded_slots(int(self.at.max(initial=0)) + 1)
        people, traits, waypoints = state.pedestrians(worlds, slots), state.traits(worlds, slots), state.waypoints(worlds, slots, 1)
        for array in (people.x, people.y, people.vx, people.vy, waypoints.x, waypoints.y):
            array[:] = 0.123  # what empty slots hold
        people.active[:, self.at] = True
        traits.radius[:, self.at], traits.speed[:, self.at] = self.radius, self.speed
        traits.count[:] = self.at.max(initial=-1) + 1
        waypoints.count[:], waypoints.mode[:] = 1, 2
        self.people, self.traits, self.waypoints = people, traits, waypoints
        self.robots = self.robots or state.robots(worlds, 0)
        robot_traits = state.robot_traits(worlds, self.robots.x.shape[1])
        robot_traits.radius[:] = self.robot_radius
        self.maps = self.maps or one_map(worlds=worlds)
        self.parts = (people, traits, waypoints, self.robots, robot_traits, self.maps)
        self._write(self.position, self.velocity)
        waypoints.x[:, self.at], waypoints.y[:, self.at] = np.moveaxis(np.asarray(self.goal, F), -1, 0)

    def _write(self, position, velocity) -> None:
        people = self.people
        people.x[:, self.at], people.y[:, self.at] = np.moveaxis(np.asarray(position, F), -1, 0)
        people.vx[:, self.at], people.vy[:, self.at] = np.moveaxis(np.asarray(velocity, F), -1, 0)

    def velocities(self, model: Orca | None = None, sees: int = BOTH, first: int = 0, last: int | None = None):
        """(W, N, 2) new velocities; nothing moves."""
        model = model or Orca()
        out = np.full((2, *self.people.x.shape), 77.0, F)
        last = len(self.people.x) if last is None else last
        bind(model.kernel(), model.parameters(), CrowdRecord(F(self.dt), np.int64(sees), *self.parts), out[0], out[1])(first, last)
        idle = ~self.people.active[first:last]
        assert (out[:, first:last][:, idle] == 0.0).all()
        return np.stack([out[0][:, self.at], out[1][:, self.at]], -1)

    def advance(self, model: Orca | None = None, sees: int = BOTH):
        """Move one step on; returns positions (W, N, 2)."""
        v = self.velocities(model, sees)
        people = self.people
        position = np.stack([people.x[:, self.at], people.y[:, self.at]], -1) + F(self.dt) * v
        self._write(position, v)
        return position


def scenes(rng, worlds, count, side, gap=0.0, overlap=False):
    """Random crowds, (W, N, 2) and (W, N); without overlap the nearest are ``gap`` m apart."""
    radius = rng.uniform(0.2, 0.4, (worlds, count))
    position = np.zeros((worlds, count, 2))
    for w in range(worlds):
        n = 0
        while n < count:
            p = rng.uniform(0, side, 2)
            if overlap or (np.hypot(*(position[w, :n] - p).T) > radius[w, :n] + radius[w, n] + 0.02 + gap).all():
                position[w, n] = p
                n += 1
    velocity = rng.normal(0, 0.6, (worlds, count, 2))
    return position, velocity, rng.uniform(0, side, (worlds, count, 2)), radius, rng.uniform(0.7, 1.5, (worlds, count))


def rvo2(position, velocity, goal, radius, speed, dt=0.25, walls=(), model=None):
    """One step of pyrvo for one world: velocities (N, 2) and each one's half-planes."""
    m = model or Orca()
    horizons = m.neighbour_distance, m.max_neighbours, m.horizon, m.horizon_obstacle
    sim = pyrvo.RVOSimulator(dt, *horizons, 0.3, 1.0)
    for p, v, g, r, s in zip(*(np.asarray(a, F) for a in (position, velocity, goal, radius, speed)), strict=True):
        k = sim.add_agent(tuple(map(float, p)), *horizons, float(r + F(m.padding)), float(s), tuple(map(float, v)))
        wish = g - p
        d = np.hypot(*wish)
        sim.set_agent_pref_velocity(k, tuple(map(float, wish * (s / d if d > s else F(1.0)))))
    for wall in walls:
        sim.add_obstacle([tuple(map(float, wall[:2])), tuple(map(float, wall[2:]))])
    if len(walls):
        sim.process_obstacles()
    sim.do_step()
    lines = [
        [(*p, *e) for e, p in (sim.get_agent_orca_line(k, n) for n in range(sim.get_agent_num_orca_lines(k)))]
        for k in range(len(position))
    ]
    return np.array([sim.get_agent_velocity(k).to_tuple() for k in range(len(position))]), lines


def worst(lines, velocity):
    """Largest violation of half-planes by a velocity, m/s."""
    return max((ex * (y - velocity[1]) - ey * (x - velocity[0]) for x, y, ex, ey in lines), default=-1.0)


def parity(rng, worlds, overlap=False):
    """(pedestrians, how many differ by over 1e-4 m/s, how many of those are no ties) for random crowds of 2 to 25."""
    total, differ, not_ties = 0, 0, 0
    for count, share in ((2, 0.1), (6, 0.3), (12, 0.3), (25, 0.3)):
        n = int(worlds * share)
        crowd = scenes(rng, n, count, side=1.5 * np.sqrt(count) + 1.0, overlap=overlap)
        ours = Crowd(*crowd, dt=0.25).velocities()
        total += n * count
        for w in range(n):
            theirs, lines = rvo2(*(part[w] for part in crowd))
            for i in np.flatnonzero(np.hypot(*(ours[w] - theirs).T) > 1e-4):
                differ += 1
                not_ties += not tie(ours[w, i], theirs[i], lines[i], [part[w, i] for part in crowd])
    return total, differ, not_ties


def tie(ours, theirs, lines, who):
    """Return whether our solution is as good: within the speed limit, and the same largest violation, or distance to the wish if
    none.

    The limit is what RVO2 leaves by rounding, on lines that are nearly parallel; we do not.
    """
    position, _, goal, _, speed = who
    wish = goal - position
    wish = wish * min(1.0, speed / np.hypot(*wish))
    a, b = worst(lines, ours), worst(lines, theirs)
    if max(a, b) < 5e-4:
        a, b = np.hypot(*(ours - wish)), np.hypot(*(theirs - wish))
    return abs(a - b) < 5e-4 and np.hypot(*ours) < speed + 1e-6


def test_one_step_of_a_thousand_crowds_is_that_of_rvo2_and_what_differs_is_a_tie(rng):
    total, differ, not_ties = parity(rng, 1000)
    print(f"\nwithout overlap: {total} pedestrians, {differ} differ by more than 1e-4 m/s, {not_ties} of them are no ties")
    assert total > 10_000
    assert differ < 0.001 * total
    assert not_ties == 0


def test_one_step_of_a_thousand_crowds_that_overlap_is_nearly_that_of_rvo2(rng):
    total, differ, not_ties = parity(rng, 1000, overlap=True)
    print(f"\nwith overlap: {total} pedestrians, {differ} differ by more than 1e-4 m/s, {not_ties} of them are no ties")
    assert differ < 0.003 * total
    assert not_ties <= 5


def test_one_step_beside_a_wall_is_that_of_rvo2(rng):
    worlds, errors = 250, []
    position, velocity, goal, radius, speed = scenes(rng, worlds, 4, side=4.0)
    walls = rng.uniform(0.0, 4.0, (worlds, 4))
    for w in range(worlds):
        segments = [walls[w]]
        crowd = Crowd(*(part[w][None] for part in (position, velocity, goal, radius, speed)), maps=one_map(segments=segments))
        ours = crowd.velocities(Orca(walls=False))[0]
        theirs, _ = rvo2(position[w], velocity[w], goal[w], radius[w], speed[w], walls=segments)
        errors.extend(np.hypot(*(ours - theirs).T))
    assert np.mean(np.array(errors) < 1e-4) > 0.998


def test_walls_behind_walls_ask_for_nothing_as_in_rvo2(rng):
    walls = [(-3.0, 1.0, 4.0, 1.0), (-3.0, 2.0, 4.0, 2.0), (-1.0, -2.5, 6.0, -2.5)]  # parallel, so that RVO2 splits none
    for _ in range(40):
        position, velocity = rng.uniform((-2, -1), (2, 0.5), (1, 2)), rng.normal(0, 0.5, (1, 2))
        goal = rng.uniform(-4, 4, (1, 2))
        ours = Crowd(position[None], velocity[None], goal[None], maps=one_map(segments=walls)).velocities(Orca(walls=False))[0]
        theirs, _ = rvo2(position, velocity, goal, [0.3], [1.0], walls=walls)
        assert ours == pytest.approx(theirs, abs=1e-4)


def clouds(rng):
    line = np.stack([np.linspace(0, 50, 200), np.full(200, 3.3)], -1)
    clusters = rng.normal(0, 0.4, (300, 2)) + rng.integers(0, 3, (300, 1)) * 30.0
    lattice = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), -1).reshape(-1, 2)
    return {
        "uniform": rng.uniform(-20, 5, (250, 2)),
        "line": line,
        "clusters": clusters,
        "far apart": np.concatenate([rng.uniform(0, 3, (150, 2)), [[1e6, -4e5]]]),
        "one place": np.full((120, 2), 1.7),
        "lattice, full of ties": lattice,
    }


@kernel
def _both(x, y, active, view, size, starts, order, keys, a, b, kept):
    count = x.size
    cells = sort_into_cells(extent(x, y, active, count), x, y, active, count, size, starts, order)
    most = a.shape[1]
    for i in range(count):
        if active[i]:
            kept[0, i] = select_nearest(keys, search_slots(keys, i, x, y, active, count, view), a[i])
            kept[1, i] = select_nearest(keys, search_cells(keys, i, x, y, cells, starts, order, view, most), b[i])
            for n in range(kept[0, i]):
                a[i, n] = index_in(a[i, n])
            for n in range(kept[1, i]):
                b[i, n] = index_in(b[i, n])


@pytest.mark.parametrize("view", [1.3, 10.0, 500.0])
def test_the_cell_list_finds_the_same_neighbours_as_looking_at_all(rng, view):
    for name, points in clouds(rng).items():
        x, y = points.astype(F).T.copy()
        active = rng.random(len(x)) < 0.9
        for size in (0.3, 1.1, 8.0):
            a, b, kept = np.full((len(x), 10), -1), np.full((len(x), 10), -1), np.zeros((2, len(x)), np.int64)
            starts, order, keys = np.zeros(len(x) + 1, np.int32), np.zeros(len(x), np.int32), np.zeros(len(x) + 16, np.int64)
            _both(x, y, active, F(view), F(size), starts, order, keys, a, b, kept)
            assert (kept[0] == kept[1]).all(), name
            assert (a == b).all(), name
            i = np.flatnonzero(active)[7]
            near = np.flatnonzero(active & (np.hypot(x - x[i], y - y[i]) < view) & (np.arange(len(x)) != i))
            assert kept[0, i] == min(10, len(near))


def test_a_crowd_of_the_cell_list_moves_like_that_of_rvo2(rng):
    count, side = 150, 18.0
    crowd = scenes(rng, 1, count, side=side)
    ours = Crowd(*crowd).velocities()[0]
    theirs, _ = rvo2(*(part[0] for part in crowd))
    assert np.mean(np.hypot(*(ours - theirs).T) < 1e-4) > 0.985


def test_a_robot_is_avoided_like_a_pedestrian_in_its_place(rng):
    position, velocity, goal, radius, speed = scenes(rng, 30, 5, side=4.0)
    everybody = Crowd(position, velocity, goal, radius, speed).velocities()[:, :4]
    robots = state.robots(30, 2)
    robots.x[:, 1], robots.y[:, 1] = np.moveaxis(position[:, 4], -1, 0)
    robots.world_vx[:, 1], robots.world_vy[:, 1] = np.moveaxis(velocity[:, 4], -1, 0)
    robots.active[:, 1] = True
    rest = [part[:, :4] for part in (position, velocity, goal, radius, speed)]
    crowd = Crowd(*rest, robots=robots)
    crowd.parts[4].radius[:] = radius[:, 4:]
    assert (crowd.velocities() == everybody).all()
    assert (crowd.velocities(sees=PEDESTRIANS) == Crowd(*rest).velocities()).all()
    assert np.hypot(*(crowd.velocities(sees=ROBOTS) - everybody).T).max() > 0.1
    alone = crowd.velocities(sees=NOBODY)
    wish = goal[:, :4] - position[:, :4]
    far = np.hypot(*np.moveaxis(wish, -1, 0)) > speed[:, :4]
    assert np.hypot(*np.moveaxis(alone, -1, 0))[far] == pytest.approx(speed[:, :4][far], rel=1e-5)
    assert alone[~far] == pytest.approx(wish[~far], abs=1e-5)


def test_slots_padding_and_other_worlds_leave_no_trace(rng):
    crowd = scenes(rng, 3, 21, side=6.0)
    plain = Crowd(*crowd)
    spread = np.sort(rng.permutation(60)[:21])
    expected = plain.velocities()
    assert (Crowd(*crowd, slots=spread, size=64).velocities() == expected).all()
    assert (Crowd(*crowd, size=144).velocities() == expected).all()
    for w in range(3):
        assert (Crowd(*(part[w : w + 1] for part in crowd)).velocities()[0] == expected[w]).all()
        part = plain.velocities(first=w, last=w + 1)
        assert (part[w] == expected[w]).all()


def test_a_dense_crowd_leaves_no_trace_of_slots_and_padding_either(rng):
    crowd = scenes(rng, 1, 120, side=14.0)
    expected = Crowd(*crowd).velocities()
    spread = np.sort(rng.permutation(300)[:120])
    assert (Crowd(*crowd, slots=spread, size=304).velocities() == expected).all()


def test_nobody_and_one_alone():
    nothing = np.zeros((2, 0, 2))
    assert Crowd(nothing, nothing, nothing).velocities().shape == (2, 0, 2)
    v = Crowd([[[1.0, 2.0]]], [[[0.3, 0.1]]], [[[4.0, -2.0]]], speed=1.3).velocities()
    assert v[0, 0] == pytest.approx([0.78, -1.04], abs=1e-6)


def meet(start, goal, model=None, steps=200, dt=0.25):
    """Walk until all are within 0.3 m of their goals: (time or None, smallest distance of centres, final positions)."""
    start, goal = np.asarray(start, float), np.asarray(goal, float)
    crowd = Crowd(start[None], np.zeros_like(start)[None], goal[None], dt=dt)
    nearest = np.inf
    for k in range(steps):
        position = crowd.advance(model or Orca(padding=0.0))[0]
        gap = np.hypot(*(position[:, None] - position).transpose(2, 0, 1))
        nearest = min(nearest, gap[~np.eye(len(position), dtype=bool)].min())
        if (np.hypot(*(position - goal).T) < 0.3).all():
            return (k + 1) * dt, nearest, position
    return None, nearest, position


@pytest.mark.parametrize("start", [[(-4, 0), (4, 0)], [(-4, 0), (4, 0), (0, 4), (0, -4)]], ids=["two", "four"])
def test_exactly_symmetric_encounters_end_in_a_deadlock_at_contact(start):
    time, nearest, position = meet(start, -np.array(start))
    assert time is None
    gap = np.hypot(*(position[:, None] - position).transpose(2, 0, 1))
    assert np.sort(gap, axis=1)[:, 1] == pytest.approx(0.6, abs=0.02)
    assert nearest > 0.599


def test_a_tenth_of_a_metre_of_offset_resolves_the_head_on_encounter():
    time, nearest, _ = meet([(-4.0, 0.0), (4.0, 0.1)], [(4.0, 0.0), (-4.0, 0.1)])
    assert time == 8.25
    assert nearest == pytest.approx(0.648, abs=0.001)


def test_a_mirrored_scene_gives_the_mirrored_velocities(rng):
    position, velocity, goal, radius, speed = scenes(rng, 40, 8, side=5.0)
    flip = np.array([-1.0, 1.0])
    a = Crowd(position, velocity, goal, radius, speed).velocities()
    b = Crowd(position * flip, velocity * flip, goal * flip, radius, speed).velocities()
    assert np.mean(np.abs(a - b * flip) < 1e-4) > 0.995


def test_who_stands_in_one_place_parts():
    place = np.array([[1.5, -0.5]] * 2)
    crowd = Crowd(place[None], np.zeros((1, 2, 2)), place[None] + 4.0)
    for _ in range(4):
        position = crowd.advance()[0]
    assert np.isfinite(position).all()
    assert np.hypot(*(position[1] - position[0])) > 0.6


def test_who_goes_on_does_not_slow_down_before_a_waypoint():
    crowd = Crowd([[[0.0, 0.0]]], [[[0.0, 0.0]]], [[[0.3, 0.4]]], speed=1.2)
    assert crowd.velocities()[0, 0] == pytest.approx([0.3, 0.4], abs=1e-6)
    crowd.waypoints.mode[:] = 0
    assert crowd.velocities()[0, 0] == pytest.approx([0.72, 0.96], abs=1e-6)
    crowd.waypoints.mode[:], crowd.waypoints.count[:] = 2, 2
    assert crowd.velocities()[0, 0] == pytest.approx([0.72, 0.96], abs=1e-6)


def room(rows=90, columns=130, resolution=0.05):
    """Occupancy with a wall that has a door, a dead end, a corridor 0.7 m wide and an outer wall."""
    occupied = np.zeros((rows, columns), bool)
    occupied[[0, -1]], occupied[:, [0, -1]] = True, True
    occupied[:50, 60:63] = True
    occupied[70:, 60:63] = True
    occupied[30:33, 20:40], occupied[10:33, 38:40] = True, True
    occupied[40:43, 80:120], occupied[57:60, 80:120] = True, True
    return occupied, distance_transform_edt(~occupied).astype(F) * resolution


def test_nobody_walks_through_the_walls_of_an_image():
    occupied, clearance = room()
    resolution, origin = 0.05, (-2.0, 3.0)
    maps = one_map(clearance, resolution, origin)
    start = np.array([[0.6, 0.9], [1.2, 1.2], [5.7, 2.47], [2.6, 2.9], [5.8, 0.6], [1.5, 3.5]]) + origin
    goal = np.array([[5.8, 0.7], [1.5, 3.6], [3.4, 2.45], [3.5, 2.9], [0.5, 4.2], [1.5, -2.0]]) + origin
    crowd = Crowd(start[None], np.zeros((1, 6, 2)), goal[None], radius=0.25, speed=1.4, maps=maps, dt=0.1)
    model, free = Orca(neighbour_distance=0.5), np.inf
    for _ in range(250):
        position = crowd.advance(model)[0]
        cell = ((position - origin) / resolution).astype(int)
        free = min(free, clearance[cell[:, 1], cell[:, 0]].min())
        assert not occupied[cell[:, 1], cell[:, 0]].any()
    assert free > 0.25 - 0.1  # radius, a cell's diagonal
    left = np.hypot(*(position - goal).T)
    assert left[2] < 0.5  # through the corridor
    assert left[3] < 0.5  # through the door
    assert left[5] > 1.0  # the goal lies outside


def test_a_wall_is_approached_no_faster_than_reaches_it_in_the_horizon():
    clearance = np.broadcast_to((np.arange(80) + 0.5) * 0.1, (40, 80)).copy()  # a wall at x = 0
    crowd = Crowd([[[2.0, 2.1]]], [[[0.0, 0.0]]], [[[-5.0, 2.1]]], maps=one_map(clearance))
    model = Orca(horizon_obstacle=4.0)
    assert crowd.velocities(model)[0, 0] == pytest.approx([-(2.0 - 0.31) / 4.0, 0.0], abs=1e-4)
    assert crowd.velocities(Orca(walls=False))[0, 0] == pytest.approx([-1.0, 0.0], abs=1e-6)


@pytest.mark.parametrize(
    "wrong",
    [
        {"horizon": 0.0},
        {"horizon_obstacle": -1.0},
        {"max_neighbours": -1},
        {"reciprocal": 0.0},
        {"padding": -0.1},
        {"settle": np.inf},
        {"walls": 2},
    ],
)
def test_parameters_without_meaning_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Orca(**wrong)
