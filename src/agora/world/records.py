"""Records that supplement `agora.core.state`: the status of episodes, contact events, recordings, and external forces."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agora.core.state import WP, WR, Bools, Doubles, Each, Floats, Ints, allocate

__all__ = ["END_OUT_OF_MAP", "END_PEDESTRIAN", "END_ROBOT", "END_WALL", "RUNNING"]

RUNNING = -1
"""Value of `Ends.outcome` while a robot's episode is running."""

END_PEDESTRIAN, END_WALL, END_ROBOT, END_OUT_OF_MAP = 1, 2, 4, 8
"""Bits of `WorldRules.ends`: the contacts that end a robot's episode. Other contacts are only counted."""
EVERY_CONTACT = END_PEDESTRIAN | END_WALL | END_ROBOT | END_OUT_OF_MAP


ADDED, IN_PLACE = 1, 2
"""Values of `Fed.how`."""


class WorldRules(NamedTuple):
    """Rules that all worlds of a batch share, as arrays with one element, so that a bound kernel sees changes.

    Attributes:
        ends: (1,) sum of the END bits of those kinds of contact that end an episode.
        remove: (1,) 1 if a robot leaves the world when its episode has ended, 0 if it stays.
    """

    ends: Ints
    remove: Ints


class Clock(NamedTuple):
    """The progress of the episodes of W worlds.

    Attributes:
        key: (W,) key of the world's random stream.
        step: (W,) number of physics steps since the start of the episode.
        time_limit: (W,) step at which the episode times out.
        done: (W,) whether the episodes of all robots have ended, so that the world no longer changes.
    """

    key: Annotated[NDArray[np.uint64], Each("W")]
    step: Annotated[Ints, Each("W")]
    time_limit: Annotated[Ints, Each("W")]
    done: Annotated[Bools, Each("W", True)]


class Goals(NamedTuple):
    """The goals of robots.

    Attributes:
        x: (W, R) current goal, x, m.
        y: (W, R) current goal, y, m.
        heading: (W, R) current goal, heading, rad.
        tolerance: (W, R) distance at which the goal counts as reached, m.
        heading_tolerance: (W, R) deviation from the goal heading within which the goal counts as reached, rad; pi or more accepts
            any heading.
        left: (W, R) number of remaining goals after the current one.
        arrived: (W, R) whether the current goal has been reached and the next one must be set.
    """

    x: Annotated[Floats, WR]
    y: Annotated[Floats, WR]
    heading: Annotated[Floats, WR]
    tolerance: Annotated[Floats, WR]
    heading_tolerance: Annotated[Floats, WR]
    left: Annotated[Ints, WR]
    arrived: Annotated[Bools, WR]


class Ends(NamedTuple):
    """The ends of robots' episodes.

    Attributes:
        outcome: (W, R) outcome, as RUNNING or the number of an `Outcome`.
        step: (W, R) step at which the outcome was decided.
    """

    outcome: Annotated[Ints, Each("W R", RUNNING)]
    step: Annotated[Ints, WR]


class Orders(NamedTuple):
    """Delayed commands on their way to robots.

    Attributes:
        delay: (W, R) number of steps between a command and its effect.
        queue: (W, R, D, 3) commands that have not yet taken effect.
        clipped: (W, R) number of commands that exceeded the limits.
    """

    delay: Annotated[Ints, WR]
    queue: Annotated[Floats, Each("W R D 3")]
    clipped: Annotated[Ints, WR]


class Touching(NamedTuple):
    """Current contacts of the robots, at time t.

    Attributes:
        pedestrian: (W, R, P) whether the robot touches each pedestrian; set for all discs of a rigid body if it touches any of
            them.
        wall: (W, R) whether the robot touches a wall.
        robot: (W, R, R) whether the robot touches each other robot.
    """

    pedestrian: Annotated[Bools, Each("W R P")]
    wall: Annotated[Bools, WR]
    robot: Annotated[Bools, Each("W R R")]


class Events(NamedTuple):
    """New contacts of the robots, kept until they are collected.

    Attributes:
        count: (W,) number of contacts since the last collection.
        step: (W, E) step in which the contact began.
        kind: (W, E) kind of the object touched.
        robot: (W, E) index of the robot.
        party: (W, E) slot of the pedestrian or index of the robot that was touched.
        fraction: (W, E) time of the contact within the step, as a fraction of the step.
        x: (W, E) position of the robot at the contact, x, m.
        y: (W, E) position of the robot at the contact, y, m.
        here: (W, E, 6) x, y and heading of the robot at the start and at the end of the step; not set for walls.
        there: (W, E, 6) x, y and heading of the object touched at the start and at the end of the step; not set for walls.
    """

    count: Annotated[Ints, Each("W")]  # type: ignore[assignment]
    step: Annotated[Ints, Each("W E")]
    kind: Annotated[Ints, Each("W E")]
    robot: Annotated[Ints, Each("W E")]
    party: Annotated[Ints, Each("W E")]
    fraction: Annotated[Floats, Each("W E")]
    x: Annotated[Floats, Each("W E")]
    y: Annotated[Floats, Each("W E")]
    here: Annotated[Floats, Each("W E 6")]
    there: Annotated[Floats, Each("W E 6")]


class Status(NamedTuple):
    """The status of the episodes in W worlds with R robots."""

    clock: Clock
    goals: Goals
    ends: Ends
    orders: Orders
    touching: Touching
    events: Events


class ReplayTracks(NamedTuple):
    """Recorded trajectories of pedestrian slots; a slot with ``last < first`` is simulated.

    Attributes:
        first: (W, P) index of the slot's first knot.
        last: (W, P) index of the slot's last knot.
        cursor: (W, P) index of the knot that was used last.
        period: (W, P) period with which the trajectory repeats, s; 0 if it runs only once.
        phase: (W, P) time offset by which the trajectory is ahead, s.
        aside_x: (W, P) displacement of a person who steps aside from the recorded position (`agora.engine.sidestep`), x, m.
        aside_y: (W, P) displacement of a person who steps aside from the recorded position, y, m.
        time: (N,) times of the knots, s.
        x: (N,) x of the knots, m.
        y: (N,) y of the knots, m.
    """

    first: Annotated[NDArray[np.int64], WP]
    last: Annotated[NDArray[np.int64], Each("W P", -1)]
    cursor: Annotated[NDArray[np.int64], WP]
    period: Annotated[Doubles, WP]
    phase: Annotated[Doubles, WP]
    aside_x: Annotated[Floats, WP]
    aside_y: Annotated[Floats, WP]
    time: Annotated[Doubles, Each("N")]
    x: Annotated[Floats, Each("N")]
    y: Annotated[Floats, Each("N")]


class Fed(NamedTuple):
    """External forces per unit mass on simulated pedestrians, which act until they are replaced.

    Attributes:
        how: (W, P) 0 for no force, ADDED if the force is added to the crowd model's result, IN_PLACE if it replaces that result.
        x: (W, P) force per unit mass, x, m/s2.
        y: (W, P) force per unit mass, y, m/s2.
        own_x: (W, P) last acceleration from the crowd model alone, with its speed limit applied, x, m/s2.
        own_y: (W, P) last acceleration from the crowd model alone, with its speed limit applied, y, m/s2.
    """

    how: Annotated[Ints, WP]
    x: Annotated[Floats, WP]
    y: Annotated[Floats, WP]
    own_x: Annotated[Floats, WP]
    own_y: Annotated[Floats, WP]


def fed(worlds: int, slots: int) -> Fed:
    """Return a record without forces."""
    return allocate(Fed, W=worlds, P=slots)


def status(worlds: int, robots: int, slots: int, *, delay: int, events: int = 64) -> Status:
    """Return the status of worlds that are all done until they are reset."""
    lengths = {"W": worlds, "R": robots, "P": slots, "D": delay + 1, "E": events}
    return Status(
        clock=allocate(Clock, **lengths),
        goals=allocate(Goals, **lengths),
        ends=allocate(Ends, **lengths),
        orders=allocate(Orders, **lengths),
        touching=allocate(Touching, **lengths),
        events=allocate(Events, **lengths),
    )


def replay(worlds: int, slots: int, knots: int = 1) -> ReplayTracks:
    """Return a record with room for ``knots`` knots, in which every slot is simulated."""
    return allocate(ReplayTracks, W=worlds, P=slots, N=knots)
