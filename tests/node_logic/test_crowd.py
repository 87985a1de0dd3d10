"""The crowd of one episode with robots from outside: the same bits as the episode loop, and what may be changed while it runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.starts import people, plane, start
from tests.suites import CROWDS, suite, write_world

from agora.draft.periods import Periods
from agora.draft.stage import CrowdSettings, Stage
from agora.episode import Batch, Conditions
from agora.errors import InputError
from agora.maps.furniture import Furniture
from agora.node_logic.crowd import Crowd, open_start
from agora.pedestrians.models.waypoint import Waypoint
from agora.registry import Named
from agora.world.start import Thing
from agora.world.trajectories import Trajectories

PERIODS = Periods(physics=0.05, control=0.1, crowd=0.05, sensor=0.1)


def stage(model="helbing", behaviours=(), **more) -> Stage:
    named = tuple(Named.of("behaviours", name) for name in behaviours)
    return Stage(
        name="stage",
        world=Named.of("worlds", "open"),
        crowd=CrowdSettings(model=Named.of("crowd_models", model), behaviours=named),
        periods=PERIODS,
        **more,
    )


def crossing(count=3, **more):
    places = [(-3.0 + 0.9 * k, 2.5 - 1.1 * k) for k in range(count)]
    ways = [[(4.0, -2.0 + k), (-4.0, 3.0)] for k in range(count)]
    return start(crowd=people(places, ways, mode=0), **more)


def where(crowd):
    p = crowd.pedestrians
    return np.where(p.active[0][:, None], np.stack([p.x, p.y, p.vx, p.vy, p.heading], -1)[0], 0)


@pytest.mark.parametrize("name", sorted(CROWDS))
@pytest.mark.parametrize("is_fed", [False, True])
def test_with_the_robots_of_the_episode_loop_it_gives_the_loops_pedestrians_bit_by_bit(tmp_path, name, is_fed):
    small = suite(write_world(tmp_path / "room"), episodes=2, timeout=6.0)
    begun = small.start(name, 1)
    batch = Batch([begun], replace(Conditions.of(small.stage(name)), ends=0), {"path"}, 1)
    batch.begin(0, 0)
    crowd = Crowd(begun, small.stage(name), is_fed=is_fed)
    drawn = np.random.default_rng(3)
    for _ in range(60):
        batch.engine.step(drawn.uniform(-0.3, 1.0, batch.world.commands.shape).astype(np.float32))
        if batch.world.status.clock.done[0]:
            break
        crowd.step()
        for mine, theirs in zip(crowd.pedestrians, batch.world.pedestrians, strict=True):
            assert np.array_equal(mine, theirs[:, : mine.shape[1]])
        for mine, theirs in zip(crowd.minds, batch.world.minds, strict=True):
            assert np.array_equal(mine, theirs[:, : mine.shape[1]])
        for mine, theirs in zip(crowd.robots, batch.world.robots, strict=True):
            mine[...] = theirs
    assert crowd.step_number > 20


@pytest.mark.parametrize("behaviours", [(), ("social_states",)])
def test_one_who_spawns_while_it_runs_is_in_the_next_generation_and_the_others_go_on_as_they_were(behaviours):
    alone, joined = (Crowd(crossing(), stage("waypoint", behaviours)) for _ in range(2))
    for crowd in (alone, joined):
        for _ in range(37):
            crowd.step()
    slots = joined.spawn(people([(2.2, 6.1)], [[(2.2, 0.0), (0.0, 6.0), (5.5, 5.0)]], first_id=40), ["Otto"])
    assert (slots.tolist(), joined.start.names[3], joined.step_number) == ([3], "Otto", 37)
    states = joined.minds.state[0, :3].tolist()
    for crowd in (alone, joined):
        crowd.step()
    close = 0.05 if behaviours else 0.0  # behaviours begin anew, from the minds that everybody had
    assert np.abs(where(joined)[:3, :2] - where(alone)[:3, :2]).max() <= close
    assert joined.minds.state[0, :3].tolist() == states == alone.minds.state[0, :3].tolist()
    assert joined.pedestrians.active[0, :5].tolist() == [True, True, True, True, False]
    assert joined.traits.id[0, :4].tolist() == [11, 12, 13, 40]
    assert 0.0 < 6.1 - joined.pedestrians.y[0, 3] < 0.1
    for _ in range(200):
        joined.step()
    assert np.hypot(joined.pedestrians.x[0, 3] - 2.2, joined.pedestrians.y[0, 3] - 6.1) > 1.0


def test_a_slot_is_used_again_only_after_a_generation_without_anybody_in_it():
    crowd = Crowd(crossing(), stage())
    crowd.step()
    crowd.remove([1])
    newcomer = people([(6.0, 4.5)], [[(6.0, -1.0)]], first_id=50)
    assert crowd.spawn(newcomer).tolist() == [3]
    assert crowd.step().active[0, :4].tolist() == [True, False, True, True]
    assert crowd.spawn(people([(7.0, 4.5)], [[(6.0, -1.0)]], first_id=51)).tolist() == [1]
    assert crowd.step().active[0, :5].tolist() == [True, True, True, True, False]
    assert crowd.traits.id[0, :4].tolist() == [11, 51, 13, 50]


def test_who_comes_and_goes_between_two_steps_uses_no_slot_up():
    crowd = Crowd(crossing(1), stage())
    for k in range(40):
        slots = crowd.spawn(people([(6.0, 4.5), (7.0, 4.5)], [[(6.0, -1.0)]] * 2, first_id=100 + 2 * k))
        crowd.remove(slots)
    assert slots.tolist() == [1, 2]


def test_one_who_is_moved_is_absent_from_one_generation_and_goes_on_from_there():
    crowd = Crowd(crossing(), stage("waypoint"))
    crowd.step()
    crowd.move([2], [[8.0, 7.5, 0.4]])
    assert crowd.step().active[0, :3].tolist() == [True, True, False]
    after = crowd.step()
    assert after.active[0, :3].all()
    assert abs(after.x[0, 2] - 8.0) < 0.1 and abs(after.y[0, 2] - 7.5) < 0.1


def test_everybody_is_put_back_to_the_start_and_walks_the_same_way_again():
    crowd = Crowd(crossing(), stage("waypoint"))
    first = [where(crowd)]
    for _ in range(150):
        crowd.step()
        first.append(where(crowd))
    crowd.restart()
    crowd.step()
    assert not crowd.pedestrians.active.any()
    for k in range(1, 60):
        crowd.step()
        assert np.allclose(where(crowd)[:, :2], first[k][:, :2], atol=1e-5), k


def test_a_wall_that_is_added_keeps_them_off_and_is_gone_when_cleared():
    crowd, free = (Crowd(start(crowd=people([(0.2, 0.1)], [[(6.0, 0.1)]])), stage()) for _ in range(2))
    crowd.add_walls([[2.0, -1.5, 2.0, 1.7]])
    for _ in range(60):
        crowd.step(), free.step()
    assert crowd.pedestrians.x[0, 0] < 2.0 < free.pedestrians.x[0, 0] - 0.5
    crowd.clear_walls()
    for _ in range(80):
        crowd.step()
    assert crowd.pedestrians.x[0, 0] > 2.5 and not crowd.start.map.has_shapes


def test_furniture_that_is_added_is_in_the_map_of_the_crowd():
    crowd = Crowd(start(), stage())
    crowd.add_things([Thing("S_shelf_1", "static", Furniture("shelf", 3.3, 1.2, 0.7))])
    crowd.add_walls([[2.0, -1.5, 2.0, 1.7]])
    assert crowd.start.map.clearance_at([(3.3, 1.2)])[0] < 0.6 and crowd.start.things[0].name == "S_shelf_1"
    crowd.clear_things()
    assert not crowd.start.things and len(crowd.start.map.segments) == 1 and not crowd.start.map.polygons


def test_forces_from_outside_replace_or_add_to_the_crowd_models_until_they_are_let_go():
    in_place, added, free = (Crowd(crossing(2), stage("waypoint")) for _ in range(3))
    for crowd in (in_place, added, free):
        for _ in range(20):
            crowd.step()
    before = where(free)
    in_place.feed([1], [[-0.8, 0.4]])
    added.feed([1], [[-0.8, 0.4]], "added")
    for crowd in (in_place, added, free):
        crowd.step()
    dt, force = np.float32(0.05), np.float32([-0.8, 0.4])
    assert np.allclose(where(in_place)[1, 2:4], before[1, 2:4] + force * dt, atol=1e-6)
    assert np.allclose(where(added)[1, 2:4], where(free)[1, 2:4] + force * dt, atol=1e-6)
    assert np.array_equal(where(in_place)[0], where(free)[0])
    assert np.allclose(in_place.acceleration[1], free.acceleration[1], atol=1e-4)
    in_place.feed([], np.zeros((0, 2)))
    in_place.step()
    assert np.hypot(*where(in_place)[1, 2:4]) > 0.9


def test_forces_from_outside_leave_the_preferred_speed_as_the_cap():
    crowd = Crowd(start(crowd=people([(0.2, 0.1)], [[(6.0, 0.1)]], speed=0.7)), stage("waypoint"))
    crowd.feed([0], [[0.0, 9.0]])
    for _ in range(30):
        crowd.step()
    assert np.hypot(*where(crowd)[0, 2:4]) == pytest.approx(0.7, abs=1e-5)


def test_nothing_ends_in_it(tmp_path):
    crowd = Crowd(crossing(2, pose=(-3.0, 2.5, 0.1), goal=(-3.0, 2.5, 0.0), timeout=0.2), stage("waypoint"))
    for _ in range(100):
        crowd.step()
    assert crowd.step_number == 100 and not crowd.world.status.clock.done[0] and np.abs(where(crowd)[0, 2:4]).max() > 0.5


def test_recorded_pedestrians_walk_as_recorded_and_nobody_is_added_to_them():
    recorded = Trajectories(
        np.array([0.0, 4.0]), np.array([1.0, 3.0]), np.array([2.0, 2.5]),
        np.array([0, 2], np.int32), np.array([7], np.int32), np.array([-1], np.int32), np.zeros(1),
    )  # fmt: skip
    crowd = Crowd(crossing(1, replay=recorded), stage())
    for _ in range(40):
        crowd.step()
    assert crowd.pedestrians.x[0, 1] == pytest.approx(2.0, abs=0.02)
    with pytest.raises(InputError, match="recorded pedestrians"):
        crowd.spawn(people([(6.0, 4.5)], [[(6.0, -1.0)]], first_id=50))
    crowd.remove([1])
    crowd.add_walls([[2.0, -1.5, 2.0, 1.7]])
    assert crowd.step().active[0, :2].tolist() == [True, False]


def test_what_makes_no_crowd_is_refused_and_changes_nothing():
    crowd = Crowd(crossing(2), stage())
    crowd.robots.x[0, 0] = np.nan
    with pytest.raises(InputError, match="robot states of step 0 contain"):
        crowd.step()
    crowd.robots.x[0, 0] = 0.0
    for wrong, words in (
        (people([(6.0, 4.5)], [[(6.0, -1.0)]], first_id=12), "pedestrian 12: the id is already in use"),
        (people([(60.0, 4.5)], [[(6.0, -1.0)]], first_id=90), "outside the map"),
        (people([(np.nan, 4.5)], [[(6.0, -1.0)]], first_id=90), "outside the map"),
    ):
        with pytest.raises(InputError, match=words):
            crowd.spawn(wrong)
    with pytest.raises(InputError, match="non-finite"):
        crowd.feed([0], [[np.nan, 0.0]])
    with pytest.raises(InputError, match=r"a force of 1e\+30 m/s2 acts on a pedestrian; expected at most 1e\+06 m/s2"):
        crowd.feed([0], [[0.0, -1e30]])
    assert crowd.step().active[0, :4].tolist() == [True, True, False, False]


def test_a_crowd_without_an_episode_begins_empty_and_takes_pedestrians():
    crowd = Crowd(open_start(plane()), stage("pedsim"))
    crowd.step()
    crowd.spawn(people([(1.0, 2.0), (4.0, 2.2)], [[(6.0, 2.0)], [(-3.0, 2.0)]]))
    for _ in range(60):
        crowd.step()
    assert np.isfinite(where(crowd)).all() and crowd.pedestrians.active.sum() == 2 and where(crowd)[0, 0] > 2.0


def test_a_robot_that_is_added_is_seen_and_another_model_takes_over():
    crowd = Crowd(open_start(plane()), stage("helbing"))
    crowd.spawn(people([(0.0, 0.1)], [[(6.0, 0.1)]]))
    crowd.add_robot(start(pose=(2.0, 0.3, 0.1)).robots[0])
    crowd.step()
    alone = crowd.acceleration[0].copy()
    crowd.robots.x[...] = 0.9
    crowd.step(), crowd.step()
    assert crowd.acceleration[0, 0] < alone[0]
    crowd.set_models([Waypoint()])
    for _ in range(20):
        crowd.step()
    assert np.hypot(*where(crowd)[0, 2:4]) == pytest.approx(1.0, abs=1e-3)
