"""Doors that move: leaves, when they open and close, whom they let through, and pictures of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.engines import engine as engine_at

from agora.benchmark.informed.oracle import Timed
from agora.benchmark.results.recording_shards import read_recordings, write_recordings
from agora.channels.scan import Scanner
from agora.core.recording import Outcome
from agora.episode import Conditions, Episodes
from agora.errors import InputError
from agora.maps.distance import gap_to_shapes
from agora.maps.doors import STAGES, Door, with_door
from agora.maps.grid import Map
from agora.optics.lidar import Lidar
from agora.pedestrians.models.anticipation import Anticipation
from agora.pedestrians.models.waypoint import Waypoint
from agora.tasks.cards.shapes import box
from agora.viewer.replay import encode
from agora.viewer.scene import Scene
from agora.viewer.video import Painter
from agora.world.records import EVERY_CONTACT
from starts import DISC, people, start

DOOR = Door(np.array([(2.0, -0.5), (2.0, 0.6)]), opens=1.0, closes=4.0, takes=1.0)
"""An opening of 1.1 m along y in a wall at x = 2."""


def rooms(door=DOOR):
    walls = [box(1.9, -3.1, 2.1, -0.5), box(1.9, 0.6, 2.1, 3.4)]
    return with_door(Map.from_shapes(polygons=walls, bounds=(-2.3, -3.1, 6.2, 3.4), resolution=0.05, name="rooms"), door)


PLACE = rooms()


def played(track, crowd=None, place=PLACE, model=Waypoint(), ends=EVERY_CONTACT, timeout=8.0, goal=(4.5, 0.0, 0.0)):  # noqa: B008
    begun = start(pose=(*track[0], 0.0), goal=goal, crowd=crowd, place=place, model=DISC, timeout=timeout)
    ((_, (made,)),) = list(Episodes([begun], Timed(np.array(track)), Conditions(crowd=model, ends=ends)))
    return made


def stays(x, y=0.05):
    return [(x, y)] * 2


@pytest.mark.parametrize("share", [0.0, 0.3, 0.75])
def test_the_leaves_meet_in_the_middle_and_leave_a_gap_of_the_share_of_the_width(share):
    door = Door(np.array([(0.3, 0.4), (0.3 + 0.9 * math.cos(0.7), 0.4 + 0.9 * math.sin(0.7))]), thickness=0.08)
    one, other = door.leaves(share)
    assert np.linalg.norm((one[1] + one[2] - other[1] - other[2]) / 2) == pytest.approx(0.9 * share)
    assert np.hypot(*(one[3] - one[0])) == pytest.approx(0.08) and (one[0] + one[3]) / 2 == pytest.approx(door.ends[0])
    assert (other[0] + other[3]) / 2 == pytest.approx(door.ends[1])
    walls = np.concatenate([np.concatenate([leaf, np.roll(leaf, -1, axis=0)], axis=1) for leaf in (one, other)])
    middle = door.ends.mean(axis=0)
    assert gap_to_shapes(middle[None], walls, np.zeros((0, 3)), (one, other))[0] == pytest.approx(0.45 * share)
    assert door.leaves(1.0) == []


def test_it_opens_at_its_time_and_closes_at_its_time_once_nobody_is_in_it_and_then_for_good():
    def course(held):
        share, shares = 0.0, []
        for k in range(100):
            share = DOOR.next(share, 0.1 * k, 0.1, held(0.1 * k))
            shares.append(share)
        return np.array(shares)

    free = course(lambda time: False)
    assert free[:10].max() == 0.0 and free[14] == pytest.approx(0.5) and free[19:40] == pytest.approx(1.0)
    assert free[44] == pytest.approx(0.5) and free[49:].max() == pytest.approx(0.0, abs=1e-12)
    kept = course(lambda time: 3.0 < time < 6.95)
    assert kept[19:70] == pytest.approx(1.0) and kept[79:].max() == pytest.approx(0.0, abs=1e-12)
    again = course(lambda time: 4.45 < time < 5.5)
    assert again[44] == pytest.approx(0.5) and again[49] == pytest.approx(1.0) and again[-1] == pytest.approx(0.0, abs=1e-12)
    late = course(lambda time: time > 5.5)
    assert late[56:].max() == pytest.approx(0.0, abs=1e-12)


def test_a_body_holds_it_inside_the_opening_alone():
    places = np.array([(2.0, 0.0), (1.6, 0.0), (1.5, 0.0), (2.0, 0.8), (2.0, 0.9)])
    assert DOOR.holds(places, np.full(5, 0.25)).tolist() == [True, True, False, True, False]


def test_a_lidar_sees_the_leaves_come_and_go():
    lidar = Lidar(beams=5, angle_min=-0.2, angle_max=0.2, range_max=9.0)
    begun = start(pose=(0.0, 0.05, 0.0), goal=(4.5, 0.0, 0.0), place=PLACE, model=DISC)
    engine = engine_at([begun])
    scanner = Scanner(engine.world, lidar)
    seen = []
    for _ in range(130):
        seen.append(float(scanner.scan()[0, 0, 2]))
        engine.step(np.zeros((1, 1, 3), np.float32))
    seen = np.array(seen)
    assert seen[:20] == pytest.approx(2.0 - 0.03, abs=2e-3)
    assert seen[24:90].min() > 4.0 and seen[102:] == pytest.approx(1.97, abs=2e-3)


def test_a_robot_that_drives_on_hits_the_closed_door_and_one_that_waits_gets_through():
    through = [(1.0 + 0.08 * k, 0.05) for k in range(60)]
    hit = played(through)
    assert hit.outcome == Outcome.WALL_COLLISION and hit.contacts[0].x == pytest.approx(2.0 - 0.03 - 0.25, abs=0.02)
    waits = played([*stays(1.0) * 8, *through])
    assert waits.outcome == Outcome.REACHED
    assert played([*stays(1.0) * 30, *through], timeout=14.0).outcome == Outcome.WALL_COLLISION
    assert played(through, place=replace(PLACE, door=None, stages=())).outcome == Outcome.REACHED


def test_who_stands_in_the_door_keeps_it_open_and_is_not_touched():
    slow = [*stays(0.6) * 11, *((0.6 + 0.08 * k, 0.05) for k in range(18)), *stays(2.0) * 40]
    made = played(slow, ends=0, timeout=12.0)
    assert made.pose[-1, 0] == pytest.approx(2.0, abs=0.1) and not made.contacts
    assert made.door is not None and made.door[25:].min() == 1.0


def test_people_wait_before_the_closed_door_and_walk_through_the_open_one():
    crowd = people([(4.1, 0.05)], [[(-0.6, 0.05)]], speed=1.0)
    made = played(stays(-1.7, -2.2), crowd, model=Anticipation(), ends=0, timeout=7.0)
    x = made.pedestrian_position[:, 0, 0]
    assert x[made.time <= 1.4].min() > 2.3 and x[-1] < 0.3


def test_a_world_with_a_door_is_the_same_alone_and_among_others():
    plain = replace(PLACE, door=None, stages=())
    late = rooms(replace(DOOR, opens=2.0))
    starts = [
        start(pose=(0.0, y, 0.0), goal=(4.5, 0.0, 0.0), crowd=people([(4.1, 0.2)], [[(-0.6, y)]]), place=place, entry=f"a/b/{k}")
        for k, (place, y) in enumerate([(PLACE, 0.1), (plain, -0.1), (late, 0.05), (PLACE, -0.3)])
    ]
    track = Timed(np.array([(0.0, 0.0)] * 22 + [(0.08 * k, 0.05) for k in range(70)]))
    conditions = Conditions(crowd=Anticipation(), ends=0)
    alone = {k: next(iter(Episodes([one], track, conditions)))[1][0] for k, one in enumerate(starts)}
    for index, (made,) in Episodes(starts, track, conditions, worlds=3):
        for name in ("pose", "pedestrian_position"):
            assert np.array_equal(getattr(made, name), getattr(alone[index], name)), (index, name)
        assert made.door is None if index == 1 else np.array_equal(made.door, alone[index].door)


def test_recordings_keep_it_and_pictures_show_it(tmp_path):
    made = played([*stays(0.0) * 11, *((0.08 * k, 0.05) for k in range(70))])
    assert made.door is not None and made.door[0] == 0.0 and made.door[(made.time > 2.05) & (made.time < 3.95)].min() == 1.0
    write_recordings(tmp_path / "some.parquet", {"a": made, "b": replace(made, door=None)})
    kept = read_recordings(tmp_path / "some.parquet", {PLACE.name: PLACE})
    assert np.array_equal(kept["a"].door, made.door) and kept["b"].door is None
    page = encode(made)["door"]
    assert page["ends"] == [[2.0, -0.5], [2.0, 0.6]] and page["open"][:3] == [0.0, 0.0, 0.0] and encode(kept["b"])["door"] is None
    scene = Scene(made)
    assert len(scene.leaves(0.5)) == 2 and scene.leaves(3.0) == [] and Scene(kept["b"]).leaves(0.5) == []
    painter = Painter(scene, (320, 240), "")
    shut, gone = (pixels[tuple(painter.pixel(np.array([2.0, 0.2]))[::-1].astype(int))] for pixels in painter.frames([0.5, 1.9]))
    assert shut.max() < 120 and gone.min() > 200


def test_what_makes_no_door_is_refused():
    with pytest.raises(InputError, match="two different points"):
        Door(np.zeros((2, 2)))
    with pytest.raises(InputError, match="got opens 3, closes 2"):
        replace(DOOR, opens=3.0, closes=2.0)
    assert len(PLACE.stages) == STAGES
