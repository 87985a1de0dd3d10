"""Groups as circles at one moment, against the detector and the circle that metrics use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.perception.groups import GroupDetector, _labels
from agora.perception.spaces import circle
from agora.planners.inter._rings import group_numbers, rings
from agora.testing import observation


def crowd(seed, rows=6, people=14):
    """A crowd that stands close and goes its ways, so that some belong together."""
    rng = np.random.default_rng(seed)
    o = observation(rows=rows, pedestrians=people, seed=seed)
    place = o.pose[:, None, :2] + rng.uniform(-4.0, 4.0, (rows, people, 2))
    speed = rng.choice([0.0, 0.4, -0.4], (rows, people, 2))
    tracks = replace(o.pedestrians, position=place.astype(np.float32), velocity=speed.astype(np.float32))
    return replace(o, pedestrians=tracks)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_who_belongs_together_is_what_the_detector_says_of_one_sample(seed):
    o = crowd(seed)
    found, detector, groups = group_numbers(o.pedestrians, 1.5, 0.5), GroupDetector(distance=1.5, speed=0.5, overlap=1), 0
    for row in range(len(o.pose)):
        tracks = o.pedestrians
        pairs = detector.walk_together(
            *(a[row][None].astype(float) for a in (tracks.position, tracks.velocity)), tracks.present[row][None]
        )
        truth, here = _labels(pairs), tracks.present[row]
        together = (truth[:, None] == truth) & (truth >= 0)[:, None] | np.eye(len(truth), dtype=bool)
        assert ((found[row][:, None] == found[row])[here][:, here] == together[here][:, here]).all()
        groups += truth.max() + 1
    assert groups > 2


@pytest.mark.parametrize("seed", [1, 5])
def test_the_circles_are_those_of_the_metrics_in_the_order_of_first_slots(seed):
    o = crowd(seed)
    label = group_numbers(o.pedestrians, 1.5, 0.5)
    made = rings(o, label, 100.0)
    for row, (numbers, here) in enumerate(zip(label, o.pedestrians.present, strict=True)):
        members = [(numbers == k) & here for k in np.unique(numbers[here])]
        members = [m for m in members if m.sum() > 1]
        assert made.present[row].sum() == len(members) and made.present[row, : len(members)].all()
        for g, member in enumerate(members):
            centre, radius = circle(o.pedestrians.position[row].astype(float), member)
            assert made.centre[row, g] == pytest.approx(centre, abs=1e-5)
            assert made.radius[row, g] == pytest.approx(radius, abs=1e-5)
            assert made.velocity[row, g] == pytest.approx(o.pedestrians.velocity[row][member].mean(0), abs=1e-6)


def test_members_out_of_range_are_not_seen_and_one_alone_is_no_group():
    o = crowd(3, rows=1, people=5)
    x, y = o.pose[0, :2]
    place = np.array([[[x + 2.0, y], [x + 3.0, y], [x + 5.9, y], [x, y + 4.0], [x, y + 5.9]]], np.float32)
    tracks = replace(o.pedestrians, position=place, present=np.ones((1, 5), bool), radius=np.full((1, 5), 0.3, np.float32))
    o = replace(o, pedestrians=tracks, radius=np.array([0.3], np.float32))
    label = np.array([[4, 4, 4, 1, 1]], np.int32)
    seen, all_of_them = rings(o, label, 5.0), rings(o, label, 5.4)
    assert seen.present.tolist() == [[True, False]] and seen.centre[0, 0] == pytest.approx([x + 2.5, y], abs=1e-5)
    assert all_of_them.present.tolist() == [[True, True]] and all_of_them.radius[0, 0] == pytest.approx(5.9 - 10.9 / 3, abs=1e-5)
    assert not rings(o, np.full((1, 5), -1, np.int32), 9.0).present.any()
