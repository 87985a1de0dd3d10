"""Stretches of recordings: who is simulated, who is replayed, and what is read of both."""

import numpy as np
import pytest
from tests.ways import TIME, line, scene

from agora.maps.grid import Map
from agora.pedestrians.models.waypoint import Waypoint
from agora.validation.crowd import SimulatedCrowd, simulate
from agora.validation.distances import wasserstein
from agora.validation.quantities import FORMATION, QUANTITIES, formation, quantities
from agora.validation.stretches import DURATION, SAMPLES, of_scene, stretches
from agora.validation.window import window


def test_an_empty_scene_and_one_of_people_who_stand_have_no_stretch():
    assert of_scene(scene()) == []
    assert of_scene(scene(line((0, 0), (0.01, 0)))) == []


def test_who_walks_through_is_simulated_and_everybody_else_is_replayed():
    comes = line((5, 5), (-1, 0), TIME[:10])
    stands = line((3, -3), (0, 0.02))
    cut = of_scene(scene(comes, stands, line((0, 0), (1.2, 0.1)), times=[TIME[8:18], TIME, TIME]))[0]
    assert cut.walkers == 1
    assert np.hypot(*cut.velocity[0]) == pytest.approx(np.hypot(1.2, 0.1))
    start = cut.start([0])
    assert start.pedestrians.position == pytest.approx(cut.position[0, :1])
    for k in range(SAMPLES):
        now = start.replay.at(k * 0.4 + 1e-9)
        rows = np.searchsorted(start.replay.id, [2, 3])
        assert now.position[rows][cut.present[k, 1:]] == pytest.approx(cut.position[k, 1:][cut.present[k, 1:]], abs=1e-6)
        assert (now.present[rows] >= cut.present[k, 1:]).sum() >= 1


def test_one_who_walks_straight_on_alone_is_simulated_where_recorded():
    cut = of_scene(scene(line((0, 0), (1.1, 0.2))))[0]
    seen = simulate(SimulatedCrowd(Waypoint()), [cut.start([0])], DURATION, every=8)[0]
    assert seen[:, 0, :2] == pytest.approx(cut.position[:, 0], abs=0.01)


def test_whoever_is_alone_has_a_speed_and_no_distance_to_people():
    found = quantities(window(of_scene(scene(line((0, 0), (1.1, 0.2))))[0]))
    assert set(found) == set(QUANTITIES)
    assert found["speed"] == pytest.approx(np.full(13, np.hypot(1.1, 0.2)))
    assert found["density"] == pytest.approx(np.full(13, 1.0 / (4.0 * np.pi)))
    assert not any(len(found[name]) for name in QUANTITIES if name not in ("speed", "density"))


def test_without_a_map_nothing_is_said_of_walls():
    samples = [quantities(window(cut))["walls"] for cut in of_scene(scene(line((0, 0), (1.1, 0.2))))]
    assert wasserstein(samples, samples).value is None


def test_clearance_to_walls_is_that_of_the_centres_and_at_most_three_metres():
    wall = Map.from_shapes(
        segments=[line((-9, 2), (0, 0))[0].tolist() + line((40, 2), (0, 0))[0].tolist()], bounds=(-40, -40, 40, 40)
    )
    cut = of_scene(scene(line((0, 0), (1.1, 0)), line((0, -4), (1.1, 0)), map=wall))[0]
    found = window(cut).wall
    assert found[:, 0] == pytest.approx(np.full(13, 2.0), abs=0.05)
    assert quantities(window(cut))["walls"].max() == 3.0


def test_two_who_walk_abreast_in_a_group_are_beside_each_other_and_strangers_are_no_group():
    ways = line((0, 0), (1.1, 0)), line((0, 0.7), (1.1, 0))
    found = formation(window(of_scene(scene(*ways, groups=[(1, 2)]))[0]))
    assert found["group distance"] == pytest.approx(np.full(26, 0.7))
    assert found["group angle"] == pytest.approx(np.full(26, 90.0))
    apart = line((0, 0), (1.1, 0)), line((0, 3.1), (1.1, 0))
    strangers = formation(window(of_scene(scene(*apart))[0]))
    assert not any(len(strangers[name]) for name in FORMATION)


@pytest.mark.data
def test_recorded_scenes_have_what_is_known_of_them_and_no_distance_to_themselves(data):
    cut = stretches(["zara01", "students001"], parts=6)
    for stretch in cut:
        assert stretch.has_walls == stretch.scene.startswith("zara")
        assert stretch.present[:, : stretch.walkers].all()
        assert np.hypot(*(stretch.position[1, : stretch.walkers] - stretch.position[0, : stretch.walkers]).T).max() < 1.2
    samples = [quantities(window(stretch)) for stretch in cut]
    for name in QUANTITIES:
        found = wasserstein([s[name] for s in samples], [s[name] for s in samples])
        assert found.n > 0, name
        assert found.value == pytest.approx(0.0, abs=1e-9)
