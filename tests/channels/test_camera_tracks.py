"""The level "camera": whom robots know of by their cameras' images, where and when, and what goes wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.starts import DISC, people, start

from agora.channels.camera import Camera
from agora.config import parse
from agora.costmap.semantic import Semantic
from agora.draft.stage import Stage
from agora.episode import Batch, Conditions
from agora.errors import InputError
from agora.maps.grid import Map
from agora.perception.in_images import InImages
from agora.perception.perception import Perception
from agora.registry import Named

CAMERA = Camera(width=160, height=120, x=0.1, z=0.7)
POSE = (0.3, -0.2, 0.4)
HALL = Map.from_shapes(segments=[[-6.0, 5.0, 6.0, 5.2], [6.0, -4.0, 6.1, 5.0]], bounds=(-7.0, -5.0, 7.0, 6.0), name="hall")
HERE = (3.0, 0.4)


def ahead(*places):
    """Places in the robot's frame as places in the map."""
    cosine, sine = np.cos(POSE[2]), np.sin(POSE[2])
    return np.reshape(places, (-1, 2)) @ [[cosine, sine], [-sine, cosine]] + POSE[:2]


def batch(*places, camera=CAMERA, worlds=1, goals=None, threads=1, **conditions):
    there = ahead(*places)
    crowd = people(there, there if goals is None else ahead(*goals), first_id=31) if places else None
    carries = () if camera is None else (Named("camera", camera),)
    begun = start(pose=POSE, crowd=crowd, place=HALL, model=replace(DISC, sensors=carries))
    given = Conditions(**{"perception": Perception("camera"), "sees_robots": False} | conditions)
    made = Batch([begun] * worlds, given, ("pedestrians",), worlds, threads=threads)
    for w in range(worlds):
        made.begin(w, w)
    return made


def told(made, steps=3):
    """The places (K, 2), velocities (K, 2) and ids (K,) of the people that each row knows of after some control periods."""
    for k in range(steps):
        made.look()
        tracks = made.observer.observe().pedestrians
        if k < steps - 1:
            made.advance()
    return [(tracks.position[n][one], tracks.velocity[n][one], tracks.id[n][one]) for n, one in enumerate(tracks.present)]


@pytest.mark.parametrize(
    ("perception", "kept"), [(Perception("camera"), 3.0), (Perception("camera", camera=InImages(keep=0.4)), 1.0)]
)
def test_somebody_whom_the_robot_turns_away_from_is_kept_for_a_time(perception, kept):
    made = batch(HERE, perception=perception)
    [(place, _, _)] = told(made)
    assert np.hypot(*(place[0] - ahead(HERE)[0])) < 0.25
    made.world.robots.heading[0, 0] += 2.0
    made.advance()
    known = [len(told(made, 1)[0][0])]
    for _ in range(40):
        made.advance()
        known += [len(told(made, 1)[0][0])]
    assert sum(known) * 0.1 == pytest.approx(kept, abs=0.25) and known == sorted(known, reverse=True)


def test_who_stands_three_metres_ahead_is_found_there_after_a_second_image_under_an_id_of_the_robots_own():
    made = batch(HERE)
    assert len(told(made, 1)[0][0]) == 0
    made.advance()
    ((places, velocities, ids),) = told(made, 5)
    assert ids.tolist() == [1]
    assert np.hypot(*(places - ahead(HERE)).T) < 0.15
    assert np.hypot(*velocities.T) < 0.3


def test_who_is_behind_the_robot_is_not_known_and_in_an_empty_hall_nobody_is():
    for places in (((-2.0, 0.3),), ()):
        assert len(told(batch(*places), 4)[0][0]) == 0


def test_the_motion_of_who_walks_is_known_and_goes_on_between_images_that_come_late():
    for camera, error in ((CAMERA, 0.25), (replace(CAMERA, rate=2.5, latency=0.2), 0.35)):
        made = batch((4.0, -1.0), goals=((4.0, 3.0),), camera=camera)
        ((places, velocities, ids),) = told(made, 16)
        now = made.world.pedestrians
        assert len(ids) == 1
        assert np.hypot(places[0, 0] - now.x[0, 0], places[0, 1] - now.y[0, 0]) < error
        assert np.hypot(velocities[0, 0] - now.vx[0, 0], velocities[0, 1] - now.vy[0, 0]) < 0.5


def test_it_is_the_same_for_any_batch_and_threads_and_each_episode_begins_anew():
    alone = told(batch(HERE, (4.5, -1.0)))[0]
    for worlds, threads in ((1, 1), (3, 2)):
        made = batch(HERE, (4.5, -1.0), worlds=worlds, threads=threads)
        for found in told(made):
            assert all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))
    made.begin(1, 1)
    found = told(made, 1)
    assert len(found[0][0]) == 2 and len(found[1][0]) == 0


def test_the_file_says_detector_locator_and_tracker():
    told = {
        "source": "camera",
        "camera": {"detector": "hog", "confidence": 0.7, "locator": {"reach": 5.0}},
        "tracker": {"keep": 2.0},
    }
    stage = parse(json.dumps({"name": "s", "world": "open", "pedestrians": told}), Stage)
    assert stage.perception.camera == InImages("hog", 0.7, replace(InImages().locator, reach=5.0))
    names = [path.name for path in parse(json.dumps({"name": "s", "world": "open", "pedestrians": "camera"}), Stage).files()]
    assert "rendered_people.onnx" in names
    with pytest.raises(InputError, match=r"confidence.*\[0, 1\]"):
        parse(json.dumps({"name": "s", "world": "open", "pedestrians": {"source": "camera", "camera": {"confidence": 3}}}), Stage)


def test_what_cannot_be_is_refused_with_what_to_do():
    with pytest.raises(InputError, match="needs a robot with a camera; choose one of: .*jackal_rgbd"):
        batch(HERE, camera=None)
    with pytest.raises(InputError, match="the robots' camera is fixed in the world"):
        batch(HERE, camera=replace(CAMERA, fixed=True))
    with pytest.raises(InputError, match=r"camera: stress cannot be derived from tracks of pedestrians"):
        batch(HERE, layers=(Semantic("stress"),))
    with pytest.raises(InputError, match="no file in configs/perception called 'rendered_persons'.*rendered_people"):
        batch(HERE, perception=Perception("camera", camera=InImages("rendered_persons")))
