"""Blame for a contact with a pedestrian: which party closed the gap, and whether the robot could have avoided the contact.

The recorded contact contains which party closed the gap (`agora.core.recording.Closing`).

Simulations determine whether the robot could have avoided the contact. They start from those samples in the last `REACTION` seconds
before the contact at which the contact was predictable, i.e. at which the person, walking straight on, would have met the robot on
its recorded path. From each of these samples, or one command delay later, a fan of constant twists is simulated with the robot's
kinematics and its limits on twist and acceleration, while pedestrians walk as recorded, regardless of the robot. A twist would have
avoided the contact if the robot touches no wall and no pedestrian until `AFTER` seconds after the time of the contact. Other robots
are ignored; the wheels of a stationary car-like robot are assumed to point straight ahead.

Unlike a planner, this test knows the future motion of people. However, the simulated robot changes its twist only once, and the
people do not give way.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from agora.core.contact import point_to_polygon, polygon_in_walls, swept_disc_walls, swept_discs
from agora.core.jit import hidden, lean_kernel
from agora.core.kinematics import move, next_twist
from agora.core.recording import Closer, Contact, ContactKind, Recording
from agora.core.scalar import ONE, ZERO, atan2
from agora.core.state import ACKERMANN, DIFFERENTIAL, Array, Bools, Doubles, Floats, Maps, RobotTraits
from agora.interfaces import metric
from agora.maps.grid import Map
from agora.maps.store import build_store
from agora.metrics.quantities.arithmetic import norm
from agora.metrics.quantities.samples import facing, offsets, pedestrians_facing, velocities

REACTION = 1.0
"""Time before a contact during which the robot could still have avoided it, s."""

AFTER = 1.0
"""Time after the contact for which the simulated robot must not touch anything, s. If the recording ends earlier, people keep their
last velocity.
"""

_STEP = 0.02  # s, time step of the simulations
_SPEEDS, _SIDEWAYS, _TURNS = 9, 5, 9  # numbers of vx, vy and omega values in the fan of twists
_HUNAVSIM_GAP = 0.02
_HUNAVSIM = "HuNavSim's code"
_SEAN = "Tsoi et al. 2022, SEAN 2.0: by the larger velocity along the contact's normal; the margin of 0.1 is ours"


@hidden
def _keeps_clear(traits, maps, state, people, present, radius, steps, command, dt):
    """Return whether robot 0 touches neither a person nor a wall during ``steps`` steps while it follows a command; see
    `_escapes`.
    """
    x, y, heading, twist = state[0], state[1], state[2], (state[3], state[4], state[5])
    steering = ZERO
    if traits.kinematics[0, 0] == ACKERMANN:
        steering = atan2(traits.wheelbase[0, 0] * twist[2] * math.copysign(ONE, twist[0]), abs(twist[0]))
    reach, round_one = traits.radius[0, 0], traits.vertices[0, 0] == 0
    for k in range(steps):
        twist, steering = next_twist(traits, 0, 0, twist, (command[0], command[1], command[2]), steering, dt)
        ex, ey, turned = move(x, y, heading, twist, dt)
        if swept_disc_walls(maps, 0, x, y, ex - x, ey - y, reach) <= ONE and (
            round_one or polygon_in_walls(maps, 0, traits, 0, 0, ex, ey, turned)
        ):
            return False
        for i in range(radius.shape[0]):
            if not (present[k, i] and present[k + 1, i]):
                continue
            px, py, qx, qy = people[k, i, 0], people[k, i, 1], people[k + 1, i, 0], people[k + 1, i, 1]
            near = swept_discs(x - px, y - py, ex - qx - (x - px), ey - qy - (y - py), reach + radius[i]) <= ONE
            if near and (round_one or point_to_polygon(traits, 0, 0, ex, ey, turned, qx, qy) <= radius[i]):
                return False
        x, y, heading = ex, ey, turned
    return True


@lean_kernel
def _escapes(traits, maps, states, people, present, radius, steps, commands, dt, escapes, first, last):
    """Write to ``escapes`` (1,) whether any command avoids contact if it starts at any of the moments ``first <= b < last``.

    ``states`` (B, 6) contains x, y, heading, vx, vy and omega at each moment. ``people`` (B, K + 1, P, 2) and ``present`` (B, K +
    1, P) contain samples every ``dt`` seconds from each moment on; ``radius`` is (P,). ``steps`` (B,) is at most K; ``commands`` is
    (C, 3).
    """
    escapes[0] = False
    for b in range(first, last):
        for c in range(commands.shape[0]):
            if _keeps_clear(traits, maps, states[b], people[b], present[b], radius, steps[b], commands[c], dt):
                escapes[0] = True
                return


def is_avoidable(recording: Recording, contact: Contact) -> bool | None:
    """Return whether the robot could have avoided contact with a pedestrian; False if the robot was stationary.

    The result is None if the contact was not with a pedestrian, or if the recording does not contain which party closed the gap or
    the robot's motion limits.
    """
    if contact.kind != ContactKind.PEDESTRIAN or contact.closing is None:
        return None
    if contact.closing.standing:
        return False
    if recording.robot is None:
        return None
    moments = _moments(recording, contact)
    if not moments.size:
        return False
    left = contact.time + AFTER - recording.time[moments]
    steps = np.ceil(left / _STEP - 1e-9).astype(np.int32)
    times = recording.time[moments, None] + _STEP * np.arange(steps.max() + 1)
    people, present = _people(recording, times)
    escapes = np.zeros(1, np.bool_)
    states = np.column_stack((recording.pose[moments], recording.twist[moments])).astype(np.float32)
    crowd = people.astype(np.float32), present, recording.pedestrian_radius.astype(np.float32)
    given = recording.robot, _store(recording.map), states, *crowd, steps, _fan(recording.robot), np.float32(_STEP)
    _escapes(*given, escapes, 0, len(moments))
    return bool(escapes[0])


def _moments(recording: Recording, contact: Contact) -> Array:
    """Return the samples within `REACTION` seconds before a contact at which a command took effect that was given while the contact
    was predictable.
    """
    time, slots = recording.time, recording.pedestrian_id == contact.party
    delay = recording.command_delay
    given = np.searchsorted(time, time - delay + 1e-9, "right") - 1  # the sample at which the command was given
    window = (time >= contact.time - REACTION + delay - 1e-9) & (time < contact.time) & (given >= 0)
    chosen = []
    for k in np.flatnonzero(window):
        seen = given[k]
        times = np.arange(time[seen], contact.time + AFTER, _STEP)
        way = _robot(recording, times)
        place, velocity = recording.pedestrian_position[seen, slots], recording.pedestrian_velocity[seen, slots]
        offset = place[:, None] + (times - time[seen])[:, None] * velocity[:, None] - way
        near = (offset * offset).sum(-1) <= (recording.radius + recording.pedestrian_radius[slots, None]) ** 2
        if (near.any(1) & recording.pedestrian_present[seen, slots]).any():
            chosen.append(k)
    return np.array(chosen, np.int64)


def _robot(recording: Recording, times: Doubles) -> Doubles:
    """Return the positions (K, 2) of the robot at the given times, extrapolated with its last velocity beyond the end of the
    recording.
    """
    time, place = recording.time, recording.pose[:, :2]
    way: Doubles = np.stack([np.interp(times, time, axis) for axis in place.T], -1)
    way += np.maximum(times - time[-1], 0.0)[:, None] * velocities(recording)[-1]
    return way


@functools.lru_cache(maxsize=4)
def _store(place: Map | None) -> Maps:
    """Return a map in the format that kernels use, or an empty plane if there is no map."""
    return build_store([Map.open((0.0, 0.0), (1.0, 1.0)) if place is None else place], [0])


def _fan(traits: RobotTraits) -> Floats:
    """(C, 3) evenly spaced twists within the robot's limits, including a stop."""
    vx = np.union1d(np.linspace(traits.min_vx[0, 0], traits.max_vx[0, 0], _SPEEDS), 0.0)
    sideways = 0.0 if traits.kinematics[0, 0] in (DIFFERENTIAL, ACKERMANN) else traits.max_vy[0, 0]
    vy = np.unique(np.linspace(-sideways, sideways, _SIDEWAYS))
    omega = np.unique(np.linspace(-traits.max_omega[0, 0], traits.max_omega[0, 0], _TURNS))
    return np.stack(np.meshgrid(vx, vy, omega, indexing="ij"), -1).reshape(-1, 3).astype(np.float32)


def _people(recording: Recording, times: Doubles) -> tuple[Doubles, Bools]:
    """Return the interpolated positions (..., P, 2) and the presence (..., P) of pedestrians at times of any shape (...)."""
    time, position = recording.time, recording.pedestrian_position
    before = np.clip(np.searchsorted(time, times, "right") - 1, 0, len(time) - 1)
    after = np.minimum(before + 1, len(time) - 1)
    share = (times - time[before]) / np.where(after > before, time[after] - time[before], 1.0)
    way = np.where((after > before)[..., None, None], position[after] - position[before], recording.pedestrian_velocity[before])
    present = recording.pedestrian_present[before] & recording.pedestrian_present[after]
    return position[before] + share[..., None, None] * way, present


def _closers(recording: Recording) -> list[Closer] | None:
    """Return which party closed the gap before each contact with a pedestrian; None if this was not recorded for every contact."""
    closings = [contact.closing for contact in recording.contacts if contact.kind == ContactKind.PEDESTRIAN]
    known = [closing.closer for closing in closings if closing is not None]
    return known if len(known) == len(closings) else None


def _count(recording: Recording, closer: Closer) -> float | None:
    closers = _closers(recording)
    return None if closers is None else float(closers.count(closer))


@metric(
    "collisions_by_robot",
    unit="",
    direction="lower",
    formula="contact events with pedestrians in which the robot, not standing still (0.05 m/s), contributed more than 0.6 of the "
    "closing speed",
    source=_SEAN,
    values="count",
    compared="all",
)
def collisions_by_robot(recording: Recording) -> float | None:
    """``collisions_by_robot``, ``collisions_by_person`` and ``collisions_by_both`` add up to ``collisions_pedestrian``."""
    return _count(recording, Closer.ROBOT)


@metric(
    "collisions_by_person",
    unit="",
    direction="lower",
    formula="contact events with pedestrians in which the robot stood still (0.05 m/s) or contributed less than 0.4 of the closing "
    "speed",
    source=_SEAN,
    values="count",
    compared="all",
)
def collisions_by_person(recording: Recording) -> float | None:
    """A robot that moves away from the person does not contribute to the closing speed."""
    return _count(recording, Closer.PERSON)


@metric(
    "collisions_by_both",
    unit="",
    direction="lower",
    formula="contact events with pedestrians in which the robot, not standing still (0.05 m/s), contributed 0.4 to 0.6 of the "
    "closing speed",
    source=_SEAN,
    values="count",
    compared="all",
)
def collisions_by_both(recording: Recording) -> float | None:
    """The number of contacts before which both parties closed the gap."""
    return _count(recording, Closer.BOTH)


@metric(
    "collisions_avoidable",
    unit="",
    direction="lower",
    formula="contact events with pedestrians, while the robot was not standing still, that a constant twist within its limits "
    "would have avoided until 1 s after the contact, if begun in the last 1 s in which the contact was foreseeable",
    source="own",
    values="count",
    compared="all",
)
def collisions_avoidable(recording: Recording) -> float | None:
    """The number of contacts that the robot could have avoided, regardless of who closed the gap; undefined if the robot's motion
    limits were not recorded.
    """
    found = [is_avoidable(recording, contact) for contact in recording.contacts if contact.kind == ContactKind.PEDESTRIAN]
    known = [value for value in found if value is not None]
    return float(sum(known)) if len(known) == len(found) else None


@metric(
    "collision_blame",
    unit="",
    direction="lower",
    formula="mean over contact events with pedestrians of the robot's share of the closing speed, 0 if it stood still (0.05 m/s)",
    source="own, from the velocities along the contact's normal as in SEAN 2.0",
    compared="all",
)
def collision_blame(recording: Recording) -> float | None:
    """The blame ranges from 0 to 1; it is undefined if there were no contacts with pedestrians, or if the party that closed the gap
    was not recorded.
    """
    closings = [contact.closing for contact in recording.contacts if contact.kind == ContactKind.PEDESTRIAN]
    shares = [0.0 if closing.standing else closing.share for closing in closings if closing is not None]
    return sum(shares) / len(shares) if shares and len(shares) == len(closings) else None


@functools.lru_cache(maxsize=4)
def _hunavsim(recording: Recording) -> tuple[int, int]:
    """Return the numbers of contact samples that HuNavSim's code attributes to the robot and to pedestrians; each touched
    pedestrian counts separately.

    The original code compares the absolute values of two bearings. It swaps the arguments of the arc tangent for the robot's
    bearing, so a pedestrian straight ahead has a bearing of 90 degrees. This function compares absolute angles through their
    cosines, in the opposite order. Different bearings count only if the speeds differ. Equal bearings count only if the speeds are
    equal, and then they count for both parties.
    """
    distance = offsets(recording)[2]
    sample, column = np.nonzero(distance - recording.radius - recording.pedestrian_radius < _HUNAVSIM_GAP)
    x, y, _ = (part[sample, column] for part in offsets(recording))
    cosine, sine = (part[sample] for part in facing(recording))
    across = cosine * y - sine * x  # D times the cosine of the robot's bearing with swapped arguments
    cosine, sine = (part[sample, column] for part in pedestrians_facing(recording))
    ahead = -(cosine * x + sine * y)  # D times the cosine of the pedestrian's bearing
    speed, walking = norm(recording.twist[sample, :2]), norm(recording.pedestrian_velocity[sample, column])
    both = (ahead == across) & (speed == walking)
    robot, person = (ahead > across) & (speed != walking), (ahead < across) & (speed != walking)
    return int(np.count_nonzero(robot | both)), int(np.count_nonzero(person | both))


@metric(
    "collisions_by_robot.hunavsim",
    unit="",
    direction="lower",
    formula="number of samples with D - r_robot - r_pedestrian < 0.02 m, per pedestrian, in which the robot's bearing from the "
    "pedestrian is smaller than the pedestrian's bearing from the robot",
    source=f"{_HUNAVSIM}, robot_on_person_collision",
    values="count",
    compared="all",
    walls="ignored",
)
def collisions_by_robot_hunavsim(recording: Recording) -> float:
    """Defects of the original: it counts samples instead of events, and swaps the arguments of the arc tangent for the robot's
    bearing.
    """
    return float(_hunavsim(recording)[0])


@metric(
    "collisions_by_person.hunavsim",
    unit="",
    direction="lower",
    formula="number of samples with D - r_robot - r_pedestrian < 0.02 m, per pedestrian, in which the pedestrian's bearing from "
    "the robot is smaller than the robot's bearing from the pedestrian",
    source=f"{_HUNAVSIM}, person_on_robot_collision",
    values="count",
    compared="all",
    walls="ignored",
)
def collisions_by_person_hunavsim(recording: Recording) -> float:
    """Defects of the original: it counts samples instead of events, and swaps the arguments of the arc tangent for the robot's
    bearing.
    """
    return float(_hunavsim(recording)[1])
