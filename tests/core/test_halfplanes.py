"""Half-planes against what they promise, and the linear programme against all its candidates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agora.core.halfplanes import disc_line, nearest_velocity, preferred_velocity, segment_lines
from agora.core.jit import kernel

F = np.float32


@kernel
def _solve(lines, hard, limit, wish, spare, out):
    for k in range(lines.shape[0]):
        out[k, 0], out[k, 1] = nearest_velocity(lines[k], lines.shape[1], hard, limit, wish[k, 0], wish[k, 1], spare)


@kernel
def _disc(lines, position, relative, velocity, reach, inverse_horizon, inverse_dt, share):
    for k in range(lines.shape[0]):
        p, u, v = position[k], relative[k], velocity[k]
        disc_line(lines, k, p[0], p[1], u[0], u[1], v[0], v[1], reach, inverse_horizon, inverse_dt, share)


@kernel
def _segment(lines, made, walls, velocity, radius, inverse):
    for k in range(lines.shape[0]):
        w, v = walls[k], velocity[k]
        made[k] = segment_lines(lines[k], 0, w[0], w[1], w[2], w[3], v[0], v[1], radius, inverse)


@kernel
def _towards(dx, dy, speed, settle):
    return preferred_velocity(dx, dy, speed, settle)


def _wrong(lines, velocity):
    """By how much velocities (..., 2) are on the wrong side of lines (L, 4), in float64: (..., L)."""
    lines, velocity = np.asarray(lines, float), np.asarray(velocity, float)[..., None, :]
    return lines[:, 2] * (lines[:, 1] - velocity[..., 1]) - lines[:, 3] * (lines[:, 0] - velocity[..., 0])


def _candidates(lines, limit, wish):
    """Every point at which the nearest velocity can be: the wish, its projections, corners."""
    yield wish
    yield wish / max(np.hypot(*wish), 1e-12) * limit
    for x, y, ex, ey in lines:
        p, e = np.array([x, y]), np.array([ex, ey])
        yield p + (e @ (wish - p)) * e
        root = (p @ e) ** 2 + limit**2 - p @ p
        if root >= 0.0:
            yield from (p + (-(p @ e) + s * np.sqrt(root)) * e for s in (1.0, -1.0))
    for (x, y, ex, ey), (a, b, fx, fy) in itertools.combinations(lines, 2):
        between = ex * fy - ey * fx
        if abs(between) > 1e-6:
            yield np.array([x, y]) + (fx * (y - b) - fy * (x - a)) / between * np.array([ex, ey])


def _random_lines(rng, scenes, count, inward):
    angle = rng.uniform(-np.pi, np.pi, (scenes, count))
    offset = rng.uniform(-0.5, inward, (scenes, count))
    e = np.stack([np.cos(angle), np.sin(angle)], -1)
    left = np.stack([-e[..., 1], e[..., 0]], -1)
    return np.concatenate([offset[..., None] * left + rng.normal(0, 0.5, (scenes, count, 1)) * e, e], -1).astype(F)


def _solved(lines, hard, limit, wish):
    out = np.zeros((len(lines), 2), F)
    _solve(lines, hard, F(limit), wish.astype(F), np.zeros(lines.shape[1:], F), out)
    return out


def test_the_result_is_the_nearest_of_all_candidates_where_there_is_room(rng):
    lines, wish, limit = _random_lines(rng, 400, 6, 0.2), rng.normal(0, 1.0, (400, 2)).astype(F), 1.3
    out, solvable = _solved(lines, 0, limit, wish), 0
    for scene, wanted, found in zip(lines.astype(float), wish.astype(float), out, strict=True):
        corners = np.array(list(_candidates(scene, limit, wanted)))
        allowed = (_wrong(scene, corners) <= 1e-6).all(-1) & (np.hypot(*corners.T) <= limit + 1e-6)
        if allowed.any():
            solvable += 1
            assert np.hypot(*(corners[allowed] - wanted).T).min() == pytest.approx(np.hypot(*(found - wanted)), abs=2e-5)
            assert _wrong(scene, found).max() < 2e-5
            assert np.hypot(*found) < limit + 1e-5
    assert 100 < solvable < 390


@pytest.mark.parametrize("hard", [0, 2])
def test_where_there_is_no_room_the_largest_violation_is_as_small_as_can_be(rng, hard):
    lines, wish, limit = _random_lines(rng, 300, 7, 0.6), rng.normal(0, 1.0, (300, 2)), 1.1
    lines[:, :hard, :2] = lines[:, :hard, 2:] @ np.array([[0.0, 0.3], [-0.3, 0.0]], F)  # 0.3 m/s away from standing
    lines[:, :hard, :2] *= -1.0
    out, crowded = _solved(lines, hard, limit, wish), 0
    axis = np.linspace(-limit, limit, 221)
    grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    grid = grid[np.hypot(*grid.T) <= limit]
    for scene, found in zip(lines, out, strict=True):
        wrong = _wrong(scene, grid)
        open_to = (wrong[:, :hard] <= 0.0).all(-1)
        best, ours = wrong[open_to][:, hard:].max(-1).min(), _wrong(scene, found)
        assert (ours[:hard] < 1e-5).all()
        assert np.hypot(*found) < limit + 1e-4
        if best > 0.0:
            crowded += 1
            assert ours[hard:].max() < best + 1e-4
    assert crowded > 100


def test_two_at_rest_may_close_half_of_what_separates_them_in_the_horizon():
    d, reach, horizon = 3.7, 0.62, 5.0
    lines = np.zeros((1, 4), F)
    direction = np.array([np.cos(0.7), np.sin(0.7)])
    _disc(lines, F(d * direction)[None], F([[0, 0]]), F([[0, 0]]), F(reach), F(1 / horizon), F(4.0), F(0.5))
    assert lines[0, :2] == pytest.approx(0.5 * (d - reach) / horizon * direction, abs=1e-6)
    assert _left(lines)[0] == pytest.approx(-direction, abs=1e-6)


def _closest(position, relative, horizon):
    """Distance at the closest approach within the horizon of a disc at ``position`` from one that moves by ``relative``."""
    t = np.clip((position * relative).sum(-1) / np.maximum((relative**2).sum(-1), 1e-12), 0.0, horizon)
    return np.hypot(*(position - t[:, None] * relative).T)


def _left(lines):
    return np.stack([-lines[:, 3], lines[:, 2]], -1)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_velocities_on_the_allowed_side_keep_two_discs_apart_for_the_horizon(rng, share):
    count, reach, horizon = 4000, 0.7, 4.0
    angle = rng.uniform(-np.pi, np.pi, count)
    position = rng.uniform(0.71, 6.0, (count, 1)) * np.stack([np.cos(angle), np.sin(angle)], -1)
    mine, other = rng.normal(0, 0.8, (2, count, 2))
    lines, mirror = np.zeros((2, count, 4), F)
    arguments = F(reach), F(1 / horizon), F(4.0), F(share)
    _disc(lines, F(position), F(mine - other), F(mine), *arguments)
    _disc(mirror, F(-position), F(other - mine), F(other), *arguments)
    along, into = rng.normal(0, 1.0, (2, count, 1)), np.abs(rng.normal(0, 1.0, (2, count, 1)))
    mine = lines[:, :2] + along[0] * lines[:, 2:] + into[0] * _left(lines)
    if share == 0.5:  # both do half
        other = mirror[:, :2] + along[1] * mirror[:, 2:] + into[1] * _left(mirror)
    assert _closest(position, mine - other, horizon).min() > reach - 2e-3
    on_the_line = lines[:, :2] if share == 1.0 else lines[:, :2] - mirror[:, :2] + other
    assert np.percentile(_closest(position, on_the_line - other, horizon), 20) < reach + 1e-3  # and asks for no more than that


def test_discs_that_overlap_are_asked_to_part_within_a_time_step():
    reach, dt = 0.6, 0.25
    position = F([[0.31, -0.2]])
    mine, other = np.zeros((2, 1, 4), F)
    _disc(mine, position, F([[0, 0]]), F([[0, 0]]), F(reach), F(0.2), F(1 / dt), F(0.5))
    _disc(other, -position, F([[0, 0]]), F([[0, 0]]), F(reach), F(0.2), F(1 / dt), F(0.5))
    after = position + dt * (other[:, :2] - mine[:, :2])
    assert np.hypot(*after.T) == pytest.approx(reach, abs=1e-6)


def test_discs_in_one_place_get_a_finite_line():
    lines = np.zeros((2, 4), F)
    position = F([[0.0, 0.0], [0.1, 0.2]])
    _disc(lines, position, position * F(4.0), F([[0, 0], [0, 0]]), F(0.6), F(0.2), F(4.0), F(0.5))
    assert np.isfinite(lines).all()
    assert np.hypot(*lines[:, 2:].T) == pytest.approx(1.0)


def _swept_to_wall(velocity, wall, horizon):
    """Smallest distance from a disc's centre, from the origin with ``velocity`` for the horizon, to the wall (4,)."""
    points = np.linspace(0.0, 1.0, 41)[:, None] * horizon * velocity
    a, b = wall[:2], wall[2:]
    t = np.clip(((points - a) @ (b - a)) / ((b - a) @ (b - a)), 0.0, 1.0)
    return np.hypot(*(points - a - t[:, None] * (b - a)).T).min()


def test_velocities_on_the_allowed_side_keep_a_disc_off_a_wall_for_the_horizon(rng):
    count, radius, horizon = 1500, 0.3, 3.0
    walls, velocity = rng.normal(0, 2.0, (count, 4)).astype(F), rng.normal(0, 1.0, (count, 2)).astype(F)
    apart = np.array([_swept_to_wall(np.zeros(2), w, 0.0) > radius + 0.01 for w in walls])
    walls, velocity = walls[apart], velocity[apart]
    lines, made = np.zeros((len(walls), 1, 4), F), np.zeros(len(walls), np.int64)
    _segment(lines, made, walls, velocity, F(radius), F(1 / horizon))
    lines = lines[:, 0]
    assert made.mean() > 0.95
    tried = (
        lines[:, :2]
        + rng.normal(0, 1.0, (len(walls), 1)) * lines[:, 2:]
        + np.abs(rng.normal(0, 0.3, (len(walls), 1))) * _left(lines)
    )
    tried = np.where(made[:, None] > 0, tried, velocity)
    distance = np.array([_swept_to_wall(v, w, horizon) for v, w in zip(tried.astype(float), walls.astype(float), strict=True)])
    assert distance.min() > radius - 2e-3


def test_a_wall_asks_the_same_whichever_end_is_named_first(rng):
    walls, velocity = rng.normal(0, 1.0, (300, 4)).astype(F), rng.normal(0, 1.0, (300, 2)).astype(F)
    lines, turned = np.zeros((2, 300, 1, 4), F)
    made, made_turned = np.zeros((2, 300), np.int64)
    _segment(lines, made, walls, velocity, F(0.3), F(0.2))
    _segment(turned, made_turned, np.ascontiguousarray(walls[:, [2, 3, 0, 1]]), velocity, F(0.3), F(0.2))
    assert (made == made_turned).all()
    assert lines[made > 0] == pytest.approx(turned[made > 0], abs=1e-6)


def test_touching_a_wall_forbids_to_come_nearer_and_nothing_else():
    walls = F([[-1.0, 0.2, 2.0, 0.2], [0.1, 0.2, 3.0, 0.2], [-3.0, 0.2, -0.1, 0.2], [0.5, 0.5, 0.5, 0.5]])
    lines, made = np.zeros((4, 1, 4), F), np.zeros(4, np.int64)
    _segment(lines, made, walls, np.zeros((4, 2), F), F(0.3), F(0.2))
    assert made.tolist() == [1, 1, 1, 0]
    toward = np.array([[0.0, 1.0], [0.1, 0.2], [-0.1, 0.2]])
    assert lines[:3, 0, :2] == pytest.approx(0.0)
    assert _left(lines[:3, 0]) == pytest.approx(-toward / np.hypot(*toward.T)[:, None], abs=1e-6)


def test_the_wish_is_the_preferred_speed_far_off_and_slows_down_near():
    assert _towards(F(3.0), F(-4.0), F(1.2), F(1.0)) == pytest.approx((0.72, -0.96))
    assert _towards(F(0.3), F(-0.4), F(1.2), F(1.0)) == pytest.approx((0.3, -0.4))
    assert _towards(F(0.3), F(-0.4), F(1.2), F(0.0)) == pytest.approx((0.72, -0.96))
    assert _towards(F(0.0), F(0.0), F(1.2), F(0.0)) == (0.0, 0.0)
