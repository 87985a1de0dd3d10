"""The obstacles of a timed elastic band: edges in the local costmap are represented by points, pedestrians and robots by discs.

Upstream uses every lethal cell of a costmap in which a scan marks the edges of obstacles. This module uses the blocked cells that
have a free neighbour, and merges the cells in each 3 x 3 block into their mean. The blocks are aligned with the robot's cell, so
that a mirrored scene, or a scene rotated by quarter turns, gives the same points.

Discs are predicted for 4.8 s, at intervals of 0.4 s.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean
from agora.core.scalar import HALF, ZERO
from agora.planners._bands import shape as shapes

BLOCK = 3
MOMENT, MOMENTS = np.float32(0.4), 12
_BLOCKED = np.uint8(254)
_FAR, _SHORT = np.float32(3e38), np.float32(1e-3)


@hidden
def _append_disc(out, k, x, y, reach):
    """Write a disc at index ``k`` if there is space, and return the new number of discs."""
    if k >= out.shape[0]:
        return k
    out[k, 0], out[k, 1], out[k, 2] = x, y, reach
    return k + 1


@hidden
def _is_edge(cost, row, column):
    """Return whether a cell is lethal or unknown and one of its four neighbours is neither; cells on the border of the window never
    count.
    """
    if cost[row, column] < _BLOCKED:
        return False
    rows, columns = cost.shape
    free = row > 0 and cost[row - 1, column] < _BLOCKED
    free |= row + 1 < rows and cost[row + 1, column] < _BLOCKED
    free |= column > 0 and cost[row, column - 1] < _BLOCKED
    free |= column + 1 < columns and cost[row, column + 1] < _BLOCKED
    return free


@lean
def cluster(cost, resolution, x, y, cosine, sine, behind, blocks, sums, still):
    """Write the points for a window, relative to the robot along the map's axes, m; return how many there are.

    Args:
        cost: (rows, columns) uint8 costs of the window.
        resolution: length of a cell, m.
        x: x of the robot from the window's lower-left corner, m.
        y: y of the robot from the window's lower-left corner, m.
        cosine: cosine of the robot's heading.
        sine: sine of the robot's heading.
        behind: distance behind the robot beyond which points are left out, m.
        blocks: (B, B) int32, scratch for counts; B >= columns / 3 + 3.
        sums: (B, B, 2) int32, scratch.
        still: out, (O, 3) positions and radii, which are 0.
    """
    rows, columns = cost.shape
    own_row, own_column = np.int32(np.floor(y / resolution)), np.int32(np.floor(x / resolution))
    shift_row, shift_column = (BLOCK + 1 - own_row) % BLOCK, (BLOCK + 1 - own_column) % BLOCK
    down, across = (rows + shift_row + BLOCK - 1) // BLOCK, (columns + shift_column + BLOCK - 1) // BLOCK
    blocks[:down, :across] = 0
    sums[:down, :across] = 0
    for r in range(rows):
        for c in range(columns):
            if cost[r, c] >= _BLOCKED and _is_edge(cost, r, c):
                i, j = (r + shift_row) // BLOCK, (c + shift_column) // BLOCK
                blocks[i, j] += 1
                sums[i, j, 0] += c
                sums[i, j, 1] += r
    count = np.int64(0)  # a Numba literal 0 has its own type, and would compile `_append_disc` again
    for i in range(down):
        for j in range(across):
            if blocks[i, j] > 0:
                many = np.float32(blocks[i, j])
                px = (np.float32(sums[i, j, 0]) / many + HALF) * resolution - x
                py = (np.float32(sums[i, j, 1]) / many + HALF) * resolution - y
                back = px * cosine + py * sine < ZERO and px * px + py * py > behind * behind
                if not back and count < still.shape[0]:
                    count = _append_disc(still, count, px, py, ZERO)
    return count


@hidden
def gather(tracks, row, x, y, slowest, reach, moving, still, standing):
    """Append the nearby discs of one row to the moving and the stationary discs.

    Args:
        tracks: positions (N, Q, 2), velocities (N, Q, 2), radii (N, Q), present (N, Q), deviations (N, Q, T, 2) of the predicted
            paths from motion at constant velocity.
        row: index of the row in these arrays.
        x: x of the robot, m.
        y: y of the robot, m.
        slowest: current or predicted speed above which a disc counts as moving, m/s.
        reach: distance from the robot beyond which a stationary disc is left out, m; for a moving disc, twice this distance.
        moving: out, (Q, 5 + 2 T) position relative to the robot, velocity, radius, and deviation from constant velocity at the T
            time steps.
        still: out, (Q, 3) position relative to the robot, and radius.
        standing: number of stationary discs so far.

    Returns:
        The new numbers of moving and of stationary discs.
    """
    position, velocity, radius, present, drift = tracks
    count, last = np.int64(0), drift.shape[2] - 1
    for q in range(present.shape[1]):
        if not present[row, q]:
            continue
        dx, dy = position[row, q, 0] - x, position[row, q, 1] - y
        vx, vy = velocity[row, q, 0], velocity[row, q, 1]
        far = math.sqrt(dx * dx + dy * dy) - radius[row, q]
        off = max(abs(drift[row, q, last, 0]), abs(drift[row, q, last, 1]))
        if vx * vx + vy * vy > slowest * slowest or off > slowest * MOMENT:
            if far < reach + reach and count < moving.shape[0]:
                mover = moving[count]
                mover[0], mover[1], mover[2], mover[3], mover[4] = dx, dy, vx, vy, radius[row, q]
                for t in range(last + 1):
                    mover[5 + 2 * t], mover[6 + 2 * t] = drift[row, q, t, 0], drift[row, q, t, 1]
                count += 1
        elif far < reach:
            standing = _append_disc(still, standing, dx, dy, radius[row, q])
    return count, standing


@hidden
def position_at(mover, time):
    """Return the position of a moving disc after a given time; beyond the last time step, its motion continues as between the last
    two time steps.
    """
    x, y = mover[0] + time * mover[2], mover[1] + time * mover[3]
    moments = (mover.size - 5) // 2
    if moments == 0:
        return x, y
    k = min(np.int64(time / MOMENT), np.int64(moments - 1))
    share, at = time / MOMENT - np.float32(k), 5 + 2 * k
    from_x, from_y = (mover[at - 2], mover[at - 1]) if k > 0 else (ZERO, ZERO)
    return x + (from_x + share * (mover[at] - from_x)), y + (from_y + share * (mover[at + 1] - from_y))


@hidden
def _passing_direction(band, i, trig):
    """Return the direction in which a band passes pose ``i``: from the previous pose to the next or, in a turn on the spot, the
    heading.
    """
    dx, dy = band[i + 1, 0] - band[i - 1, 0], band[i + 1, 1] - band[i - 1, 1]
    long = math.sqrt(dx * dx + dy * dy)
    return (dx / long, dy / long) if long > _SHORT else (trig[i, 0], trig[i, 1])


@lean
def associate(band, n, shape, still, standing, moving, movers, radius, force, cutoff, clear, trig, near):
    """Write the discs for each pose: all discs within ``force`` m, and the nearest disc on each side within ``cutoff`` m.

    Moving discs are included if their predicted position at the time of the pose is within ``cutoff`` m.

    A lane between walls may be narrower than twice the desired distance. No pose in such a lane can keep that distance, and the
    solver would push the poses out of the lane, back to its entrance. In a lane, the desired distance is therefore half the lane's
    width at the pose: half the sum of the gaps to the nearest wall points to the left and right of the path, within 45 degrees of
    the perpendicular.

    Args:
        band: (n, 4) band.
        n: number of poses in the band.
        shape: `agora.planners._bands.shape.Shape` of the robot.
        still: (S, 3) stationary discs; the first ``standing`` are valid.
        moving: moving discs as in `gather`; the first ``movers`` are valid.
        radius: radius of the robot, which is added to every disc, m.
        force: distance within which all discs are included, m.
        cutoff: distance within which the nearest disc on each side is included, m.
        clear: desired distance to stationary discs, and the minimum desired distance to walls in a lane, m.
        trig: (n, 2) cosine and sine of the headings.
        near: out, an `agora.planners._bands.costs.Near`.
    """
    k, m, time, long = np.int64(0), np.int64(0), band[0, 3], shapes.circumscribed_radius(shape)
    near.still_begin[0], near.moving_begin[0], near.still_begin[1], near.moving_begin[1] = 0, 0, 0, 0
    for i in range(1, n - 1):
        x, y = band[i, 0], band[i, 1]
        left, right, at_left, at_right = _FAR, _FAR, -1, -1
        lane_left, lane_right, first = cutoff, cutoff, k
        along_x, along_y = _passing_direction(band, i, trig)
        for q in range(standing):
            dx, dy, reach = still[q, 0] - x, still[q, 1] - y, still[q, 2] + radius
            squared = dx * dx + dy * dy
            if squared > (cutoff + long + reach) * (cutoff + long + reach):
                continue
            far = math.sqrt(squared) - reach
            if shape.kind != shapes.ROUND:
                far = shapes.gap(shape, x, y, trig[i, 0], trig[i, 1], still[q, 0], still[q, 1], reach)[0]
            across = along_x * dy - along_y * dx
            if still[q, 2] == ZERO and abs(across) > abs(along_x * dx + along_y * dy):
                lane_left, lane_right = (min(lane_left, far), lane_right) if across > ZERO else (lane_left, min(lane_right, far))
            if far < force:
                k = _append_disc(near.still, k, still[q, 0], still[q, 1], reach)
            elif trig[i, 0] * dy - trig[i, 1] * dx > ZERO:
                left, at_left = (far, q) if far < left else (left, at_left)
            else:
                right, at_right = (far, q) if far < right else (right, at_right)
        for q in (at_left, at_right):
            if q >= 0:
                k = _append_disc(near.still, k, still[q, 0], still[q, 1], still[q, 2] + radius)
        lane = min(max(HALF * (lane_left + lane_right), clear[1]), clear[0])
        for e in range(first, k):
            near.still[e, 3] = lane if near.still[e, 2] <= radius else clear[0]
        for q in range(movers):
            px, py = position_at(moving[q], time)
            dx, dy, reach = px - x, py - y, moving[q, 4] + radius
            if dx * dx + dy * dy < (cutoff + long + reach) * (cutoff + long + reach):
                m = _append_disc(near.moving, m, px, py, reach)
        near.still_begin[i + 1], near.moving_begin[i + 1] = k, m
        time += band[i, 3]


@lean
def attach(band, n, route, points, separation, ordered, near):
    """Write the path points that attract a band, ``separation`` m apart, and the pose nearest to each point.

    Args:
        band: (n, 4) band.
        n: number of poses in the band.
        route: (A, 2) local path; the first ``points`` entries are valid.
        separation: distance between these points, m; 0 or less to disable them.
        ordered: whether each point must belong to a later pose than the previous point's. As in upstream, the search resumes two
            poses after the last match. If no poses are left, upstream falls back to the second pose of the band, whereas this
            function falls back to the last movable pose.
        near: out, an `agora.planners._bands.costs.Near`.
    """
    known, first, before = 0, 0, 0
    for k in range(1, points if separation > ZERO else 0):
        dx, dy = route[k, 0] - route[before, 0], route[k, 1] - route[before, 1]
        if dx * dx + dy * dy < separation * separation:
            continue
        before = k
        best, nearest = n - 2, _FAR
        for i in range(first, n):
            dx, dy = band[i, 0] - route[k, 0], band[i, 1] - route[k, 1]
            if dx * dx + dy * dy < nearest:
                best, nearest = i, dx * dx + dy * dy
        if best < 1 and not ordered:
            continue
        near.via[known, 0], near.via[known, 1], near.via_pose[known] = route[k, 0], route[k, 1], max(min(best, n - 2), 1)
        known, first = known + 1, best + 2 if ordered else 0
    near.via_pose[known] = -1
