"""A planar lidar: one scan for every robot in every world.

It detects occupied cells, segments and discs of the map, pedestrians, and other robots. Ranges are exact: cells are squares, discs
and legs are circles, and polygons are made of their edges. The robot that carries the lidar is invisible to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agora.core.jit import bind, hidden, kernel
from agora.core.scalar import HALF, ONE, TWO_PI, ZERO, F, sincos
from agora.core.state import Doubles, Floats, Ints, Maps, Pedestrians, Robots, RobotTraits, Traits
from agora.errors import InputError
from agora.optics import raycast
from agora.ranges import Chance, Checked, Distance, Length, Offset, Positive, Within
from agora.seeds import normal_at, uniform_at

__all__ = ["Lidar"]

_QUARTER = F(0.25)
_OWN_STREAM = np.uint64(0x6C696461722D3031)
WALK = F(1.3)
"""Speed at and above which the legs of `Lidar` swing with full amplitude, m/s."""
MAX_BEAMS = 4096
"""Maximum number of beams: `scan` keeps its scratch on the thread's stack (76 bytes per beam), which has no room for more."""
_ROUNDED = 1e-4  # tolerance for a full turn that is rounded in a file, such as 6.2832 or 3.1415, rad


class Beams(NamedTuple):
    """The parameters of a lidar as read by the kernels; lengths in m, angles in rad.

    Attributes:
        dx: directions in the robot's frame, x, padded to whole blocks of `raycast.LANES` with the last one.
        dy: directions in the robot's frame, y, padded in the same way.
        angle: angle of the first beam in the robot's frame.
        increment: angle between neighbouring beams.
        range_min: minimum reading.
        range_max: maximum reading.
        x: position of the sensor in the robot's frame, x.
        y: position of the sensor in the robot's frame, y.
        legs: whether pedestrians are represented by two legs instead of one body.
        leg_radius: radius of a leg, as in `Lidar`.
        leg_gap: distance between the legs, as in `Lidar`.
        stride: length of two steps, as in `Lidar`.
    """

    dx: Floats
    dy: Floats
    angle: np.float32
    increment: np.float32
    range_min: np.float32
    range_max: np.float32
    x: np.float32
    y: np.float32
    legs: np.bool_
    leg_radius: np.float32
    leg_gap: np.float32
    stride: np.float32


@dataclass(frozen=True)
class Lidar(Checked):
    """A planar lidar.

    Attributes:
        beams: number of beams B.
        angle_min: angle of the first beam in the sensor's frame, rad.
        angle_max: angle of the last beam in the sensor's frame, rad. With a full turn between the first and the last angle, the
            last beam would coincide with the first; the increment is then the turn divided by B, and the last beam is one increment
            short of ``angle_max``. A full turn may be rounded to four digits (6.2832).
        range_min: minimum reading, m; returned for nearer obstacles, and if the sensor is inside an obstacle.
        range_max: maximum reading, m; returned for farther obstacles, and if a beam hits nothing.
        x: position of the sensor in the robot's base frame, x, m.
        y: position of the sensor in the robot's base frame, y, m.
        heading: heading of the sensor in the robot's base frame, rad.
        rate: scans per second, Hz.
        noise: standard deviation of a reading, m; beams that hit nothing have no noise.
        dropout: probability that a beam is lost and reads ``range_max``.
        legs: whether a pedestrian is represented by two legs (discs) instead of one disc for the body.
        leg_radius: radius of a leg, m.
        leg_gap: lateral distance between the axes of the legs, m.
        stride: length of two steps, m. A planted foot lags behind the moving body by up to a quarter of a stride. The legs
            therefore swing by up to a quarter of a stride along the heading, in opposite directions, with the sine of the distance
            x cos(heading) + y sin(heading); one period is one stride. Below walking speed (`WALK` m/s) the amplitude is
            proportional to the speed.
    """

    beams: Annotated[int, Within(1, MAX_BEAMS)] = 360
    angle_min: float = -math.pi
    angle_max: float = math.pi
    range_min: Distance = 0.0
    range_max: Length = 10.0
    x: Offset = 0.0
    y: Offset = 0.0
    heading: float = 0.0
    rate: Positive = 10.0
    noise: Distance = 0.0
    dropout: Chance = 0.0
    legs: bool = False
    leg_radius: Length = 0.07
    leg_gap: Distance = 0.2
    stride: Length = 1.3

    def __post_init__(self) -> None:
        super().__post_init__()
        turn = self.angle_max - self.angle_min
        if not (turn > 0 or (self.beams == 1 and turn == 0)):
            raise InputError(f"angle_max: must be above angle_min ({self.angle_min}), got {self.angle_max}")
        if not turn <= 2 * math.pi + _ROUNDED:
            raise InputError(f"angle_max: must be at most angle_min + 2 pi, got angle_min + {turn}")
        if not self.range_max > self.range_min:
            raise InputError(f"range_max: must be above range_min ({self.range_min}), got {self.range_max}")

    @property
    def increment(self) -> float:
        """Angle between neighbouring beams, rad."""
        turn = self.angle_max - self.angle_min
        if self.beams == 1:
            return 2 * math.pi
        if abs(turn - 2 * math.pi) < _ROUNDED:
            return min(turn, 2 * math.pi) / self.beams
        return turn / (self.beams - 1)

    @property
    def angles(self) -> Floats:
        """Angles of the beams in the sensor's frame (B,), rad."""
        return self._angles().astype(np.float32)

    def _angles(self) -> Doubles:
        return self.angle_min + self.increment * np.arange(self.beams, dtype=np.float64)

    def bind(
        self, pedestrians: Pedestrians, traits: Traits, robots: Robots, robot_traits: RobotTraits, maps: Maps, out: Floats
    ) -> Callable[[int, int], None]:
        """Return a function of (first, last) that scans worlds first..last - 1; see `scan`. It keeps references to the arrays."""
        return bind(scan, self.record(), pedestrians, traits, robots, robot_traits, maps, out)

    def bind_noise(self, keys: NDArray[np.uint64], steps: Ints, ranges: Floats) -> list[Callable[[int, int], None]]:
        """Return a list with one function of (first, last), which applies `perturb` to worlds first..last - 1; the list is empty if
        there is no noise.
        """
        return [bind(perturb, keys, steps, *self._noise, ranges)] if self.is_noisy else []

    def perturb(self, keys: NDArray[np.uint64], steps: Ints, ranges: Floats) -> None:
        """Add the lidar's noise to ranges (W, R, B), m, and drop beams, in place; see `agora.optics.lidar.perturb`."""
        if self.is_noisy:
            perturb(keys, steps, *self._noise, ranges, 0, len(ranges))

    @property
    def is_noisy(self) -> bool:
        """True if readings are random."""
        return self.noise > 0 or self.dropout > 0

    @property
    def _noise(self) -> tuple[np.float32, ...]:
        return tuple(np.float32(v) for v in (self.noise, self.dropout, self.range_min, self.range_max))

    def record(self) -> Beams:
        """Return the lidar's parameters in the form that `scan` takes."""
        angles = np.pad(self._angles() + self.heading, (0, -self.beams % raycast.LANES), mode="edge")
        f = np.float32
        return Beams(
            dx=np.cos(angles).astype(f),
            dy=np.sin(angles).astype(f),
            angle=f(self.angle_min + self.heading),
            increment=f(self.increment),
            range_min=f(self.range_min),
            range_max=f(self.range_max),
            x=f(self.x),
            y=f(self.y),
            legs=np.bool_(self.legs),
            leg_radius=f(self.leg_radius),
            leg_gap=f(self.leg_gap),
            stride=f(self.stride),
        )


@hidden
def _shorten_at_pedestrians(room, count, angle, beams, pedestrians, traits, w, x, y):
    """Shorten the beams that hit pedestrians of world ``w``; return whether the sensor is inside one of them."""
    inside = False
    for j in range(traits.count[w]):
        if pedestrians.active[w, j]:
            px, py = pedestrians.x[w, j] - x, pedestrians.y[w, j] - y
            if beams.legs:
                sine, cosine = sincos(pedestrians.heading[w, j])
                way = pedestrians.x[w, j] * cosine + pedestrians.y[w, j] * sine
                vx, vy = pedestrians.vx[w, j], pedestrians.vy[w, j]
                walking = min(math.sqrt(vx * vx + vy * vy) / WALK, ONE)
                turns = way / beams.stride
                swing, _ = sincos(TWO_PI * (turns - np.floor(turns)))
                swing *= _QUARTER * beams.stride * walking
                gap = HALF * beams.leg_gap
                lx, ly = swing * cosine - gap * sine, swing * sine + gap * cosine
                r = beams.leg_radius
                inside |= raycast.shorten_at_disc(room, count, angle, beams.increment, beams.range_max, px + lx, py + ly, r)
                inside |= raycast.shorten_at_disc(room, count, angle, beams.increment, beams.range_max, px - lx, py - ly, r)
            else:
                r = traits.radius[w, j]
                inside |= raycast.shorten_at_disc(room, count, angle, beams.increment, beams.range_max, px, py, r)
    return inside


@hidden
def _shorten_at_robots(room, count, angle, beams, robots, robot_traits, w, me, x, y):
    """Shorten the beams that hit other robots of world ``w``; return whether the sensor is inside one of them."""
    inside = False
    for j in range(robots.x.shape[1]):
        if not robots.active[w, j] or j == me:
            continue
        px, py = robots.x[w, j] - x, robots.y[w, j] - y
        r, corners = robot_traits.radius[w, j], robot_traits.vertices[w, j]
        if corners == 0:
            inside |= raycast.shorten_at_disc(room, count, angle, beams.increment, beams.range_max, px, py, r)
            continue
        if px * px + py * py > (beams.range_max + r) * (beams.range_max + r):
            continue
        sine, cosine = sincos(robots.heading[w, j])
        odd = False
        fx, fy = robot_traits.footprint_x[w, j, corners - 1], robot_traits.footprint_y[w, j, corners - 1]
        ax, ay = px + cosine * fx - sine * fy, py + sine * fx + cosine * fy
        for v in range(corners):
            fx, fy = robot_traits.footprint_x[w, j, v], robot_traits.footprint_y[w, j, v]
            bx, by = px + cosine * fx - sine * fy, py + sine * fx + cosine * fy
            raycast.shorten_at_segment(room, count, angle, beams.increment, beams.range_max, ax, ay, bx, by)
            odd ^= ((ay > ZERO) != (by > ZERO)) and (ax - ay * (bx - ax) / (by - ay) > ZERO)
            ax, ay = bx, by
        inside |= odd
    return inside


@hidden
def _shorten_at_fixtures(room, count, angle, beams, maps, m, x, y):
    """Shorten the beams that hit a static disc or segment of map ``m``; return whether the sensor is inside a disc."""
    inside = False
    for k in range(maps.disc_start[m], maps.disc_end[m]):
        dx, dy, r = maps.discs[k, 0] - x, maps.discs[k, 1] - y, maps.discs[k, 2]
        inside |= raycast.shorten_at_disc(room, count, angle, beams.increment, beams.range_max, dx, dy, r)
    for k in range(maps.segment_start[m], maps.segment_end[m]):
        ax, ay = maps.segments[k, 0] - x, maps.segments[k, 1] - y
        bx, by = maps.segments[k, 2] - x, maps.segments[k, 3] - y
        raycast.shorten_at_segment(room, count, angle, beams.increment, beams.range_max, ax, ay, bx, by)
    return inside


@kernel
def scan(beams, pedestrians, traits, robots, robot_traits, maps, out, first, last):
    """Write the ranges of every robot's scan, m, to ``out`` (W, R, B); all beams of inactive robots read ``range_max``.

    Args:
        beams: parameters of the lidar, which is the same on all robots (`Beams`).
        pedestrians: state of the pedestrians (`agora.core.state.Pedestrians`).
        traits: traits of the pedestrians (`agora.core.state.Traits`).
        robots: state of the robots (`agora.core.state.Robots`).
        robot_traits: traits of the robots (`agora.core.state.RobotTraits`).
        maps: maps of the worlds (`agora.core.state.Maps`).
        out: (W, R, B) output array of ranges, m, float32.
        first: index of the first world.
        last: index of the last world, plus one.
    """
    count = out.shape[2]
    blocks = (count + raycast.LANES - 1) // raycast.LANES
    room = (  # floats of the blocks, integers of the blocks, indices of the blocks still in progress
        raycast.stack(blocks * raycast.REALS, np.float32),
        raycast.stack(blocks * raycast.INTEGERS, np.int32),
        raycast.stack(blocks, np.uint64),
    )
    for w in range(first, last):
        m = maps.index[w]
        for r in range(out.shape[1]):
            if not robots.active[w, r]:
                out[w, r, :] = beams.range_max
                continue
            heading = robots.heading[w, r]
            sine, cosine = sincos(heading)
            x = robots.x[w, r] + cosine * beams.x - sine * beams.y
            y = robots.y[w, r] + sine * beams.x + cosine * beams.y
            angle = heading + beams.angle
            raycast.aim_beams(room, beams.dx, beams.dy, sine, cosine, beams.range_max)
            inside = _shorten_at_fixtures(room, count, angle, beams, maps, m, x, y)
            inside |= _shorten_at_pedestrians(room, count, angle, beams, pedestrians, traits, w, x, y)
            inside |= _shorten_at_robots(room, count, angle, beams, robots, robot_traits, w, r, x, y)
            if inside:
                out[w, r, :] = beams.range_min
            else:
                raycast.shorten_at_cells(room, maps, m, x, y, beams.range_max)
                raycast.read(room, beams.range_min, out[w, r])


@kernel
def perturb(keys, steps, noise, dropout, range_min, range_max, out, first, last):
    """Add noise to scans and drop beams, in place.

    A random number depends only on the world's key and step, the robot and the beam. The key is modified first, so the same key can
    be used for other random numbers too. Beams that read ``range_max`` stay unchanged.

    Args:
        keys: (W,) key of each world's random stream (`agora.seeds.key_of`), uint64.
        steps: (W,) number of the current step in each world, integers.
        noise: standard deviation of a reading, m, float32.
        dropout: probability that a beam is lost, float32.
        range_min: minimum reading of the lidar, m, float32.
        range_max: maximum reading of the lidar, m, float32.
        out: (W, R, B) ranges, m, float32.
        first: index of the first world.
        last: index of the last world, plus one.
    """
    for w in range(first, last):
        key = keys[w] ^ _OWN_STREAM
        for r in range(out.shape[1]):
            for b in range(out.shape[2]):
                t = out[w, r, b]
                if t < range_max:
                    if dropout > ZERO and uniform_at(key, r, steps[w], b) < dropout:
                        t = range_max
                    elif noise > ZERO:
                        t = min(max(t + noise * F(normal_at(key, r, steps[w], b)), range_min), range_max)
                    out[w, r, b] = t
