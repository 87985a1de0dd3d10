"""People come in, go to places that mean something, stay for a time and leave; a place is as full after a while as at first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.core.state import LEAVE, SOCIAL_STATES, STAY
from agora.draft.people import People
from agora.draft.stage import Stage
from agora.draft.surroundings import Surroundings
from agora.draft.task import Task
from agora.engine.conditions import Conditions
from agora.engine.engine import Engine
from agora.errors import PlacementError
from agora.maps.generators.canteen import Canteen
from agora.maps.generators.corridor import Corridor
from agora.maps.grid import Map
from agora.maps.ways import way
from agora.pedestrians.behaviours.groups import Groups
from agora.registry import Named
from agora.seeds import Stream
from agora.tasks.destinations import destinations_of
from agora.tasks.obstacles.itineraries import Itineraries, Purposes, Stays
from agora.tasks.suite import Suite
from agora.tasks.worlds.generated import Generated

PLACE = Canteen(width=21.0, height=16.0, x=-3.2, y=11.7).generate(Stream("canteen", 3, "place"))
START, GOALS = np.array([2.0, 14.5, 0.3]), np.array([[6.0, 24.0, 0.0]])


def task(place=PLACE, episode=0, robots=True) -> Task:
    world = Surroundings(place.map, furniture=place.furniture, zones=place.zones)
    made = Task(world, place.map, 0.25, 0.2, Stream(f"test/stage/{episode}", 3, "task"), People())
    made.robots = [(START, GOALS)] if robots else []
    return made


def drawn(mode: Itineraries, place=PLACE, episodes=12, robots=True):
    people = []
    for episode in range(episodes):
        made = task(place, episode, robots)
        mode.place(made)
        people.append(made.pedestrians)
    return people


def test_there_are_as_many_as_asked_for_and_more_come_later():
    for people in drawn(Itineraries(people=(6, 9))):
        assert 6 <= sum(person.enters == 0.0 for person in people) <= 9
        assert any(person.enters > 0.0 for person in people)
    area = destinations_of(PLACE.map, PLACE.furniture, PLACE.zones, 0.3, 0.25).area
    counts = [sum(person.enters == 0.0 for person in people) for people in drawn(Itineraries(density=0.05))]
    assert np.mean(counts) == pytest.approx(0.05 * area, abs=0.6)


def test_nobody_starts_in_a_wall_in_somebody_else_or_near_the_robot():
    for people in drawn(Itineraries(density=0.1)):
        there = [person for person in people if person.enters == 0.0]
        where = np.array([person.position for person in there])
        assert (PLACE.map.gap(where) >= 0.3 - 1e-9).all()
        apart = np.hypot(*(where[:, None] - where[None]).transpose(2, 0, 1)) + 9 * np.eye(len(where))
        assert apart.min() >= 0.6
        assert np.hypot(*(where - START[:2]).T).min() >= 1.5


def test_every_place_on_an_itinerary_can_be_reached():
    for people in drawn(Itineraries(people=(8, 8)), episodes=4):
        for person in people:
            points = np.vstack([person.position, person.waypoints])
            assert all(way(PLACE.map, 0.3, a, b) is not None for a, b in zip(points, points[1:], strict=False))


def test_who_passes_goes_from_one_entrance_to_one_on_another_side():
    entrances = destinations_of(PLACE.map, PLACE.furniture, PLACE.zones, 0.3, 0.25).entrances
    assert len(entrances) == 3

    def entrance_of(point):
        return next(k for k, points in enumerate(entrances) if np.hypot(*(points - point).T).min() < 1e-6)

    passing = Itineraries(people=(0, 0), arrivals=20.0, purposes=Purposes(1.0, 0.0, 0.0, 0.0), groups=(1.0,))
    for person in sum(drawn(passing), []):
        assert person.mode == LEAVE and len(person.waypoints) == 1 and not any(person.waits)
        assert entrance_of(person.position) != entrance_of(person.waypoints[-1])


def test_who_visits_does_something_at_a_piece_of_furniture_and_faces_it():
    visiting = Itineraries(people=(0, 0), arrivals=6.0, purposes=Purposes(0.0, 1.0, 0.0, 0.0), groups=(1.0,), visits=(1, 1))
    stops = destinations_of(PLACE.map, PLACE.furniture, PLACE.zones, 0.3, 0.25).stops
    seen = set()
    for person in sum(drawn(visiting), []):
        assert person.waits[0] == 0.0 and person.waits[1] > 0.0
        seen.add(person.doing[1])
        if person.doing[1] != "idle":
            stop = min(stops, key=lambda stop: float(np.hypot(*(stop.point - person.waypoints[0]))))
            assert person.waypoints[0] == pytest.approx(stop.point) and person.faces[1] == stop.heading
    assert {"sitting", "queueing"} <= seen


def test_a_spot_of_the_furniture_has_one_user_however_many_people_there_are():
    for people in drawn(Itineraries(people=(60, 60), keep_clear=0.5), episodes=3):
        used = [
            tuple(point)
            for person in people
            for point, doing in zip(person.waypoints, person.doing[1:], strict=False)
            if doing not in ("", "idle")
        ]
        alone = {person: {tuple(point) for point in person.waypoints} for person in people}
        for point in set(used):
            assert sum(point in points for person, points in alone.items() if person.group < 0) <= 1


def test_purposes_and_sizes_of_parties_have_the_shares_asked_for():
    stream, purposes = Stream("purposes", 1, "test"), Purposes(3.0, 1.0, 0.0, 4.0)
    found = [purposes.draw(stream) for _ in range(2000)]
    assert found.count("passing") / 2000 == pytest.approx(3 / 8, abs=0.03)
    assert found.count("waiting") / 2000 == pytest.approx(1 / 2, abs=0.03)
    assert "working" not in found
    parties: dict[tuple[int, int], int] = {}
    for episode, people in enumerate(drawn(Itineraries(people=(40, 40), arrivals=0.0, keep_clear=0.5), episodes=12)):
        for number, person in enumerate(people):
            key = (episode, person.group if person.group >= 0 else -1 - number)
            parties[key] = parties.get(key, 0) + 1
    alone = sum(size == 1 for size in parties.values()) / len(parties)
    assert alone == pytest.approx(0.15 + 0.85 * 1486 / 2412, abs=0.07), "those who work are alone"


def test_who_works_is_at_its_place_or_on_an_errand_and_stays_for_long():
    for person in sum(drawn(Itineraries(people=(3, 3), arrivals=0.0, purposes=Purposes(0.0, 0.0, 1.0, 0.0)), episodes=6), []):
        own = [tuple(point) for point, doing in zip(person.waypoints, person.doing[1:], strict=False) if doing == "working"]
        assert len(set(own)) <= 1
        assert sum(person.waits) > 120.0


def test_at_the_start_who_works_is_nearly_always_at_its_place_for_a_while_still():
    mode = Itineraries(people=(3, 3), arrivals=0.0, purposes=Purposes(0.0, 0.0, 1.0, 0.0))
    people = sum(drawn(mode, episodes=40, robots=False), [])
    at_work = np.mean([person.doing[0] == "working" for person in people])
    assert 0.6 < at_work < 0.95, "300 s at a place, then an errand of half a minute"
    left = [person.waits[0] for person in people if person.doing[0] == "working"]
    assert np.median(left) > 60.0, "not at the end of their stay"


def test_members_of_a_party_share_their_places_and_come_in_one_after_the_other():
    parties = Itineraries(people=(0, 0), arrivals=10.0, groups=(0.0, 0.0, 1.0), purposes=Purposes(0.5, 0.5, 0.0, 0.0))
    for people in drawn(parties, episodes=4):
        for group in {person.group for person in people}:
            members = [person for person in people if person.group == group]
            assert len(members) == 3 and group >= 0
            assert all(np.array_equal(member.waypoints, members[0].waypoints) for member in members)
            assert len({member.speed for member in members}) == 1
            gaps = np.diff([member.enters for member in members])
            assert (gaps * members[0].speed >= 0.8).all()


def test_a_party_on_its_way_walks_abreast_where_there_is_room():
    parties = Itineraries(people=(9, 9), arrivals=0.0, groups=(0.0, 0.0, 1.0), purposes=Purposes(1.0, 0.0, 0.0, 0.0))
    plane = Map.open((-3.2, 11.7), (22.8, 30.7))
    aside = []
    for episode in range(4):
        made = Task(Surroundings(plane), plane, 0.25, 0.2, Stream(f"test/stage/{episode}", 3, "task"), People())
        parties.place(made)
        for group in range(3):
            party = np.array([[*person.position, person.heading] for person in made.pedestrians if person.group == group])
            across = np.array([-np.sin(party[0, 2]), np.cos(party[0, 2])])
            aside.append(np.ptp(party[:, :2] @ across))
    assert np.mean(np.array(aside) > 1.9 * Groups.spacing) > 0.8, "two spacings, but at the map's edge"


def test_stays_have_the_median_that_was_asked_for():
    stream = Stream("stays", 1, "test")
    drawn_stays = [Stays(queue=40.0, spread=0.6).draw("queue", stream) for _ in range(4000)]
    assert np.median(drawn_stays) == pytest.approx(40.0, rel=0.05)
    assert np.std(np.log(drawn_stays)) == pytest.approx(0.6, rel=0.05)


def test_in_a_room_without_entrances_nobody_leaves_and_nobody_comes():
    closed = Map.from_shapes(segments=[(-5.0, -2.0, 8.0, -2.0)], bounds=(-9.0, -5.5, 13.0, 9.5), resolution=0.1, name="closed")
    walls = np.zeros(closed.shape, np.bool_)
    walls[:20] = walls[-20:] = True
    walls[:, :20] = walls[:, -20:] = True
    place = replace(PLACE, map=replace(closed, occupied=walls), furniture=(), zones=())
    for people in drawn(Itineraries(people=(5, 5), keep_clear=0.5), place, episodes=3, robots=False):
        assert len(people) == 5 and all(person.mode == STAY and person.enters == 0.0 for person in people)


def test_in_the_open_people_cross_from_one_side_to_another():
    place = replace(PLACE, map=Map.open((-4.0, 2.0), (9.0, 11.0)), furniture=(), zones=())
    passing = Itineraries(people=(4, 4), purposes=Purposes(1.0, 0.0, 0.0, 0.0), groups=(1.0,), keep_clear=0.5)
    for person in sum(drawn(passing, place, episodes=6, robots=False), []):
        edge = np.minimum(person.waypoints[-1] - (-4.0, 2.0), (9.0, 11.0) - person.waypoints[-1]).min()
        assert person.mode == LEAVE and edge < 1.0


def test_more_people_than_fit_are_refused_before_the_episode():
    with pytest.raises(PlacementError, match="no place for a party"):
        Itineraries(people=(900, 900)).place(task())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"people": (3, 1)}, "people must be"),
        ({"density": 2.0}, r"density: expected a number in \[0, 1.5\]"),
        ({"arrivals": -1.0}, "arrivals: expected a number of at least 0"),
        ({"arrivals": 1e9}, "arrivals: expected a number of at most"),
        ({"groups": (0.0, 0.0)}, "groups must be"),
        ({"visits": (2, 1)}, "visits must be"),
    ],
)
def test_absurd_values_are_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        Itineraries(**wrong)


def suite(generator, **parameters) -> Suite:
    world = Named("generated", Generated(Named(generator.__name__.lower(), generator()), 2, 5))
    mode = Named("itineraries", Itineraries(**parameters))
    return Suite("daily", (Stage("day", world, obstacles=mode, episodes=2, robot="burger"),), 3)


def walked(made: Suite, seconds=60.0):
    """Return who is there (T, W, P), velocity (T, W, P, 2) and state (T, W, P), every 0.1 s, with robots that stand."""
    stage = made.stages[0]
    starts = [made.start("day", k) for k in range(2)]
    engine = Engine.of(starts, replace(Conditions.of(stage), ends=0))
    for w, start in enumerate(starts):
        engine.reset(w, replace(start, timeout=600.0))
    rows = []
    for _ in range(round(seconds / engine.world.dt)):
        now = engine.world.pedestrians
        rows.append((now.active.copy(), np.stack([now.vx, now.vy], -1), engine.world.minds.state.copy()))
        engine.step()
    engine.close()
    return tuple(np.array(each)[:: round(0.1 / stage.periods.physics)] for each in zip(*rows, strict=True))


def test_a_stage_with_the_mode_has_the_behaviours_that_its_people_need():
    stage = suite(Canteen).stages[0]
    assert [behaviour.name for behaviour in stage.crowd.behaviours] == ["groups", "cues"]


@pytest.mark.parametrize("generator", [Canteen, Corridor])
def test_after_a_minute_a_place_is_about_as_full_as_at_first_and_nobody_paces(generator):
    there, velocity, state = walked(suite(generator, density=0.05))
    count = there.sum(axis=(1, 2))
    assert 0.5 * count[0] <= count[-100:].mean() <= 1.8 * count[0]
    speed = np.hypot(*np.moveaxis(velocity, -1, 0))
    turns = 0
    for w in range(there.shape[1]):
        for i in range(there.shape[2]):
            heading = np.arctan2(velocity[:, w, i, 1], velocity[:, w, i, 0])
            last = -99
            for t in range(20, len(there)):
                walks = there[t - 20 : t + 1, w, i].all() and (speed[t - 20 : t + 1, w, i] > 0.25).all()
                back = walks and np.cos(heading[t] - heading[t - 20]) < np.cos(np.radians(135))
                if back and t - last > 30:
                    turns, last = turns + 1, t
    assert turns / (there.sum() / 600) <= 0.7, "U-turns a person-minute"


def test_who_stays_shows_what_it_does():
    there, velocity, state = walked(suite(Canteen, people=(8, 8), purposes=Purposes(0.0, 0.5, 0.3, 0.2)), 20.0)
    stands = there & (np.hypot(*np.moveaxis(velocity, -1, 0)) < 0.05)
    shown = {SOCIAL_STATES[k] for k in np.unique(state[stands])}
    assert shown & {"sitting", "working", "queueing", "interacting"}
