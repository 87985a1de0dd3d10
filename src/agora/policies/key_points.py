"""The encoding of iPlanner: actions are key points of a path, and the robot drives along the spline through them.

F. Yang, C. Wang, C. Cadena, M. Hutter, "iPlanner: imperative path planning", RSS 2023, section III: a network outputs a few points
of a path in the robot's frame and the probability that the path collides; a cubic spline passes through the points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from agora.core.scalar import F
from agora.core.state import Array, Floats, Ints
from agora.errors import InputError
from agora.interfaces import Channel, Limits, Observation, Provider
from agora.policies.encoding import ROBOT_FRAME, EncodingBase, Observe, within
from agora.ranges import Count, Distance, Length, NotNegative, Positive, Whole
from agora.registry import Plug

if TYPE_CHECKING:
    from agora.robots.model import RobotModel

__all__ = ["KeyPoints", "spline"]

_GOAL = 3
_TINY = F(1e-6)
_HERMITE = np.array([[1, 0, -3, 2], [0, 1, -2, 1], [0, 0, 3, -2], [0, 0, -1, 1]], np.float64)


@lru_cache
def spline(points: int, samples: int) -> Floats:
    """Return the matrix (samples, points) that maps key points to samples of the spline from (0, 0) through the key points.

    The spline is piecewise cubic Hermite, and the tangent at a point is the mean of the adjacent slopes, as in the published code
    (iplanner/traj_opt.py, leggedrobotics/iPlanner b9ea6605). The samples are therefore linear in the key points.

    Args:
        points: number of key points, K.
        samples: number of samples; the first sample is at (0, 0), and the last at the last key point.
    """
    eye = np.eye(points + 1)
    slope = eye[1:] - eye[:-1]
    tangent = np.concatenate([slope[:1], 0.5 * (slope[1:] + slope[:-1]), slope[-1:]])
    at = np.linspace(0.0, points, samples)
    piece = np.minimum(at.astype(int), points - 1)
    h = (_HERMITE @ (at - piece) ** np.arange(4)[:, None])[..., None]
    whole = h[0] * eye[piece] + h[1] * tangent[piece] + h[2] * eye[piece + 1] + h[3] * tangent[piece + 1]
    return np.ascontiguousarray(whole[:, 1:], np.float32)


@dataclass(frozen=True)
class KeyPoints(EncodingBase):
    """A scan or images and the local goal as the observation, and key points of a path as the action.

    The observation contains the scan, the images row by row, the distance to the local goal, and the cosine and sine of its
    bearing. Pixels without a reading (0) are set to 1, like the farthest pixels. An action contains the x and y of each key point
    in the robot's frame, followed by the log-odds of a collision, called the fear. The robot drives along the arc to a point on the
    spline; if this point lies behind the robot, the robot first turns in place. It does not move sideways.

    Attributes:
        beams: number of values of the scan; 0 for no scan. Each value is the shortest range in its sector of the lidar.
        scan_range: range that maps to 1, m; longer ranges are clipped.
        lookahead: distance along the global path to the local goal, m. If the distance is 0, or if the path ends earlier, the goal
            itself is used.
        points: number of key points, K.
        samples: number of samples on the spline.
        reach: coordinate that corresponds to an action of 1, m.
        ahead: distance along the spline to the point that the robot steers towards, m.
        brisk: ratio of speed to path length, 1/s.
        gain: ratio of turning rate to bearing when the robot turns in place, 1/s.
        sensors: channels with images (rows, columns) for the observation, such as a camera's depth images.
    """

    beams: Whole = 90
    scan_range: Positive = 5.0
    lookahead: Distance = 0.0
    points: Count = 5
    samples: Count = 51
    reach: Length = 4.0
    ahead: Distance = 0.5
    brisk: Positive = 0.7
    gain: NotNegative = 2.0
    sensors: tuple[Annotated[Provider, Plug("channels")], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.beams and not self.sensors:
            raise InputError("beams: must be at least 1 where there are no sensors, is 0")
        for sensor in self.sensors:
            for name, one in sensor.fields.items():
                if len(one.shape) != 2:
                    raise InputError(f"key_points: {name} of {sensor.channel} is no image of rows and columns: {one.shape}")
        if self.samples <= self.points:
            raise InputError(f"samples: must be more than points = {self.points}, is {self.samples}")
        _ = self._observe

    @cached_property
    def _observe(self) -> Observe:
        """Return the encoding of the scan, goal and images."""
        return Observe(
            self.beams,
            scan_range=self.scan_range,
            goal_range=self.reach,
            sensors=self.sensors,
            lookahead=self.lookahead,
        )

    @property
    def _pixels(self) -> int:
        """Return the total number of pixels in all images."""
        return sum(math.prod(one.sized()) for sensor in self.sensors for one in sensor.fields.values())

    def check(self, robot: RobotModel) -> None:
        """Reject a robot whose lidar has too few beams."""
        self._observe.check(robot)

    @property
    def needs(self) -> frozenset[str | Channel]:
        """Return the channels that a planner with this encoding needs."""
        return self._observe.needs

    @property
    def length(self) -> int:
        """Number of values, D."""
        return self.beams + self._pixels + _GOAL

    @cached_property
    def mirror(self) -> tuple[Ints, Floats]:
        """Return, for sensors facing ahead, the indices (D,) of the values from which a mirrored scene is made, and their signs
        (D,).
        """
        order = [np.arange(self.beams)[::-1]]
        for sensor in self.sensors:
            for one in sensor.fields.values():
                first = sum(len(part) for part in order)
                order.append((first + np.arange(math.prod(one.sized())).reshape(one.sized())[:, ::-1]).reshape(-1))
        order.append(np.arange(self.length - _GOAL, self.length))
        sign = np.ones(self.length, np.float32)
        sign[-1] = -1.0
        return np.concatenate(order), sign

    @property
    def low(self) -> Floats:
        """Minimum values (D,)."""
        return np.append(np.zeros(self.length - 2, np.float32), np.full(2, -1.0, np.float32))

    @property
    def high(self) -> Floats:
        """Maximum values (D,)."""
        return np.ones(self.length, np.float32)

    def write(self, observation: Observation, out: Floats, first: int, last: int) -> None:
        """Write the vectors of the rows ``first <= n < last`` into ``out`` (N, D).

        Raises:
            InputError: the scan is missing, or has fewer beams than the policy needs.
        """
        whole, pixels = np.empty((len(out), self._observe.length), np.float32), self._pixels
        self._observe.write(observation, whole, first, last)
        seen = whole[first:last]
        out[first:last, : self.beams] = seen[:, : self.beams]
        out[first:last, self.length - _GOAL :] = seen[:, self.beams : self.beams + _GOAL]
        if pixels:
            image = seen[:, -pixels:]
            out[first:last, self.beams : self.beams + pixels] = np.where(image > F(0.0), image, F(1.0))

    def action_size(self, limits: Limits) -> int:
        """Return A, the number of values of an action, 2 K + 1."""
        return 2 * self.points + 1

    def path(self, actions: Array) -> Floats:
        """Return the paths (N, samples, 2) given by actions (N, A), m, in the robot's frame."""
        points = np.clip(np.asarray(actions, np.float32)[:, : 2 * self.points], -1.0, 1.0).reshape(-1, self.points, 2)
        matrix = F(self.reach) * spline(self.points, self.samples)
        path: Floats = (matrix[None, :, :, None] * points[:, None]).sum(2)  # no BLAS product: rows must be independent
        return path

    def twists(self, actions: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return the twists (N, 3) that follow the paths given by actions (N, A)."""
        path = self.path(actions)
        legs = np.diff(path, axis=1)
        gone = np.cumsum(np.sqrt((legs * legs).sum(-1)), 1, dtype=np.float32)
        first = np.minimum((gone < F(self.ahead)).sum(1) + 1, self.samples - 1)
        x, y = path[np.arange(len(path)), first].T
        square = np.maximum(x * x + y * y, _TINY)
        bearing, curvature = np.arctan2(y, x), F(2.0) * y / square
        speed = np.minimum(F(self.brisk) * gone[:, -1], limits.max_vx)
        speed = np.minimum(speed, limits.max_omega / np.maximum(np.abs(curvature), _TINY))
        behind = np.abs(bearing) > F(math.pi / 2)
        forward = np.where(behind, F(0.0), speed)
        turn = np.where(behind, F(self.gain) * bearing, speed * curvature)
        return within(np.stack([forward, np.zeros_like(forward), turn], -1).astype(np.float32), limits)

    def actions(self, twists: Array, limits: Limits, pose: Floats, goal: Floats) -> Floats:
        """Return actions (N, A) that result in twists (N, 3): key points on a straight line, with even odds of a collision.

        For twists without forward speed, the bearing of the line is the turning rate divided by ``gain``. If a turn is tighter than
        any line allows, the line for the tightest possible turn is used.
        """
        forward, turn = np.maximum(twists[:, 0], F(0.0)), twists[:, 2]
        length = np.minimum(forward / F(self.brisk), F(self.reach))
        step = np.maximum(length / F(self.samples - 1), _TINY)
        aim = step * np.minimum(np.floor(F(self.ahead) / step) + 1, self.samples - 1)
        bearing = np.arcsin(np.clip(F(0.5) * aim * turn / np.maximum(forward, _TINY), F(-1.0), F(1.0)))
        stands = forward <= _TINY
        bearing = np.where(stands, np.clip(turn / max(self.gain, _TINY), -math.pi, math.pi), bearing)
        length = np.where(stands & (turn != 0.0), F(0.1), length)
        points = (length[:, None] * np.linspace(0.0, 1.0, self.points + 1)[1:])[..., None]
        points = points * np.stack([np.cos(bearing), np.sin(bearing)], -1)[:, None]
        out = np.zeros((len(twists), 2 * self.points + 1), np.float32)
        out[:, :-1] = np.clip(points.reshape(len(twists), -1) / self.reach, -1.0, 1.0)
        return out

    def notes(self) -> Mapping[str, Any]:
        """Return the parts, units and frame of the encoded values, and the meaning of an action."""
        aim = f"the point {self.lookahead:g} m ahead on the path" if self.lookahead else "the goal"
        units = {
            "scan": f"shortest range of each share of the beams / {self.scan_range:g} m, cut to [0, 1]",
            "images": "from the least value of the field, 0, to the largest, 1; row by row; 1 where there is no reading",
            "goal": f"distance of {aim} / {self.reach:g} m, cut to [0, 1]; cosine and sine of its bearing",
        }
        goal = self.length - _GOAL
        parts = {"scan": [0, self.beams], "images": [self.beams, goal], "goal": [goal, self.length]}
        said = f"x and y of {self.points} key points / {self.reach:g} m, and the logarithm of the odds of a collision"
        return {"actions": said, "parts": parts, "units": units, "frame": ROBOT_FRAME}
