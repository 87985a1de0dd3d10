"""Scans that are made of a camera's depth."""

from __future__ import annotations

import numpy as np
import pytest
from tests.starts import DISC, people, start

from agora.channels.camera import Camera
from agora.channels.depth_scan import DepthScan
from agora.engine.observe import Observer
from agora.engine.wiring import Wiring
from agora.errors import InputError
from agora.interfaces import Setting
from agora.maps.grid import Map
from agora.testing import check_channel
from agora.world.world import World

CAMERA = Camera(what=("depth",), width=64, height=48, x=0.1, z=0.5)


def scan_of(scan, crowd=()):
    place = Map.from_shapes(segments=[[5.0, -4.0, 5.0, 4.0]], bounds=(-7.0, -5.0, 7.0, 6.0), name="hall")
    begun = start(pose=(0.0, 0.0, 0.0), crowd=people(crowd, np.zeros((len(crowd), 2))) if len(crowd) else None, place=place)
    world = World.of([begun], dt=0.1)
    observer = Observer(world, Wiring.of((scan,), Setting()), 0.1)
    world.reset(0, begun)
    observer.place(0, 0, DISC)
    observer.measure()
    return observer.observe().sensors["depth_scan"]["ranges"][0]


def test_it_keeps_the_contract_of_channels():
    check_channel(DepthScan(Camera(what=("depth",), width=48, height=24), beams=24))


def test_a_wall_is_where_it_is_and_the_floor_is_not_seen():
    scan = DepthScan(CAMERA, beams=21)
    found = scan_of(scan)
    assert found == pytest.approx((4.975 - CAMERA.x) / np.cos(scan.angles), abs=0.12)


def test_a_person_is_nearer_than_the_wall():
    scan = DepthScan(CAMERA, beams=21)
    found = scan_of(scan, crowd=((2.5, 0.4),))
    nearest = int(found.argmin())
    assert 2.0 < found[nearest] < 2.6 and scan.angles[nearest] == pytest.approx(np.arctan2(0.4, 2.4), abs=0.15)
    assert (found < 3.0).sum() < 8


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="low must be below high"):
        DepthScan(low=1.0, high=0.5)
    with pytest.raises(InputError, match="on the robot"):
        DepthScan(Camera(fixed=True))
