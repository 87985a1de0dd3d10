"""Videos: as long as the episode, the same every time, everything in its place."""

from __future__ import annotations

from dataclasses import replace

import av
import numpy as np
import pytest
from PIL import Image

from agora.core.state import SOCIAL_STATES, robot_traits
from agora.errors import InputError
from agora.viewer.figures import blank, draw_frame
from agora.viewer.scene import COLOURS, FAMILIES, STATES, Scene
from agora.viewer.video import Painter, frame_times, write_video
from viewer.synthetic import crash, episode, hall


def colour(role):
    return np.array([int(COLOURS[role][i : i + 2], 16) for i in (1, 3, 5)])


def frame(recording, time, **options):
    return next(Painter(Scene(recording), **options).frames([time]))


def test_frames_are_evenly_spaced_and_the_last_moment_is_held():
    np.testing.assert_allclose(frame_times(1.0, 4, 1.0, 0.5), [0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(frame_times(1.0, 4, 2.0, 0.0), [0, 0.5, 1.0])
    np.testing.assert_allclose(frame_times(0.0, 10, 1.0, 0.0), [0.0])


def test_a_video_has_the_frames_size_and_duration_it_was_asked_for(tmp_path):
    steps = []
    path = write_video(
        tmp_path / "a.mp4",
        episode(pedestrians=3, duration=2.0),
        fps=20,
        size=(322, 240),
        hold=0.5,
        progress=lambda *step: steps.append(step),
    )
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = [f.to_ndarray(format="rgb24") for f in container.decode(stream)]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert stream.average_rate == 20
        assert float(container.duration) / 1e6 == pytest.approx(51 / 20, abs=0.01)
    assert len(frames) == 51 and frames[0].shape == (240, 322, 3)
    assert steps[0] == (1, 51) and steps[-1] == (51, 51)
    drawn = frame(episode(pedestrians=3, duration=2.0), 1.0, size=(322, 240))
    assert np.abs(frames[20].astype(int) - drawn).mean() < 4.0
    assert list(tmp_path.iterdir()) == [path]


def test_a_frame_depends_on_its_time_alone():
    painter = Painter(Scene(crash()), size=(480, 360))
    times = [0.0, 2.13, 6.4, 6.41, 15.0]
    for time, pixels in zip(times, painter.frames(times), strict=True):
        np.testing.assert_array_equal(pixels, next(Painter(painter.scene, size=(480, 360)).frames([time])))


def test_robot_pedestrian_and_wall_are_at_their_places():
    recording = episode(pedestrians=1, surroundings=hall(), seed=8)
    painter = Painter(Scene(recording), size=(800, 600))
    pixels = next(painter.frames([12.0]))

    def seen(place):
        x, y = np.floor(painter.pixel(np.asarray(place))).astype(int)
        return pixels[y, x]

    moment = painter.scene.at(12.0)
    back = np.array([np.cos(moment.robot[2]), np.sin(moment.robot[2])])
    np.testing.assert_array_equal(seen(moment.robot[:2] - 0.5 * recording.radius * back), colour("robot"))
    side = np.array([-np.sin(moment.heading[0]), np.cos(moment.heading[0])])
    np.testing.assert_array_equal(seen(moment.position[0] + 0.5 * moment.radius[0] * side), colour("pedestrian"))
    np.testing.assert_array_equal(seen((-3.7 + 95 * 0.15, 2.3 + 7 * 0.15)), colour("wall"))
    np.testing.assert_array_equal(seen((1.4, 9.6)), colour("wall"))
    np.testing.assert_array_equal(seen((9.05, 4.35)), colour("wall"))
    np.testing.assert_array_equal(seen((6.0, 6.05)), colour("wall"))
    np.testing.assert_array_equal(seen((12.5, 7.0)), colour("ground"))


def test_robots_have_their_outlines_in_videos_and_pictures():
    traits = robot_traits(1, 1, 4)
    traits.vertices[0, 0] = 4
    traits.footprint_x[0, 0, :4], traits.footprint_y[0, 0, :4] = (-0.9, 0.6, 0.6, -0.9), (-0.2, -0.2, 0.3, 0.3)
    box, disc = (replace(episode(pedestrians=0, seed=8), robot=robot, radius=0.95) for robot in (traits, None))
    other = replace(box, pose=box.pose + (2.0, -3.0, 1.1))
    for recording, others, own, seen in ((box, (other,), "robot", box), (disc, (other,), "others", other)):
        painter = Painter(Scene(recording, others=others), size=(900, 700))
        pixels, pose = next(painter.frames([7.0])), _pose(seen, 7.0)
        shown = [_pixel(painter, pixels, pose, *at) for at in ((-0.8, 0.2), (0.45, -0.4), (-0.3, 0.5))]
        assert shown == [colour(own).tolist(), *[colour("ground").tolist()] * 2]
    frame = Scene(disc, others=(other,)).at(7.0)
    assert [outline is None for outline in frame.outlines] == [True, False]
    _, axes = blank(5.0, 5.0)
    bodies = draw_frame(axes, frame, disc.radius)[0].get_paths()
    assert bodies[0].vertices[:4] == pytest.approx(frame.outlines[1]) and len(bodies[1].vertices) > 10


def _pixel(painter, pixels, pose, along, aside):
    x, y, heading = pose
    ahead, side = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    column, row = np.floor(painter.pixel(np.array([x, y]) + along * ahead + aside * side)).astype(int)
    return pixels[row, column].tolist()


def _pose(recording, time):
    return np.array([np.interp(time, recording.time, axis) for axis in recording.pose.T])


def test_a_contact_flashes_when_it_happens_and_leaves_a_mark():
    recording = crash()
    painter = Painter(Scene(recording), size=(800, 600))

    def red(time):
        return int((np.abs(next(painter.frames([time])).astype(int) - colour("contact")).sum(axis=2) < 40).sum())

    before, flash, after = red(6.2), red(6.25), red(8.0)
    assert before + 20 < after < flash - 100


def test_the_outcome_is_written_only_at_the_end():
    recording = crash()
    late, end = (frame(recording, time)[:34, 600:880] for time in (14.95, 15.0))
    assert (late == 255).all() and (end < 128).any()


@pytest.mark.parametrize("options", [{"size": (321, 240)}, {"size": (64, 64)}, {"fps": 0}, {"speed": 0.0}, {"hold": -1.0}])
def test_what_makes_no_video_is_refused_and_leaves_nothing(tmp_path, options):
    with pytest.raises(InputError):
        write_video(tmp_path / "a.mp4", episode(pedestrians=0, duration=0.3), **options)
    assert not list(tmp_path.iterdir())


def test_a_name_that_is_no_video_is_refused(tmp_path):
    with pytest.raises(InputError, match="mp4"):
        write_video(tmp_path / "a.gif", episode(pedestrians=0, duration=0.3))


def test_a_failure_on_the_way_leaves_no_half_video(tmp_path):
    def stop(done, _):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_video(tmp_path / "a.mp4", episode(pedestrians=0, duration=1.0), size=(320, 240), progress=stop)
    assert not list(tmp_path.iterdir())


def test_frames_are_pictures_that_pillow_saves(tmp_path):
    Image.fromarray(frame(episode(), 3.0, size=(320, 240), title="a title")).save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (320, 240)


def test_a_video_fits_its_place_and_has_room_for_the_reason_of_a_failure():
    hall_like, lane = crash(), episode(pedestrians=0)
    lane = replace(lane, pose=lane.pose * (1.0, 0.1, 1.0), goal=np.array([11.0, 1.0, 0.0]))
    for recording, words in ((hall_like, ""), (lane, ""), (hall_like, "why " * 60)):
        scene = Scene(recording)
        width, height = Painter.fitting(scene, words)
        painter = Painter(scene, (width, height), caption=words)
        extent = scene.extent
        assert width % 2 == height % 2 == 0 and 740 <= width <= 960
        high = painter.scale * (extent.top - extent.bottom)
        assert painter.scale * (extent.right - extent.left) == pytest.approx(width - 24, abs=2) or high > 500
        assert height - 2 <= high + 60 + 34 + 19 * (2 if words else 0) <= height + 2
    assert Painter.fitting(Scene(lane))[1] < 330


def test_the_planned_path_is_dashed_and_the_reason_stands_below_at_the_end():
    path = np.array([[0.0, -2.0, 3.5], [0.0, 12.0, 3.5]])
    scene = Scene(replace(crash(), planned_path=path))
    painter = Painter(scene, Painter.fitting(scene, "because"), caption="because")
    before, end = (next(painter.frames([time])) for time in (14.9, 15.0))
    x, y = np.floor(painter.pixel(np.array([[-2.0, 3.5], [12.0, 3.5]]))).astype(int).T
    green = (np.abs(before[y[0], x[0] : x[1]].astype(int) - colour("goal")).sum(axis=1) < 40).mean()
    assert 0.3 < green < 0.6
    below = slice(before.shape[0] - 34 - 19 + 4, before.shape[0] - 34)
    assert (before[below, :90] == 255).all() and (end[below, :90] < 128).any()


def doing(recording, *names):
    """A recording whose pedestrians, who all are there, do something each."""
    states = np.array([SOCIAL_STATES.index(name) for name in names], np.int8)
    there = np.ones_like(recording.pedestrian_present)
    return replace(recording, pedestrian_state=np.tile(states, (len(recording.time), 1)), pedestrian_present=there)


def test_pedestrians_have_the_colour_and_the_letter_of_their_state_away_from_where_they_look():
    plain = replace(episode(pedestrians=2, duration=3.0), map=hall())
    painter = Painter(Scene(doing(plain, "phone", "walking")), (960, 720))
    pixels = next(painter.frames([1.0])).astype(int)
    moment = painter.scene.at(1.0)
    for k, (family, lettered) in enumerate((("with people", True), ("on its way", False))):
        size = moment.radius[k] * painter.scale
        ahead = np.array([np.cos(moment.heading[k]), -np.sin(moment.heading[k])])
        x, y = painter.pixel(moment.position[k]) - 0.4 * size * ahead
        half = round(0.4 * size)
        behind = pixels[round(y) - half : round(y) + half, round(x) - half : round(x) + half].reshape(-1, 3)
        body = np.array([int(FAMILIES[family][i : i + 2], 16) for i in (1, 3, 5)])
        assert (np.abs(behind - body).sum(axis=1) < 12).mean() > 0.3
        assert (np.abs(behind - colour("ink")).sum(axis=1) < 90).any() == lettered


def test_the_letters_are_explained_beside_the_dials_or_below_where_there_is_no_room():
    everything = [name for name in SOCIAL_STATES if STATES[name][1]]
    plain = replace(episode(pedestrians=len(everything), duration=3.0), map=hall())
    few = Scene(doing(plain, *(["talking"] + ["walking"] * (len(everything) - 1))))
    nobody, many = Scene(doing(plain, *(["walking"] * len(everything)))), Scene(doing(plain, *everything))
    (width, plain_high), few_size, (_, high) = (Painter.fitting(scene) for scene in (nobody, few, many))
    assert few_size == (width, plain_high) and high == pytest.approx(plain_high + 2 * 19, abs=1)
    without, beside, below = (
        next(Painter(scene, Painter.fitting(scene)).frames([1.0])).astype(int) for scene in (nobody, few, many)
    )
    corner = np.s_[32:50, width - 90 :]
    assert (without[corner] == 255).all() and (beside[corner] < 200).any() and (below[corner] == 255).all()
    assert (below[high - 34 - 38 : high - 34, : width - 200] < 200).any()
    assert min(map(len, Painter(many, (width, high))._explained)) == 0
    explained = "   ".join(Painter(many, (width, high))._explained[1])
    assert explained == "   ".join(f"{STATES[name][1]} {name}" for name in everything)


def test_a_small_video_has_letters_in_words_below_too():
    small = Painter(Scene(doing(episode(pedestrians=1, duration=1.0), "talking")), (322, 240))
    assert small._explained == ([], ["T talking"])
