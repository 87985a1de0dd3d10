"""Walking groups move by TAGA's Eqs 5 and 6."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.core.jit import bind
from agora.core.state import LOOP
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import CrowdRecord
from agora.maps.grid import Map
from agora.pedestrians.models.leader_follower import LeaderFollower
from agora.pedestrians.models.orca import Orca
from agora.planners.presets import named_planner
from agora.registry import make
from agora.tasks.suite import load_suite
from pedestrians import crowds
from starts import people, start


def plain(crowd, cohesion, reach, dt):
    """Eq. 6 in float64, one pedestrian at a time; leaders and single people straight to their waypoint."""
    p, t, goals = crowd.pedestrians, crowd.traits, crowd.waypoints
    place, velocity = (np.stack(v, -1).astype(float) for v in ((p.x, p.y), (p.vx, p.vy)))
    out = np.zeros(place.shape)
    for w, i in zip(*np.nonzero(p.active), strict=True):
        members = np.flatnonzero(p.active[w] & (t.group[w] == t.group[w, i])) if t.group[w, i] >= 0 else np.array([i])
        leader = members[np.argmin(t.id[w, members])]
        if leader == i:
            way = np.array([goals.x[w, i], goals.y[w, i]]) - place[w, i]
            distance = np.hypot(*way)
            out[w, i] = way / max(distance, 1e-9) * min(t.speed[w, i], distance / dt)
        else:
            offset = place[w, members].mean(0) - place[w, i]
            out[w, i] = velocity[w, leader] + cohesion * offset * max(1.0 - reach / max(np.hypot(*offset), 1e-6), 0.0)
    return out


@pytest.mark.parametrize(("cohesion", "reach"), [(0.7, 0.0), (0.4, 1.1)])
def test_the_kernel_agrees_with_its_float64_twin(cohesion, reach, rng):
    crowd = crowds.random_crowd(rng)
    crowd.traits.id[:] = rng.permuted(np.tile(np.arange(40, 40 + crowd.traits.id.shape[1]), (len(crowd.traits.id), 1)), axis=1)
    model = LeaderFollower(cohesion, reach)
    out = np.full((2, *crowd.pedestrians.x.shape), 7.0, np.float32)
    record = CrowdRecord(np.float32(0.25), np.int64(3), *crowd)
    bind(model.kernel(), model.parameters(), record, *out)(0, crowd.pedestrians.x.shape[0])
    expected = plain(crowd, cohesion, reach, 0.25)
    assert np.stack(out, -1) == pytest.approx(expected, abs=2e-5)
    assert np.abs(expected).max() > 0.3


def walked(model, members=4, seconds=12.0):
    """Places (T, P, 2) and velocities of a group whose first member walks straight by ORCA, the others by a model."""
    places = np.array([[-9.3, 1.2], [-10.4, 2.1], [-10.9, 0.1], [-9.8, -0.4]])[:members]
    crowd = people(places, np.full((members, 1, 2), 90.0), speed=0.8, mode=LOOP)
    crowd = replace(crowd, group=np.zeros(members, np.int32), model=np.minimum(np.arange(members, dtype=np.int32), 1))
    begun = start(pose=(-6.0, 30.0, 0.0), crowd=crowd, timeout=seconds, place=Map.open((-40.0, -35.0), (60.0, 70.0)))
    # nobody is so near, so that ORCA takes the preferred velocity
    conditions = Conditions(crowd=(Orca(neighbour_distance=0.01, walls=False), model), ends=0)
    ((_, (made,)),) = list(Episodes([begun], named_planner("go_to_goal:speed=0.01")[1].part, conditions))
    return made.time, made.pedestrian_position.astype(float), made.pedestrian_velocity.astype(float)


def test_as_published_offsets_from_the_middle_shrink_exponentially():
    cohesion = 0.4
    time, place, _ = walked(LeaderFollower(cohesion))
    steady = time > 1.0
    offset = place[steady] - place[steady].mean(1, keepdims=True)
    time = time[steady] - time[steady][0]
    # Eq. 6: the middle moves with v_L + cohesion e_L / n, e_L being the leader's offset, which therefore decays at cohesion / n
    leader = np.hypot(*offset[:, 0].T)
    assert leader == pytest.approx(leader[0] * np.exp(-cohesion / 4 * time), rel=0.03)
    # the difference of two followers' offsets loses the middle: it decays at the cohesion
    apart = np.hypot(*(offset[:, 1] - offset[:, 2]).T)
    assert apart == pytest.approx(apart[0] * np.exp(-cohesion * time), rel=0.06, abs=5e-3)


def test_within_reach_members_keep_their_formation_at_the_leaders_velocity():
    time, place, velocity = walked(LeaderFollower(0.4, reach=2.0))
    steady = time > 0.5
    offset = place[steady] - place[steady][:, :1]
    assert np.abs(offset - offset[0]).max() < 1e-3
    assert velocity[steady][1:] == pytest.approx(np.repeat(velocity[steady][1:, :1], 4, 1), abs=1e-4)
    assert np.hypot(*velocity[steady][:, 0].T) == pytest.approx(0.8, abs=1e-3)


@pytest.fixture(scope="module")
def begun():
    suite = load_suite("taga_walking")
    return [suite.start(f"seed_{1 + k % 2}", k) for k in range(12)]


def test_the_first_group_stands_and_the_second_walks_with_its_leader_first(begun):
    led = set()
    for s in begun:
        crowd = s.pedestrians
        standing, walking = crowd.group == 0, crowd.group == 1
        assert 3 <= walking.sum() <= 4 and not crowd.speed[standing].any() and (crowd.speed[walking] >= 0.5).all()
        assert len(set(crowd.speed[walking])) == 1
        assert crowd.model[walking].tolist() == [0] + [1] * (walking.sum() - 1) and not crowd.model[~walking].any()
        leader = np.flatnonzero(walking)[0]
        assert crowd.waypoints[leader, 0] == pytest.approx(-crowd.position[leader])
        led.add(tuple(np.argsort(crowd.position[walking, 0])))
    assert len(led) > 3, "the leader is drawn"


def test_in_the_suite_a_walking_group_gets_about_and_stays_together(begun):
    conditions = Conditions.of(load_suite("taga_walking").stage("seed_1"))
    for number, (made,) in Episodes(begun[:4], named_planner("go_to_goal:speed=0.05")[1].part, conditions):
        group = begun[number].pedestrians.group == 1
        place = made.pedestrian_position[:, group].astype(float)
        first = np.hypot(*(place[0] - place[0].mean(0)).T).max()
        far = np.hypot(*(place - place.mean(1, keepdims=True)).transpose(2, 0, 1))
        assert far.max() < max(first, 1.3) + 0.8
        assert np.hypot(*np.diff(place.mean(1), axis=0).T).sum() > 0.2 * made.time[-1]


@pytest.mark.parametrize("wrong", [{"cohesion": -0.1}, {"reach": -1.0}, {"max_speed_factor": 0.0}, {"cohesion": float("nan")}])
def test_values_that_make_no_sense_are_refused_by_name(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        make("crowd_models", "leader_follower", **wrong)
