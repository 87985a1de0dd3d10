"""The environments draw what happens as the viewer does, for the recorders of Gymnasium and Stable-Baselines3."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordVideo
from tests.learning.suites import suite
from tests.learning.test_several_robots import several

from agora.core.recording import Outcome
from agora.errors import InputError
from agora.learning import ENV_ID
from agora.learning.env import AgoraVectorEnv
from agora.learning.film import Screen
from agora.learning.sb3 import Sb3VecEnv
from agora.policies.encoding import Observe
from agora.registry import Named
from agora.viewer import scene as pictures

SEE = Observe(4, pedestrians=1)
PLANE = Named.of("worlds", "open", width=13.0, height=7.0, x=-3.0, y=2.0)
ROBOT, OTHERS = (np.array([int(pictures.COLOURS[role][k : k + 2], 16) for k in (1, 3, 5)]) for role in ("robot", "others"))


def one(mode="rgb_array", **stage):
    return gymnasium.make(ENV_ID, suite=suite(**stage), stage="walk", observe=SEE, render_mode=mode)


def middle(picture, colour):
    """The mean row and column of the pixels of a colour between header and legend."""
    rows, columns = np.nonzero((picture[60:-40] == colour).all(2))
    return float(rows.mean()), float(columns.mean())


def test_the_robot_is_drawn_where_it_is_and_its_way_behind_it():
    env = one(dynamic=0, robot="jackal", world=PLANE)
    env.reset(seed=1)
    before = env.render()
    batch = env.unwrapped._worlds._parts[-1].batch
    x, y = (float(getattr(batch.world.robots, axis)[0, 0]) for axis in "xy")
    for _ in range(12):
        env.step(np.float32([0.8, 0.0]))
    after, robots = env.render(), batch.world.robots
    assert before.dtype == np.uint8 and before.shape == after.shape and before.shape[2] == 3
    way = np.array([float(robots.x[0, 0]) - x, float(robots.y[0, 0]) - y])
    drawn = np.array(middle(after, ROBOT)) - middle(before, ROBOT)
    assert np.hypot(*way) > 0.5 and float(robots.x[0, 0]) < 10.0
    assert np.dot(way / np.hypot(*way), [drawn[1], -drawn[0]]) / np.hypot(*drawn) == pytest.approx(1.0, abs=0.02)
    assert (after == ROBOT).all(2).sum() > (before == ROBOT).all(2).sum() + 10
    assert np.array_equal(env.render(), after)
    env.close()


def test_the_picture_after_the_end_says_how_it_ended_and_the_next_episode_begins_without_a_way():
    env = one(dynamic=2, timeout=0.4)
    env.reset(seed=3)
    for k in range(4):
        running = env.render()
        *_, truncated, info = env.step(np.zeros(2, np.float32))
        assert truncated == (k == 3)
    assert info["outcome"] == "timeout"
    colour = [int(pictures.OUTCOME_COLOURS[Outcome.TIMEOUT.label][k : k + 2], 16) for k in (1, 3, 5)]
    assert (env.render()[:40] == colour).all(2).any() and not (running[:40] == colour).all(2).any()
    env.reset(seed=3)
    again = env.render()
    env.reset(seed=3)
    assert np.array_equal(env.render(), again) and not (again[:40] == colour).all(2).any()
    env.close()


def test_each_environment_of_a_batch_has_its_picture_with_the_other_robots_of_its_world():
    env = AgoraVectorEnv(several(count=2, dynamic=3), "walk", 2, observe=SEE, render_mode="rgb_array")
    with pytest.raises(ResetNeeded, match="must be reset before it is rendered"):
        env.render()
    env.reset(seed=0)
    env.step(np.zeros(env.action_space.shape, np.float32))
    drawn = env.render()
    assert len(drawn) == 4 and len({picture.tobytes() for picture in drawn}) == 4
    assert all(len({middle(drawn[n], ROBOT), middle(drawn[n ^ 1], ROBOT)}) == 2 for n in range(4))
    assert all((picture[60:-40] == OTHERS).all(2).any() for picture in drawn)
    env.close()
    assert AgoraVectorEnv(suite(), "walk", 1, observe=SEE).render() is None


def test_to_draw_changes_nothing_of_what_happens():
    (a, b), seen = (AgoraVectorEnv(suite(), "walk", 2, observe=SEE, render_mode=mode) for mode in (None, "rgb_array")), []
    for env in (a, b):
        rows = [env.reset(seed=4)[0]]
        for _ in range(25):
            rows.append(env.step(np.tile(np.float32([0.6, 0.2]), (2, 1)))[0])
            env.render()
        seen.append(np.stack(rows))
        env.close()
    assert np.array_equal(*seen)


def test_an_episode_that_is_longer_than_those_before_is_drawn_to_its_end():
    whole = suite(dynamic=0, timeout=0.3)
    env = AgoraVectorEnv(whole, "walk", 1, observe=SEE, render_mode="rgb_array", autoreset=False)
    film = env._parts[-1].film
    short, long = env.starts[0], suite(dynamic=0, timeout=9.0).start("walk", 0)
    assert film.holds(short) and not film.holds(long)
    env._parts[-1].film._length = 3
    env.reset()
    assert len(env._parts) == 1 and env._parts[-1].film is not film
    for _ in range(3):
        env.step(np.zeros((1, 2), np.float32))
    assert env._filmed(0)[1].duration == pytest.approx(0.3)
    env.close()


def test_gymnasium_has_nothing_to_say_of_the_pictures_and_takes_the_control_period_for_their_rate():
    env = one(dynamic=1)
    assert env.metadata["render_fps"] == 10 and "rgb_array" in env.metadata["render_modes"]
    check_env(env.unwrapped)
    env.close()


def test_gymnasium_s_recorder_gets_pictures_of_one_size_of_all_episodes(monkeypatch, tmp_path):
    clips = []
    clip = ModuleType("moviepy.video.io.ImageSequenceClip")
    clip.ImageSequenceClip = lambda frames, fps: (
        clips.append((list(frames), fps)) or SimpleNamespace(write_videofile=lambda *_, **__: None)
    )
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, clip.__name__, clip)
    env = RecordVideo(one(timeout=0.3, dynamic=3), str(tmp_path / "videos"), episode_trigger=lambda k: True)
    for seed in (1, 2):
        env.reset(seed=seed)
        while not env.step(np.zeros(2, np.float32))[3]:
            pass
    env.close()
    assert [(len(frames), fps) for frames, fps in clips] == [(4, 10), (4, 10)]
    assert len({frame.shape for frames, _ in clips for frame in frames}) == 1


def test_stable_baselines_gets_the_pictures_of_all_worlds():
    worlds = Sb3VecEnv(AgoraVectorEnv(suite(), "walk", 2, observe=SEE, render_mode="rgb_array"))
    worlds.reset()
    assert worlds.render_mode == "rgb_array" and len(worlds.get_images()) == 2 and worlds.render().ndim == 3
    worlds.close()


def test_a_window_needs_a_screen_and_says_so(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="no screen: neither DISPLAY nor WAYLAND_DISPLAY is set"):
        AgoraVectorEnv(suite(), "walk", 1, observe=SEE, render_mode="human")
    assert AgoraVectorEnv(suite(), "walk", 1, observe=SEE).metadata["render_modes"] == ["rgb_array"]
    with pytest.raises(InputError, match="render_mode must be 'rgb_array', 'human' or None, got 'ansi'"):
        AgoraVectorEnv(suite(), "walk", 1, observe=SEE, render_mode="ansi")


class Window:
    """A window without a screen."""

    made: list[Window] = []

    def __init__(self, extent, radius, goal, goal_tolerance, map_, title):
        self.goal, self.open, self.times = goal, True, []
        self.made.append(self)

    def show(self, frame):
        self.times.append(round(frame.time, 3))

    def close(self):
        self.open = False


def test_a_window_shows_every_step_and_stays_closed_once_the_user_has_closed_it(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr("agora.learning.film.LiveWindow", Window)
    env = AgoraVectorEnv(suite(timeout=0.3, dynamic=1), "walk", 2, observe=SEE, render_mode="human")
    assert env.metadata["render_modes"] == ["human", "rgb_array"]
    env.reset(seed=1)
    for _ in range(4):
        env.step(np.zeros((2, 2), np.float32))
    assert [window.times for window in Window.made] == [[0.0, 0.1, 0.2], [0.0, 0.1]]
    assert env.render() is None
    Window.made[-1].close()
    env.step(np.zeros((2, 2), np.float32))
    env.reset()
    assert len(Window.made) == 2 and Window.made[-1].times == [0.0, 0.1]
    env.close()
    assert isinstance(env._screen, Screen)
