"""Roll-outs of crowd models: as the engine moves people, round the robot, and along walls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.predictors.test_goal_directed import seen

from agora.config import parse_component
from agora.core.state import LOOP
from agora.draft.periods import Periods
from agora.engine.engine import Engine
from agora.episode import Conditions
from agora.errors import InputError
from agora.interfaces import Costmap
from agora.maps.grid import Map
from agora.pedestrians.models.helbing import Helbing
from agora.predictors.crowd_rollout import CrowdRollout
from agora.registry import Named
from agora.world.start import PedestrianStarts, Start

PEOPLE = ((-2.0, 0.1, 1.2, 0.0), (2.0, -0.1, -0.9, 0.1), (0.3, 3.0, 0.2, -1.1))


def rollout(model: str = "waypoint", **parameters) -> CrowdRollout:
    return CrowdRollout(model=Named.of("crowd_models", model), **parameters)


def test_people_who_see_nobody_go_straight_on():
    there = rollout(walls=False).predict(seen(*PEOPLE), 5, 0.4, {}).position[0]
    for person, way in zip(np.array(PEOPLE), there, strict=True):
        assert way == pytest.approx(person[:2] + 0.4 * np.arange(1, 6)[:, None] * person[2:], abs=0.02)


def test_people_walk_as_the_engine_has_them_walk():
    x = np.array(PEOPLE)
    speed = np.hypot(x[:, 2], x[:, 3])
    crowd = PedestrianStarts(
        position=x[:, :2],
        speed=speed,
        radius=np.full(3, 0.25),
        group=np.full(3, -1, np.int32),
        id=np.arange(7, 10, dtype=np.int32),
        waypoints=(x[:, :2] + 100.0 * x[:, 2:] / speed[:, None])[:, None],
        waypoint_count=np.ones(3, np.int32),
        mode=np.full(3, LOOP, np.int32),
        tolerance=np.full(3, 0.3),
        velocity=x[:, 2:],
    )
    start = Start("rollout", 0, Map.from_shapes(bounds=(-20, -21, 22, 23), name="plain"), (), crowd, 10.0, 0.3)
    engine = Engine.of([start], Conditions(Periods(0.1, 0.1, 0.1, 0.1), Helbing(), careful=False))
    engine.reset(0, start)
    there = rollout("helbing", step=0.1, sees_robots=False, walls=False).predict(seen(*PEOPLE), 6, 0.4, {}).position[0]
    for k in range(6):
        for _ in range(4):
            engine.step()
        now = engine.world.pedestrians
        assert there[:, k] == pytest.approx(np.stack([now.x[0, :3], now.y[0, :3]], -1), abs=1e-3)
    engine.close()


def test_people_give_way_to_a_robot_only_where_they_see_it():
    o = replace(seen((0.0, 0.05, 1.2, 0.0)), pose=np.array([[3.0, 0.0, 3.0]], np.float32), twist=np.zeros((1, 3), np.float32))
    way = {sees: rollout("orca", sees_robots=sees, walls=False).predict(o, 8, 0.4, {}).position[0, 0] for sees in (True, False)}
    assert way[False][:, 1] == pytest.approx(0.05, abs=0.01)
    assert np.hypot(way[True][:, 0] - 3.0, way[True][:, 1]).min() > 0.5


def test_people_stop_at_the_walls_of_the_costmap():
    cost = np.zeros((1, 60, 80), np.uint8)
    cost[0, :, 40:42] = 254  # at x = -1 + 4.0 m
    o = replace(seen((0.0, 0.0, 1.2, 0.0)), costmap=Costmap(cost, np.array([[-1.0, -3.0]], np.float32), 0.1))
    assert rollout("helbing").predict(o, 12, 0.4, {}).position[0, 0, :, 0].max() < 2.95
    assert rollout("helbing", walls=False).predict(o, 12, 0.4, {}).position[0, 0, -1, 0] > 5.0


def test_a_model_without_a_kernel_is_refused():
    with pytest.raises(InputError, match="needs a compiled crowd model"):
        CrowdRollout(model=Named("own", object()))
    assert parse_component("predictors", "crowd_rollout:model=helbing", "here").part == rollout("helbing")
