"""The surroundings of interplanners, against a plain twin in double precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agora.core.state import TYPES
from agora.planners.inter.surroundings import company, wall_within
from agora.testing import observation


def places(o):
    """Return the places of pedestrians (N, Q) in the robots' frames, m."""
    dx, dy = (o.pedestrians.position.astype(float) - o.pose[:, None, :2]).transpose(2, 0, 1)
    cosine, sine = np.cos(o.pose[:, 2:].astype(float)), np.sin(o.pose[:, 2:].astype(float))
    return cosine * dx + sine * dy, cosine * dy - sine * dx


def coming(o):
    """Return which pedestrians (N, Q) walk, at 0.2 m/s or more, and come nearer to the robots' places."""
    away = o.pedestrians.position.astype(float) - o.pose[:, None, :2]
    return (np.hypot(*np.moveaxis(o.pedestrians.velocity, 2, 0)) >= 0.2) & ((away * o.pedestrians.velocity).sum(2) < 0.0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_nearest_of_all_ahead_and_of_the_elders_and_the_danger(seed):
    o = observation(rows=40, pedestrians=11, seed=seed)
    x, y = places(o)
    there, distance = o.pedestrians.present, np.hypot(x, y)
    comes = coming(o)
    for fov in (1.3, np.pi, 2 * np.pi):
        found = company(o, fov)
        for name, who in {
            "nearest": there,
            "ahead": there & comes & (np.abs(np.arctan2(y, x)) <= 0.5 * fov),
            "comer": there & comes,
            "elder": there & (o.pedestrians.type == TYPES.index("elder")),
        }.items():
            assert getattr(found, name) == pytest.approx(np.where(who, distance, np.inf).min(1), rel=1e-5), name
        assert found.danger == pytest.approx(np.exp(-1 / np.where(there, (3 / distance) ** 2, 0.0).sum(1)), rel=1e-4)
    assert np.isinf(company(replace(o, pedestrians=replace(o.pedestrians, type=None))).elder).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_expected_places_of_a_person_count_like_that_of_now_but_for_the_danger(seed):
    """A person comes nearer if they do so now."""
    o, rng = observation(rows=40, pedestrians=7, seed=seed), np.random.default_rng(seed)
    ways = o.pedestrians.position[:, :, None] + rng.uniform(-3.0, 3.0, (40, 7, 5, 2)).astype(np.float32)
    moments = [o, *(replace(o, pedestrians=replace(o.pedestrians, position=ways[:, :, t])) for t in range(5))]
    found, now, there, comes = company(o, 2.1, ways), company(o, 2.1), o.pedestrians.present, coming(o)
    least = {"nearest": np.full(40, np.inf), "ahead": np.full(40, np.inf), "comer": np.full(40, np.inf)}
    for moment in moments:
        x, y = places(moment)
        sees = np.abs(np.arctan2(y, x)) <= 1.05
        for name, who in {"nearest": there, "ahead": there & comes & sees, "comer": there & comes}.items():
            least[name] = np.minimum(least[name], np.where(who, np.hypot(x, y), np.inf).min(1))
    for name, distance in least.items():
        assert getattr(found, name) == pytest.approx(distance, rel=1e-5), name
        assert (distance < getattr(now, name) - 0.1).sum() > 5
    assert (found.danger == now.danger).all() and (found.elder == now.elder).all()


def test_nobody_is_infinitely_far_and_no_danger():
    found = company(observation(rows=2, pedestrians=0))
    assert np.isinf([found.nearest, found.ahead, found.comer, found.elder]).all() and not found.danger.any()


@pytest.mark.parametrize("behind", [False, True])
def test_a_wall_is_what_a_beam_ends_at_that_is_beside_no_pedestrian(behind):
    rng = np.random.default_rng(7)
    o = observation(rows=60, pedestrians=5, beams=31)
    scan = rng.uniform(1.5, 12.0, o.scan.shape).astype(np.float32)
    mount = o.scan_pose.astype(float)
    angle = o.scan_angles.astype(float) + mount[2]
    ex, ey = mount[0] + scan * np.cos(angle), mount[1] + scan * np.sin(angle)
    tracks, rows = o.pedestrians, np.arange(0, 60, 2)  # in every second row somebody stands where the shortest beam ends
    short, position, heading = np.argmin(scan[rows], 1), tracks.position.copy(), o.pose[rows, 2].astype(float)
    hx, hy = ex[rows, short], ey[rows, short]
    position[rows, 0] = o.pose[rows, :2] + np.stack(
        (np.cos(heading) * hx - np.sin(heading) * hy, np.sin(heading) * hx + np.cos(heading) * hy), 1
    )
    o = replace(o, pedestrians=replace(tracks, position=position, present=tracks.present | (np.arange(5) == 0)))
    x, y = places(o)
    apart = np.hypot(ex[..., None] - x[:, None], ey[..., None] - y[:, None]) - o.pedestrians.radius[:, None]
    theirs = ((apart <= 0.1) & o.pedestrians.present[:, None]).any(2)
    reach = rng.uniform(0.3, 4.0, 60)
    walls = (scan < o.scan_range) & ~theirs & (np.hypot(ex, ey) <= reach[:, None]) & ((ex < 0) | (not behind))
    found = wall_within(replace(o, scan=scan), reach.astype(np.float32), behind)
    assert found.tolist() == walls.any(1).tolist() and 10 < found.sum() < 50


def test_without_a_lidar_there_are_no_walls():
    o = replace(observation(rows=3), scan=None)
    assert not wall_within(o, np.full(3, 9.0, np.float32), False).any()
