"""The ORCA planner against CrowdNav's ORCA robot (pyrvo), and what it adds: paths, other kinematics."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyrvo
import pytest
from tests.planners.local.observations import beside

from agora.errors import InputError
from agora.interfaces import Costmap, Limits, Observation, Tracks
from agora.planners.local.orca import OrcaPlanner

F = np.float32


def tracks(position, velocity, radius=0.3, present=None) -> Tracks:
    """Tracks of (N, Q, 2) positions and velocities."""
    position = np.asarray(position, F)
    shape = position.shape[:2]
    present = np.ones(shape, bool) if present is None else present
    ids = np.arange(shape[1], dtype=np.int32) * np.ones((shape[0], 1), np.int32)
    return Tracks(position, np.asarray(velocity, F), np.full(shape, radius, F) * np.ones(shape, F), present, ids, ids * 0 - 1)


def observation(pose, goal, twist=None, holonomic=True, max_vx=1.0, path=None, path_count=None, dt=0.25, **seen) -> Observation:
    """An observation of N robots of radius 0.3 m."""
    pose = np.asarray(pose, F)
    rows = len(pose)
    full = np.ones(rows, F)
    goal = np.column_stack([np.asarray(goal, F), np.zeros(rows, F)])
    gain = full * F(1e6 if holonomic else 1.0)  # CrowdNav's robot has any velocity at once
    limits = Limits(
        np.full(rows, holonomic), -full * F(max_vx), full * F(max_vx), full * F(max_vx), full * F(1.5), gain, gain, full, 0 * full
    )
    if path is not None:
        path = np.asarray(path, F)
        path_count = np.full(rows, path.shape[1], np.int32) if path_count is None else np.asarray(path_count, np.int32)
    twist = np.zeros((rows, 3), F) if twist is None else np.asarray(twist, F)
    return Observation(
        pose, twist, goal, full * F(0.3), np.zeros((rows, 0, 2), F), limits, dt, path=path, path_count=path_count, **seen
    )


def to_world(vector, heading):
    """Vectors (N, 2) of the robots' frames in the map's."""
    c, s = np.cos(heading), np.sin(heading)
    return np.stack([c * vector[:, 0] - s * vector[:, 1], s * vector[:, 0] + c * vector[:, 1]], -1)


def crowdnav(robot, velocity, goal, position, velocities, radius):
    """CrowdNav's ORCA robot in one scene: a fresh simulator with all radii 0.01 m larger, wish at most 1 m/s."""
    sim = pyrvo.RVOSimulator(0.25, 10.0, 10, 5.0, 5.0, 0.3, 1.0)
    sim.add_agent(tuple(map(float, robot)), 10.0, 10, 5.0, 5.0, 0.31, 1.0, tuple(map(float, velocity)))
    for p, v, r in zip(position, velocities, radius, strict=True):
        sim.add_agent(tuple(map(float, p)), 10.0, 10, 5.0, 5.0, float(r) + 0.01, 1.0, tuple(map(float, v)))
    wish = goal - robot
    sim.set_agent_pref_velocity(0, tuple(map(float, wish / max(1.0, np.hypot(*wish)))))
    sim.do_step()
    return np.array(sim.get_agent_velocity(0).to_tuple())


def crowds(rng, rows=300, count=6):
    """Robots and pedestrians that do not overlap."""
    robot, goal = rng.uniform(-1, 1, (rows, 2)), rng.uniform(-4, 4, (rows, 2))
    goal[: rows // 10] = robot[: rows // 10] + 0.4
    angle = rng.uniform(-np.pi, np.pi, (rows, count))
    offset = rng.uniform(0.8, 4.0, (rows, count))[..., None] * np.stack([np.cos(angle), np.sin(angle)], -1)
    heading = rng.uniform(-np.pi, np.pi, rows)
    return robot, rng.normal(0, 0.4, (rows, 2)), goal, robot[:, None] + offset, rng.normal(0, 0.6, (rows, count, 2)), heading


def test_a_holonomic_robot_moves_like_crowdnavs(rng):
    robot, velocity, goal, position, velocities, heading = crowds(rng)
    radius = rng.uniform(0.2, 0.45, position.shape[:2])
    in_frame = to_world(velocity, -heading)
    seen = tracks(position, velocities, radius)
    rows = len(robot)
    o = observation(np.column_stack([robot, heading]), goal, np.column_stack([in_frame, np.zeros(rows)]), pedestrians=seen)
    answer = OrcaPlanner(follow_path=False).act(o, {})
    twist, memory = answer.twists, answer.memory
    theirs = np.array([crowdnav(robot[k], velocity[k], goal[k], position[k], velocities[k], radius[k]) for k in range(rows)])
    error = np.hypot(*(to_world(twist[:, :2].astype(float), heading) - theirs).T)
    assert np.mean(error < 1e-4) > 0.99
    assert np.median(error) < 2e-6
    assert (twist[:, 2] == 0.0).all()
    assert memory == {}


def test_other_robots_count_like_pedestrians_and_absent_tracks_not_at_all(rng):
    robot, velocity, goal, position, velocities, heading = crowds(rng, rows=60)
    pose, twist = np.column_stack([robot, heading]), np.column_stack([velocity, np.zeros(60)])
    planner = OrcaPlanner()
    everybody = planner.act(observation(pose, goal, twist, pedestrians=tracks(position, velocities)), {}).twists
    split = {"pedestrians": tracks(position[:, :4], velocities[:, :4]), "robots": tracks(position[:, 4:], velocities[:, 4:])}
    assert (planner.act(observation(pose, goal, twist, **split), {}).twists == everybody).all()
    padded = np.concatenate([np.repeat(robot[:, None], 3, 1), position], 1), np.concatenate([velocities[:, :3], velocities], 1)
    present = np.arange(9) >= 3 * np.ones((60, 1))
    absent = tracks(*padded, present=present)
    assert (planner.act(observation(pose, goal, twist, pedestrians=absent), {}).twists == everybody).all()


def test_a_row_does_not_depend_on_the_others(rng):
    robot, velocity, goal, position, velocities, heading = crowds(rng, rows=7)
    pose, twist = np.column_stack([robot, heading]), np.column_stack([velocity, np.zeros(7)])
    path = rng.normal(0, 2.0, (7, 5, 2))
    planner = OrcaPlanner()
    together = planner.act(observation(pose, goal, twist, path=path, pedestrians=tracks(position, velocities)), {}).twists
    for k in range(7):
        row = slice(k, k + 1)
        seen = tracks(position[row], velocities[row])
        alone = planner.act(observation(pose[row], goal[row], twist[row], path=path[row], pedestrians=seen), {}).twists
        assert (alone[0] == together[k]).all()


def test_no_rows_and_nobody_about():
    assert OrcaPlanner().act(observation(np.zeros((0, 3)), np.zeros((0, 2))), {}).twists.shape == (0, 3)
    nobody = tracks(np.zeros((1, 0, 2)), np.zeros((1, 0, 2)))
    twist = OrcaPlanner().act(observation([[1.0, 2.0, 0.7]], [[4.0, -2.0]], pedestrians=nobody, robots=nobody), {}).twists
    assert to_world(twist[:, :2], 0.7)[0] == pytest.approx([0.6, -0.8], abs=1e-6)


BENT = [[[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [9.0, 4.0]]]


@pytest.mark.parametrize(
    ("at", "towards"),
    [
        ((1.0, 0.4), (2.5, 0.0)),  # 1.5 m along the first leg
        ((2.6, 0.2), (3.0, 1.1)),  # around the corner
        ((3.3, 3.0), (3.5, 4.0)),
        ((-2.0, -1.0), (1.5, 0.0)),  # before the start
    ],
)
def test_it_heads_for_a_point_ahead_on_the_path_at_full_speed(at, towards):
    o = observation([[*at, 0.4]], [[9.0, 4.0]], path=BENT, max_vx=1.7)
    twist = OrcaPlanner(lookahead=1.5).act(o, {}).twists
    wish = np.subtract(towards, at)
    assert to_world(twist[:, :2], 0.4)[0] == pytest.approx(1.7 * wish / np.hypot(*wish), abs=1e-5)


def test_it_heads_for_the_goal_at_the_end_of_the_path_and_slows_down():
    o = observation([[8.0, 4.3, 0.0]], [[9.1, 4.0]], path=BENT, max_vx=1.7)
    twist = OrcaPlanner(lookahead=1.5).act(o, {}).twists
    assert twist[0] == pytest.approx([1.1, -0.3, 0.0], abs=1e-5)
    slow = OrcaPlanner(lookahead=1.5, preferred_speed=0.5).act(o, {}).twists
    assert np.hypot(*slow[0, :2]) == pytest.approx(0.5)


def test_points_after_the_paths_count_are_not_of_the_path():
    longer = [BENT[0][:2] + [[3.0, 0.0], [-50.0, 7.0]]]
    o = observation([[1.0, 0.1, 0.3]], [[3.0, 0.0]], path=longer, path_count=[2])
    expected = observation([[1.0, 0.1, 0.3]], [[3.0, 0.0]], path=[BENT[0][:2]])
    planner = OrcaPlanner(lookahead=1.2)
    assert (planner.act(o, {}).twists == planner.act(expected, {}).twists).all()


def test_a_robot_that_cannot_move_sideways_turns_towards_the_velocity():
    heading = np.array([0.4, 2.9, -2.0])
    o = observation(np.column_stack([np.ones((3, 2)), heading]), np.tile([4.0, 5.0], (3, 1)), holonomic=False)
    twist = OrcaPlanner(follow_path=False, turn_gain=0.8).act(o, {}).twists
    error = np.arctan2(4.0, 3.0) - heading
    error = np.mod(error + np.pi, 2 * np.pi) - np.pi
    assert twist[:, 0] == pytest.approx(np.maximum(0.0, np.cos(error)), abs=1e-6)
    assert (twist[:, 1] == 0.0).all()
    assert twist[:, 2] == pytest.approx(np.clip(0.8 * error, -1.5, 1.5), abs=1e-6)


def test_a_robot_that_cannot_turn_in_place_goes_on_while_it_turns():
    o = observation([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]], [[-5.0, -0.1], [5.0, 0.0]], holonomic=False)
    tight = np.full(2, 0.5, F)
    o = dataclasses.replace(o, limits=dataclasses.replace(o.limits, turning_radius=tight))
    twist = OrcaPlanner(follow_path=False).act(o, {}).twists
    assert twist == pytest.approx(np.array([[0.3, 0.0, -0.6], [0.3, 0.0, -0.6]]), abs=1e-6)


def test_a_holonomic_robot_is_not_asked_for_more_than_it_can_and_keeps_the_direction():
    o = observation([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.5, -5.0], [-5.0, 1.0]])
    o = dataclasses.replace(o, limits=dataclasses.replace(o.limits, max_vy=np.full(2, 0.4, F), min_vx=np.full(2, -0.2, F)))
    twist = OrcaPlanner(follow_path=False).act(o, {}).twists
    assert twist[:, :2] == pytest.approx(np.array([[0.04, -0.4], [-0.2, 0.04]]), abs=1e-4)


def test_at_the_goal_it_stands_still():
    for holonomic in (True, False):
        twist = OrcaPlanner().act(observation([[1.0, 2.0, 0.7]], [[1.0, 2.0]], holonomic=holonomic), {}).twists
        assert (twist == 0.0).all()


def test_who_takes_all_responsibility_is_clear_of_someone_who_takes_none():
    person, walks = np.array([5.0, 0.1]), np.array([-1.0, 0.0])
    o = observation([[0, 0, 0]], [[9.0, 0.0]], [[1.0, 0.0, 0.0]], pedestrians=tracks([[person]], [[walks]]))
    for responsibility, clear in ((1.0, True), (0.5, False)):
        twist = OrcaPlanner(follow_path=False, responsibility=responsibility).act(o, {}).twists
        time = np.linspace(0.0, 5.0, 501)[:, None]
        gap = np.hypot(*(person + time * (walks - twist[0, :2])).T).min()
        assert (gap > 0.619) == clear


def test_the_whole_scene_may_be_turned(rng):
    robot, velocity, goal, position, velocities, heading = crowds(rng, rows=80)
    turn = 0.83
    planner = OrcaPlanner(follow_path=False)

    def act(angle):
        r = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        pose = np.column_stack([robot @ r, heading + angle])
        twist = np.column_stack([to_world(velocity, -heading), np.zeros(80)])
        return planner.act(observation(pose, goal @ r, twist, pedestrians=tracks(position @ r, velocities @ r)), {}).twists

    assert np.mean(np.abs(act(0.0) - act(turn)).max(1) < 1e-4) > 0.95


def walled(wall, pose, **more):
    """Robots that see the segments ``wall`` (S, 4) in their costmaps."""
    return beside(observation(pose, **more), wall)


WALL = [[1.005, -6.0, 1.005, 6.0]]


@pytest.mark.parametrize("horizon", [1.0, 4.0])
def test_towards_a_wall_it_is_as_fast_as_reaches_it_in_its_horizon_and_along_it_as_ever(horizon):
    planner = OrcaPlanner(follow_path=False, wall_horizon=horizon, padding=0.0)
    pose = [[0.0, 0.3, 0.4], [0.5, -0.2, 2.0]]
    twist = planner.act(walled(WALL, pose, goal=[[7.0, 0.3], [7.0, -0.2]]), {}).twists
    velocity = to_world(twist[:, :2].astype(float), np.array(pose)[:, 2])
    gap = 1.0 - np.array(pose)[:, 0] - 0.3
    assert velocity[:, 0] == pytest.approx(np.minimum(gap / horizon, 1.0), abs=0.03 / horizon)
    along = planner.act(walled(WALL, [[0.65, 0.0, 1.5]], goal=[[0.65, 5.0]]), {}).twists
    assert to_world(along[:, :2].astype(float), 1.5)[0] == pytest.approx([0.0, 1.0], abs=0.03)


def rvo2_among_walls(robot, velocity, goal, radius, walls):
    """Velocities (N, 2) of RVO2's agents, each alone among walls: pairs of ends."""
    answers = []
    for here, moving, wish in zip(robot, velocity, goal - robot, strict=True):
        sim = pyrvo.RVOSimulator(0.25, 10.0, 10, 5.0, 1.5, radius, 1.0)
        for ends in walls:
            sim.add_obstacle(list(ends))
        sim.process_obstacles()
        sim.add_agent(tuple(map(float, here)), 10.0, 10, 5.0, 1.5, radius, 1.0, tuple(map(float, moving)))
        sim.set_agent_pref_velocity(0, tuple(map(float, wish / np.hypot(*wish))))
        sim.do_step()
        answers.append(sim.get_agent_velocity(0).to_tuple())
    return np.array(answers)


def test_beside_walls_it_moves_about_as_with_the_segments_of_rvo2(rng):
    walls = [[1.305, -4.0, 1.305, 0.4], [-0.9, 1.6, 1.1, 1.9]]
    rows = 60
    robot, velocity, heading = rng.uniform(-0.3, 0.7, (rows, 2)), rng.normal(0, 0.5, (rows, 2)), rng.uniform(-3, 3, rows)
    goal = robot + 4.0 * np.stack([np.cos(angle := rng.uniform(-np.pi, np.pi, rows)), np.sin(angle)], -1)
    in_frame = np.column_stack([to_world(velocity, -heading), np.zeros(rows)])
    o = walled(walls, np.column_stack([robot, heading]), goal=goal, twist=in_frame)
    twist = OrcaPlanner(follow_path=False, wall_horizon=1.5, padding=0.0).act(o, {}).twists
    mine = to_world(twist[:, :2].astype(float), heading)
    theirs = rvo2_among_walls(robot, velocity, goal, 0.3, [(tuple(wall[:2]), tuple(wall[2:])) for wall in walls])
    error = np.hypot(*(mine - theirs).T)
    free = np.hypot(*(to_world(np.ones((rows, 1)) * [1.0, 0.0], angle) - theirs).T)
    assert np.count_nonzero(free > 0.1) > 15
    assert np.count_nonzero(error < 1e-6) > 15
    assert np.median(error) < 0.05 and error.mean() < 0.4 * free.mean(), (
        np.quantile(error, (0.5, 0.75, 0.9)),
        error.mean(),
        free.mean(),
    )


BLOCKS = np.array([[0.6, -1.9, 1.4, 0.4], [-0.9, 1.0, 1.1, 1.9], [-1.7, -1.8, -1.1, -0.3]])


def test_the_edges_of_walls_are_the_segments_of_rvo2(rng):
    rows, cell, cells = 200, 0.05, 80
    robot, velocity, heading = rng.uniform(-1.0, 0.7, (rows, 2)), rng.normal(0, 0.5, (rows, 2)), rng.uniform(-3, 3, rows)
    goal = robot + 4.0 * np.stack([np.cos(angle := rng.uniform(-np.pi, np.pi, rows)), np.sin(angle)], -1)
    in_frame = np.column_stack([to_world(velocity, -heading), np.zeros(rows)])
    middle = (np.arange(cells) + 0.5) * cell - 2.0
    inside = [(middle > low) & (middle < high) for low, high in np.concatenate([BLOCKS[:, ::2], BLOCKS[:, 1::2]])]
    cost = sum(np.outer(inside[k + len(BLOCKS)], inside[k]) for k in range(len(BLOCKS))).astype(np.uint8) * 254
    o = observation(np.column_stack([robot, heading]), goal, in_frame)
    window = Costmap(np.repeat(cost[None], rows, 0), np.full((rows, 2), -2.0, F), cell)
    planner = OrcaPlanner(follow_path=False, walls="edges", wall_horizon=1.5, padding=0.0, radius_factor=1.1)
    twist = planner.act(dataclasses.replace(o, costmap=window), {}).twists
    mine = to_world(twist[:, :2].astype(float), heading)
    sides = [
        side
        for x0, y0, x1, y1 in BLOCKS.tolist()
        for side in (((x0, y0), (x1, y0)), ((x0, y1), (x1, y1)), ((x0, y0), (x0, y1)), ((x1, y0), (x1, y1)))
    ]
    theirs = rvo2_among_walls(robot, velocity, goal, 0.33, sides)
    error = np.hypot(*(mine - theirs).T)
    free = np.hypot(*(to_world(np.ones((rows, 1)) * [1.0, 0.0], angle) - theirs).T)
    assert np.count_nonzero(free > 0.1) > 60
    assert np.mean(error < 1e-4) > 0.95


def test_a_wall_ahead_counts_however_much_wall_is_nearer():
    """A block of 1.3 x 4 m lies on the left, with more cells than any number that would be enough for thin walls."""
    cell, cells = 0.05, 80
    cost = np.zeros((2, cells, cells), np.uint8)
    cost[:, :, 76] = 254  # 1.8 m ahead
    cost[0, 52:78] = 254  # from 0.6 to 1.9 m to the left
    cost[1, [52, 77]] = 254  # its surface alone
    o = observation(np.zeros((2, 3)), [[9.0, 0.0]] * 2, np.zeros((2, 3)), max_vx=2.0)
    seen = dataclasses.replace(o, costmap=Costmap(cost, np.full((2, 2), -2.0, F), cell))
    wanted = OrcaPlanner(follow_path=False, wall_horizon=2.5).act(seen, {}).twists
    room = 76.5 * cell - 2.0 - 0.31 - 0.5 * np.sqrt(2.0) * cell
    assert wanted[0] == pytest.approx([room / 2.5, 0.0, 0.0], abs=0.03)
    assert (wanted[0] == wanted[1]).all()


def test_a_car_is_the_disc_about_its_outline_and_fits_where_that_fits():
    """The disc about its base is nearly as wide as the passage, 0.8 m; the disc about its outline has 0.15 m left on each side."""
    corners = np.array([[[0.36, 0.1], [-0.1, 0.1], [-0.1, -0.1], [0.36, -0.1]]], F)
    o = observation([[0.0, 0.0, 0.0]], [[5.0, 0.0]], [[0.5, 0.0, 0.0]], holonomic=False)
    o = dataclasses.replace(o, radius=np.array([0.38], F), limits=dataclasses.replace(o.limits, turning_radius=np.array([0.4], F)))
    passage = [[0.3, -6.0, 0.3, -0.4], [0.3, 0.4, 0.3, 6.0], [0.3, 0.4, 1.5, 0.4], [0.3, -0.4, 1.5, -0.4]]
    planner = OrcaPlanner(follow_path=False)
    fits, does_not = (
        planner.act(beside(dataclasses.replace(o, footprint=outline), np.array(passage), cell=0.03, cells=130), {}).twists[0, 0]
        for outline in (corners, np.zeros((1, 0, 2), F))
    )
    assert does_not < 0.2 and fits > 0.7


def test_a_factor_of_the_radii_is_that_of_everybodys(rng):
    robot, velocity, goal, position, velocities, heading = crowds(rng, rows=50)
    pose, twist = np.column_stack([robot, heading]), np.column_stack([velocity, np.zeros(50)])
    seen = observation(pose, goal, twist, pedestrians=tracks(position, velocities, 0.24))
    larger = observation(pose, goal, twist, pedestrians=tracks(position, velocities, 0.24 * 1.05))
    larger = dataclasses.replace(larger, radius=seen.radius * F(1.05))
    mine = OrcaPlanner(radius_factor=1.05).act(seen, {}).twists
    assert np.mean(np.abs(mine - OrcaPlanner().act(larger, {}).twists).max(1) < 1e-4) > 0.95
    assert np.mean(np.abs(mine - OrcaPlanner().act(seen, {}).twists).max(1) < 1e-4) < 0.9


def test_differenced_velocities_are_those_of_the_last_two_places(rng):
    robot, velocity, goal, position, velocities, heading = crowds(rng, rows=30)
    pose, twist = np.column_stack([robot, heading]), np.column_stack([to_world(velocity, -heading), np.zeros(30)])
    position, moved = position.astype(F), rng.normal(0, 0.4, position.shape).astype(F)
    here = rng.random(position.shape[:2]) < 0.7
    before = observation(pose, goal, twist, pedestrians=tracks(position - moved * F(0.25), velocities, present=here))
    seen = tracks(position, velocities)
    now = observation(pose, goal, twist, pedestrians=seen)
    planner = OrcaPlanner(differenced=True)
    memory = planner.act(before, {}).memory
    standing = observation(pose, goal, twist, pedestrians=tracks(position, moved * here[..., None]))
    expected = OrcaPlanner().act(standing, {}).twists
    assert np.mean(np.abs(planner.act(now, memory).twists - expected).max(1) < 1e-4) > 0.9
    assert np.mean(np.abs(OrcaPlanner().act(now, {}).twists - expected).max(1) < 1e-4) < 0.5
    others = dataclasses.replace(now, pedestrians=dataclasses.replace(seen, id=seen.id + 20))
    still = OrcaPlanner().act(observation(pose, goal, twist, pedestrians=tracks(position, 0 * velocities)), {}).twists
    assert (planner.act(others, memory).twists == still).all()
    assert (planner.act(now, {}).twists == still).all()


@pytest.mark.parametrize(("settle", "speed"), [(0.0, 1.0), (0.2, 1.0), (0.5, 0.6), (1.0, 0.3)])
def test_how_fast_it_comes_to_the_goal(settle, speed):
    o = observation([[1.0, 2.0, 0.7]], [[1.0, 2.3]])
    twist = OrcaPlanner(follow_path=False, settle=settle).act(o, {}).twists
    assert to_world(twist[:, :2], 0.7)[0] == pytest.approx([0.0, speed], abs=1e-5)


def test_through_a_doorway_it_drives_at_full_speed():
    door = [[1.0, -6.0, 1.0, -0.45], [1.0, 0.45, 1.0, 6.0]]
    for x in (0.2, 0.7, 1.0, 1.3):
        seen = walled(door, [[x, 0.0, 0.0]], goal=[[5.0, 0.0]], twist=[[1.0, 0.0, 0.0]])
        twist = OrcaPlanner(follow_path=False).act(seen, {}).twists
        assert twist[0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"horizon": 0.0},
        {"lookahead": 0.0},
        {"max_neighbours": -1},
        {"responsibility": 1.5},
        {"preferred_speed": 0.0},
        {"radius_factor": 0.0},
        {"settle": -1.0},
        {"walls": "edge"},
    ],  # fmt: skip
)
def test_parameters_without_meaning_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        OrcaPlanner(**wrong)


def test_every_parameter_is_a_field_that_changes_something(rng):
    robot, velocity, goal, position, velocities, heading = crowds(rng, rows=40, count=20)
    pose, twist = np.column_stack([robot, heading]), np.column_stack([velocity, np.zeros(40)])
    path, count = rng.normal(0, 3, (40, 6, 2)), np.arange(40) % 2 * 6
    o = observation(pose, goal, twist, path=path, path_count=count, pedestrians=tracks(position, velocities))
    o = dataclasses.replace(o, costmap=walled(WALL, pose, goal=goal).costmap)
    fixed = dataclasses.replace(o, limits=dataclasses.replace(o.limits, holonomic=np.zeros(40, bool)))
    usual = OrcaPlanner().act(o, {}).twists, OrcaPlanner().act(fixed, {}).twists
    for name, value in {
        "neighbour_distance": 1.5, "max_neighbours": 2, "horizon": 1.0, "padding": 0.1, "responsibility": 1.0,
        "wall_horizon": 3.0, "follow_path": False, "lookahead": 3.0, "preferred_speed": 0.4, "turn_gain": 0.5,
        "walls": "edges", "radius_factor": 1.1, "settle": 0.0, "differenced": True,
    }.items():  # fmt: skip
        planner = OrcaPlanner(**{name: value})
        changed = planner.act(o, {}).twists, planner.act(fixed, {}).twists
        assert any((a != b).any() for a, b in zip(usual, changed, strict=True)), name
