"""The animation of people: the position and rotation of every body part, depending on a person's activity and the distance walked.

The phase of the gait advances with the distance walked, one cycle per stride, so that a planted foot does not slide: relative to
the body, it moves backwards as fast as the body moves forwards, pivoting first about the heel, then lying flat, then pivoting about
the ball. The hips are as high as both legs can reach; the knees follow from the positions of hips and feet. Stride length increases
with speed, and running has a flight phase.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.jit import hidden, kernel
from agora.core.state import SOCIAL_STATES, Bools, Doubles, Ints
from agora.rendering.shapes import ELDER, PARTS, WHEELCHAIR, Looks

__all__ = ["Frames", "Moving", "frames", "stride"]

_AT = {name: number for number, name in enumerate(PARTS)}
_PELVIS, _TORSO, _HEAD, _FACE, _HAIR = (_AT[name] for name in ("pelvis", "torso", "head", "face", "hair"))
_SKIRT, _BAG, _STICK, _PHONE = (_AT[name] for name in ("skirt", "bag", "stick", "phone"))
_STOOL, _CHAIR, _WHEEL_LEFT, _POST = (_AT[name] for name in ("stool", "chair", "wheel_left", "post"))
_UPPER_ARM, _FOREARM, _HAND = (_AT[f"{name}_left"] for name in ("upper_arm", "forearm", "hand"))  # the right part is next
_THIGH, _SHANK, _FOOT = (_AT[f"{name}_left"] for name in ("thigh", "shank", "foot"))
_TEXTING = SOCIAL_STATES.index("texting")
_RUNS = [SOCIAL_STATES.index(name) for name in ("running", "panicking")]
_SITS = [SOCIAL_STATES.index(name) for name in ("sitting",)]
_SLOWEST = 0.15  # m/s, minimum speed of walking with full steps
_HEEL, _BALL = -0.24, 0.42  # positions in front of the ankle, as fractions of the foot's length
_FRONT = 0.42  # fraction of the stance phase in which the foot is in front of the body
_GESTURE = 0.7  # frequency of gestures, Hz
_WHEEL = 0.31  # m, radius of a wheelchair's wheel
_SEAT = 0.075  # height of the hip joints above the seat, m


class Moving(NamedTuple):
    """The positions, motion and activities of people.

    Attributes:
        x: (P,) positions, x, m.
        y: (P,) positions, y, m.
        heading: (P,) headings, rad.
        speed: (P,) speeds, m/s.
        phase: (P,) phase of the gait, in strides; for a wheelchair, the rotation of its wheels, rad.
        state: (P,) social state, an index in `agora.core.state.SOCIAL_STATES`.
        time: time in the episode, s.
    """

    x: Doubles
    y: Doubles
    heading: Doubles
    speed: Doubles
    phase: Doubles
    state: Ints
    time: float


class Frames(NamedTuple):
    """The poses of the body parts of people.

    Attributes:
        place: (P, parts, 3) origin of each part's mesh in the map frame, m.
        turn: (P, parts, 3, 3) rotation of each part, scaled by the part's size in m.
        shown: (P, parts) whether the part is shown.
    """

    place: Doubles
    turn: Doubles
    shown: Bools


class _Pose(NamedTuple):
    """The pose of arms and head in a social state, as angles in rad. An arm has four angles: forward, outward, inward about the
    arm's own axis, and the elbow angle.
    """

    left: tuple[float, float, float, float] | None = None
    right: tuple[float, float, float, float] | None = None
    head: float = 0.0
    lean: float = 0.0
    gesture: float = 0.0


_POSES = {
    "talking": _Pose((0.30, 0.16, 0.35, 1.25), (0.45, 0.18, 0.30, 1.45), gesture=0.30),
    "telling": _Pose((0.70, 0.35, 0.15, 1.20), (0.75, 0.40, 0.10, 1.35), gesture=0.45),
    "listening": _Pose((0.42, 0.22, 1.05, 1.65), (0.48, 0.22, 1.10, 1.60), head=0.06),
    "texting": _Pose((0.38, 0.06, 0.42, 1.60), (0.42, 0.06, 0.46, 1.62), head=0.52, lean=0.04),
    "phone": _Pose(None, (0.75, 0.42, 0.10, 2.50), head=0.05),
    "interacting": _Pose((0.75, 0.10, 0.20, 0.75), (0.95, 0.10, 0.20, 0.55), head=0.15, gesture=0.12),
    "working": _Pose((0.65, 0.10, 0.35, 0.95), (0.70, 0.10, 0.35, 0.95), head=0.30, lean=0.10, gesture=0.08),
    "sitting": _Pose((0.45, 0.10, 0.15, 0.70), (0.45, 0.10, 0.15, 0.70), lean=0.02),
    "interested": _Pose((0.10, 0.10, 0.20, 0.40), (0.80, 0.15, 0.10, 0.50), head=0.25, lean=0.16),
    "surprised": _Pose((0.55, 0.25, 0.50, 2.10), (0.55, 0.25, 0.50, 2.10), lean=-0.08),
    "threatening": _Pose((1.05, 0.65, 0.0, 0.55), (1.10, 0.65, 0.0, 0.50), lean=0.06),
    "panicking": _Pose((1.5, 0.70, 0.0, 1.10), (1.5, 0.70, 0.0, 1.10), lean=0.05, gesture=0.3),
}


def _tables() -> tuple[Doubles, Bools, Doubles]:
    """Return the poses of all states, by state number: the arm angles (states, 2, 4), whether each arm is held in that pose, and
    (head, lean, gesture).
    """
    arms, held, rest = np.zeros((len(SOCIAL_STATES), 2, 4)), np.zeros((len(SOCIAL_STATES), 2), np.bool_), []
    for number, name in enumerate(SOCIAL_STATES):
        pose = _POSES.get(name, _Pose())
        for side, arm in enumerate((pose.left, pose.right)):
            held[number, side] = arm is not None
            arms[number, side] = arm or 0.0
        rest.append((pose.head, pose.lean, pose.gesture))
    return arms, held, np.array(rest)


_ARMS, _HELD, _REST = _tables()


def stride(looks: Looks, speed: Doubles) -> Doubles:
    """Return the length of a stride, i.e. two steps, (P,), m; for a wheelchair, the distance per radian of wheel rotation."""
    grown = looks.height * (0.42 + 0.30 * speed) * np.where(looks.kind == ELDER, 0.8, 1.0)
    return np.where(looks.kind == WHEELCHAIR, _WHEEL, grown)


class Steps(NamedTuple):
    """The feet of people who walk or run, in each person's frame; the second axis is (left, right).

    Attributes:
        x: (P, 2) forward position of the sole below the ankle, m.
        z: (P, 2) height of the sole above the ground, m.
        up: (P, 2) upward rotation of the toes, rad.
        stands: (P, 2) whether the foot is on the ground.
    """

    x: Doubles
    z: Doubles
    up: Doubles
    stands: Bools


def steps(looks: Looks, speed: Doubles, phase: Doubles, runs: Doubles) -> Steps:
    """Return the feet at a phase of the gait.

    Args:
        looks: looks of the people.
        speed: (P,) speeds, m/s.
        phase: (P,) phase of the gait, in strides.
        runs: (P,) degree of running, from 0 for walking to 1 for running.
    """
    shape = (len(speed), 2)
    found = Steps(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape, np.bool_))
    _steps(looks, stride(looks, speed), speed, phase, runs, *found, 0, len(speed))
    return found


def frames(looks: Looks, moving: Moving) -> Frames:
    """Return the poses of people's body parts."""
    count = len(looks.kind)
    place, turn = np.zeros((count, len(PARTS), 3)), np.zeros((count, len(PARTS), 3, 3))
    sits = (np.isin(moving.state, _SITS) | (looks.kind == WHEELCHAIR)) & ~looks.worn[:, _AT["post"]]
    runs = np.where(np.isin(moving.state, _RUNS), np.clip((moving.speed - 1.0) / 0.6, 0.0, 1.0), 0.0)
    runs = np.maximum(runs, np.clip((moving.speed - 2.0) / 0.5, 0.0, 1.0))
    _pose(looks, moving, stride(looks, moving.speed), sits, runs, _ARMS, _HELD, _REST, place, turn, 0, count)
    return Frames(place, turn, _shown(looks, moving.state, sits))


def _shown(looks: Looks, state: Ints, sits: Bools) -> Bools:
    """Return which parts are shown (P, parts)."""
    shown, people = looks.worn.copy(), ~looks.worn[:, _AT["post"]]
    shown[:, _AT["phone"]] = people & np.isin(state, [SOCIAL_STATES.index(name) for name in ("texting", "phone")])
    shown[:, _AT["stool"]] = sits & (looks.kind != WHEELCHAIR)
    shown[:, _AT["stick"]] &= ~_HELD[state, 1] & ~sits
    shown[:, _AT["skirt"]] &= ~sits
    return shown


@hidden
def _clip(value, low, high):
    return min(max(value, low), high)


@hidden
def _smooth(t):
    t = _clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


@hidden
def _turned(pitch, roll, yaw):
    """Return the row-major rotation by ``pitch`` about y (forward and down), then ``roll`` about x, then ``yaw`` about z, rad."""
    cp, sp, cr, sr, cy, sy = math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll), math.cos(yaw), math.sin(yaw)
    return (
        cy * cp - sy * sr * sp, -sy * cr, cy * sp + sy * sr * cp,
        sy * cp + cy * sr * sp, cy * cr, sy * sp - cy * sr * cp,
        -cr * sp, sr, cr * cp,
    )  # fmt: skip


@hidden
def _times(a, b):
    """Return the product of two matrices."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6], a[0] * b[1] + a[1] * b[4] + a[2] * b[7], a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6], a[3] * b[1] + a[4] * b[4] + a[5] * b[7], a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6], a[6] * b[1] + a[7] * b[4] + a[8] * b[7], a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )  # fmt: skip


@hidden
def _moved(at, m, x, y, z):
    """Transform a point (x, y, z) from a frame that is rotated by ``m`` and has its origin at ``at``."""
    return at[0] + m[0] * x + m[1] * y + m[2] * z, at[1] + m[3] * x + m[4] * y + m[5] * z, at[2] + m[6] * x + m[7] * y + m[8] * z


@hidden
def _put(place, turn, moving, p, part, at, m, sx, sy, sz):
    """Write the pose and size of a body part, given in the person's frame."""
    c, s = math.cos(moving.heading[p]), math.sin(moving.heading[p])
    place[p, part, 0] = moving.x[p] + c * at[0] - s * at[1]
    place[p, part, 1] = moving.y[p] + s * at[0] + c * at[1]
    place[p, part, 2] = at[2]
    size = (sx, sy, sz)
    for k in range(3):
        turn[p, part, 0, k] = (c * m[k] - s * m[3 + k]) * size[k]
        turn[p, part, 1, k] = (s * m[k] + c * m[3 + k]) * size[k]
        turn[p, part, 2, k] = m[6 + k] * size[k]


@hidden
def _foot(looks, p, way, speed, phase, runs):
    """Return the state of a foot's sole at a phase of the gait: forward position, height above the ground, upward rotation of the
    toes, and whether the foot is planted.
    """
    phase = phase - math.floor(phase)
    share = 0.62 - 0.27 * runs
    way = share * way
    brisk = _clip(speed / 1.2, 0.4, 1.3)
    strike, push = 0.28 * brisk * (1.0 - 0.8 * runs), 0.75 * brisk
    front, back = _FRONT * way, (_FRONT - 1.0) * way
    stands = phase < share
    if stands:
        s = phase / share
        heel, off = _clip(1.0 - s / 0.15, 0.0, 1.0), _clip((s - 0.5) / 0.5, 0.0, 1.0)
        base, lift, up = front - way * s, 0.0, strike * heel * heel - push * off * off
    else:
        t = (phase - share) / (1.0 - share)
        slope = -way * (1.0 - share) / share  # slope at the ends of the swing, where the foot moves as fast as the ground
        t2, t3 = t * t, t * t * t
        base = (2 * t3 - 3 * t2 + 1) * back + (t3 - 2 * t2 + t) * slope + (3 * t2 - 2 * t3) * front + (t3 - t2) * slope
        up = -push * (1.0 - _smooth(t / 0.7)) + strike * _smooth((t - 0.5) / 0.5)
        lift = (0.035 + 0.06 * runs) * looks.height[p] * min(brisk, 1.0) * math.sin(math.pi * t) ** 2
    pivot = looks.foot[p] * (_HEEL if up > 0.0 else _BALL)
    return base + pivot * (1.0 - math.cos(up)), lift - pivot * math.sin(up), up, stands


@kernel
def _steps(looks, way, speed, phase, runs, x, z, up, stands, first, last):
    for p in range(first, last):
        for side in range(2):
            x[p, side], z[p, side], up[p, side], stands[p, side] = _foot(looks, p, way[p], speed[p], phase[p] + 0.5 * side, runs[p])


@hidden
def _feet(looks, moving, p, way, sits, walks, runs, back):
    """Return the forward position, height and rotation of both soles of a person who walks, stands or sits."""
    rolls = looks.kind[p] == WHEELCHAIR
    still = 0.47 if rolls else (looks.thigh[p] + back if sits else 0.0)
    apart = 0.0 if rolls else 0.012 * looks.height[p]
    high = 0.115 if rolls else 0.0
    lx, lz, lu, _ = _foot(looks, p, way, moving.speed[p], moving.phase[p], runs)
    rx, rz, ru, _ = _foot(looks, p, way, moving.speed[p], moving.phase[p] + 0.5, runs)
    rest = 1.0 - walks
    left = (walks * lx + rest * (still + apart), walks * lz + rest * high, walks * lu)
    right = (walks * rx + rest * (still - apart), walks * rz + rest * high, walks * ru)
    return left, right


@hidden
def _reach(looks, p, foot, runs):
    """Return the height of the hips at which a leg just reaches a foot, m."""
    leg, ankle = looks.thigh[p] + looks.shank[p], looks.ankle[p]
    x, z = foot[0] - ankle * math.sin(foot[2]), foot[1] + ankle * math.cos(foot[2])
    reach = (0.995 - 0.03 * runs) * leg
    return z + math.sqrt(max(reach * reach - x * x, 0.05))


@hidden
def _leg(looks, moving, p, side, hip, pelvis, foot, place, turn):
    """Write the poses of a leg's thigh, shank and foot."""
    way, h = 1.0 - 2.0 * side, looks.height[p]
    a, b, ankle = looks.thigh[p], looks.shank[p], looks.ankle[p]
    top = _moved(hip, pelvis, 0.0, way * looks.hips[p], 0.0)
    x, z = foot[0] - ankle * math.sin(foot[2]), foot[1] + ankle * math.cos(foot[2])
    dx, dz = x - top[0], top[2] - z
    far = _clip(math.sqrt(dx * dx + dz * dz), abs(a - b) + 0.05, a + b - 1e-6)
    ahead = math.atan2(dx, dz) + math.acos(_clip((a * a + far * far - b * b) / (2.0 * a * far), -1.0, 1.0))
    knee = (top[0] + a * math.sin(ahead), top[1], top[2] - a * math.cos(ahead))
    lower = math.atan2(x - knee[0], knee[2] - z)
    end = (knee[0] + b * math.sin(lower), top[1], knee[2] - b * math.cos(lower))
    sole = _turned(-foot[2], 0.0, 0.12 * way)
    thick, long = 0.046 * h * looks.girth[p], looks.foot[p]
    _put(place, turn, moving, p, _THIGH + side, top, _turned(-ahead, 0.0, 0.0), thick, thick, a)
    _put(place, turn, moving, p, _SHANK + side, knee, _turned(-lower, 0.0, 0.0), 0.72 * thick, 0.72 * thick, b)
    _put(place, turn, moving, p, _FOOT + side, _moved(end, sole, 0.0, 0.0, -ankle), sole, long, long, long)


@hidden
def _swings(moving, p, side, walks, runs, elder, rolls):
    """Return the four arm angles, as in `_Pose`, of a person who walks, runs, stands, leans on a stick or uses a wheelchair."""
    if rolls:
        push = 0.22 * math.sin(moving.phase[p]) * min(moving.speed[p], 1.0)
        return push - 0.15, 0.30, 0.25, 0.85 - push
    brisk = _clip(moving.speed[p] / 1.3, 0.0, 1.2) * walks
    swing = (2.0 * side - 1.0) * math.cos(2.0 * math.pi * moving.phase[p])
    forward = (0.38 * brisk + 0.35 * runs) * swing - 0.02
    if elder and side == 1:
        return 0.35 + 0.5 * forward, 0.14, 0.0, 0.45
    return forward, 0.09 + 0.06 * runs, 0.20 + 0.15 * runs, 0.18 + 0.18 * brisk * (1.0 + swing) + 1.15 * runs


@hidden
def _arm(looks, moving, p, side, arm, waist, chest, walks, place, turn):
    """Write the poses of an arm's parts, and of the object in the right hand."""
    way, h, torso = 1.0 - 2.0 * side, looks.height[p], looks.torso[p]
    shoulder = _moved(waist, chest, -0.02 * torso, way * looks.shoulders[p], 0.86 * torso)
    upper = _times(chest, _turned(-arm[0], way * arm[1], 0.0))
    lower = _times(_times(upper, _turned(0.0, 0.0, -way * arm[2])), _turned(-arm[3], 0.0, 0.0))
    elbow = _moved(shoulder, upper, 0.0, 0.0, -looks.upper_arm[p])
    wrist = _moved(elbow, lower, 0.0, 0.0, -looks.forearm[p])
    thick, long = 0.0285 * h * looks.girth[p], 0.105 * h
    _put(place, turn, moving, p, _UPPER_ARM + side, shoulder, upper, thick, thick, looks.upper_arm[p])
    _put(place, turn, moving, p, _FOREARM + side, elbow, lower, 0.84 * thick, 0.84 * thick, looks.forearm[p])
    _put(place, turn, moving, p, _HAND + side, wrist, _times(lower, _turned(0.0, 0.0, 0.4 * way)), long, way * long, long)
    if side == 1:
        palm = _moved(wrist, lower, 0.0, 0.0, -0.6 * long)
        lean = 0.1 - 0.4 * arm[0] if walks > 0.0 else 0.0
        _put(place, turn, moving, p, _STICK, palm, _turned(lean, 0.0, 0.0), 1.0, 1.0, max(palm[2], 0.3))
        flat = moving.state[p] == _TEXTING
        held = _times(lower, _turned(0.9, 0.0, 0.0) if flat else _turned(0.0, 0.0, 1.2))
        _put(place, turn, moving, p, _PHONE, _moved(palm, held, 0.03 if flat else -0.03, 0.0, 0.0), held, 1.0, 1.0, 1.0)


@hidden
def _trunk(looks, moving, p, hip, pelvis, waist, chest, gaze, sits, place, turn):
    """Write the poses of the trunk, the head, and the objects that the person wears or sits on."""
    h, g, torso, head = looks.height[p], looks.girth[p], looks.torso[p], looks.head[p]
    wide, hips, radius = 1.12 * looks.shoulders[p], 0.088 * h * g, looks.radius[p]
    upright, ground = _turned(0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    neck = _moved(waist, chest, -0.02 * torso, 0.0, torso)
    _put(place, turn, moving, p, _PELVIS, hip, pelvis, 1.02 * hips, hips, 0.055 * h)
    _put(place, turn, moving, p, _TORSO, waist, chest, 0.098 * h * g, wide, torso)
    _put(place, turn, moving, p, _SKIRT, hip, pelvis, hips, hips, 0.24 * h)
    _put(place, turn, moving, p, _BAG, waist, chest, 0.13 * h, wide, torso)
    for part in (_HEAD, _FACE, _HAIR):
        _put(place, turn, moving, p, part, neck, gaze, head, head, head)
    _put(place, turn, moving, p, _STOOL, (hip[0] + 0.02, hip[1], 0.0), upright, 0.45, 0.45, hip[2] - _SEAT)
    _put(place, turn, moving, p, _CHAIR, ground, upright, 1.0, 1.0, 1.0)
    _put(place, turn, moving, p, _POST, ground, upright, radius, radius, 1.2)
    for side in range(2):
        way = 1.0 - 2.0 * side
        rolled = _turned(moving.phase[p], 0.0, 0.0)
        _put(place, turn, moving, p, _WHEEL_LEFT + side, (0.0, 0.29 * way, _WHEEL), rolled, _WHEEL, _WHEEL * way, _WHEEL)


@kernel
def _pose(looks, moving, way, sits, runs, arms, held, rest, place, turn, first, last):
    """Write the body-part poses of people ``first <= p < last``."""
    for p in range(first, last):
        state, speed, h = moving.state[p], moving.speed[p], looks.height[p]
        rolls, elder, cycle = looks.kind[p] == WHEELCHAIR, looks.kind[p] == ELDER, 2.0 * math.pi * moving.phase[p]
        walks = 0.0 if sits[p] else _clip(speed / _SLOWEST, 0.0, 1.0)
        back = -0.08 if rolls else (-0.10 if sits[p] else 0.0)
        left, right = _feet(looks, moving, p, way[p], sits[p], walks, runs[p], back)
        leg = looks.thigh[p] + looks.shank[p]
        high = min(_reach(looks, p, left, runs[p]), _reach(looks, p, right, runs[p]))
        high = min(high, looks.ankle[p] + 0.985 * leg - (0.02 * h if elder else 0.0))
        seat = 0.495 + _SEAT if rolls else looks.shank[p] + looks.ankle[p] + 0.01
        hip = (back, 0.012 * walks * math.sin(cycle) * min(speed, 1.0), seat if sits[p] else high)
        brisk = _clip(speed / 1.3, 0.0, 1.2) * walks
        lean = rest[state, 1] + 0.05 * brisk + 0.14 * runs[p] + (0.24 if elder else 0.0) - (0.05 if sits[p] else 0.0)
        sway = 0.0 if walks > 0.0 else 0.03 * math.sin(0.9 * moving.time + 6.0 * looks.phase[p])
        glance = (
            0.0 if rest[state, 0] > 0.3 else (0.08 if walks > 0.5 else 0.25) * math.sin(0.5 * moving.time + 9.0 * looks.phase[p])
        )
        pelvis = _turned(0.0, 0.0, 0.10 * brisk * math.cos(cycle))
        chest = _turned(lean, 0.02 * brisk * math.sin(cycle), sway - 0.11 * brisk * math.cos(cycle))
        waist = _moved(hip, pelvis, 0.0, 0.0, 0.055 * h)
        gaze = _turned(rest[state, 0] + 0.35 * lean, 0.0, glance)
        _trunk(looks, moving, p, hip, pelvis, waist, chest, gaze, sits[p], place, turn)
        _leg(looks, moving, p, 0, hip, pelvis, left, place, turn)
        _leg(looks, moving, p, 1, hip, pelvis, right, place, turn)
        for side in range(2):
            arm = _swings(moving, p, side, walks, runs[p], elder, rolls)
            if held[state, side]:
                arm = (arms[state, side, 0], arms[state, side, 1], arms[state, side, 2], arms[state, side, 3])
            beat = 2.0 * math.pi * (_GESTURE * moving.time + looks.phase[p] + 0.23 * side)
            much = rest[state, 2]
            arm = (arm[0] + 0.6 * much * math.sin(beat), arm[1], arm[2], arm[3] + much * math.sin(1.3 * beat + 1.0))
            _arm(looks, moving, p, side, arm, waist, chest, walks, place, turn)
