"""The drawing model: what is shown, where and when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.errors import InputError
from agora.viewer.scene import Extent, Scene, raster
from viewer.synthetic import crash, episode, hall


def test_a_moment_on_a_sample_is_the_sample():
    recording = episode()
    frame = Scene(recording).at(recording.time[37])
    present = recording.pedestrian_present[37]
    np.testing.assert_allclose(frame.robot, recording.pose[37], atol=1e-12)
    np.testing.assert_array_equal(frame.position, recording.pedestrian_position[37, present])
    np.testing.assert_array_equal(frame.id, recording.pedestrian_id[present])


def test_between_samples_everything_moves_on_a_straight_line():
    recording = episode(pedestrians=1)
    middle = Scene(recording).at(0.5 * (recording.time[50] + recording.time[51]))
    np.testing.assert_allclose(middle.robot[:2], recording.pose[50:52, :2].mean(axis=0))
    np.testing.assert_allclose(middle.position[0], recording.pedestrian_position[50:52, 0].mean(axis=0))


def test_a_heading_turns_the_short_way_round():
    recording = episode(pedestrians=0, duration=0.1)
    recording = replace(recording, pose=np.array([[1.0, 2.0, 3.0], [1.0, 2.0, -3.0]]))
    assert abs(Scene(recording).at(0.05).robot[2]) == pytest.approx(np.pi)


def test_before_the_start_and_after_the_end_the_scene_is_held():
    recording = episode()
    scene = Scene(recording)
    np.testing.assert_allclose(scene.at(-3.0).robot, recording.pose[0])
    np.testing.assert_allclose(scene.at(99.0).robot, recording.pose[-1])


def test_a_pedestrian_that_leaves_or_comes_is_never_drawn_on_the_way_to_a_meaningless_place():
    recording = episode(pedestrians=8)
    gone = int(np.flatnonzero(~recording.pedestrian_present[:, 3])[0])
    recording.pedestrian_position[gone:, 3] = 1e6
    scene = Scene(recording)
    for time in np.linspace(0.0, scene.duration, 401):
        frame = scene.at(time)
        assert np.all(np.abs(frame.position) < 100.0) and np.all(np.abs(frame.trail[:, :2]) < 100.0)
    assert np.all(np.abs(np.array(scene.extent)) < 100.0)


def test_a_trail_lies_where_the_pedestrian_was():
    recording = episode(pedestrians=1)
    frame = Scene(recording).at(10.0)
    assert len(frame.trail) == 8
    np.testing.assert_allclose(frame.trail[3, :2], recording.pedestrian_position[90, 0], atol=1e-9)
    assert np.all(np.diff(frame.trail[:, 2]) > 0)


def test_contacts_appear_when_they_happen():
    scene = Scene(crash())
    assert [len(scene.at(time).contacts) for time in (6.2, 6.23, 16.0)] == [0, 1, 2]


def test_the_extent_holds_map_path_goal_and_pedestrians_and_focus_only_the_path_and_goal():
    recording = crash()
    everything, near = Scene(recording).extent, Scene(recording, focus=1.5).extent
    assert everything.left < -3.7 and everything.bottom < 2.3
    assert everything.right > -3.7 + 110 * 0.15 and everything.top > 2.3 + 70 * 0.15
    assert near.left == pytest.approx(recording.pose[:, 0].min() - 1.5)
    assert near.top < everything.top


def test_the_path_ends_where_the_robot_is():
    scene = Scene(episode())
    np.testing.assert_allclose(scene.path(7.345)[-1], scene.at(7.345).robot[:2])
    assert len(scene.path(0.0)) == 2


def test_cells_keep_their_place_when_the_map_is_cut_to_the_extent():
    plan = hall()
    cells, where = raster(plan, Extent(0.02, 5.0, 3.1, 7.7))
    assert where.left == pytest.approx(-3.7 + 24 * 0.15) and where.bottom == pytest.approx(2.3 + 18 * 0.15)
    assert where.left <= 0.02 and where.right >= 3.1 and where.bottom <= 5.0 and where.top >= 7.7
    np.testing.assert_array_equal(cells, plan.occupied[18 : 18 + cells.shape[0], 24 : 24 + cells.shape[1]])
    assert raster(replace(plan, occupied=np.zeros((3, 5), bool))) is None
    assert raster(plan, Extent(50.0, 50.0, 60.0, 60.0)) is None


def test_an_empty_recording_and_a_senseless_focus_are_refused():
    recording = episode(pedestrians=0)
    with pytest.raises(InputError, match="no samples"):
        Scene(replace(recording, time=np.zeros(0)))
    with pytest.raises(InputError, match="focus"):
        Scene(recording, focus=0.0)


def test_other_robots_are_drawn_where_they_are_until_the_last_has_ended():
    recording, longer = episode(pedestrians=0, duration=5.0), episode(pedestrians=2, duration=9.0)
    other = replace(longer, pose=longer.pose + np.array([40.0, -7.0, 0.0]), radius=0.7)
    scene = Scene(recording, others=(other,))
    assert scene.duration == other.time[-1]
    assert scene.extent.right > other.pose[:, 0].max() and Scene(recording, 1.0, (other,)).extent == Scene(recording, 1.0).extent
    frame = scene.at(other.time[70])
    np.testing.assert_allclose(frame.others, [[*other.pose[70], 0.7]], atol=1e-12)
    np.testing.assert_allclose(frame.robot, recording.pose[-1])
    assert Scene(recording).at(1.0).others.shape == (0, 4)


def test_dials_show_speed_command_and_the_gaps_to_people_and_walls():
    recording = crash()
    commands = np.column_stack((np.arange(150) / 100, np.zeros(150), -np.arange(150) / 50))
    readings = Scene(replace(recording, command=commands)).at(recording.time[37]).readings
    assert readings.speed == pytest.approx(np.hypot(*(recording.pose[37, :2] - recording.pose[36, :2])) / 0.1)
    assert readings.command == pytest.approx((0.37, 0.0, -0.74))
    assert readings.walls == pytest.approx(recording.map.gap(recording.pose[37:38, :2])[0] - recording.radius)
    away = np.hypot(*(recording.pedestrian_position[37] - recording.pose[37, :2]).T) - recording.pedestrian_radius
    assert readings.people == pytest.approx(away[recording.pedestrian_present[37]].min() - recording.radius)
    assert " · command 0.37 m/s, -0.74 rad/s · to people " in readings.words
    alone = Scene(episode(pedestrians=0)).at(1.0).readings
    assert alone.command is None and alone.words.endswith("to people none · to walls none")


def test_the_planned_path_is_the_one_that_was_given_last():
    given = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 2.0], [4.0, 2.0, 2.0], [6.0, 5.0, 6.0], [6.0, 5.0, 9.0]])
    scene = Scene(replace(episode(), planned_path=given))
    assert [scene.at(time).planned.tolist() for time in (3.9, 4.0, 6.0)] == [[[1, 2], [3, 2]], [], [[5, 6], [5, 9]]]
    assert Scene(episode()).at(3.0).planned.shape == (0, 2)
