"""The robots' knowledge of pedestrians at each level, in episodes of any batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.starts import people, start

from agora.costmap.personal_space import PersonalSpace
from agora.costmap.semantic import Semantic
from agora.costmap.window import Window
from agora.draft.periods import Periods
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.episode import Batch, Conditions, Episodes
from agora.errors import InputError
from agora.interfaces import SemanticWindow, Setting
from agora.maps.grid import Map
from agora.optics.lidar import Lidar
from agora.pedestrians.models.helbing import Helbing
from agora.perception.perception import LEVELS, Perception
from agora.planners.local.orca import OrcaPlanner
from agora.world.world import World

LIDAR = Lidar(beams=360, range_max=6.0, x=0.1, heading=0.2)
WALL = Map.from_shapes(segments=[(1.8, 0.25, 2.4, 1.6)], bounds=(-7.3, -4.1, 12.7, 9.9))
PLACES = {
    "in the open": (1.7, -0.8),
    "behind the wall": (3.4, 1.2),
    "behind the first": (3.42, -1.62),
    "out of range": (-6.8, -3.0),
    "behind the robot": (-2.0, 0.3),
}
EVERYBODY = tuple(PLACES.values())
WITHOUT_A_CAMERA = [level for level in LEVELS if level != "camera"]  # channels/test_camera_tracks.py has that one
POSE = (0.0, 0.0, 0.3)


def batch(level, lidar=LIDAR, places=EVERYBODY, needs=("pedestrians",), **more):
    crowd = people(places, places, first_id=31) if places else None
    told_of = level if isinstance(level, Perception) else Perception(level)
    conditions = Conditions(lidar=lidar, perception=told_of, **more.pop("conditions", {}))
    made = Batch([start(pose=POSE, crowd=crowd, place=WALL)], conditions, needs, 1, **more)
    made.begin(0, 0)
    return made


def told(made, steps=1):
    """Return the known pedestrians after some control periods, by id, and the observation."""
    for k in range(steps):
        made.look()
        seen = made.observer.observe()
        if k < steps - 1:
            made.advance()
    there = seen.pedestrians.present[0]
    return dict(zip(seen.pedestrians.id[0][there].tolist(), seen.pedestrians.position[0][there], strict=True))


def names(ids):
    return {list(PLACES)[number - 31] for number in ids}


def test_the_truth_is_everybody_but_people_behind_walls():
    assert names(told(batch("truth"))) == set(PLACES) - {"behind the wall"}
    assert names(told(batch(Perception("truth", walls=False)))) == set(PLACES)


def test_visible_are_those_whom_a_beam_reaches_with_their_true_states():
    made = batch("visible")
    found = told(made)
    assert names(found) == {"in the open", "behind the robot"}
    for number, place in found.items():
        assert place.tolist() == np.float32(list(PLACES.values())[number - 31]).tolist()
    tracks, traits = made.observer.observe().pedestrians, made.world.traits
    there = tracks.present[0]
    assert np.array_equal(tracks.radius[0, there], traits.radius[0, there])
    assert np.array_equal(tracks.group[0, there], traits.group[0, there])


def test_visible_ends_with_the_view_and_the_range_of_the_sensor():
    assert names(told(batch("visible", replace(LIDAR, angle_min=-1.6, angle_max=1.4)))) == {"in the open"}
    assert "out of range" in names(told(batch("visible", replace(LIDAR, range_max=9.0))))
    assert names(told(batch("visible", replace(LIDAR, range_max=1.2)))) == set()


def test_noise_of_the_lidar_hides_nobody():
    assert names(told(batch("visible", replace(LIDAR, noise=0.05)))) == {"in the open", "behind the robot"}


def test_tracked_are_those_in_sight_under_ids_of_the_robots_own_after_a_second_scan():
    made = batch("tracked")
    assert told(made) == {}
    made.advance()
    found = told(made)
    assert set(found) == {1, 2}
    for name in ("in the open", "behind the robot"):
        assert min(np.hypot(*(place - PLACES[name])) for place in found.values()) < 0.03


def test_of_nobody_nothing_is_told_at_any_level():
    for level in WITHOUT_A_CAMERA:
        assert told(batch(level, places=()), steps=3) == {}


def test_local_costmaps_show_those_who_are_known_of():
    def costs(level):
        made = batch(level, needs=(Window(size=8.4, resolution=0.1),))
        for _ in range(3):
            made.look()
            seen = made.observer.observe().costmap
            made.advance()
        cells = [np.floor((np.array(p) - seen.origin[0]) / 0.1).astype(int) for p in PLACES.values() if max(np.abs(p)) < 4.0]
        return [int(seen.cost[0, row, column]) for column, row in cells]

    assert costs("truth") == [254, 0, 254, 254]
    for level in ("visible", "tracked"):
        assert costs(level) == [254, 0, 0, 254]


def test_layers_put_costs_about_those_who_are_known_of_on_local_costmaps_and_whole_maps():
    layers = {"layers": (PersonalSpace(),)}

    def costs(level):
        made = batch(level, needs=(Window(size=8.4, resolution=0.1, sources=("map",)),), conditions=layers)
        for _ in range(3):
            made.look()
            seen = made.observer.observe().costmap
            made.advance()
        whole = made.observer.layer_costs(0, 0, WALL)
        at = []
        for place in list(PLACES.values())[:3]:
            (column, row), (u, v) = (np.floor((np.array(place) - o) / 0.1).astype(int) for o in (seen.origin[0], WALL.origin))
            at.append((int(seen.cost[0, row, column]) > 0, int(whole[v, u]) > 0))
        return at

    assert costs("truth") == [(True, True), (False, False), (True, True)]
    for level in ("visible", "tracked"):
        assert costs(level)[0] == (True, True)
        assert costs(level)[1] == (False, False)


def test_semantic_maps_are_of_those_who_are_known_of():
    window = SemanticWindow(("pedestrian",), size=12.0, resolution=0.25)
    for level, count in (("truth", 3), ("visible", 2), ("tracked", 2)):
        made = batch(level, needs=(window,))
        for _ in range(3):
            made.look()
            seen = made.observer.observe().semantics
            made.advance()
        assert (seen.evidence[0, 0] > 0).sum() == count


def test_what_no_scan_shows_is_refused_with_its_name():
    with pytest.raises(InputError, match=r"tracked.*stress"):
        batch("tracked", conditions={"layers": (PersonalSpace(), Semantic("stress"))})
    with pytest.raises(InputError, match=r"tracked.*social_state.phone"):
        batch("tracked", needs=(SemanticWindow(("social_state.phone",)),))
    begun = start()
    world = World.of([begun], dt=0.05)
    with pytest.raises(InputError, match="visible needs a lidar"):
        Observer(world, Wiring.of({"pedestrians"}, Setting(perception=Perception("visible"))), 0.1)


def crowd(seed, count):
    rng = np.random.default_rng(seed)
    places = np.array([(x, y) for x in np.arange(-5.0, 9.0, 1.6) for y in np.arange(-3.0, 8.5, 1.6) if x * x + y * y > 2.0])
    return people(rng.permutation(places)[:count], rng.permutation(places)[:count], first_id=5)


@pytest.mark.parametrize("level", ["visible", "tracked"])
def test_an_episode_is_the_same_in_any_batch_with_any_slots_and_threads(level):
    starts = [
        start(pose=(0.1 * k, 0.0, 0.4 * k), goal=(7.0, 6.0, 0.0), crowd=crowd(k, 4 + 5 * k), entry=f"test/stage/{k}", timeout=8.0)
        for k in range(4)
    ]
    noisy = replace(LIDAR, noise=0.02, dropout=0.01)
    conditions = Conditions(crowd=Helbing(), lidar=noisy, ends=0, perception=Perception(level))

    def run(**how):
        return {k: recordings[0] for k, recordings in Episodes(starts, OrcaPlanner(), conditions, **how)}

    wanted = run(worlds=4)
    for how in ({"worlds": 1}, {"worlds": 3, "slots": 64}, {"worlds": 4, "threads": 2}):
        found = run(**how)
        for k, recording in wanted.items():
            assert np.array_equal(recording.pose, found[k].pose), (how, k)
    truth = {k: r[0] for k, r in Episodes(starts, OrcaPlanner(), replace(conditions, perception=Perception("truth")))}
    assert any(not np.array_equal(truth[k].pose, wanted[k].pose) for k in wanted)


def test_records_hold_the_truth_whatever_the_planner_is_told():
    begun = start(crowd=people([PLACES["behind the wall"]], [PLACES["behind the wall"]]), place=WALL, timeout=1.0)
    for level in WITHOUT_A_CAMERA:
        conditions = Conditions(lidar=LIDAR, perception=Perception(level))
        ((_, (recording,)),) = list(Episodes([begun], OrcaPlanner(), conditions))
        assert recording.pedestrian_present.all()
        assert recording.pedestrian_position[-1, 0] == pytest.approx(PLACES["behind the wall"], abs=1e-5)


def test_with_a_slow_sensor_tracks_go_on_between_scans():
    periods = Periods(sensor=0.4)
    walker = people([(2.0, -1.0)], [(2.0, 5.0)], speed=1.0)
    conditions = Conditions(lidar=LIDAR, crowd=Helbing(), periods=periods, perception=Perception("tracked"), sees_robots=False)
    made = Batch([start(pose=POSE, crowd=walker)], conditions, ("pedestrians",), 1)
    made.begin(0, 0)
    errors = []
    for k in range(30):
        made.look()
        tracks, now = made.observer.observe().pedestrians, made.world.pedestrians
        if k > 15:
            place = tracks.position[0][tracks.present[0]][0]
            errors.append(np.hypot(place[0] - now.x[0, 0], place[1] - now.y[0, 0]))
        made.advance()
    assert max(errors) < 0.1


def test_a_robot_that_says_where_it_is_is_no_pedestrian_for_the_other():
    from tests.starts import DISC

    from agora.world.start import RobotStart

    begun = start(pose=POSE)
    other = RobotStart(replace(DISC, lidar=LIDAR), np.array([2.0, 0.4, 1.0]), np.array([[2.0, 0.4, 0.0]]))
    two = replace(begun, robots=(replace(begun.robots[0], model=other.model), other))
    made = Batch([two], Conditions(perception=Perception("tracked")), ("pedestrians",), 1)
    made.begin(0, 0)
    for _ in range(4):
        made.look()
        seen = made.observer.observe().pedestrians
        made.advance()
    assert not seen.present.any()
