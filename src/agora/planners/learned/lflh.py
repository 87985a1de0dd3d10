"""LfLH: a planner that learned from hallucinated obstacles, with weights trained in this project.

Z. Wang, X. Xiao et al., "From agile ground to aerial navigation: learning from learned hallucination", IROS 2021, and the
deployment of its code (Arena-Rosnav/lflh, LfD_2D/run_policy.py, 0b4ed01f). The policy sees the scan and the direction of the path.
As in the code, rules are wrapped around the policy: a turn in place if the path leads sideways, a collision check 0.2 s ahead, and
a recovery. There are three differences from the code. The direction of the path is the bearing of the path point 0.5 m ahead; the
code adds up the directions of all points up to there. The collision check measures Euclidean distances; the code adds up |x| and
|y|, which is up to 1.4 times as much. If the path leads straight into an obstacle, so that a turn in place would never end, the
robot backs up at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from agora.core.jit import hidden, lean_kernel
from agora.core.scalar import ONE, ZERO, F, atan2, sincos
from agora.core.state import freeze
from agora.interfaces import Answer, Memory, Observation
from agora.planners.learned.policy import PolicyPlanner
from agora.policies.encoding import within
from agora.policies.subgoal import subgoals
from agora.ranges import Distance, NotNegative, Speed

_EDGE = 6  # number of points per edge of the footprint
_TURN = F(math.tau)


@dataclass(frozen=True)
class Lflh(PolicyPlanner):
    """Drives from the laser scan and the path, with a policy cloned from motion among hallucinated obstacles.

    Rules turn the robot in place if the path leads sideways, and prevent it from driving or turning into obstacles in the scan.

    Attributes:
        file: policy file.
        direction: look-ahead distance, m; the bearing of the path point at this distance is taken as the path direction.
        hard: path direction above which the robot turns in place, rad.
        resume: path direction below which the robot continues driving, rad.
        gain: gain for turns in place, 1/s.
        ahead: time covered by the collision check, s.
        margin: padding of the footprint in the collision check, m.
        back: speed when backing up, m/s.
    """

    file: str = "lflh"
    direction: Distance = 0.5
    hard: NotNegative = math.pi / 3
    resume: NotNegative = math.pi / 18
    gain: NotNegative = 2.0
    ahead: NotNegative = 0.2
    margin: Distance = 0.0
    back: Speed = 0.2

    def act(self, observation: Observation, memory: Memory) -> Answer:
        """Return the twists (N, 3), and the policy's memory, extended by ``turning`` (N,): whether a turn in place is in progress.

        Raises:
            InputError: the policy was trained with a shorter control period.
        """
        answer, o, count = super().act(observation, memory), observation, len(observation.pose)
        turning = memory.get("turning", np.zeros(count, np.bool_)).copy()
        aim, out = subgoals(o, self.direction), answer.twists.copy()
        assert o.scan is not None and o.scan_angles is not None and o.scan_pose is not None
        rules = tuple(F(one) for one in (self.hard, self.resume, self.gain, self.ahead, self.margin, self.back))
        robot = tuple(freeze(one) for one in (o.pose, aim, o.radius, o.footprint, o.limits.max_omega, o.limits.min_vx))
        scan = tuple(freeze(one) for one in (o.scan, o.scan_angles, o.scan_pose))
        _override_twists(rules, robot, scan, turning, out, 0, count)
        return replace(answer, twists=within(out, o.limits), memory={**answer.memory, "turning": turning})


@hidden
def _is_beyond_beam(x, y, ranges, angles, sensor):
    """Return whether a point in the robot's frame lies beyond the end of the beam in its direction."""
    sine, cosine = sincos(sensor[2])
    dx, dy = x - sensor[0], y - sensor[1]
    u, v = cosine * dx + sine * dy, cosine * dy - sine * dx
    beams = len(angles)
    if beams < 2:
        return False
    step = (angles[beams - 1] - angles[0]) / F(beams - 1)
    offset = atan2(v, u) - angles[0]
    offset -= _TURN * np.floor(offset / _TURN)
    beam = np.int64(offset / step + F(0.5))
    return beam < beams and ranges[beam] * ranges[beam] < u * u + v * v


@hidden
def _touches(vx, omega, ahead, margin, radius, footprint, ranges, angles, sensor):
    """Return whether the outline reaches beyond the end of a beam after a given time on an arc."""
    half = F(0.5) * omega * ahead
    chord = vx * ahead * (math.sin(half) / half if abs(half) > F(1e-4) else ONE)
    mid_sine, mid_cosine = sincos(half)
    sine, cosine = sincos(omega * ahead)
    x0, y0 = chord * mid_cosine, chord * mid_sine
    corners = len(footprint)
    size = ZERO
    for i in range(corners):
        size = max(size, abs(footprint[i, 0]) + abs(footprint[i, 1]))
    disc = size <= ZERO
    for i in range(24 if disc else corners):
        for k in range(1 if disc else _EDGE):
            if disc:
                s, c = sincos(_TURN * F(i) / F(24.0))
                x, y = (radius + margin) * c, (radius + margin) * s
            else:
                j = (i + 1) % corners
                share = F(k) / F(_EDGE)
                x = footprint[i, 0] + share * (footprint[j, 0] - footprint[i, 0])
                y = footprint[i, 1] + share * (footprint[j, 1] - footprint[i, 1])
                x, y = x + math.copysign(margin, x), y + math.copysign(margin, y)
            if _is_beyond_beam(x0 + cosine * x - sine * y, y0 + sine * x + cosine * y, ranges, angles, sensor):
                return True
    return False


@lean_kernel
def _override_twists(rules, robot, scan, turning, out, first, last):
    """Replace the twists of rows that turn in place or would touch something, like ``update_cmd_vel`` in the code."""
    hard, resume, gain, ahead, margin, back = rules
    pose, aim, radius, footprint, max_omega, min_vx = robot
    ranges, angles, sensor = scan
    for n in range(first, last):
        sine, cosine = sincos(pose[n, 2])
        dx, dy = aim[n, 0] - pose[n, 0], aim[n, 1] - pose[n, 1]
        direction = atan2(cosine * dy - sine * dx, cosine * dx + sine * dy)
        turning[n] = abs(direction) > (resume if turning[n] else hard)
        turn = min(max(gain * direction, -max_omega[n]), max_omega[n])
        if turning[n]:
            out[n, 0], out[n, 1], out[n, 2] = ZERO, ZERO, turn
        if not _touches(out[n, 0], out[n, 2], ahead, margin, radius[n], footprint[n], ranges[n], angles, sensor):
            continue
        stuck = abs(direction) < resume
        out[n, 0], out[n, 1], out[n, 2] = ZERO, ZERO, turn
        if stuck or _touches(ZERO, turn, ahead, margin, radius[n], footprint[n], ranges[n], angles, sensor):
            out[n, 0], out[n, 2] = max(-back, min(min_vx[n], ZERO)), ZERO
