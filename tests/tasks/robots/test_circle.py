"""Robots on a circle: across it, evenly or not, or anywhere in the disc; and the suites of RLCA."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agora.draft.people import People
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import PlacementError
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.robots.circle import Circle
from agora.tasks.suite import load_suite

PLANE = Map.open((-9.0, -2.0), (17.0, 15.0))
MIDDLE = np.array([4.0, 6.5])
RADIUS, SAFETY = 0.35, 0.2


def placed(mode: Circle, seed: int = 3, place: Map = PLANE) -> tuple[np.ndarray, np.ndarray]:
    """Starts and goals (R, 3) with places from the middle of the map."""
    task = Task(Surroundings(place), place, RADIUS, SAFETY, Stream("test/stage/0", seed, "task"), People())
    pairs = mode.place(task)
    assert all(goals.shape == (1, 3) for _, goals in pairs)
    off = np.array([*MIDDLE, 0.0])
    return np.array([start for start, _ in pairs]) - off, np.array([goals[0] for _, goals in pairs]) - off


def turned(angles: np.ndarray) -> np.ndarray:
    return np.abs((angles + math.pi) % (2 * math.pi) - math.pi)


def test_an_even_circle_has_equal_angles_goals_across_and_robots_that_face_the_centre():
    starts, goals = placed(Circle(count=5, radius=(6.0, 6.0)))
    assert np.hypot(*starts[:, :2].T) == pytest.approx(6.0) and goals[:, :2] == pytest.approx(-starts[:, :2], abs=1e-9)
    angles = np.arctan2(starts[:, 1], starts[:, 0])
    assert turned(np.diff(angles)) == pytest.approx(2 * math.pi / 5)
    assert turned(starts[:, 2] - angles) == pytest.approx(math.pi)
    assert (np.abs(starts[:, 2]) <= math.pi).all()
    other, _ = placed(Circle(count=5, radius=(6.0, 6.0)), seed=4)
    assert turned(np.arctan2(*other[0, 1::-1]) - angles[0]) > 0.01


def test_noise_puts_starts_and_goals_off_by_no_more_than_it_says():
    starts, goals = placed(Circle(count=6, radius=(6.0, 6.0), noise=0.3))
    exact, _ = placed(Circle(count=6, radius=(6.0, 6.0)))
    off = np.hypot(*starts[:, :2].T) - 6.0
    assert 0.05 < np.abs(off).max() <= math.hypot(0.3, 0.3)
    assert np.abs(goals[:, :2] + starts[:, :2]).max() <= 0.6
    assert np.abs(starts[0, :2] - exact[0, :2]).max() <= 0.3


@pytest.mark.parametrize("scattered", [0.0, 1.0])
def test_starts_are_apart_and_goals_are_and_the_radius_is_drawn(scattered):
    sizes = []
    for seed in range(12):
        starts, goals = placed(Circle(count=7, radius=(2.5, 6.0), even=False, scattered=scattered), seed)
        for places in (starts[:, :2], goals[:, :2]):
            apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1)) + 9 * np.eye(7)
            assert apart.min() >= 2 * (RADIUS + SAFETY)
        away = np.hypot(*starts[:, :2].T)
        sizes.append(away.max())
        assert (np.ptp(away) < 1e-9) == (scattered == 0.0)
        if scattered:
            assert np.hypot(*(goals - starts)[:, :2].T).min() >= sizes[-1]
            assert turned(starts[:, 2] - np.arctan2(*(goals - starts)[:, 1::-1].T)).max() > 0.5
    assert min(sizes) < 4.0 < max(sizes) <= 6.0


def test_robots_that_do_not_fit_onto_the_circle_are_said_to():
    with pytest.raises(PlacementError, match=r"no room for 9 robots on a circle of radius 1 m"):
        placed(Circle(count=9, radius=(1.0, 1.0)))
    wall = Map.from_shapes(discs=[(4.0, 6.5, 6.1)], bounds=(-9.0, -2.0, 17.0, 15.0))
    with pytest.raises(PlacementError, match="no room"):
        placed(Circle(count=2, radius=(6.0, 6.0)), place=wall)


@pytest.mark.parametrize("wrong", [{"count": 0}, {"radius": (3.0, 2.0)}, {"radius": (0.0, 2.0)}, {"noise": -1.0}])
def test_a_circle_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Circle(**wrong)


def test_the_suite_has_the_published_numbers_of_robots_and_its_training_is_kept_apart():
    suite, training = load_suite("rlca"), load_suite("rlca_training")
    assert [len(suite.start(stage.name, 0).robots) for stage in suite.stages] == [4, 6, 8, 10, 12, 15, 20]
    assert suite.split == "test" and training.split == "training" and suite.seed != training.seed
    one = suite.start("circle_8", 3)
    starts = np.array([robot.pose[:2] for robot in one.robots])
    goals = np.array([robot.goals[0][:2] for robot in one.robots])
    assert np.abs(np.hypot(*starts.T) - 8.0).max() <= 0.29 and np.abs(starts + goals).max() <= 0.4
    assert {robot.model.name for robot in one.robots} == {"rlca"} and one.crowd_size == 0
