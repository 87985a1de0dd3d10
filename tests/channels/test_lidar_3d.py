"""Lidars with many rings: the contract, true ranges, people at their height, noise, and bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.starts import DISC, people, start

from agora.channels.lidar_3d import Lidar3d
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.errors import InputError
from agora.interfaces import Setting
from agora.maps.grid import Map
from agora.testing import check_channel
from agora.world.world import World

SMALL = Lidar3d(rings=8, beams=90)


def ranges_of(lidar, crowd=((2.0, 0.5),), pose=(0.3, -0.2, 0.4)):
    walls = [[5.0, -4.0, 5.0, 4.0], [-6.0, 4.0, 5.0, 4.0], [-6.0, -4.0, 5.0, -4.0], [-6.0, -4.0, -6.0, 4.0]]
    place = Map.from_shapes(segments=walls, bounds=(-7.0, -5.0, 7.0, 6.0), name="hall")
    begun = start(pose=pose, crowd=people(crowd, np.zeros((len(crowd), 2))) if len(crowd) else None, place=place)
    world = World.of([begun], dt=0.1)
    observer = Observer(world, Wiring.of((lidar,), Setting()), 0.1)
    world.reset(0, begun)
    observer.place(0, 0, DISC)
    observer.measure()
    return observer.observe().sensors["lidar_3d"]["ranges"][0]


def points_of(lidar, ranges, pose=(0.3, -0.2, 0.4)):
    x, y, z = np.moveaxis(lidar.directions * ranges[..., None], -1, 0)
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.stack([pose[0] + c * x - s * y, pose[1] + s * x + c * y, lidar.z + z], axis=-1)


def test_it_keeps_the_contract_of_channels():
    check_channel(replace(SMALL, rings=4, beams=60))


def test_points_lie_on_floor_and_walls():
    points = points_of(SMALL, ranges_of(SMALL, crowd=()))
    x, y, z = np.moveaxis(points, -1, 0)
    off = np.minimum.reduce([np.abs(z), np.abs(x - 4.975), np.abs(x + 5.975), np.abs(y - 3.975), np.abs(y + 3.975)])
    assert np.median(off) < 1e-3 and (off < 0.02).mean() > 0.97


def test_beams_that_meet_nothing_read_the_largest_range():
    found = ranges_of(Lidar3d(rings=3, beams=45, lowest=-0.1, highest=1.1, range_max=20.0), crowd=())
    assert (found[-1] == 20.0).all() and found[0].max() < 20.0


def test_rings_see_legs_below_and_a_trunk_above():
    lidar = Lidar3d(rings=24, beams=720, lowest=-0.2, highest=0.5)
    points = points_of(lidar, ranges_of(lidar))
    body = np.hypot(points[..., 0] - 2.0, points[..., 1] - 0.5) < 0.6
    body &= points[..., 2] > 0.05
    height = points[..., 2][body]
    assert height.min() < 0.2 and 1.2 < height.max() < 2.0 and body.sum() > 100


def test_noise_belongs_to_the_episode():
    plain, noisy, again = (ranges_of(replace(SMALL, noise=noise), crowd=()) for noise in (0.0, 0.03, 0.03))
    met = plain < SMALL.range_max
    assert np.array_equal(noisy, again)
    assert (noisy - plain)[met].std() == pytest.approx(0.03, rel=0.2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lowest": 0.3, "highest": 0.1}, "lidar_3d: lowest must be at most highest, got 0.3 and 0.1"),
        ({"highest": 1.5}, r"highest: expected a number in \[-1.2, 1.2\], got 1.5"),
        ({"range_min": 5.0, "range_max": 2.0}, "lidar_3d: range_min must be below range_max, got 5 and 2"),
        ({"range_max": 500.0}, r"range_max: expected a number in \(0, 60\], got 500.0"),
    ],
)
def test_a_lidar_that_cannot_be_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        Lidar3d(**given)
