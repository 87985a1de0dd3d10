"""Irregular recordings for contract tests."""

from __future__ import annotations

import numpy as np

from agora.core.recording import Closing, Contact, ContactKind, Outcome, Reason, Recording
from agora.core.state import Doubles, robot_traits
from agora.testing.crowds import hall
from agora.testing.guard import freeze
from agora.testing.scenes import Move


def recording(
    samples: int = 120,
    pedestrians: int = 5,
    *,
    seed: int = 1,
    move: Move | None = None,
    walls: bool = True,
    outcome: Outcome = Outcome.TIMEOUT,
) -> Recording:
    """Return a recording in which a robot drives on a winding path through the hall, among walking pedestrians, some of whom appear
    late or leave.

    Args:
        samples: number of samples, at uneven times.
        pedestrians: number of slots; one in four is always empty.
        seed: seed of the scene.
        move: rigid motion applied to the whole scene.
        walls: whether the hall has walls.
        outcome: outcome of the episode; recordings of collisions and time-outs contain contacts.
    """
    move, rng = move or Move(), np.random.default_rng(seed)
    time = np.concatenate(([0.0], np.cumsum(rng.uniform(0.05, 0.4, samples - 1))))
    pose, twist = _drive(time, rng.uniform(0.0, 6.0))
    shape = (samples, pedestrians)
    met = rng.uniform(0.0, time[-1] + 1e-9, pedestrians)
    away = time[:, None] - met
    walk = rng.normal(0.0, 0.8, (pedestrians, 2))
    beside = np.stack([np.interp(met, time, axis) for axis in pose.T[:2]], -1) + rng.normal(0.0, 1.2, (pedestrians, 2))
    present = (away > -6.0) & (away < 7.0) & (np.arange(pedestrians) % 4 != 1)
    events = outcome != Outcome.REACHED
    place = move.points(pose[samples // 2, :2])
    made = Recording(
        time=time,
        pose=move.poses(pose),
        twist=twist * (1.0, move.side, move.side),
        goal=move.poses(np.array([4.6, 8.1, 0.4])),
        goal_tolerance=0.3,
        radius=0.3,
        max_speed=1.0,
        pedestrian_position=move.points(beside + walk * away[..., None]),
        undisturbed=move.points(beside + walk * (away[..., None] + 0.4) + 0.02 * np.sin(away)[..., None]),
        pedestrian_velocity=move.vectors(np.broadcast_to(walk, (*shape, 2))),
        pedestrian_heading=move.headings(np.broadcast_to(np.arctan2(walk[:, 1], walk[:, 0]), shape)),
        pedestrian_present=present,
        pedestrian_radius=rng.uniform(0.2, 0.35, pedestrians),
        pedestrian_id=rng.permutation(90)[:pedestrians].astype(np.int32),
        pedestrian_group=np.broadcast_to(np.arange(pedestrians, dtype=np.int32) // 2 % 4 - 1, shape).copy(),
        contacts=tuple(_contact(float(time[samples // 2]), kind, place) for kind in ContactKind if events),
        outcome=outcome,
        timeout=60.0,
        shortest_path=4.2,
        shortest_turn=0.7,
        map=hall(move, walls=walls),
        planning_time=rng.uniform(1e-3, 2e-3, max(samples - 1, 0)),
        reason=rng.integers(0, len(Reason), max(samples - 1, 0)).astype(np.int32),
        speed_limit=rng.uniform(0.0, 1.0, max(samples - 1, 0)),
        danger=rng.uniform(0.0, 1.0, max(samples - 1, 0)),
        command=rng.uniform(-0.1, 1.1, (max(samples - 1, 0), 3)) * (1.0, 0.0, 1.0),
        planned_path=_planned(move, pose),
        robot=robot_traits(1, 1),
        command_delay=0.1,
    )
    freeze(made)
    return made


def _planned(move: Move, pose: Doubles) -> Doubles:
    """Return the planned paths: a path at the start, no path from 2 s on, and another path from 3 s on."""
    parts = (0.0, move.points(pose[::9, :2] + 0.2)), (2.0, move.points(pose[9:10, :2])), (3.0, move.points(pose[::17, :2] - 0.1))
    return np.concatenate([np.column_stack((np.full(len(points), time), points)) for time, points in parts])


def _contact(time: float, kind: ContactKind, place: Doubles) -> Contact:
    """Return a contact at which mainly the robot closed the gap."""
    closing = None if kind == ContactKind.WALL else Closing(0.8, 0.3, standing=False)
    return Contact(time, kind, 3, float(place[0]), float(place[1]), closing)


def _drive(time: Doubles, phase: float) -> tuple[Doubles, Doubles]:
    """Return the poses and twists (T, 3) of a robot that drives along a Lissajous curve."""
    x, y = 1.0 + 3.0 * np.sin(0.17 * time + phase), 6.8 + 1.6 * np.cos(0.23 * time)
    dx, dy = 0.51 * np.cos(0.17 * time + phase), -0.368 * np.sin(0.23 * time)
    ddx, ddy = -0.0867 * np.sin(0.17 * time + phase), -0.08464 * np.cos(0.23 * time)
    speed = np.hypot(dx, dy)
    omega = (dx * ddy - dy * ddx) / np.maximum(speed, 1e-3) ** 2
    return np.stack((x, y, np.arctan2(dy, dx)), -1), np.stack((speed, np.zeros_like(time), omega), -1)
