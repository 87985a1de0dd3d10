"""Groups around robots, represented as circles at one point in time, for planners that drive around groups.

Groups are taken from the tracks, or are detected: people who are close to each other and have about the same velocity are linked,
and groups that share a member are merged (as in `agora.perception.groups`, with one sample and without headings).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agora.core.jit import lean_kernel
from agora.core.scalar import ONE, ZERO
from agora.core.state import Bools, Floats, Ints, freeze
from agora.interfaces import Observation, Tracks


@dataclass(frozen=True, eq=False)
class Rings:
    """Circles around the members of each group that a robot sees, ordered by the first slot of each group.

    Attributes:
        centre: (N, G, 2) mean position of the members, m.
        velocity: (N, G, 2) mean velocity of the members, m/s.
        radius: (N, G) distance of the farthest member from the centre, m.
        present: (N, G) False if there is no group; the other values are then undefined.
        member: (N, Q) index of each pedestrian's circle, -1 if none.
    """

    centre: Floats
    velocity: Floats
    radius: Floats
    present: Bools
    member: Ints


def group_numbers(tracks: Tracks, distance: float, speed: float) -> Ints:
    """Return the group number of each slot (N, Q): the slot of the group's first member, or the slot itself for a pedestrian
    without a group.

    Args:
        tracks: tracks of the seen pedestrians.
        distance: maximum distance between two members of a group, m.
        speed: maximum difference between the velocities of two members, m/s.
    """
    label = np.empty(tracks.present.shape, np.int32)
    people = tuple(freeze(one) for one in (tracks.position, tracks.velocity, tracks.present))
    _write_group_numbers(*people, np.float32(distance), np.float32(speed), label, 0, len(label))
    return label


def rings(o: Observation, label: Ints, sensing_range: float) -> Rings:
    """Return the circles of groups of two or more pedestrians.

    Args:
        o: observation with pedestrians.
        label: (N, Q) number of each pedestrian's group, negative if none.
        sensing_range: maximum gap between robot and pedestrian at which a member is seen, m.
    """
    seen = o.pedestrians
    assert seen is not None
    rows, most = len(o.pose), max(seen.present.shape[1] // 2, 1)
    centre, velocity = np.zeros((rows, most, 2), np.float32), np.zeros((rows, most, 2), np.float32)
    member = np.full(label.shape, -1, np.int32)
    out = Rings(centre, velocity, np.zeros((rows, most), np.float32), np.zeros((rows, most), np.bool_), member)
    given = (o.pose, o.radius, seen.position, seen.velocity, seen.radius, seen.present, label)
    arrays = (out.centre, out.velocity, out.radius, out.present, out.member)
    here = np.zeros(label.shape, np.bool_)
    _rings(*(freeze(one) for one in given), here, np.float32(sensing_range), *arrays, 0, rows)
    return out


def centre_deviations(groups: Rings, expected: Floats, on: Floats) -> Floats:
    """Return the predicted deviations (N, G, T, 2) of the groups' centres from motion at constant velocity, m.

    Args:
        groups: circles.
        expected: (N, Q, T, 2) predicted positions of pedestrians at T time steps, m.
        on: (N, Q, T, 2) positions that the pedestrians would have at constant velocity, m.
    """
    off = np.zeros((*groups.present.shape, *expected.shape[2:]), np.float32)
    _write_deviations(freeze(groups.member), freeze(expected), freeze(on), off, 0, len(off))
    return off


@lean_kernel
def _write_group_numbers(position, velocity, present, distance, speed, label, first, last):
    for n in range(first, last):
        slots = present.shape[1]
        for q in range(slots):
            label[n, q] = q
        changed = True
        while changed:
            changed = False
            for i in range(slots):
                for j in range(i + 1, slots):
                    if label[n, i] == label[n, j] or not (present[n, i] and present[n, j]):
                        continue
                    dx, dy = position[n, j, 0] - position[n, i, 0], position[n, j, 1] - position[n, i, 1]
                    ux, uy = velocity[n, j, 0] - velocity[n, i, 0], velocity[n, j, 1] - velocity[n, i, 1]
                    if dx * dx + dy * dy <= distance * distance and ux * ux + uy * uy <= speed * speed:
                        label[n, i] = label[n, j] = min(label[n, i], label[n, j])
                        changed = True


@lean_kernel
def _rings(pose, own, position, velocity, size, present, label, here, sensing, centre, motion, radius, found, member, first, last):
    for n in range(first, last):
        slots, count = present.shape[1], 0
        for q in range(slots):
            dx, dy = position[n, q, 0] - pose[n, 0], position[n, q, 1] - pose[n, 1]
            gap = math.sqrt(dx * dx + dy * dy) - own[n] - size[n, q]
            here[n, q] = present[n, q] and label[n, q] >= 0 and gap <= sensing
        for q in range(slots):
            if not here[n, q]:
                continue
            members, x, y, vx, vy = ZERO, ZERO, ZERO, ZERO, ZERO
            for m in range(q, slots):
                if here[n, m] and label[n, m] == label[n, q]:
                    members += ONE
                    x += position[n, m, 0]
                    y += position[n, m, 1]
                    vx += velocity[n, m, 0]
                    vy += velocity[n, m, 1]
            x, y, farthest = x / members, y / members, ZERO
            for m in range(slots - 1, q - 1, -1):
                if here[n, m] and label[n, m] == label[n, q]:
                    dx, dy = position[n, m, 0] - x, position[n, m, 1] - y
                    farthest = max(farthest, dx * dx + dy * dy)
                    here[n, m] = False
                    if members > ONE:
                        member[n, m] = count
            if members > ONE:
                centre[n, count, 0], centre[n, count, 1] = x, y
                motion[n, count, 0], motion[n, count, 1] = vx / members, vy / members
                radius[n, count], found[n, count] = math.sqrt(farthest), True
                count += 1


@lean_kernel
def _write_deviations(member, expected, on, off, first, last):
    for n in range(first, last):
        for g in range(off.shape[1]):
            members = ZERO
            for q in range(member.shape[1]):
                if member[n, q] == g:
                    members += ONE
                    for t in range(off.shape[2]):
                        off[n, g, t, 0] += expected[n, q, t, 0] - on[n, q, t, 0]
                        off[n, g, t, 1] += expected[n, q, t, 1] - on[n, q, t, 1]
            for t in range(off.shape[2]):
                off[n, g, t, 0] /= max(members, ONE)
                off[n, g, t, 1] /= max(members, ONE)
