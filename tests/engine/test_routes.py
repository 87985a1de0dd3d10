"""Pedestrians with routes come where they want to go, whatever stands between, and let each other through narrow places."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines import engine as engine_at
from tests.maps.test_roads import gap, placed
from tests.places import moved, rooms
from tests.starts import people, start

from agora.draft.people import People, Person
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.errors import PlacementError
from agora.maps.grid import Map
from agora.pedestrians.models.anticipation import Anticipation
from agora.pedestrians.models.helbing import Helbing
from agora.pedestrians.models.waypoint import Waypoint
from agora.seeds import Stream
from agora.tasks.suite import check_ways
from agora.testing.scenes import Move

WEST, EAST = (-2.2, 3.0), (8.7, 2.9)


def walked(crowd, place, seconds=30.0, dt=0.1, model=None, slots=0, wrap=lambda starts: starts, **more) -> np.ndarray:
    """Positions (T, P, 2) of one world's pedestrians."""
    starts = wrap([start(pose=(0.0, 90.0, 0.0), crowd=crowd, place=place, timeout=seconds + 1.0)])
    engine = engine_at(starts, dt, crowd=model or Waypoint(), ends=0, slots=slots, routes=True, **more)
    track = []
    for _ in range(round(seconds / dt)):
        engine.step()
        p = engine.world.pedestrians
        track.append(np.stack([p.x[0], p.y[0]], -1)[: len(crowd.id)])
    return np.array(track, float)


def test_somebody_walks_round_the_wall_between_two_rooms_close_to_the_shortest_way():
    place = rooms()
    track = walked(people([WEST], [EAST], speed=1.2), place)[:, 0]
    assert np.hypot(*(track[-1] - EAST)) < 0.1
    assert place.clearance_at(track).min() > 0.25
    arrived = int(np.argmax(np.hypot(*(track - EAST).T) < 0.3))
    length = np.hypot(*np.diff(track[: arrived + 1], axis=0).T).sum()
    assert length < 1.12 * 13.7  # from (-2.2, 3) by (2.95, 5.7), the wall's end and its thickness, to (8.7, 2.9)


def test_without_routes_they_would_stand_at_the_wall():
    crowd = people([WEST], [EAST], speed=1.2)
    one = start(pose=(0.0, 90.0, 0.0), crowd=crowd, place=rooms(), timeout=31.0)
    engine = engine_at([one], 0.1, crowd=Helbing(), ends=0)
    for _ in range(300):
        engine.step()
    assert engine.world.pedestrians.x[0, 0] < 3.0


def test_a_waypoint_in_sight_is_walked_to_as_without_routes():
    crowd = people([(-2.0, 3.0), (4.0, 8.0)], [(1.9, 4.1), (8.0, 4.0)], speed=1.1)
    tracks = []
    for routes in (True, False):
        starts = [start(pose=(0.0, 90.0, 0.0), crowd=crowd, place=rooms())]
        engine = engine_at(starts, 0.1, crowd=Helbing(), ends=0, routes=routes)
        for _ in range(60):
            engine.step()
        tracks.append(np.stack([engine.world.pedestrians.x, engine.world.pedestrians.y]))
    assert (tracks[0] == tracks[1]).all()


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_somebody_gets_through_a_door_in_a_wall_that_runs_anyhow(turn):
    place = gap(0.9, turn=turn)
    track = walked(people([placed(-3.0, -2.0, turn)], [placed(-3.2, 2.1, turn)], speed=1.3), place)[:, 0]
    assert np.hypot(*(track[-1] - placed(-3.2, 2.1, turn))) < 0.1
    assert place.clearance_at(track).min() > 0.27


def test_a_waypoint_that_moves_behind_the_wall_is_followed():
    place, crowd = rooms(), people([WEST], [(0.0, 5.0)], speed=1.3)
    one = start(pose=(0.0, 90.0, 0.0), crowd=crowd, place=place, timeout=60.0)
    engine = engine_at([one], 0.1, crowd=Waypoint(), ends=0, routes=True)
    for k in range(300):
        if k == 20:
            engine.world.waypoints.x[0, 0], engine.world.waypoints.y[0, 0] = EAST
        engine.step()
    assert np.hypot(engine.world.pedestrians.x[0, 0] - EAST[0], engine.world.pedestrians.y[0, 0] - EAST[1]) < 0.1


def test_who_is_moved_elsewhere_finds_another_way():
    place, crowd = rooms(), people([WEST], [EAST], speed=1.3)
    one = start(pose=(0.0, 90.0, 0.0), crowd=crowd, place=place, timeout=60.0)
    engine = engine_at([one], 0.1, crowd=Waypoint(), ends=0, routes=True)
    for k in range(400):
        if k == 60:
            engine.world.pedestrians.x[0, 0], engine.world.pedestrians.y[0, 0] = WEST
        engine.step()
    assert np.hypot(engine.world.pedestrians.x[0, 0] - EAST[0], engine.world.pedestrians.y[0, 0] - EAST[1]) < 0.1


def test_two_who_meet_at_a_door_pass_one_after_the_other():
    place = gap(0.9)
    ends = placed(1.0, -2.4), placed(1.1, 2.3)
    track = walked(people(ends, ends[::-1], speed=1.2), place, 40.0, careful=True, model=Anticipation())
    apart = np.hypot(*(track[:, 0] - track[:, 1]).T)
    assert apart.min() > 0.6 - 1e-3
    assert np.hypot(*(track[-1, 0] - ends[1])) < 0.4 and np.hypot(*(track[-1, 1] - ends[0])) < 0.4
    through = [int(np.argmax((track[:, k, 1] > -1.7) == (k == 0))) for k in (0, 1)]
    assert abs(through[0] - through[1]) > 5  # steps of 0.1 s: never side by side


def test_routes_do_not_depend_on_neighbours_in_the_batch_or_on_padding():
    place, crowd = rooms(), people([WEST, (0.0, 8.0)], [EAST, (6.0, 3.0)], speed=1.2)
    alone = walked(crowd, place, 15.0, model=Helbing(), careful=True)
    crowded = walked(crowd, place, 15.0, model=Helbing(), careful=True, slots=48, wrap=lambda starts: [*starts, *_others(place)])
    assert (alone == crowded).all()


def _others(place: Map) -> list:
    return [start(pose=(0.0, 90.0, 0.0), crowd=people([EAST], [WEST]), place=place, entry="test/stage/1", timeout=60.0)]


def test_a_suite_refuses_a_waypoint_that_nobody_can_reach():
    cut = gap(0.4)
    task = Task(Surroundings(cut), cut, 0.3, 0.1, Stream("t/s/0", 1, "task"), People())
    waypoints = np.array([placed(0.0, -1.0), placed(0.0, 2.0)])
    task.pedestrians = [Person(np.array(placed(0.0, -2.0)), waypoints, 1.2, 0.3, name="D_elder_1")]
    with pytest.raises(PlacementError, match=r"D_elder_1 at \(3.10, -3.70\): no path leads to its waypoint \(3.10, 0.30\)"):
        check_ways(task)


QUARTERS = [Move(turn=0.5 * np.pi * k) for k in range(4)]


def test_of_two_equally_short_paths_the_right_hand_one_is_taken_in_any_orientation():
    place = Map.from_shapes(discs=[[1.3, -2.1, 0.9]], bounds=(-2.7, -6.1, 5.3, 1.9))
    for move in QUARTERS:
        crowd = people(move.points(np.array([[-1.7, -2.1]])), move.points(np.array([[4.3, -2.1]])))
        track = walked(crowd, moved(place, move), 9.0)[:, 0]
        side = (track - move.points(np.array([1.3, -2.1]))) @ move.vectors(np.array([0.0, 1.0]))
        assert side.min() < -1.0 and side.max() < 0.1
        assert np.hypot(*(track[-1] - move.points(np.array([4.3, -2.1])))) < 0.1


def test_of_two_people_equally_far_from_a_door_the_smaller_id_goes_first_in_any_orientation():
    place, ends = gap(0.9), np.array([placed(1.0, -2.1), placed(1.0, 2.1)])
    for move in QUARTERS:
        there = move.points(ends)
        track = walked(people(there, there[::-1], speed=1.2), moved(place, move), 12.0, careful=True, model=Anticipation())
        beyond = (track - move.points(np.array(placed(1.0, 0.0)))) @ move.vectors(np.array([0.0, 1.0]))
        assert np.argmax(beyond[:, 0] > 0.0) < np.argmax(beyond[:, 1] < 0.0)


def test_of_two_people_abreast_before_a_narrow_door_the_same_one_goes_first_in_any_orientation():
    place, ends = gap(0.9), np.array([placed(0.65, -2.4), placed(1.35, -2.4)])
    goals = np.array([placed(0.65, 2.4), placed(1.35, 2.4)])
    first = set()
    for move in QUARTERS:
        crowd = people(move.points(ends), move.points(goals), speed=1.2)
        track = walked(crowd, moved(place, move), 8.0, careful=True, yields=True, model=Anticipation())
        beyond = (track - move.points(np.array(placed(1.0, 0.0)))) @ move.vectors(np.array([0.0, 1.0]))
        assert (beyond[-1] > 1.0).all()
        first.add(int(np.argmin([np.argmax(beyond[:, i] > 0.0) for i in range(2)])))
    assert len(first) == 1
