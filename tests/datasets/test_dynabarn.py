"""DynaBARN: hand-made worlds, and the real ones against the paper's speeds."""

from __future__ import annotations

import numpy as np
import pytest

from agora.datasets import dynabarn
from agora.datasets.dynabarn import read_world, world_names
from agora.errors import InputError, UnknownNameError
from agora.tasks.suite import load_suite


def test_obstacles_go_in_straight_lines_and_start_again_for_ever(small_dynabarn, tmp_path):
    obstacles = read_world("challenge_03", small_dynabarn(tmp_path)).obstacles
    for turn in (0, 1, 57):
        np.testing.assert_allclose(obstacles.at(1.0 + 18.0 * turn).position, [[1, 2], [2, 0], [1, 2]], atol=1e-9)
        np.testing.assert_allclose(obstacles.at(5.0 + 18.0 * turn).position, [[3, -1], [1, 0], [3, -1]], atol=1e-9)
    assert all(obstacles.at(time).present.all() for time in np.linspace(0, 100, 999))
    np.testing.assert_allclose(obstacles.at(5.0).velocity, [[0, -1], [2, 0], [0, -1]])


def test_phases_put_obstacles_ahead_by_a_share_of_their_period(small_dynabarn, tmp_path):
    ahead = read_world("challenge_03", small_dynabarn(tmp_path), phases=[0.5, 0.2, 0.0]).obstacles
    plain = read_world("challenge_03", tmp_path).obstacles
    for time in (0.0, 1.3, 7.7, 100.1):
        np.testing.assert_allclose(ahead.at(time).position[0], plain.at(time + 3.0).position[0], atol=1e-9)
        np.testing.assert_allclose(ahead.at(time).position[1], plain.at(time + 0.9).position[1], atol=1e-9)
        np.testing.assert_allclose(ahead.at(time).position[2], plain.at(time).position[2], atol=1e-9)


@pytest.mark.parametrize("phases", [[0.1, 0.2], [0.0, 0.0, 1.0], [0.0, np.nan, 0.0]])
def test_phases_that_do_not_fit_are_refused(small_dynabarn, tmp_path, phases):
    with pytest.raises(InputError, match="expected 3 phases in"):
        read_world("challenge_03", small_dynabarn(tmp_path), phases=phases)


def test_the_spline_goes_through_the_waypoints_and_starts_at_rest(small_dynabarn, tmp_path):
    lines, spline = (
        read_world("challenge_03", small_dynabarn(tmp_path), motion=motion).obstacles for motion in ("lines", "spline")
    )
    for time in (0.0, 2.0, 6.0 - 1e-9):
        np.testing.assert_allclose(spline.at(time).position[0], lines.at(time).position[0], atol=1e-6)
    assert np.hypot(*spline.at(0.01).velocity[0]) < 0.2 * np.hypot(*lines.at(0.01).velocity[0])


def test_walls_stand_on_three_sides_and_the_start_is_on_the_open_one(small_dynabarn, tmp_path):
    world = read_world("challenge_03", small_dynabarn(tmp_path))
    assert (world.start, world.goal) == ((11.0, 0.0, np.pi), (-9.0, 0.0, np.pi))
    assert read_world("demo_00", tmp_path).start[0] == 12.0
    assert world.map.contains([world.start[:2], world.goal[:2]]).all()
    gaps = world.map.gap([[-9.0, 0.0], [0.0, 7.0], [0.0, -7.0], [9.9, 0.0], [-10.0, 3.0], [5.0, 8.2]])
    np.testing.assert_allclose(gaps, [0.75, 0.75, 0.75, 7.75, 0.0, 0.0], atol=1e-6)


def test_a_world_without_obstacles_is_empty(small_dynabarn, tmp_path):
    assert read_world("demo_00", small_dynabarn(tmp_path)).obstacles.count == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"trajectories": {"a": {"length_s": 5.0, "waypoints": [[0, 0, 0], [6, 0, 1]]}}},
            "a: length_s must not be less than the time",
        ),
        ({"trajectories": {"a": {"length_s": 5.0, "waypoints": [[1, 0, 0], [5, 0, 1]]}}}, "waypoints must be at least two"),
        ({"trajectories": {"a": {"length_s": 5.0, "waypoints": [[0, 0, 0], [0, 0, 1]]}}}, "waypoints must be at least two"),
        ({"trajectories": {}}, "names the trajectory 'a', which is not in the file"),
        ({"worlds": {"x": {"difficulty": "eazy", "obstacles": []}}}, "did you mean 'easy'"),
        ({"loop": False}, "loop: expected one of True, got false"),
    ],
)
def test_a_broken_file_is_an_error_that_names_the_key(small_dynabarn, tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        dynabarn.check(small_dynabarn(tmp_path, **changes))


def test_an_unknown_world_is_answered_with_the_nearest(small_dynabarn, tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'challenge_03'"):
        read_world("challenge_3", small_dynabarn(tmp_path))


@pytest.mark.data
def test_90_worlds_have_obstacles_as_fast_as_their_difficulty(data):
    folder = data / "dynabarn"
    dynabarn.check(folder)
    assert len(world_names(folder)) == 90
    hard = world_names(folder, difficulty="hard")
    assert len(hard) == 30 and {read_world(name, folder).difficulty for name in hard} == {"hard"}
    speeds: dict[str, list[float]] = {}
    for name, trajectory in dynabarn._file(folder / "worlds.json").trajectories.items():
        knots = np.array(trajectory.waypoints)
        speeds.setdefault(name.partition("_")[0], []).extend(np.hypot(*np.diff(knots[:, 1:], axis=0).T) / np.diff(knots[:, 0]))
    for kind, low, high in (("easy", 0.5, 0.9), ("medium", 1.0, 1.4), ("hard", 1.5, 1.9)):
        within = (np.array(speeds[kind]) > low - 0.02) & (np.array(speeds[kind]) < high + 0.02)
        assert within.mean() > 0.97
        assert low - 0.11 < min(speeds[kind]) and max(speeds[kind]) < high + 0.06


@pytest.mark.data
def test_the_spline_leaves_the_lines_by_1_33_m_in_the_median_of_the_maxima(data):
    farthest = []
    for trajectory in dynabarn._file(data / "dynabarn" / "worlds.json").trajectories.values():
        knots = np.array(trajectory.waypoints)
        spline = dynabarn._spline(knots)
        lines = np.column_stack([np.interp(spline[:, 0], knots[:, 0], knots[:, axis]) for axis in (1, 2)])
        farthest.append(np.hypot(*(spline[:, 1:] - lines).T).max())
    assert np.median(farthest) == pytest.approx(1.33, abs=0.01)
    assert max(farthest) == pytest.approx(2.85, abs=0.01)


@pytest.mark.data
def test_obstacles_cross_the_goal_in_63_of_90_worlds(data):
    crossed = []
    for name in world_names(data / "dynabarn"):
        world = read_world(name, data / "dynabarn")
        obstacles = world.obstacles
        knots = np.column_stack((obstacles.knot_x, obstacles.knot_y)) - world.goal[:2]
        step = np.diff(knots, axis=0)
        inner = np.delete(np.arange(len(step)), obstacles.first[1:-1] - 1)
        share = np.clip(-(knots[:-1] * step).sum(1) / np.maximum((step**2).sum(1), 1e-12), 0.0, 1.0)[:, None]
        crossed.append(np.hypot(*(knots[:-1] + share * step)[inner].T).min() < world.radius + 0.25)
    assert sum(crossed) == 63


@pytest.mark.data
def test_the_suite_plays_every_world_of_a_set_ten_times_each_time_with_other_phases(data):
    suite = load_suite("dynabarn")
    played = [name for stage in suite.stages for name in stage.world.part.names()]
    assert sorted(played) == world_names(data / "dynabarn")
    for stage, x in zip(suite.stages, (11.0, 11.0, 11.0, 12.0, 12.0, 12.0), strict=True):
        names = stage.world.part.names()
        assert stage.count == 10 * len(names) == 150
        starts = [suite.start(stage.name, k) for k in (4, 19, 139)]
        assert {start.map.name for start in starts} == {names[4]} and starts[0].robots[0].pose[0] == x
        phases = np.array([start.replay_phase / start.replay.period for start in starts])
        assert (phases >= 0).all() and (phases < 1).all()
        assert all((a != b).all() for a, b in zip(phases, phases[[1, 2, 0]], strict=True))
