"""Computes the poses of a robot in the map frame, sample by sample, from transforms, odometry and pose estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agora.core.state import Array, Doubles
from agora.datasets.goals import StampedPose
from agora.datasets.odometry import Odometry, OdometryStretch, derived
from agora.datasets.transforms import TransformLog, Transforms, TransformTree
from agora.ranges import LARGEST

MAP = "map"
"""Name of the map frame if no map contains it."""
_HELD = 2.0  # s, time for which a correction may be held without a note
_LEAP, _FAST = 1.0, 20.0  # m and m/s, a note is added if a step between samples in the map exceeds both


@dataclass(frozen=True, eq=False)
class Frames:
    """The coordinate frames of a robot over a stretch of the odometry.

    Attributes:
        tree: tree of transforms; missing transforms are replaced by odometry and pose estimates.
        target: frame of the map.
        body: name of the robot's frame.
        notes: notes on assumptions.
    """

    tree: TransformTree
    target: str
    body: str
    notes: list[str]

    @staticmethod
    def of(
        odometry: Odometry,
        stretch: OdometryStretch,
        logs: Sequence[TransformLog],
        estimates: Sequence[StampedPose] = (),
        target: str = MAP,
        name: str = "",
    ) -> Frames:
        """Merge the coordinate frames used by transforms, odometry and pose estimates.

        Args:
            odometry: odometry of the robot, which must contain ``stretch``.
            logs: logs of published transforms.
            estimates: estimates of the robot's pose in the map, from all stretches.
            target: frame of the map.
            name: name of the robot, which may be a prefix of its frame names.
        """
        tree, notes = TransformTree(logs, stretch.begin, stretch.end, stretch.shift), []
        known, space = tree.frames, odometry.child.rpartition("/")[0] or name
        frame = next((one for one in (odometry.frame, f"{space}/{odometry.frame}") if one in known), odometry.frame)
        likely = [f"{space}/{one}".strip("/") for one in (odometry.child, "base_footprint", "base_link")]
        body = next((one for one in (odometry.child, *likely) if one and one in known), odometry.child or "base_link")
        driven = np.column_stack((stretch.time, stretch.body.place, stretch.body.rotation))
        if not any(tree.connects(above, body) and tree.moves(above, body) for above in (frame, target)):
            tree.follow(frame, body, driven)
        told = [one for one in estimates if stretch.begin <= one.number < stretch.end]
        if not tree.connects(target, body):
            if told:
                _localise(tree, target, body, told, stretch)
                notes.append(f"no transform from {frame} to {target}; {told[0].topic} is used instead")
            else:
                tree.fix(target, tree.root(body), np.array((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)))
                notes.append(f"no transform from {frame} to {target}; both are treated as one frame")
        return Frames(tree, target, body, notes)

    def place(self, sent: StampedPose, stretch: OdometryStretch) -> tuple[Array, float] | None:
        """Return a pose (3,) in the map frame, and the delay of the transforms that were used, s. These are the transforms at the
        pose's stamp or, if there are none, at the first time after the stamp.

        Return None if no transforms lead to the map frame, or if the pose is non-finite or out of range.
        """
        time = sent.time(stretch.shift)
        times = np.concatenate(([time], stretch.time[stretch.time > time]))
        there = self.tree.lookup(self.target, sent.frame or self.target, times)
        if there is None or not there.known.any():
            return None
        first = np.flatnonzero(there.known)[:1]
        pose: Array = Transforms(there.place[first], there.rotation[first], there.known[first]).after(sent.pose).flat()[0]
        return (pose, float(times[first[0]] - time)) if (np.abs(pose) <= LARGEST).all() else None


def _localise(tree: TransformTree, target: str, body: str, estimates: Sequence[StampedPose], stretch: OdometryStretch) -> None:
    """Add estimates of a robot's pose as transforms from the map to the root of the robot's frames; the first estimate also applies
    to earlier times.
    """
    root, sent = tree.root(body), sorted(estimates, key=lambda one: one.time(stretch.shift))
    times = np.array([one.time(stretch.shift) for one in sent])
    place = np.concatenate([one.pose.place for one in sent])
    rotation = np.concatenate([one.pose.rotation for one in sent])
    driven = tree.lookup(root, body, times)
    assert driven is not None
    moved = Transforms(place, rotation, np.ones(len(sent), np.bool_)).after(driven.inverse())
    rows = np.column_stack((times, moved.place, moved.rotation))
    tree.fix(target, root, rows[0, 1:])
    tree.follow(target, root, rows)


def located(frames: Frames, stretch: OdometryStretch) -> tuple[Doubles, Doubles, Doubles, list[str]]:
    """Return the times (T,), poses (T, 3) in the map frame and twists (T, 3) of all known samples in a stretch, and notes."""
    target, body = frames.target, frames.body
    there, notes = frames.tree.lookup(target, body, stretch.time, ends=True), []
    assert there is not None
    pose, known = there.flat(), there.known
    if known.sum() < 2:
        notes.append(f"no transform from {body} to {target} matches the times of the odometry; the odometry's poses are used")
        pose, known = stretch.body.flat(), np.ones(len(pose), np.bool_)
    elif not known.all():
        missing = f"{np.sum(~known)} of {len(known)} samples have no transform from {body} to {target} "
        notes.append(f"{missing}at their time; they are left out")
    held = frames.tree.held(target, body, float(stretch.time[-1]))
    if held > _HELD:
        notes.append(f"the last correction of {body} in {target} is {held:.1f} s before the end; it is used until the end")
    time, pose, twist = stretch.time[known], pose[known], stretch.twist[known]
    steps, passed = np.linalg.norm(np.diff(pose[:, :2], axis=0), axis=1), np.diff(time)
    if not twist.any() and steps.sum() > _LEAP:
        twist = derived(time, pose)
        notes.append("the twists are zero although the robot moves; velocities are computed from the poses")
    far = np.flatnonzero(steps > np.maximum(_LEAP, _FAST * passed))
    if len(far):
        first = f"{steps[far[0]]:.1f} m after {time[far[0]] - time[0]:.1f} s"
        notes.append(
            f"the position in {target} jumps {len(far)} times (first {first}), as after a new pose estimate; path lengths include "
            "the jumps"
        )
    return time, pose, twist, notes
