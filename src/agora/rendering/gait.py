"""How people move: the place and the turn of every part of a body, by what somebody does and how far it has walked.

The phase of the gait goes on with the way that is walked, one turn a stride, so that a foot that stands stays where it is: it goes
back under the body as fast as the body goes on, first about its heel, then flat, then about its ball. Hips are as high as both legs
reach; knees follow from hips and feet. Strides grow with the speed, and running has a phase in the air.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agora.core.state import SOCIAL_STATES, Array, Bools, Doubles, Ints
from agora.rendering.shapes import ELDER, PARTS, WHEELCHAIR, Looks

__all__ = ["Frames", "Moving", "frames", "stride"]

_AT = {name: number for number, name in enumerate(PARTS)}
_RUNS = [SOCIAL_STATES.index(name) for name in ("running", "panicking")]
_SITS = [SOCIAL_STATES.index(name) for name in ("sitting",)]
_SLOWEST = 0.15  # m/s, from which on somebody walks with full steps
_HEEL, _BALL = -0.24, 0.42  # of the foot's length, before the ankle
_FRONT = 0.42  # share of a stance in which the foot is before the body
_GESTURE = 0.7  # Hz
_WHEEL = 0.31  # m, of a wheelchair
_SEAT = 0.075  # m, from the seat to the hip joints


class Moving(NamedTuple):
    """Where people are, and what they do.

    Attributes:
        x: (P,) place, x, m.
        y: (P,) place, y, m.
        heading: (P,) rad.
        speed: (P,) m/s.
        phase: (P,) phase of the gait, in strides; of a wheelchair, the turn of its wheels, rad.
        state: (P,) number in `agora.core.state.SOCIAL_STATES`.
        time: the moment, s.
    """

    x: Doubles
    y: Doubles
    heading: Doubles
    speed: Doubles
    phase: Doubles
    state: Ints
    time: float


class Frames(NamedTuple):
    """Where the parts of people are.

    Attributes:
        place: (P, parts, 3) origin of each part's mesh in the map frame, m.
        turn: (P, parts, 3, 3) its turn, with its size in m.
        shown: (P, parts) whether it is there.
    """

    place: Doubles
    turn: Doubles
    shown: Bools


class _Pose(NamedTuple):
    """What a state does with arms and head: angles in rad; of an arm forward, outward, inward about itself, and the elbow's."""

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
    """The poses by the number of a state: arms (states, 2, 4), whether they are held so, and (head, lean, gesture)."""
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
    """Return the way of two steps (P,), m; of a wheelchair, the way of a turn by one radian."""
    grown = looks.height * (0.42 + 0.30 * speed) * np.where(looks.kind == ELDER, 0.8, 1.0)
    return np.where(looks.kind == WHEELCHAIR, _WHEEL, grown)


class Steps(NamedTuple):
    """The feet of people who walk or run, in their own frames; the second axis is the left and the right one.

    Attributes:
        x: (P, 2) the sole below the ankle, ahead, m.
        z: (P, 2) the same above the ground, m.
        up: (P, 2) turn of the toes upward, rad.
        stands: (P, 2) whether a foot is on the ground.
    """

    x: Doubles
    z: Doubles
    up: Doubles
    stands: Bools


def steps(looks: Looks, speed: Doubles, phase: Doubles, runs: Doubles) -> Steps:
    """Return the feet at a phase.

    Args:
        looks: looks of the people.
        speed: (P,) m/s.
        phase: (P,) strides.
        runs: (P,) 0 for walking to 1 for running.
    """
    phase = np.stack([phase, phase + 0.5], axis=1) % 1.0
    share = (0.62 - 0.27 * runs)[:, None]
    way = (share[:, 0] * stride(looks, speed))[:, None]
    brisk = np.clip(speed / 1.2, 0.4, 1.3)[:, None]
    strike, push = 0.28 * brisk * (1.0 - 0.8 * runs[:, None]), 0.75 * brisk
    stands = phase < share
    s, t = np.minimum(phase / share, 1.0), np.clip((phase - share) / (1.0 - share), 0.0, 1.0)
    front, back = _FRONT * way, (_FRONT - 1.0) * way
    slope = -way * (1.0 - share) / share  # of the swing's ends, as fast as the ground goes back
    swing = (2 * t**3 - 3 * t**2 + 1) * back + (t**3 - 2 * t**2 + t) * slope + (3 * t**2 - 2 * t**3) * front + (t**3 - t**2) * slope
    heel, off = np.clip(1.0 - s / 0.15, 0.0, 1.0), np.clip((s - 0.5) / 0.5, 0.0, 1.0)
    up = np.where(stands, strike * heel**2 - push * off**2, -push * (1.0 - _smooth(t / 0.7)) + strike * _smooth((t - 0.5) / 0.5))
    pivot = looks.foot[:, None] * np.where(up > 0.0, _HEEL, _BALL)
    base = np.where(stands, front - way * s, swing)
    high = (0.035 + 0.06 * runs[:, None]) * looks.height[:, None] * np.minimum(brisk, 1.0)
    lift = np.where(stands, 0.0, high * np.sin(math.pi * t) ** 2)
    return Steps(base + pivot * (1.0 - np.cos(up)), lift - pivot * np.sin(up), up, stands)


def _smooth(t: Array) -> Array:
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def frames(looks: Looks, moving: Moving) -> Frames:
    """Return where the parts of people are."""
    count = len(looks.kind)
    sits = np.isin(moving.state, _SITS) | (looks.kind == WHEELCHAIR)
    walks = np.where(sits, 0.0, np.clip(moving.speed / _SLOWEST, 0.0, 1.0))
    runs = np.where(np.isin(moving.state, _RUNS), np.clip((moving.speed - 1.0) / 0.6, 0.0, 1.0), 0.0)
    runs = np.maximum(runs, np.clip((moving.speed - 2.0) / 0.5, 0.0, 1.0))
    body = _Body(looks, moving, sits, walks, runs)
    place, turn = np.zeros((count, len(PARTS), 3)), np.zeros((count, len(PARTS), 3, 3))
    for name, (at, how, size) in body.parts().items():
        place[:, _AT[name]], turn[:, _AT[name]] = at, how * np.asarray(size)[:, None, :]
    c, s = np.cos(moving.heading), np.sin(moving.heading)
    own = np.zeros((count, 3, 3))
    own[:, 0, 0], own[:, 0, 1], own[:, 1, 0], own[:, 1, 1], own[:, 2, 2] = c, -s, s, c, 1.0
    place = np.einsum("pij,pkj->pki", own, place)
    place[..., 0] += moving.x[:, None]
    place[..., 1] += moving.y[:, None]
    return Frames(place, own[:, None] @ turn, body.shown())


def turned(pitch: Array = 0.0, roll: Array = 0.0, yaw: Array = 0.0) -> Doubles:
    """Return rotations (..., 3, 3): ahead and down by ``pitch`` about y, then about x, then about z, rad."""
    pitch, roll, yaw = np.broadcast_arrays(*(np.asarray(a, float) for a in (pitch, roll, yaw)))
    (cp, sp), (cr, sr), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (pitch, roll, yaw))
    rows = [
        [cy * cp - sy * sr * sp, -sy * cr, cy * sp + sy * sr * cp],
        [sy * cp + cy * sr * sp, cy * cr, sy * sp - cy * sr * cp],
        [-cr * sp, sr, cr * cp],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


class _Body:
    """Bodies in their own frames: x ahead, z up, the origin on the ground."""

    def __init__(self, looks: Looks, moving: Moving, sits: Bools, walks: Doubles, runs: Doubles) -> None:
        self.looks, self.moving, self.sits, self.walks, self.runs = looks, moving, sits, walks, runs
        self.cycle = 2.0 * math.pi * moving.phase
        self.head_down, self.lean, self.gesture = _REST[moving.state].T
        self.feet = self._feet()
        self.hip = self._hip()
        brisk = np.clip(moving.speed / 1.3, 0.0, 1.2) * walks
        self.pelvis = turned(yaw=0.10 * brisk * np.cos(self.cycle))
        lean = self.lean + 0.05 * brisk + 0.14 * runs + np.where(looks.kind == ELDER, 0.24, 0.0) + np.where(sits, -0.05, 0.0)
        sway = np.where(walks > 0.0, 0.0, 0.03 * np.sin(0.9 * moving.time + 6.0 * looks.phase))
        self.chest = turned(lean, 0.02 * brisk * np.sin(self.cycle), -0.11 * brisk * np.cos(self.cycle) + sway)
        look = np.where(walks > 0.5, 0.08, 0.25) * np.sin(0.5 * moving.time + 9.0 * looks.phase)
        self.gaze = turned(self.head_down + 0.35 * lean, 0.0, np.where(self.head_down > 0.3, 0.0, look))
        self.waist = self.hip + self.pelvis @ np.array([0.0, 0.0, 0.055]) * looks.height[:, None]
        self.neck = self.waist + np.einsum("pij,pj->pi", self.chest, self._along(looks.torso, -0.02))

    def _along(self, z: Doubles, x: float = 0.0) -> Doubles:
        """Points (P, 3) at a height, and a share of it ahead."""
        return np.stack([x * z, 0.0 * z, z], axis=1)

    def _feet(self) -> Steps:
        """The feet, walking, standing or sitting."""
        looks, walks = self.looks, self.walks[:, None]
        step = steps(looks, self.moving.speed, self.moving.phase, self.runs)
        still = np.where(self.sits, looks.thigh, 0.0)[:, None] + np.array([0.012, -0.012]) * looks.height[:, None]
        still = np.where((looks.kind == WHEELCHAIR)[:, None], 0.47 - self._back()[:, None], still)
        raised = np.where(looks.kind == WHEELCHAIR, 0.115, 0.0)[:, None]
        x, z, up = walks * step.x + (1.0 - walks) * still, walks * step.z + (1.0 - walks) * raised, walks * step.up
        return Steps(x, z, up, step.stands)

    def _back(self) -> Doubles:
        """How far behind its place somebody's hips are, m, negative."""
        return np.where(self.looks.kind == WHEELCHAIR, -0.08, np.where(self.sits, -0.10, 0.0))

    def _hip(self) -> Doubles:
        """The middle between the hips (P, 3): as high as both legs reach, and no higher than the seat."""
        looks, feet = self.looks, self.feet
        leg = (looks.thigh + looks.shank)[:, None]
        ankle_x = feet.x - looks.ankle[:, None] * np.sin(feet.up)
        ankle_z = feet.z + looks.ankle[:, None] * np.cos(feet.up)
        reach = 0.995 * leg - 0.03 * leg * self.runs[:, None]
        high = (ankle_z + np.sqrt(np.maximum(reach**2 - ankle_x**2, 0.05))).min(axis=1)
        high = np.minimum(high, looks.ankle + 0.985 * leg[:, 0] - np.where(looks.kind == ELDER, 0.02, 0.0) * looks.height)
        seat = np.where(looks.kind == WHEELCHAIR, 0.495 + _SEAT, looks.shank + looks.ankle + 0.01)
        sway = 0.012 * self.walks * np.sin(self.cycle) * np.minimum(self.moving.speed, 1.0)
        return np.stack([self._back(), sway, np.where(self.sits, seat, high)], axis=1)

    def parts(self) -> dict[str, tuple[Doubles, Doubles, Doubles]]:
        """The place, the turn and the size (P, 3) of each part's mesh."""
        looks, g = self.looks, self.looks.girth
        h = looks.height
        wide = 1.12 * looks.shoulders
        hips = 0.088 * h * g
        head = looks.head
        found = {
            "pelvis": (self.hip, self.pelvis, np.stack([1.02 * hips, hips, 0.055 * h], axis=1)),
            "torso": (self.waist, self.chest, np.stack([0.098 * h * g, wide, looks.torso], axis=1)),
            "skirt": (self.hip, self.pelvis, np.stack([hips, hips, 0.24 * h], axis=1)),
            "bag": (self.waist, self.chest, np.stack([0.13 * h, wide, looks.torso], axis=1)),
            "chair": (np.zeros_like(self.hip), turned(0.0 * h), np.ones_like(self.hip)),
            "post": (np.zeros_like(self.hip), turned(0.0 * h), np.stack([looks.radius, looks.radius, 1.2 + 0 * h], axis=1)),
            "stool": (self._stool(), turned(0.0 * h), np.stack([0.45 + 0 * h, 0.45 + 0 * h, self.hip[:, 2] - _SEAT], axis=1)),
        }
        size = np.stack([head] * 3, axis=1)
        for name in ("head", "face", "hair"):
            found[name] = self.neck, self.gaze, size
        for side, name in enumerate(("left", "right")):
            found |= self._leg(side, name) | self._arm(side, name)
            way = 1.0 if side == 0 else -1.0
            axle, rim = (np.tile(row, (len(h), 1)) for row in ((0.0, 0.29 * way, _WHEEL), (_WHEEL, _WHEEL * way, _WHEEL)))
            found[f"wheel_{name}"] = axle, turned(self.moving.phase), rim
        return found

    def _stool(self) -> Doubles:
        return self.hip * np.array([1.0, 1.0, 0.0]) + np.array([0.02, 0.0, 0.0])

    def _leg(self, side: int, name: str) -> dict[str, tuple[Doubles, Doubles, Doubles]]:
        looks, feet, g = self.looks, self.feet, self.looks.girth
        way, h = (1.0 if side == 0 else -1.0), looks.height
        hip = self.hip + np.einsum("pij,pj->pi", self.pelvis, np.stack([0.0 * h, way * looks.hips, 0.0 * h], axis=1))
        x = feet.x[:, side] - looks.ankle * np.sin(feet.up[:, side]) + np.where(self.sits, self._back(), 0.0)
        z = feet.z[:, side] + looks.ankle * np.cos(feet.up[:, side])
        dx, dz, a, b = x - hip[:, 0], hip[:, 2] - z, looks.thigh, looks.shank
        far = np.clip(np.hypot(dx, dz), abs(a - b) + 0.05, a + b - 1e-6)
        ahead = np.arctan2(dx, dz) + np.arccos(np.clip((a * a + far * far - b * b) / (2.0 * a * far), -1.0, 1.0))
        knee = hip + np.stack([a * np.sin(ahead), 0.0 * h, -a * np.cos(ahead)], axis=1)
        lower = np.arctan2(x - knee[:, 0], knee[:, 2] - z)
        ankle = knee + np.stack([b * np.sin(lower), 0.0 * h, -b * np.cos(lower)], axis=1)
        sole = turned(-feet.up[:, side], 0.0, way * 0.12)
        foot = ankle - np.einsum("pij,pj->pi", sole, self._along(looks.ankle))
        thick = 0.046 * h * g
        return {
            f"thigh_{name}": (hip, turned(-ahead), np.stack([thick, thick, a], axis=1)),
            f"shank_{name}": (knee, turned(-lower), np.stack([0.72 * thick, 0.72 * thick, b], axis=1)),
            f"foot_{name}": (foot, sole, np.stack([looks.foot] * 3, axis=1)),
        }

    def _swings(self, side: int) -> Doubles:
        """The arm (P, 4) of one who walks, runs or stands: forward, outward, inward about itself, elbow."""
        opposite = -1.0 if side == 0 else 1.0
        brisk = np.clip(self.moving.speed / 1.3, 0.0, 1.2) * self.walks
        swing = opposite * np.cos(self.cycle)
        forward = (0.38 * brisk + 0.35 * self.runs) * swing - 0.02
        bend = 0.18 + 0.18 * brisk * (1.0 + swing) + 1.15 * self.runs
        return np.stack([forward, 0.09 + 0.06 * self.runs, 0.20 + 0.15 * self.runs, bend], axis=1)

    def _arm(self, side: int, name: str) -> dict[str, tuple[Doubles, Doubles, Doubles]]:
        looks, moving, h = self.looks, self.moving, self.looks.height
        way = 1.0 if side == 0 else -1.0
        arm = np.where(_HELD[moving.state, side][:, None], _ARMS[moving.state, side], self._swings(side))
        beat = 2.0 * math.pi * (_GESTURE * moving.time + looks.phase + 0.23 * side)
        arm[:, 0] += 0.6 * self.gesture * np.sin(beat)
        arm[:, 3] += self.gesture * np.sin(1.3 * beat + 1.0)
        if side == 1:
            stick = (looks.kind == ELDER) & ~_HELD[moving.state, side]
            arm = np.where(stick[:, None], np.stack([0.35 + 0.5 * arm[:, 0], 0.14 + 0 * h, 0.0 * h, 0.45 + 0 * h], axis=1), arm)
        rolling = (looks.kind == WHEELCHAIR) & ~_HELD[moving.state, side]
        push = 0.22 * np.sin(moving.phase) * np.minimum(moving.speed, 1.0)
        arm = np.where(rolling[:, None], np.stack([-0.15 + push, 0.30 + 0 * h, 0.25 + 0 * h, 0.85 - push], axis=1), arm)
        shoulder = self.waist + np.einsum(
            "pij,pj->pi", self.chest, np.stack([-0.02 * looks.torso, way * looks.shoulders, 0.86 * looks.torso], axis=1)
        )
        upper = self.chest @ turned(-arm[:, 0], way * arm[:, 1])
        lower = upper @ turned(0.0, 0.0, -way * arm[:, 2]) @ turned(-arm[:, 3])
        elbow = shoulder - looks.upper_arm[:, None] * upper[..., 2]
        wrist = elbow - looks.forearm[:, None] * lower[..., 2]
        hand = lower @ turned(0.0 * h, 0.0, way * 0.4)
        thick = 0.0285 * h * looks.girth
        long = 0.105 * h
        found = {
            f"upper_arm_{name}": (shoulder, upper, np.stack([thick, thick, looks.upper_arm], axis=1)),
            f"forearm_{name}": (elbow, lower, np.stack([0.84 * thick, 0.84 * thick, looks.forearm], axis=1)),
            f"hand_{name}": (wrist, hand, np.stack([long, long, long], axis=1)),
        }
        if side == 1:
            palm = wrist - 0.6 * long[:, None] * lower[..., 2]
            found["stick"] = palm, turned(np.where(self.walks > 0, -0.4 * arm[:, 0] + 0.1, 0.0)), self._to_ground(palm)
            edge = np.isin(moving.state, [SOCIAL_STATES.index("texting")])
            held = np.where(edge[:, None, None], lower @ turned(0.0 * h + 0.9), lower @ turned(0.0 * h, 0.0, 1.2))
            found["phone"] = palm + 0.03 * held[..., 0] * np.where(edge, 1.0, -1.0)[:, None], held, np.ones_like(palm)
        return found

    def _to_ground(self, palm: Doubles) -> Doubles:
        return np.stack([np.ones(len(palm)), np.ones(len(palm)), np.maximum(palm[:, 2], 0.3)], axis=1)

    def shown(self) -> Bools:
        """Which parts are there (P, parts)."""
        shown, state = self.looks.worn.copy(), self.moving.state
        people = ~shown[:, _AT["post"]]
        shown[:, _AT["phone"]] = people & np.isin(state, [SOCIAL_STATES.index(name) for name in ("texting", "phone")])
        shown[:, _AT["stool"]] = people & self.sits & (self.looks.kind != WHEELCHAIR)
        shown[:, _AT["stick"]] &= ~_HELD[state, 1] & ~self.sits
        shown[:, _AT["skirt"]] &= ~self.sits
        return shown
