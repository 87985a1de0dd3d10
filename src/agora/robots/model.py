"""Robot models, each read from a file ``configs/robots/<name>.yaml`` into a frozen dataclass."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from agora.config import load
from agora.core.state import ACKERMANN, DIFFERENTIAL, HOLONOMIC, LEGGED, RobotTraits
from agora.errors import InputError, UnknownNameError
from agora.optics.lidar import Lidar
from agora.ranges import Acceleration, BodyLength, Checked, Distance, Duration, Offset, Positive, Speed, TurningRate, Velocity
from agora.registry import Named, Plug
from agora.robots.limits import Limits
from agora.share import folder, names_in

__all__ = ["RobotModel", "load_robot"]

Kinematics = Literal["differential", "holonomic", "ackermann", "legged"]

_CODES = {"differential": DIFFERENTIAL, "holonomic": HOLONOMIC, "ackermann": ACKERMANN, "legged": LEGGED}
_UNLIMITED = 1e6


def radius_inside(footprint: tuple[tuple[float, float], ...]) -> float:
    """Return the radius of the largest disc around the base that fits inside a convex polygon, m; 0 if the base is outside the
    polygon.
    """
    corners = np.array(footprint)
    edges = np.roll(corners, -1, axis=0) - corners
    aside = (edges[:, 1] * corners[:, 0] - edges[:, 0] * corners[:, 1]) / np.hypot(*edges.T)
    return float(np.abs(aside).min()) if (aside >= 0.0).all() or (aside <= 0.0).all() else 0.0


@dataclass(frozen=True)
class RobotModel(Checked):
    """The model of a robot: its outline, limits and sensors. Units are SI; the base is the origin of the robot's frame.

    Attributes:
        name: name of the model, as used by `load_robot`.
        kinematics: kind of drive: differential and ackermann robots cannot move sideways, holonomic and legged robots can (``vy``).
        radius: radius of a disc around the base that contains the robot, m; the disc is the footprint if no polygon is given.
        vx: minimum and maximum forward velocity, m/s.
        omega: maximum turning rate in either direction, rad/s.
        vy: maximum sideways velocity to either side, m/s.
        ax: maximum acceleration along the heading, m/s2; each axis is limited independently; None for no limit.
        ay: maximum sideways acceleration, m/s2; None for no limit.
        alpha: maximum angular acceleration, rad/s2; None for no limit.
        deceleration: maximum deceleration along the heading, m/s2; None to use ``ax``.
        command_delay: time from a command to its effect, s.
        footprint: corners of a convex polygon in the robot's frame, counter-clockwise, m; empty for a disc.
        lidar: the lidar and its mounting; None if the robot has no lidar.
        sensors: other sensors.
        wheelbase: distance between the axles of a car-like robot, m; the base is the middle of the rear axle.
        max_steering: maximum steering angle of a car-like robot, rad.
        max_steering_rate: maximum rate of change of the steering angle, rad/s; None for no limit.
        base_frame: name of the base's frame in ROS.
        sensor_frame: name of the lidar's frame in ROS.
        height: height of the body in 3-D models, m; the lidar is mounted on top. None for a height derived from the radius.
        mass: mass of the robot, kg; None for a mass derived from the size.
        step: maximum height of a step that the robot can climb, m; 0 for wheeled robots (`agora.maps.ground`).
        span: maximum width of a gap that the robot can step over, m; 0 for wheeled robots.
        source: source of the values, and a list of the values that are our choice.
    """

    name: str
    kinematics: Kinematics
    radius: BodyLength
    vx: tuple[Velocity, Velocity]
    omega: TurningRate
    vy: Speed = 0.0
    ax: Acceleration | None = None
    ay: Acceleration | None = None
    alpha: Acceleration | None = None
    deceleration: Acceleration | None = None
    command_delay: Duration = 0.0
    footprint: tuple[tuple[Offset, Offset], ...] = ()
    lidar: Lidar | None = None
    sensors: tuple[Annotated[Named, Plug("channels")], ...] = ()
    wheelbase: BodyLength | None = None
    max_steering: Positive | None = None
    max_steering_rate: Positive | None = None
    base_frame: str = "base_link"
    sensor_frame: str = "laser"
    height: BodyLength | None = None
    mass: Positive | None = None
    step: Distance = 0.0
    span: Distance = 0.0
    source: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.vx[0] <= 0.0 <= self.vx[1]:
            raise ValueError(f"vx must be [min, max] with min <= 0 <= max, got {list(self.vx)}")
        for key in ("step", "span"):
            if getattr(self, key) and self.kinematics != "legged":
                raise ValueError(f"{key} must be 0 unless kinematics is legged, got kinematics {self.kinematics}")
        if self.vy and self.kinematics in ("differential", "ackermann"):
            raise ValueError(f"vy must be 0 if kinematics is {self.kinematics}")
        self._check_car()
        self._check_footprint()

    def _check_car(self) -> None:
        car = self.kinematics == "ackermann"
        if car and (self.wheelbase is None or self.max_steering is None):
            raise ValueError("kinematics ackermann needs wheelbase and max_steering")
        if self.max_steering is not None and self.max_steering >= math.pi / 2:
            raise ValueError(f"max_steering must be below pi/2, got {self.max_steering}")
        if not car and not self.wheelbase is self.max_steering is self.max_steering_rate is None:
            raise ValueError(f"wheelbase and steering limits are only for kinematics ackermann, got kinematics {self.kinematics}")

    def _check_footprint(self) -> None:
        if not self.footprint:
            return
        corners = np.array(self.footprint)
        edges = np.roll(corners, -1, axis=0) - corners
        turns = edges[:, 0] * np.roll(edges, -1, axis=0)[:, 1] - edges[:, 1] * np.roll(edges, -1, axis=0)[:, 0]
        headings = np.unwrap(np.arctan2(edges[:, 1], edges[:, 0]))
        if len(corners) < 3 or (turns <= 0.0).any() or headings[-1] - headings[0] >= 2.0 * math.pi:
            raise ValueError("footprint must be a convex polygon of at least 3 corners, counter-clockwise")
        reach = float(np.hypot(*corners.T).max())
        if reach > self.radius + 1e-3:
            raise ValueError(f"radius must enclose the footprint: expected at least {reach:.3f} m, got {self.radius}")

    @property
    def inscribed_radius(self) -> float:
        """Radius of the largest disc around the base that fits inside the footprint, m; 0 if the base is outside the footprint."""
        return radius_inside(self.footprint) if self.footprint else self.radius

    @property
    def top_speed(self) -> float:
        """Maximum speed in any direction, m/s."""
        return math.hypot(max(-self.vx[0], self.vx[1]), self.vy)

    @property
    def turning_radius(self) -> float:
        """Minimum turning radius of the base, m; 0 for robots that can turn in place."""
        return self.wheelbase / math.tan(self.max_steering) if self.wheelbase and self.max_steering else 0.0

    @property
    def camera(self) -> Any:
        """The robot's camera (`agora.channels.camera.Camera`); None if it has no camera."""
        return next((sensor.part for sensor in self.sensors if sensor.name == "camera"), None)

    def fill(self, traits: RobotTraits, worlds: Any, r: int) -> None:
        """Write this robot into slot ``r`` of the worlds that the index or slice ``worlds`` selects.

        Raises:
            InputError: the record has no room for the corners of the footprint.
        """
        corners = len(self.footprint)
        if corners > traits.footprint_x.shape[-1]:
            raise InputError(
                f"robot {self.name!r} has {corners} corners, but the record has room for {traits.footprint_x.shape[-1]}"
            )
        ax = self.ax or _UNLIMITED
        values = {
            "kinematics": _CODES[self.kinematics],
            "radius": self.radius,
            "vertices": corners,
            "min_vx": self.vx[0],
            "max_vx": self.vx[1],
            "max_vy": self.vy,
            "max_omega": self.omega,
            "max_ax": ax,
            "max_ay": self.ay or _UNLIMITED,
            "max_alpha": self.alpha or _UNLIMITED,
            "max_deceleration": self.deceleration or ax,
            "wheelbase": self.wheelbase or 0.5,
            "max_steering": self.max_steering or 0.6,
            "max_steering_rate": self.max_steering_rate or _UNLIMITED,
        }
        for name, value in values.items():
            getattr(traits, name)[worlds, r] = value
        traits.footprint_x[worlds, r] = 0.0
        traits.footprint_y[worlds, r] = 0.0
        for corner, (x, y) in enumerate(self.footprint):
            traits.footprint_x[worlds, r, corner] = x
            traits.footprint_y[worlds, r, corner] = y

    @cached_property
    def _limits(self) -> Limits:
        def one(value: float | None) -> np.ndarray:
            return np.full(1, _UNLIMITED if value is None else value, np.float32)

        return Limits(
            holonomic=np.full(1, self.vy > 0.0),
            min_vx=one(self.vx[0]),
            max_vx=one(self.vx[1]),
            max_vy=one(self.vy),
            max_omega=one(self.omega),
            max_ax=one(self.ax),
            max_ay=one(self.ay),
            max_alpha=one(self.alpha),
            turning_radius=one(self.turning_radius),
        )

    def limits(self, n: int) -> Limits:
        """Return the limits of this robot in ``n`` rows, as planners read them."""
        return Limits(*(value.repeat(n) for value in vars(self._limits).values()))


def load_robot(name_or_path: str | Path) -> RobotModel:
    """Return the robot with a given name (``configs/robots/<name>.yaml``) or from a file.

    Args:
        name_or_path: a name, or a path (a `Path`, or a string that contains a folder or has the extension .yaml).

    Raises:
        UnknownNameError: no robot has this name.
        InputError: the file is invalid.
    """
    path = robot_file(name_or_path)
    return _load_once(path, path.stat().st_mtime_ns) if path.is_file() else load(path, RobotModel)


def robot_file(name_or_path: str | Path) -> Path:
    """Return the file of a robot, given its name or path; a file given by path need not exist.

    Raises:
        UnknownNameError: no robot has this name.
    """
    if isinstance(name_or_path, Path) or "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        return Path(name_or_path)
    if name_or_path not in robot_names():
        raise UnknownNameError("robot", name_or_path, robot_names())
    return folder("configs") / "robots" / f"{name_or_path}.yaml"


@functools.cache
def _load_once(path: Path, changed: int) -> RobotModel:
    """Return the robot in a file. The robot is cached until the file changes, because every episode loads its robots."""
    return load(path, RobotModel)


def robot_names() -> list[str]:
    """Return the names of the robots that come with Agora, sorted."""
    return names_in("robots")
