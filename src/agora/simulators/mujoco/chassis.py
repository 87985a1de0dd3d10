"""Builds articulated MuJoCo models of robots from the solids of `agora.robots.body`.

Differential robots drive on two wheels on the axle through the base, and slide on casters. Car-like robots drive on four wheels and
steer with the front wheels. All other robots (holonomic robots, legged robots, and skid-steered robots with four wheels) are pushed
by a force no larger than the floor's friction can sustain. Rollers, skidding tyres and footsteps are not modelled.
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
"""Collision bits for the objects with which robots collide."""
_RESPONSE = 0.02  # s, time constant of a motor: its speed error falls to 1/e
_ROTOR = 0.1  # inertia of a geared motor at the wheel, relative to the robot's mass at the wheel's radius
_GRIP = 0.8  # share of the friction used to accelerate and brake; curves need the rest
_LIFT = 0.001  # m, height of casters above the floor when a robot stands level
_STEERING = 0.05  # s, time constant of the steering


@dataclass(frozen=True)
class Chassis:
    """The names of a robot's motors, and the conversion from the twist of the base to motor speeds.

    Attributes:
        body: name of the robot's body, whose origin is the base on the ground.
        wheels: names of the motors of driven wheels, with the position of each wheel relative to the base, x and y, m.
        wheel_radius: radius of the wheels, m.
        push: names of the motors that push along x, along y and turn about z; empty for a robot with driven wheels.
        steering: names of the steering motors, with the lateral offset of each wheel from the middle of its axle, m, positive to
            the left.
        wheelbase: distance between the axles, m; 0 for robots that do not steer.
        acceleration: maximum acceleration within the tyres' grip, m/s2.
        turning: maximum angular acceleration within the tyres' grip, rad/s2.
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
        """Return the motor setpoints, in the order of `motors`, for a twist of the base and a steering angle."""
        vx, vy, omega = twist
        if self.push:  # the motors are told the force that a curve requires
            return [vx - _RESPONSE * omega * vy, vy + _RESPONSE * omega * vx, omega]
        wheels = [_rolling(vx - omega * y, omega * x) / self.wheel_radius for _, x, y in self.wheels]
        # the wheels of an axle turn about a common centre (Ackermann): tan(angle) = L / (R - side), R = L / tan(steering)
        bend = math.tan(steering)
        return wheels + [math.atan2(self.wheelbase * bend, self.wheelbase - side * bend) for _, side in self.steering]

    @property
    def motors(self) -> list[str]:
        """Names of all motors."""
        return [*self.push, *(name for name, _, _ in self.wheels), *(name for name, _ in self.steering)]


def _rolling(along: float, across: float) -> float:
    """Return the speed of a wheel that points along its direction of travel, m/s, negative in reverse; ``across`` is 0 for wheels
    that do not steer.
    """
    return math.copysign(math.hypot(along, across), along)


def add_robot(spec: mujoco.MjSpec, number: int, model: RobotModel, friction: float, load: float) -> Chassis:
    """Add a robot to a MuJoCo model.

    Args:
        spec: specification of the model under construction.
        number: index of the robot, used in names.
        model: model of the robot.
        friction: coefficient of friction between the robot's wheels or feet and the floor.
        load: ratio of the robot's mass to the mass in the robot file; the motors are sized for the mass in the file.
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
    """Return whether a wheel rolls. All wheels of a car-like robot roll; of a differential robot, only the wheels on the axle
    through its base.
    """
    return model.kinematics == "ackermann" or (model.kinematics == "differential" and part.x == 0.0)


def _fix(base: Any, part: Part, density: float, lift: float) -> None:
    """Add a part of the hull; a part that touches the floor slides on it."""
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
    """Return the maximum motor force of a robot whose mass without load is ``mass``, N: the force that the floor's friction can
    sustain, but no more than a dry floor sustains without load.
    """
    return min(friction * load, max(1.0, friction)) * mass * GRAVITY


def _pushed(spec: Any, base: Any, number: int, model: RobotModel, load: float, friction: float) -> Chassis:
    """Add motors that push a base at its centre of mass, and turn it."""
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
    """Add wheels that touch the floor, with one motor each; wheels in front of the axle through the base steer."""
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
            type=mujoco.mjtGeom.mjGEOM_SPHERE,  # point contact, like a crowned tyre; a wide tyre would scrub in turns
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
    # acceleration shifts load from two drive wheels to a caster at distance arm: a = friction (g - a height / arm)
    lever = 0.0 if model.wheelbase else float(body(model).centre[2]) / (0.75 * inner_radius(model))
    bears = _GRIP * friction * GRAVITY / (1.0 + friction * lever)
    turning = bears * max(side for _, _, side in powered) / (0.5 * model.radius**2)
    return Chassis(base.name, tuple(powered), r, (), tuple(steered), model.wheelbase or 0.0, bears, turning)


def _turn(roll: float, heading: float) -> list[float]:
    """Return the quaternion of a roll followed by a rotation about z."""
    (cr, sr), (ch, sh) = ((math.cos(a / 2), math.sin(a / 2)) for a in (roll, heading))
    return [ch * cr, ch * sr, sh * sr, sh * cr]
