"""Hand-made recordings for the tests of metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from agora.core.recording import Contact, ContactKind, Outcome, Recording


def drive(time: Any, x: Any, y: Any, heading: Any = None, twist: Any = None, **changes: Any) -> Recording:
    """A robot on a given track; the heading is that of the track and the twist its derivative unless given."""
    time, x, y = (np.asarray(v, float) for v in (time, x, y))
    if heading is None:
        heading = np.arctan2(np.gradient(y), np.gradient(x)) if len(time) > 1 else np.zeros(1)
    heading = np.broadcast_to(np.asarray(heading, float), time.shape)
    if twist is None:
        speed = np.hypot(np.gradient(x, time), np.gradient(y, time)) if len(time) > 1 else np.zeros(1)
        turning = np.gradient(np.unwrap(heading), time) if len(time) > 1 else np.zeros(1)
        twist = np.stack((speed, np.zeros_like(speed), turning), axis=1)
    fields: dict[str, Any] = {
        "goal": np.array([x[-1], y[-1], 0.0]),
        "goal_tolerance": 0.3,
        "radius": 0.3,
        "max_speed": 1.0,
        "contacts": (),
        "outcome": Outcome.REACHED,
        "timeout": 60.0,
        "shortest_path": float(np.hypot(x[-1] - x[0], y[-1] - y[0])),
    }
    crowd = among(time) if "pedestrian_position" not in changes else {}
    pose = np.stack((x, y, heading), axis=1)
    return Recording(time=time, pose=pose, twist=np.asarray(twist, float), **{**fields, **crowd, **changes})


def among(time: Any, *walks: Any, radius: float = 0.25, heading: Any = 0.0, present: Any = True) -> dict[str, Any]:
    """The pedestrians' fields: each walk is (x, y) at the time stamps, scalars for somebody who stands."""
    t, p = len(time), len(walks)
    position = np.zeros((t, p, 2))
    for j, (x, y) in enumerate(walks):
        position[:, j, 0], position[:, j, 1] = x, y
    velocity = np.gradient(position, np.asarray(time, float), axis=0) if t > 1 else np.zeros_like(position)
    return {
        "pedestrian_position": position,
        "pedestrian_velocity": velocity,
        "pedestrian_heading": np.broadcast_to(np.asarray(heading, float), (t, p)).copy(),
        "pedestrian_present": np.broadcast_to(np.asarray(present), (t, p)).copy(),
        "pedestrian_radius": np.full(p, radius),
        "pedestrian_id": np.arange(p, dtype=np.int32) + 7,
        "pedestrian_group": np.full((t, p), -1, np.int32),
    }


def touching(*kinds: ContactKind) -> tuple[Contact, ...]:
    """One contact event of each kind."""
    return tuple(Contact(0.5 + k, kind, k, 1.0, 2.0) for k, kind in enumerate(kinds))


def crowded(time: Any = None, people: int = 30, seed: int = 3) -> Recording:
    """A winding drive through walking people, some of whom come late or leave; given at any time stamps."""
    t = np.arange(600) * 0.1 if time is None else np.asarray(time, float)
    x, y = 3.0 + 0.55 * t + 0.8 * np.sin(0.5 * t), -7.0 + 0.4 * t + 1.1 * np.cos(0.35 * t)
    dx, dy = 0.55 + 0.4 * np.cos(0.5 * t), 0.4 - 0.385 * np.sin(0.35 * t)
    ddx, ddy = -0.2 * np.sin(0.5 * t), -0.13475 * np.cos(0.35 * t)
    speed = np.hypot(dx, dy)
    twist = np.stack((speed, np.zeros_like(t), (dx * ddy - dy * ddx) / speed**2), axis=1)
    rng = np.random.default_rng(seed)
    met = rng.uniform(0, 60, people)
    beside, walk, rate = rng.normal(0, 1.5, (people, 2)), rng.normal(0, 0.8, (people, 2)), rng.uniform(0.5, 2, people)
    place = np.stack((3.0 + 0.55 * met, -7.0 + 0.4 * met), axis=1) + beside
    away = t[:, None] - met
    position = place + walk * away[:, :, None] + 0.2 * np.sin(rate * away)[:, :, None]
    velocity = walk + (0.2 * rate * np.cos(rate * away))[:, :, None]
    crowd = among(t, *np.moveaxis(position, 0, 2), present=(away > -15.0 - 10.0 * rate) & (away < 10.0 * rate))
    crowd["pedestrian_velocity"] = velocity
    crowd["pedestrian_heading"] = np.arctan2(velocity[:, :, 1], velocity[:, :, 0])
    return drive(
        t,
        x,
        y,
        np.arctan2(dy, dx),
        twist,
        goal=np.array([39.3, 17.9, 0.3]),
        contacts=touching(ContactKind.PEDESTRIAN, ContactKind.WALL),
        outcome=Outcome.TIMEOUT,
        shortest_path=38.0,
        shortest_turn=0.4,
        **crowd,
    )


def rounded(recording: Recording) -> Recording:
    """The recording with its arrays at single precision, but for the time stamps."""
    changes = {
        name: value.astype(np.float32).astype(np.float64)
        for name, value in vars(recording).items()
        if name != "time" and isinstance(value, np.ndarray) and value.dtype == np.float64
    }
    return Recording(**{**vars(recording), **changes})


class Wall:
    """Stands in for a map: an endless wall, ``half`` m to either side of the line through a point, along a direction."""

    resolution = 0.05
    offset = (0.0, 0.0)
    origin, size = np.array([-1e4, -1e4]), (2e4, 2e4)

    def __init__(self, through: tuple[float, float], along: float, half: float = 0.05, name: str = "wall") -> None:
        self.through, self.normal, self.half, self.name = through, (-np.sin(along), np.cos(along)), half, name

    def clearance_at(self, points: np.ndarray) -> np.ndarray:
        return np.maximum(np.abs((points - self.through) @ self.normal) - self.half, 0.0)

    def gap(self, points: np.ndarray, limit: float = np.inf) -> np.ndarray:
        return np.minimum(self.clearance_at(points), limit)
