"""Arrived is standing, until somebody pushes; whoever is on the way is left alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.engines import engine as engine_at
from tests.starts import people, plane, start

from agora.core.state import LOOP, RANDOM, STAY
from agora.interfaces import CrowdDeclaration
from agora.pedestrians.models.anticipation import Anticipation
from agora.pedestrians.models.orca import Orca
from agora.pedestrians.models.pysocial import PySocial

DT = 0.05
FAR = (11.5, 9.2, 0.0)


class Hurry:
    """Runs at its waypoint at full speed, whatever the scene says: as somebody new to it writes a model."""

    declares = CrowdDeclaration("velocity", max_speed_factor=2.0)

    def compute(self, scene):
        way = scene.waypoint - scene.position
        return way * (np.float32(1.2) / (np.hypot(way[..., 0], way[..., 1]) + np.float32(1e-6)))[..., None]


class Keen(Hurry):
    """Relaxes to the preferred speed."""

    declares = CrowdDeclaration("acceleration")

    def compute(self, scene):
        way = scene.waypoint - scene.position
        length = np.hypot(way[..., 0], way[..., 1]) + np.float32(1e-6)
        return 2 * (way * (scene.preferred_speed / length)[..., None] - scene.velocity)


def walk(crowd, model, seconds, robot=FAR, command=0.0, before=None, **more):
    """Places, speeds and headings (T, P) of a crowd over some seconds."""
    one = start(pose=robot, goal=(90.0, 90.0, 0.0), crowd=crowd, place=plane(), timeout=600.0)
    engine, seen, n = engine_at([one], DT, crowd=model, ends=0, **more), [], len(crowd.id)
    for _ in range(round(seconds / DT)):
        engine.step(np.array([[[command, 0.0, 0.0]]], np.float32))
        now = engine.world.pedestrians
        seen.append(np.stack([now.x[0, :n], now.y[0, :n], np.hypot(now.vx, now.vy)[0, :n], now.heading[0, :n]]))
    return np.array(seen).transpose(1, 0, 2)


def rests(seen, seconds=3.0):
    """Return whether everybody stands over the last seconds, and looks the same way."""
    last = seen[:, -round(seconds / DT) :]
    return last[2].max() < 1e-3 and np.ptp(last[3], axis=0).max() == 0.0


@pytest.mark.parametrize("model", [Anticipation(), Orca(), PySocial(), Hurry(), Keen()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("careful", [True, False])
def test_who_has_one_place_to_go_to_stands_there_in_every_mode(model, careful):
    goal = np.array([[2.0, -2.0], [2.0, 1.1], [2.0, 4.3], [2.0, 7.0]])
    ways = np.stack([goal, goal + np.array([0.1, 0.1])], axis=1)
    crowd = people(goal - (4.0, 0.3), ways, speed=np.array([0.8, 1.1, 1.4, 1.3]))
    crowd = replace(crowd, mode=np.array([LOOP, RANDOM, LOOP, STAY]), waypoint_count=np.array([1, 1, 2, 2]))
    seen = walk(crowd, model, 20.0, careful=careful)
    assert rests(seen)
    assert (np.hypot(seen[0, -1] - goal[:, 0], seen[1, -1] - goal[:, 1]) < 0.45).all()


def test_who_is_shown_the_scene_slows_down_on_the_way_to_where_it_stays_and_nowhere_else():
    ways = np.array([[(2.0, 1.0), (2.0, 1.0)], [(2.0, 5.0), (-6.0, 5.0)]])
    crowd = replace(people([(-2.0, 1.0), (-2.0, 5.0)], ways, speed=1.2), mode=np.array([RANDOM, LOOP]))
    x, _, speed, _ = walk(crowd, Keen(), 6.0)
    late = (x > 1.5) & (x < 1.7)
    assert speed[:, 0][late[:, 0]].max() < 0.9 < 1.1 < speed[:, 1][late[:, 1]].max()


def test_who_runs_on_for_ever_is_braked_like_a_person():
    seen = walk(people([(-2.0, 1.0)], [(2.0, 1.0)]), Hurry(), 12.0)
    brake = -np.diff(seen[2, :, 0]) / DT
    assert brake.max() == pytest.approx(3.0, rel=1e-3)


def test_who_finds_somebody_on_its_place_stands_beside():
    place = np.array([[3.0, 1.0], [3.0, 1.1]])
    crowd = people([(3.0, 1.0), (-2.0, 1.3)], place[:, None], speed=1.2)
    seen = walk(crowd, Anticipation(), 25.0, careful=True)
    assert rests(seen)
    assert 0.6 < np.hypot(*(seen[:2, -1, 1] - seen[:2, -1, 0])) < 1.3


def test_a_robot_that_comes_pushes_who_stands_and_one_that_is_not_seen_does_not():
    crowd = people([(3.0, 1.0)], [(3.2, 1.0)])
    robot = {"robot": (-7.0, 1.05, 0.0), "command": 0.8}
    for model in (Anticipation(), Keen()):
        alone = walk(crowd, model, 12.0)
        assert rests(alone)
        assert np.array_equal(walk(crowd, model, 12.0, sees_robots=False, **robot), alone)
    pushed = walk(crowd, Anticipation(), 14.0, **robot)
    assert np.hypot(*(pushed[:2, -1, 0] - pushed[:2, 160, 0])) > 0.3


def test_who_is_led_elsewhere_does_not_stand():
    class Leads:
        def attach(self, world, every, sees):
            self.world = world
            return self

        def reset(self, world, start):
            pass

        def think(self, generation):
            def lead(first, last):
                self.world.waypoints.x[first:last] = 8.0

            return lead

    x = walk(people([(3.0, 1.0)], [(3.0, 1.0)]), Hurry(), 6.0, behaviours=(Leads(),))[0]
    assert x[-1, 0] == pytest.approx(8.0, abs=0.1)
