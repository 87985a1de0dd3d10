"""The look-ahead of the CrowdNav family: candidate velocities, the value of a step, and the network's inputs for the next state.

The look-ahead and the action set follow the CrowdNav code (vita-epfl/CrowdNav, crowd_nav/policy/multi_human_rl.py), with two
differences. Headings are relative to the goal's direction, so a policy does not depend on the orientation of the map; in the code,
headings are relative to the map's x axis. People are assumed to keep their velocity during the step (``query_env = false`` in the
code); by default, the code asks the simulator for people's true next state, which a robot cannot know. The reward in the code also
assumes constant velocity.

The social norms follow SA-CADRL's code; see `wrong_side`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.kernel_record import kernel_record
from agora.core.scalar import ONE, ZERO, F, exp
from agora.core.state import Bools, Floats
from agora.policies.joint_state import GOAL, PAIR, PERSON, ROBOT, SPEED
from agora.ranges import Checked, Within

_TINY = F(1e-6)
_COS_30, _COS_45 = F(math.cos(math.pi / 6)), F(math.cos(math.pi / 4))
_MOST, _LONGEST = 1000, 10.0  # maximum number of speeds or headings; maximum step, s
SIDES = {"right": 1.0, "left": -1.0}


@dataclass(frozen=True)
class LookAhead(Checked):
    """The candidate velocities of a policy, and the reward for a step; the defaults are taken from the CrowdNav code.

    Attributes:
        speeds: number of candidate speeds, up to the preferred speed; lower speeds are spaced more closely.
        headings: number of candidate headings; standing still is an additional candidate.
        step: duration of the step, s.
        discount: discount per second at a preferred speed of 1 m/s.
        reached: reward for a step that ends at the goal.
        collision: reward for a step with a contact.
        discomfort: reward per second and per metre by which the clearance is below ``discomfort_distance``.
        discomfort_distance: clearance to the nearest person below which there is discomfort, m.
        norm: cost per second of driving on the wrong side of the nearest person (`wrong_side`), as a fraction of the value gained
            by driving straight to the goal for one second; 0.5 in SA-CADRL's code.
        side: side prescribed by the norm, "right" or "left".
    """

    speeds: Annotated[int, Within(1, _MOST)] = 5
    headings: Annotated[int, Within(1, _MOST)] = 16
    step: Annotated[float, Within(0.0, _LONGEST, above=True)] = 0.25
    discount: Annotated[float, Within(0.0, _LONGEST, above=True)] = 0.9
    reached: float = 1.0
    collision: float = -0.25
    discomfort: float = -0.5
    discomfort_distance: float = 0.2
    norm: float = 0.0
    side: Literal["right", "left"] = "right"

    @property
    def straight(self) -> int:
        """Index of the candidate with which the robot drives to the goal at the preferred speed: the last candidate with the first
        heading.
        """
        return self.speeds

    @functools.cached_property
    def velocities(self) -> Floats:
        """(A, 2) candidate velocities in the goal frame, in units of the preferred speed; the first candidate is standing still."""
        speeds = (np.exp(np.arange(1, self.speeds + 1) / self.speeds) - 1.0) / (math.e - 1.0)
        headings = math.tau * np.arange(self.headings) / self.headings
        rings = np.stack([np.outer(np.cos(headings), speeds), np.outer(np.sin(headings), speeds)], -1).reshape(-1, 2)
        return np.vstack([np.zeros((1, 2)), rings]).astype(np.float32)


_Rates = kernel_record("_Rates", LookAhead, computed=("fading", "side"))
"""``fading`` is the logarithm of the discount of a step at 1 m/s; ``side`` is 1 for the right and -1 for the left."""


@hidden
def _pair(robot, x, y, vx, vy, radius, out):
    """Write the values of a pair: the robot's 6 values; the person's position, velocity, radius and distance; the sum of both
    radii.
    """
    for k in range(6):
        out[k] = robot[k]
    out[6], out[7], out[8], out[9], out[10] = x, y, vx, vy, radius
    out[11], out[12] = math.sqrt(x * x + y * y), robot[3] + radius


@kernel
def _pairs(states, people, out, first, last):
    robot = np.zeros(6, np.float32)
    for n in range(first, last):
        row = states[n]
        robot[0], robot[1], robot[2], robot[3], robot[4], robot[5] = row[0], row[1], ZERO, row[2], row[3], row[4]
        for p in range(people):
            at = 7 + 6 * p
            _pair(robot, row[at], row[at + 1], row[at + 2], row[at + 3], row[at + 4], out[n, p])


def pairs_of(states: Floats) -> tuple[Floats, Bools]:
    """Return the robot-person pairs (N, P, 13) of joint states (N, D), which networks read, and whether each pair exists (N, P).

    The values are the same as in ``rotate`` in the CrowdNav code: the robot's distance to the goal, preferred speed, 0 (for the
    heading, which is meaningless for a holonomic robot), radius, velocity (2); the person's position (2), velocity (2), radius,
    distance, and the sum of both radii.
    """
    people = (states.shape[1] - ROBOT) // PERSON
    out = np.empty((len(states), people, PAIR), np.float32)
    _pairs(np.ascontiguousarray(states), people, out, 0, len(states))
    return out, present_in(states)


def present_in(states: Floats) -> Bools:
    """Return whether each person (N, P) is present in joint states (N, D)."""
    there: Bools = states[:, ROBOT + PERSON - 1 :: PERSON] > 0.5
    return there


@hidden
def _is_wrong(pair, side):
    """Return whether a robot passes a person on the wrong side; ``side`` is 1 for keeping right and -1 for keeping left."""
    goal, preferred, vx, vy = pair[0], pair[1], pair[4], side * pair[5]
    px, py, wx, wy = pair[6], side * pair[7], pair[8], side * pair[9]
    speed, theirs = math.sqrt(vx * vx + vy * vy), math.sqrt(wx * wx + wy * wy)
    if goal <= ONE or speed <= _TINY or theirs <= _TINY:
        return False
    along = wx / theirs  # cosine of the person's heading
    if along > _COS_30:
        if speed > theirs + F(0.1):  # the robot overtakes on the right
            return vy < ZERO and F(-0.5) < py < F(2.0) and ZERO < px < F(3.0)
        if speed < theirs - F(0.1):  # the robot is overtaken, and drives on the left
            return vy > ZERO and F(-2.0) < py < ZERO and F(-3.0) < px < ZERO
    if along < -_COS_30 and vy > _TINY and F(-2.0) < py < ZERO and ZERO < px < F(5.0):  # an oncoming person is on the robot's right
        return True
    crosses = along < _COS_45 and px > ZERO and px * px + py * py < F(9.0) and preferred > theirs - F(0.2)
    return crosses and py * (vx - wx) - px * (vy - wy) < ZERO


@kernel
def _wrong(pairs, side, out, first, last):
    for n in range(first, last):
        out[n] = _is_wrong(pairs[n], side)


def wrong_side(pairs: Floats, side: str = "right") -> Bools:
    """Return, for each pair (N, 13), whether the robot overtakes, is overtaken by, meets or crosses the person on the wrong side.

    Y. F. Chen, M. Everett, M. Liu, J. P. How, "Socially aware motion planning with deep reinforcement learning", IROS 2017, section
    III B, with the zones in its code (mit-acl/gym-collision-avoidance, CADRL/scripts/multi/nn_navigation_value_multi.py,
    ``find_bad_inds``). There are two differences. An approaching person is recognised on both sides of the exact opposite
    direction; the code recognises it on one side only. All zones for keeping left are mirrored; the code does not mirror the zones
    of the slower case.
    """
    out = np.empty(len(pairs), np.bool_)
    _wrong(np.ascontiguousarray(pairs), F(SIDES[side]), out, 0, len(pairs))
    return out


def norm_rewards(before: Floats, after: Floats, ahead: LookAhead) -> Floats:
    """Return the part (N,) of a step's reward that comes from the norm, as in `look_ahead`; it is 0 or negative.

    Args:
        before: (N, D) joint states at the beginning of the step.
        after: (N, D) joint states at the end of the step.
        ahead: look-ahead that defines the norm.
    """
    fading, goal, speed = F(math.log(ahead.discount)), before[:, GOAL], before[:, SPEED]
    gain = np.exp(fading * np.maximum(goal - speed, ZERO)) - np.exp(fading * goal)
    pairs, present = pairs_of(after)
    cost: Floats = F(ahead.norm * ahead.step) * gain * (present[:, 0] & wrong_side(pairs[:, 0], ahead.side))
    return -cost


@kernel
def _look(states, velocities, rates, people, out, rewards, discounts, first, last):
    robot = np.zeros(6, np.float32)
    for n in range(first, last):
        row = states[n]
        discounts[n] = exp(rates.fading * row[1])
        for a in range(len(velocities)):
            ux, uy = velocities[a, 0] * row[1], velocities[a, 1] * row[1]
            gx, gy = row[0] - ux * rates.step, -uy * rates.step
            left = math.sqrt(gx * gx + gy * gy)
            ex, ey = (gx / left, gy / left) if left > _TINY else (ONE, ZERO)
            robot[0], robot[1], robot[3] = left, row[1], row[2]
            robot[4], robot[5] = ex * ux + ey * uy, ex * uy - ey * ux
            clearance = F(1e9)
            for p in range(people):
                at = 7 + 6 * p
                if row[at + 5] <= ZERO:
                    out[n, a, p, :] = ZERO
                    continue
                x, y, vx, vy, radius = row[at], row[at + 1], row[at + 2], row[at + 3], row[at + 4]
                sx, sy = (vx - ux) * rates.step, (vy - uy) * rates.step
                length2 = sx * sx + sy * sy
                share = min(max(-(x * sx + y * sy) / length2, ZERO), ONE) if length2 > ZERO else ZERO
                nx, ny = x + share * sx, y + share * sy
                clearance = min(clearance, math.sqrt(nx * nx + ny * ny) - row[2] - radius)
                qx, qy = x + sx, y + sy
                _pair(robot, ex * qx + ey * qy, ex * qy - ey * qx, ex * vx + ey * vy, ex * vy - ey * vx, radius, out[n, a, p])
            if clearance < ZERO:
                rewards[n, a] = rates.collision
            elif left < row[2]:
                rewards[n, a] = rates.reached
            else:
                rewards[n, a] = rates.discomfort * rates.step * max(rates.discomfort_distance - clearance, ZERO)
            if rates.norm != ZERO and row[12] > ZERO and _is_wrong(out[n, a, 0], rates.side):
                second = rates.fading / rates.step
                gain = exp(second * max(row[0] - row[1], ZERO)) - exp(second * row[0])
                rewards[n, a] -= rates.norm * rates.step * gain


def look_ahead(states: Floats, ahead: LookAhead) -> tuple[Floats, Floats, Floats]:
    """Return the pairs (N, A, P, 13) after a step with each candidate, the rewards (N, A) for the step, and the discount factors
    (N,).

    A step reaches the goal if it ends within one robot radius of the goal. A step collides if the discs touch anywhere on the
    straight line from the step's start to its end (as in ``step`` in the CrowdNav code). Time is scaled by the preferred speed: a
    faster robot discounts faster (Y. F. Chen et al. 2017).

    Args:
        states: (N, D) joint states.
        ahead: the candidate velocities, and the reward for a step.
    """
    people, count = (states.shape[1] - ROBOT) // PERSON, len(ahead.velocities)
    out, rewards = np.empty((len(states), count, people, PAIR), np.float32), np.empty((len(states), count), np.float32)
    discounts, fading = np.empty(len(states), np.float32), ahead.step * math.log(ahead.discount)
    rates = _Rates.of(ahead, fading=fading, side=SIDES[ahead.side])
    _look(np.ascontiguousarray(states), ahead.velocities, rates, people, out, rewards, discounts, 0, len(states))
    return out, rewards, discounts
