"""Frames and their relative poses over time, from ``/tf`` and ``/tf_static``, looked up according to the rules of tf2.

Between two stamps, a transform is interpolated (position linearly, rotation by slerp), including a correction such as AMCL's map ->
odom. An exception is a correction that jumps, for instance after a pose estimate: it is held until the jump. A static transform is
valid for all time; if there are several, the latest one is used. Chains of frames are followed up and down the tree. A moving
transform is unknown before its first stamp. A correction is held after its last stamp, because AMCL post-dates corrections and
repeats them only when they change. In tf2, a transform is unknown after its last stamp; `ends` selects this behaviour for the
robot's own motion.

Source: https://wiki.ros.org/tf2, T. Foote, "tf: The Transform Library", TePRA 2013
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agora.core.state import Array, Bools, Doubles
from agora.datasets.clock import stretches
from agora.datasets.messages import seconds

_LEAST = 1e-6  # length below which a quaternion does not count as a rotation
_LEAP, _TURN = 1.0, math.cos(0.25)  # m, and cosine of half of 0.5 rad: a larger change of a correction is a jump
_PARALLEL = 0.9995  # cosine of half the angle between two rotations above which slerp is replaced by linear interpolation


class Transforms(NamedTuple):
    """Transforms at T times.

    Attributes:
        place: (T, 3) translations, m.
        rotation: (T, 4) rotations as unit quaternions x, y, z, w.
        known: (T,) whether each transform is known.
    """

    place: Doubles
    rotation: Doubles
    known: Bools

    @staticmethod
    def same(count: int) -> Transforms:
        """Return ``count`` identity transforms."""
        return Transforms(np.zeros((count, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (count, 1)), np.ones(count, np.bool_))

    def after(self, first: Transforms) -> Transforms:
        """Return the transforms that first apply ``first`` and then these transforms."""
        place = self.place + _turned(self.rotation, first.place)
        return Transforms(place, _product(self.rotation, first.rotation), self.known & first.known)

    def inverse(self) -> Transforms:
        """Return the inverse transforms."""
        back = self.rotation * (-1.0, -1.0, -1.0, 1.0)
        return Transforms(-_turned(back, self.place), back, self.known)

    def flat(self) -> Doubles:
        """Return x, y and heading (T, 3); the heading is the direction of the x axis seen from above, in (-pi, pi]."""
        x, y, z, w = self.rotation.T
        heading = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        return np.column_stack((self.place[:, :2], np.where(heading == -np.pi, np.pi, heading)))


class TransformLog:
    """The transforms published on the topics ``tf`` and ``tf_static`` of one namespace, in the order of arrival."""

    def __init__(self) -> None:
        self.moving: dict[str, dict[str, array[float]]] = {}
        self.static: dict[str, list[tuple[int, str, list[float]]]] = {}

    def add(self, place: int, recorded: float, transform: Any, *, static: bool) -> None:
        """Add a ``geometry_msgs/TransformStamped``; transforms that are not rigid motions are ignored, as in tf2.

        Args:
            place: chronological rank of the message that contains the transform.
            recorded: record time of the message, s.
            static: whether the transform is valid for all time.
        """
        parent, child = frame_name(transform.header.frame_id), frame_name(transform.child_frame_id)
        move, turn = transform.transform.translation, transform.transform.rotation
        length = math.hypot(turn.x, turn.y, turn.z, turn.w)
        values = (move.x, move.y, move.z)
        if not all(map(math.isfinite, values)) or not _LEAST < length < math.inf or not child or child == parent:
            return
        row = (*values, turn.x / length, turn.y / length, turn.z / length, turn.w / length)
        if static:
            self.static.setdefault(child, []).append((place, parent, list(row)))
        else:
            rows = self.moving.setdefault(child, {}).setdefault(parent, array("d"))
            rows.extend((place, recorded, seconds(transform.header.stamp), *row))


class TransformTree:
    """A tree of coordinate frames over a period in which the clock advances.

    Args:
        logs: logs of published transforms; if several logs contain a frame, the first of these logs is used.
        begin: rank of the first message whose moving transforms are used.
        end: rank of the first message that is no longer used. Of several static transforms, the last one before ``end`` is used.
        shift: time by which the clock is ahead of the record clock, s; if all stamps of a frame are 0, its record times plus this
            shift are used.
    """

    def __init__(self, logs: Sequence[TransformLog] = (), begin: float = 0, end: float = math.inf, shift: float = 0.0) -> None:
        self._moving: dict[str, tuple[str, Array]] = {}
        self._static: dict[str, tuple[str, Array]] = {}
        for log in reversed(logs):
            for child, said in log.static.items():
                _, parent, row = max((one for one in said if one[0] < end), default=said[0], key=lambda one: one[0])
                self.fix(parent, child, np.array(row))
            for child, parents in log.moving.items():
                found = {parent: _between(rows, begin, end, shift) for parent, rows in parents.items()}
                parent = max(found, key=lambda name: len(found[name]))
                if len(found[parent]):
                    self.follow(parent, child, found[parent])

    @property
    def frames(self) -> set[str]:
        """The names of all frames."""
        return {name for known in (self._moving, self._static) for child, (parent, _) in known.items() for name in (child, parent)}

    def fix(self, parent: str, child: str, row: Array) -> None:
        """Add a static transform, which also applies before the first moving transform between the same frames.

        Args:
            parent: parent frame.
            child: child frame.
            row: (7,) translation x, y, z, m, and unit quaternion x, y, z, w.
        """
        self._static[child] = (parent, row)

    def follow(self, parent: str, child: str, rows: Array) -> None:
        """Add a moving transform. Each of the ``rows`` (N, 8), in chronological order, contains a stamp, s, and the values
        described in `fix`.
        """
        self._moving[child] = (parent, rows)

    def lookup(self, target: str, source: str, times: Array, *, ends: bool = False) -> Transforms | None:
        """Return the transforms from ``source`` to ``target``; None if no chain connects them.

        Args:
            target: target frame.
            source: source frame.
            times: (T,) times of the transforms, s.
            ends: whether the moving transform nearest to ``source`` is unknown after its last stamp, as in tf2; all other
                transforms are held.
        """
        above, below = self._line(target), self._line(source)
        common = next((frame for frame in below if frame in above), None)
        if common is None:
            return None
        down = self._up(below[: below.index(common)], times, ends)
        return self._up(above[: above.index(common)], times, False).inverse().after(down)

    def connects(self, target: str, source: str) -> bool:
        """Return whether a chain of transforms connects two frames."""
        return self.root(target) == self.root(source)

    def moves(self, target: str, source: str) -> bool:
        """Return whether the chain between two frames contains a moving transform."""
        return any(frame in self._moving for frame in set(self._line(target)) ^ set(self._line(source)))

    def held(self, target: str, source: str, until: float) -> float:
        """Return the time, s, for which transforms other than the robot's own motion must be held after their last stamps to reach
        the time ``until``.
        """
        line = set(self._line(target)) ^ set(self._line(source))
        moving = [frame for frame in self._line(source) if frame in line & set(self._moving)]
        return max((until - float(self._moving[frame][1][-1, 0]) for frame in moving[1:]), default=0.0)

    def root(self, frame: str) -> str:
        """Return the root of the tree that contains a frame."""
        return self._line(frame)[-1]

    def _line(self, frame: str) -> list[str]:
        """Return a frame and all its ancestors, starting with the frame itself."""
        line = [frame]
        while (known := self._moving.get(line[-1]) or self._static.get(line[-1])) is not None and known[0] not in line:
            line.append(known[0])
        return line

    def _up(self, line: list[str], times: Array, ends: bool) -> Transforms:
        """Return the transforms from the first frame of a line of ancestors to the parent of the last frame."""
        way = Transforms.same(len(times))
        for frame in line:
            moving = frame in self._moving
            way = (self._moved(frame, times, not ends) if moving else self._fixed(frame, len(times))).after(way)
            ends = ends and not moving
        return way

    def _fixed(self, frame: str, count: int) -> Transforms:
        rows = np.tile(self._static[frame][1], (count, 1))
        return Transforms(rows[:, :3], rows[:, 3:], np.ones(count, np.bool_))

    def _moved(self, frame: str, times: Array, hold: bool) -> Transforms:
        """Return the transforms of a moving frame relative to its parent. If ``hold`` is True, the frame is treated as a
        correction, which is not interpolated across jumps and is held after its last stamp.
        """
        parent, rows = self._moving[frame]
        stamps, place, rotation = rows[:, 0], rows[:, 1:4], rows[:, 4:]
        before = np.clip(np.searchsorted(stamps, times, side="right") - 1, 0, max(len(stamps) - 2, 0))
        after = np.minimum(before + 1, len(stamps) - 1)
        length = stamps[after] - stamps[before]
        share = np.clip((times - stamps[before]) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)[:, None]
        if hold:
            far = np.linalg.norm(place[after] - place[before], axis=1) > _LEAP
            far |= np.abs(np.sum(rotation[before] * rotation[after], 1)) < _TURN
            share[far[:, None] & (share < 1.0)] = 0.0
        there, turned = place[before] + share * (place[after] - place[before]), _slerp(rotation[before], rotation[after], share)
        known = (times >= stamps[0]) & (hold | (times <= stamps[-1]))
        if self._static.get(frame, ("",))[0] == parent:
            early = times < stamps[0]
            there[early], turned[early], known[early] = self._static[frame][1][:3], self._static[frame][1][3:], True
        return Transforms(there, turned, known)


def _between(rows: array[float], begin: float, end: float, shift: float) -> Array:
    """Return rows (N, 8), each with a stamp and a transform, that were received between two messages and belong to the longest
    stretch over which the clock advances.
    """
    all_rows = np.frombuffer(rows).reshape(-1, 10)
    chosen = all_rows[(all_rows[:, 0] >= begin) & (all_rows[:, 0] < end)]
    chosen = chosen[np.argsort(chosen[:, 0], kind="stable")]
    stamps = chosen[:, 2] if chosen[:, 2].any() else chosen[:, 1] + shift
    kept = max(stretches(stamps, gap=math.inf), key=len, default=np.zeros(0, int))
    return np.column_stack((stamps[kept], chosen[kept, 3:]))


def frame_name(name: str) -> str:
    """Return the name of a frame without a leading slash, as in tf2."""
    return name.strip("/")


def _turned(rotation: Array, points: Array) -> Doubles:
    """Return points (T, 3), each rotated by a unit quaternion."""
    axis, w = rotation[:, :3], rotation[:, 3:]
    twice = 2.0 * np.cross(axis, points)
    turned: Doubles = points + w * twice + np.cross(axis, twice)
    return turned


def _product(a: Array, b: Array) -> Doubles:
    """Return the quaternions (T, 4) that first rotate by ``b`` and then by ``a``."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a.T, b.T
    return np.column_stack((
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ))  # fmt: skip


def _slerp(a: Array, b: Array, share: Array) -> Doubles:
    """Return the rotations (T, 4) at fractions (T, 1) of the shorter rotation from ``a`` to ``b``."""
    cosine = np.sum(a * b, 1, keepdims=True)
    b, cosine = np.where(cosine < 0.0, -b, b), np.abs(cosine)
    angle = np.arccos(np.minimum(cosine, 1.0))
    sine = np.where(cosine < _PARALLEL, np.sin(angle), 1.0)
    first = np.where(cosine < _PARALLEL, np.sin((1.0 - share) * angle) / sine, 1.0 - share)
    mixed = first * a + np.where(cosine < _PARALLEL, np.sin(share * angle) / sine, share) * b
    unit: Doubles = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return unit
