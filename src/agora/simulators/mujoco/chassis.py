"""Robots as articulated models of MuJoCo, made of the solids of `agora.robots.body`.

Differential robots drive on two wheels on the axle through the base, and slide on casters. Car-like robots drive on four wheels
and steer with the front ones. The others are pushed, by no more than the floor's friction bears: holonomic and legged robots, and
those with four wheels that skid when they turn. Neither rollers, skidding tyres nor steps of feet are modelled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agora.robots.body import Part, body, inner_radius
from agora.robots.model import RobotModel

if TYPE_CHECKING:
    import mujoco

__all__ = ["Chassis", "add_robot"]

GRAVITY = 9.81  # m/s2
TOUCHES_PLACE, TOUCHES_PEOPLE, TOUCHES_ROBOTS, TOUCHES_FLOOR = 1, 2, 4, 8
"""Bits of what robots collide with."""
_RESPONSE = 0.02  # s in which a motor comes within 1/e of its speed
_ROTOR = 0.1  # inertia of a motor behind its gear, as seen by the wheel, over the robot's mass at the wheel's radius
_GRIP = 0.8  # of the friction is used to speed up and brake; curves need the rest
_LIFT = 0.001  # m by which casters hang above the floor where a robot stands level
_STEERING = 0.05  # s


@dataclass(frozen=True)
class Chassis:
    """The names of a robot's motors, and the conversion of base speeds to motor speeds.

    Attributes:
        body: name of its body, whose origin is the base on the ground.
        wheels: names of driven wheels' motors with the place of each on the base, x and y, m.
        wheel_radius: m.
        push: names of the motors along x, y and about z; empty for a robot on driven wheels.
        steering: names of the steering motors, with the place of the wheel next to the middle of its axle, m, to the left.
        wheelbase: distance of the axles, m; 0 for robots that do not steer.
        acceleration: largest acceleration within the tyres' grip, m/s2.
        turning: largest angular acceleration within the tyres' grip, rad/s2.
    """

    body: str
    wheels: tuple[tuple[str, float, float], ...] = ()
    wheel_radius: float = 0.0
    push: tuple[str, str, str] | tuple[()] = ()
    steering: tuple[tuple[str, float], ...] = ()
    wheelbase: float = 0.0
    acceleration: float = math.inf
    turning: float = math.inf

    def speeds(self, twist: tuple[float, float, float], steering: float) -> list[float]:
        """Return the setpoints of the motors, in the order of `motors`, for a twist of the base and a steering angle."""
        vx, vy, omega = twist
        if self.push:  # the motors know the force that a curve takes
            return [vx - _RESPONSE * omega * vy, vy + _RESPONSE * omega * vx, omega]
        wheels = [_rolling(vx - omega * y, omega * x) / self.wheel_radius for _, x, y in self.wheels]
        # the wheels of an axle turn about one centre (Ackermann): tan(angle) = L / (R - side), R = L / tan(steering)
        bend = math.tan(steering)
        return wheels + [math.atan2(self.wheelbase * bend, self.wheelbase - side * bend) for _, side in self.steering]

    @property
    def motors(self) -> list[str]:
        """Names of all motors."""
        return [*self.push, *(name for name, _, _ in self.wheels), *(name for name, _ in self.steering)]


def _rolling(along: float, across: float) -> float:
    """Speed of a wheel that points where it goes, forwards or backwards, m/s; ``across`` is 0 for one that does not steer."""
    return math.copysign(math.hypot(along, across), along)


def add_robot(spec: mujoco.MjSpec, number: int, model: RobotModel, friction: float, load: float) -> Chassis:
    """Add a robot to a model.

    Args:
        spec: model that is made.
        number: number of the robot, for its names.
        model: robot.
        friction: coefficient of friction of its wheels or feet on the floor.
        load: its mass over that of the robot file; its motors are those of the file.
    """
    built = body(model)
    mass = built.mass * load
    density = mass / sum(part.volume for part in built.parts if part.solid)
    base = spec.worldbody.add_body(name=f"robot_{number}")
    base.add_freejoint()
    wheels = [part for part in built.parts if part.roll]
    driven = [part for part in wheels if _rolls(model, part)]
    for part in built.parts:
        if part not in driven:
            _fix(base, part, density, lift=_LIFT if driven and part.z - part.size[-1] / 2 < _LIFT else 0.0)
    if not driven:
        return _pushed(spec, base, number, model, load, friction)
    return _on_wheels(spec, base, number, model, driven, density, load, friction)


def _rolls(model: RobotModel, part: Part) -> bool:
    """Return whether a wheel turns: all of a car's, and those of a differential robot on the axle through its base."""
    return model.kinematics == "ackermann" or (model.kinematics == "differential" and part.x == 0.0)


def _fix(base: Any, part: Part, density: float, lift: float) -> None:
    """Add a part of the hull; one that touches the floor slides on it."""
    import mujoco

    size = [*(half / 2 for half in part.size)] if part.shape == "box" else [part.size[0], part.size[1] / 2, 0.0]
    kind = mujoco.mjtGeom.mjGEOM_BOX if part.shape == "box" else mujoco.mjtGeom.mjGEOM_CYLINDER
    base.add_geom(
        type=kind,
        size=size,
        pos=[part.x, part.y, part.z + lift],
        quat=_turn(part.roll, part.heading),
        rgba=[*part.colour, 1.0],
        mass=density * part.volume if part.solid else 0.0,
        contype=TOUCHES_PLACE | TOUCHES_PEOPLE | TOUCHES_ROBOTS if part.solid else 0,
        conaffinity=TOUCHES_ROBOTS if part.solid else 0,
        friction=[0.0, 0.0, 0.0],
        priority=1,
    )


def _strongest(mass: float, load: float, friction: float) -> float:
    """Force of the motors of a robot of a mass without its load, N: what the floor bears, at most what a dry one does then."""
    return min(friction * load, max(1.0, friction)) * mass * GRAVITY


def _pushed(spec: Any, base: Any, number: int, model: RobotModel, load: float, friction: float) -> Chassis:
    """Motors that push a base at its centre of mass, and turn it."""
    import mujoco

    built = body(model)
    mass = built.mass
    site = base.add_site(name=f"robot_{number}_push", pos=[0.0, 0.0, float(built.centre[2])])
    grip = _strongest(mass, load, friction)
    names = (f"robot_{number}_x", f"robot_{number}_y", f"robot_{number}_turn")
    arm = inner_radius(model)
    for axis, name in zip((0, 1, 5), names, strict=True):
        inertia, most = (mass, grip) if axis < 5 else (0.5 * mass * model.radius**2, grip * arm)
        motor = spec.add_actuator(name=name, target=site.name, trntype=mujoco.mjtTrn.mjTRN_SITE)
        motor.set_to_velocity(kv=inertia / _RESPONSE)
        gear = [0.0] * 6
        gear[axis] = 1.0
        motor.gear, motor.forcelimited, motor.forcerange = gear, 1, [-most, most]
    bears = _GRIP * friction * GRAVITY
    return Chassis(base.name, push=names, acceleration=bears, turning=bears / arm)


def _on_wheels(
    spec: Any, base: Any, number: int, model: RobotModel, driven: list[Part], density: float, load: float, friction: float
) -> Chassis:
    """Wheels with contact and a motor each; those before the axle through the base steer."""
    import mujoco

    r, mass = driven[0].size[0], body(model).mass
    powered, steered = [], []
    of_drive = len(driven)
    strongest = _strongest(mass, load, friction) * r
    for k, part in enumerate(driven):
        name, holder = f"robot_{number}_wheel_{k}", base
        place = [part.x, part.y, r]
        if part.x:
            holder = base.add_body(name=f"{name}_knuckle", pos=place)
            holder.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.2 * r, 0, 0], mass=0.01 * mass, contype=0, conaffinity=0)
            hinge = holder.add_joint(name=f"{name}_steering", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
            hinge.armature = 0.01 * mass * r * r
            place = [0.0, 0.0, 0.0]
            stiff = mass * r * r / _STEERING**2
            motor = spec.add_actuator(name=hinge.name, target=hinge.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.set_to_position(kp=stiff, kv=stiff * _STEERING)
            steered.append((hinge.name, part.y))
        wheel = holder.add_body(name=name, pos=place)
        joint = wheel.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
        joint.armature = _ROTOR * mass * r * r
        wheel.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE,  # touches in a point, as a crowned tyre does: a wide one would scrub in turns
            size=[r, 0.0, 0.0],
            rgba=[*part.colour, 1.0],
            mass=density * part.volume,
            contype=TOUCHES_FLOOR,
            conaffinity=0,
            friction=[friction, 0.0, 0.0],
            priority=1,
        )
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_velocity(kv=(1 / of_drive + _ROTOR) * mass * r * r / _RESPONSE)
        motor.forcelimited, motor.forcerange = 1, [-strongest, strongest]
        powered.append((name, part.x, part.y))
    # speeding up shifts weight from two drive wheels to a caster at the distance arm: a = friction (g - a height / arm)
    lever = 0.0 if model.wheelbase else float(body(model).centre[2]) / (0.75 * inner_radius(model))
    bears = _GRIP * friction * GRAVITY / (1.0 + friction * lever)
    turning = bears * max(side for _, _, side in powered) / (0.5 * model.radius**2)
    return Chassis(base.name, tuple(powered), r, (), tuple(steered), model.wheelbase or 0.0, bears, turning)


def _turn(roll: float, heading: float) -> list[float]:
    """Quaternion of a roll followed by a turn about z."""
    (cr, sr), (ch, sh) = ((math.cos(a / 2), math.sin(a / 2)) for a in (roll, heading))
    return [ch * cr, ch * sr, sh * sr, sh * cr]
