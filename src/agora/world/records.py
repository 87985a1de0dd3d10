"""Records beside those of `agora.core.state`: where an episode stands, contact events, recordings, forces from outside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agora.core.state import Bools, Doubles, Floats, Ints

RUNNING = -1
"""Value of `Status.outcome` while a robot is under way."""

END_PEDESTRIAN, END_WALL, END_ROBOT, END_OUT_OF_MAP = 1, 2, 4, 8
"""Bits of `Rules.ends`: what ends a robot's episode; what does not is counted."""
EVERY_CONTACT = END_PEDESTRIAN | END_WALL | END_ROBOT | END_OUT_OF_MAP


ADDED, IN_PLACE = 1, 2
"""Values of `Fed.how`."""


class Rules(NamedTuple):
    """What is the same for every world of a batch; arrays of one element, so that a kernel bound to them sees changes.

    Attributes:
        ends: (1,) sum of the END bits.
        remove: (1,) 1 where robots that have ended leave the world, 0 where they stay.
    """

    ends: Ints
    remove: Ints


class Status(NamedTuple):
    """Where the episodes of W worlds with R robots stand.

    Attributes:
        key: (W,) key of the world's stream for random waypoints.
        step: (W,) physics steps since the start of the episode; time_limit: (W,) step at which it times out.
        done: (W,) every robot has ended; the world is frozen.
        outcome: (W, R) RUNNING or the number of an `Outcome`; end_step: (W, R) step at which it was decided.
        goal_x, goal_y, goal_heading: (W, R); tolerance: (W, R) m; heading_tolerance: (W, R) rad, pi or more for any heading.
        goals_left: (W, R) goals after the current one; arrived: (W, R) the current one is reached and the next is to be set.
        clipped: (W, R) commands that were beyond the limits.
        delay: (W, R) steps between a command and its effect; queue: (W, R, D, 3) commands under way.
        touching_pedestrian: (W, R, P), touching_wall: (W, R), touching_robot: (W, R, R) at time t.
        events: (W,) contact events since they were last collected; event_step, event_kind, event_robot, event_party: (W, E);
            event_fraction, event_x, event_y: (W, E) moment within the step and place of the robot.
            event_here, event_there: (W, E, 6) x, y, heading of the robot and of the party at both ends of the step, not of walls.
    """

    key: NDArray[np.uint64]
    step: Ints
    time_limit: Ints
    done: Bools
    outcome: Ints
    end_step: Ints
    goal_x: Floats
    goal_y: Floats
    goal_heading: Floats
    tolerance: Floats
    heading_tolerance: Floats
    goals_left: Ints
    arrived: Bools
    clipped: Ints
    delay: Ints
    queue: Floats
    touching_pedestrian: Bools
    touching_wall: Bools
    touching_robot: Bools
    events: Ints
    event_step: Ints
    event_kind: Ints
    event_robot: Ints
    event_party: Ints
    event_fraction: Floats
    event_x: Floats
    event_y: Floats
    event_here: Floats
    event_there: Floats


class Replay(NamedTuple):
    """Recorded trajectories of pedestrian slots; a slot with ``last < first`` is simulated.

    Attributes:
        first, last: (W, P) index of the slot's first and last knot.
        cursor: (W, P) knot that was used last.
        period: (W, P) s after which the trajectory starts again, 0 for once; phase: (W, P) s by which it is ahead.
        time, x, y: knots, s and m.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    cursor: NDArray[np.int64]
    period: Doubles
    phase: Doubles
    time: Doubles
    x: Floats
    y: Floats


class Fed(NamedTuple):
    """Forces per mass from outside on simulated pedestrians, held until they are replaced.

    Attributes:
        how: (W, P) 0 for none, ADDED to what the crowd model says, or IN_PLACE of it.
        x, y: (W, P) m/s2.
        own_x, own_y: (W, P) what the crowd model alone said last, m/s2, its cap of the speed included.
    """

    how: Ints
    x: Floats
    y: Floats
    own_x: Floats
    own_y: Floats


def fed(worlds: int, slots: int) -> Fed:
    """No forces on anybody."""
    forces = [np.zeros((worlds, slots), np.float32) for _ in range(4)]
    return Fed(np.zeros((worlds, slots), np.int32), *forces)


def status(worlds: int, robots: int, slots: int, *, delay: int, events: int = 64) -> Status:
    """Status of worlds that are all done: a reset starts them."""
    each, pairs = (worlds, robots), (worlds, events)

    def floats(*shape: int) -> Floats:
        return np.zeros(shape, np.float32)

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, np.int32)

    return Status(
        key=np.zeros(worlds, np.uint64),
        step=ints(worlds),
        time_limit=ints(worlds),
        done=np.ones(worlds, np.bool_),
        outcome=np.full(each, RUNNING, np.int32),
        end_step=ints(*each),
        goal_x=floats(*each),
        goal_y=floats(*each),
        goal_heading=floats(*each),
        tolerance=floats(*each),
        heading_tolerance=floats(*each),
        goals_left=ints(*each),
        arrived=np.zeros(each, np.bool_),
        clipped=ints(*each),
        delay=ints(*each),
        queue=floats(*each, delay + 1, 3),
        touching_pedestrian=np.zeros((*each, slots), np.bool_),
        touching_wall=np.zeros(each, np.bool_),
        touching_robot=np.zeros((*each, robots), np.bool_),
        events=ints(worlds),
        event_step=ints(*pairs),
        event_kind=ints(*pairs),
        event_robot=ints(*pairs),
        event_party=ints(*pairs),
        event_fraction=floats(*pairs),
        event_x=floats(*pairs),
        event_y=floats(*pairs),
        event_here=floats(*pairs, 6),
        event_there=floats(*pairs, 6),
    )


def replay(worlds: int, slots: int, knots: int = 1) -> Replay:
    """Room for ``knots`` knots; every slot simulated."""
    shape = (worlds, slots)
    return Replay(
        first=np.zeros(shape, np.int64),
        last=np.full(shape, -1, np.int64),
        cursor=np.zeros(shape, np.int64),
        period=np.zeros(shape),
        phase=np.zeros(shape),
        time=np.zeros(knots),
        x=np.zeros(knots, np.float32),
        y=np.zeros(knots, np.float32),
    )
