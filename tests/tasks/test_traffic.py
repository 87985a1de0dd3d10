"""Timetables of a map: no square is crowded by walks that cross it at the same time."""

from __future__ import annotations

import numpy as np
import pytest

from agora.draft.people import People
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.obstacles.itineraries import Itineraries, Purposes
from agora.tasks.traffic import CROWDED, Traffic, walks

HALL = Map.from_shapes(
    polygons=[
        [(-7.3, 1.9), (24.9, 1.9), (24.9, 2.1), (-7.3, 2.1)],
        [(-7.3, 5.1), (24.9, 5.1), (24.9, 5.3), (-7.3, 5.3)],
    ],
    bounds=(-7.3, 1.9, 24.9, 5.3),
    resolution=0.1,
)
ALONG = np.array([[-7.0, 3.6], [24.5, 3.6]])


def test_walks_have_a_point_each_second_and_wait_where_the_party_stays():
    points, times = walks([(2.0, ALONG), (10.0, ALONG[::-1])], 1.5, 4.0)
    assert times[:3].tolist() == [6.0, 7.0, 8.0] and points[2] == pytest.approx([-4.0, 3.6])
    back = times >= 6.0 + 21.0 + 10.0
    assert times[back][0] == 37.0 and points[back][1] == pytest.approx([23.0, 3.6])
    assert len(walks([], 1.2, 0.0)[0]) == 0


def test_a_party_that_has_walked_part_of_its_path_walks_the_rest():
    points, times = walks([(0.0, ALONG)], 1.5, 0.0, done=30.0)
    assert times.tolist() == [0.0] and points[0] == pytest.approx([23.0, 3.6])


def test_one_party_may_always_walk_and_as_many_as_the_density_allows():
    traffic = Traffic(HALL, 0.5, 60.0)
    party, count = walks([(0.0, ALONG)], 1.2, 0.0), 0
    assert traffic.has_room(party, 30)  # alone, even a large one
    while traffic.has_room(party, 1):
        traffic.enter(party, 1)
        count += 1
    assert 2 <= count <= 8  # walkers at the same place and time, in 2 m squares of which 1 m to 2 m are free
    assert traffic.has_room(walks([(0.0, ALONG)], 1.2, 40.0), 1)  # later there is room again
    assert Traffic(HALL, 0.5, 60.0).has_room(party, 1)


def test_walks_after_the_end_of_the_timetable_are_not_entered():
    traffic = Traffic(HALL, 0.5, 60.0)
    for _ in range(100):
        traffic.enter(walks([(0.0, ALONG)], 1.2, 61.0), 1)
    assert traffic.has_room(walks([(0.0, ALONG)], 1.2, 0.0), 1)


def people_in_hall(arrivals: float) -> list:
    made = Task(Surroundings(HALL), HALL, 0.25, 0.2, Stream("test/traffic/0", 3, "task"), People())
    Itineraries(people=(0, 0), arrivals=arrivals, until=120.0, purposes=Purposes(1.0, 0.0, 0.0, 0.0)).place(made)
    return made.pedestrians


def test_people_who_would_crowd_a_hall_stay_away():
    few, many = people_in_hall(6.0), people_in_hall(400.0)
    assert len(few) > 5 and len(many) < 400
    seen = np.zeros((24, 4))  # person-seconds by slots of 5 s and stretches of 8 m
    for person in many:
        points, times = walks([(0.0, np.array([person.position, person.waypoints[0]]))], person.speed / 1.1, person.enters)
        for (x, _), time in zip(points, times, strict=True):
            if time < 120.0:
                seen[int(time // 5.0), min(int((x + 7.3) // 8.0), 3)] += 1.0
    density = seen / 5.0 / (8.0 * 3.0)
    assert density.max() < 1.15 * CROWDED  # group members come in one by one, a little later than in the timetable
    assert density[6:].mean() > 0.4 * CROWDED  # the hall is used
