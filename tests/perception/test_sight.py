"""The level ``truth``: a planner knows all people except those behind walls, and people who will come out soon."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.starts import people, start

from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.interfaces import Setting
from agora.maps.grid import Map
from agora.perception.perception import Perception
from agora.tasks.suite import load_suite
from agora.testing.scenes import Move
from agora.world.world import World

ROBOT = np.array([0.4, -1.3])
FULL = [[-7.0, 0.0, 13.0, 0.0]]
"""A wall across the whole map."""


def known(place, pedestrian, velocity=(0.0, 0.0), *, walls=True, robot=ROBOT):
    """Whether a robot with level ``truth`` knows of a pedestrian."""
    one = start(pose=(*robot, 0.7), crowd=people([pedestrian], [[pedestrian]]), place=place)
    world = World.of([one], dt=0.1)
    world.reset(0, one)
    world.pedestrians.vx[0, 0], world.pedestrians.vy[0, 0] = velocity
    observer = Observer(world, Wiring.of(("pedestrians",), Setting(perception=Perception("truth", walls=walls))), 0.1)
    return bool(observer.observe().pedestrians.present[0, 0])


def walled(segments=(), discs=(), cells=False):
    """A map of exact walls, or of the cells that they cover."""
    made = Map.from_shapes(segments=segments, discs=discs, bounds=(-7.0, -4.0, 13.0, 6.0), resolution=0.1, name="walled")
    return replace(made, occupied=made.cells, segments=np.zeros((0, 4)), discs=np.zeros((0, 3))) if cells else made


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize("velocity", [(0.0, 0.0), (1.3, 0.0), (-0.9, 0.4), (0.2, -1.2)])
@pytest.mark.parametrize("place", [(0.5, 0.41), (9.3, 0.3), (4.3, 0.32), (-5.0, 3.0)])
def test_nobody_behind_a_full_wall_is_known_standing_walking_along_or_up_to_it(place, velocity, cells):
    there = walled(FULL, cells=cells)
    assert not known(there, place, velocity)
    assert known(there, place, velocity, walls=False)
    assert known(walled(), place, velocity)
    assert known(there, (place[0], -place[1]), velocity)  # on the robot's side


def test_whoever_comes_round_the_end_of_a_wall_within_two_seconds_is_known_and_others_are_not():
    short = walled([[-2.0, 0.0, 2.0, 0.0]])
    assert not known(short, (0.4, 0.6))
    assert not known(short, (0.4, 0.6), (-0.5, 0.0))  # still behind it in two seconds
    assert known(short, (1.2, 0.6), (1.3, 0.3)) and not known(short, (1.2, 0.6))
    assert not known(walled([[-2.0, 0.0, 2.0, 0.0], [2.0, 0.0, 2.0, 6.0]]), (1.2, 0.6), (1.3, 0.3))  # there is no way on
    assert known(short, (3.6, 1.5))  # its side shows beside the end of the wall


def test_a_pillar_hides_whoever_is_wholly_behind_it():
    wide, slim = walled(discs=[[0.4, 0.5, 0.6]]), walled(discs=[[0.4, 0.5, 0.1]])
    assert not known(wide, (0.4, 1.6))
    assert known(wide, (1.3, 1.6)) and known(slim, (0.4, 1.6))


@pytest.mark.parametrize("turn", [0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi])
def test_walls_hide_in_every_direction_alike(turn):
    move = Move(dx=3.0, dy=-2.0, turn=turn)
    around = np.array([[-2.0, 0.0], [2.0, 0.0]])
    bounds = move.points(np.array([[-7.0, -4.0], [13.0, 6.0]]))
    place = Map.from_shapes(segments=move.points(around).reshape(1, 4), bounds=(*bounds.min(0), *bounds.max(0)), resolution=0.1)
    robot = move.points(ROBOT)
    for pedestrian, velocity, expected in (
        ((0.4, 0.6), (0.0, 0.0), False),
        ((1.2, 0.6), (1.3, 0.3), True),
        ((-1.7, 0.5), (0.0, 0.0), False),
        ((3.0, 0.5), (0.0, 0.0), True),
    ):
        there, way = move.points(np.array(pedestrian)), move.vectors(np.array(velocity))
        assert known(place, tuple(there), tuple(way), robot=robot) == expected, (pedestrian, velocity)


def test_a_pedestrian_whom_the_map_has_in_an_obstacle_is_known():
    """The map cannot be right there: somebody who sits at a table, or a recording on a drawn map."""
    assert known(walled([*FULL, [-1.0, 2.04, 2.0, 2.04]], cells=True), (0.5, 2.05))


def test_a_run_that_asks_for_another_level_leaves_the_choice_to_the_stage():
    stage = load_suite("density").stages[0]
    assert stage.perception == Perception("truth", walls=False)
    assert replace(stage.perception, source="tracked").source == "tracked"
