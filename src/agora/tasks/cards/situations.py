"""The five social situations of SEAN 2.0 (Tsoi et al., IEEE Robot. Autom. Lett. 7(4), 2022) in one room, with our own numbers.

SEAN uses the situations to label moments of arbitrary runs; these cards create each situation deliberately, in a single room.
"""

from __future__ import annotations

import math

from agora.core.recording import Recording
from agora.interfaces import Range, Situation, card
from agora.seeds import Stream
from agora.tasks.cards.card import pose, walker
from agora.tasks.cards.company import circle
from agora.tasks.cards.predicates import between, crowding, head_on, meetings, met
from agora.tasks.cards.shapes import box, place

ORIGIN = "SEAN 2.0, social situations"
BOUNDS = (-6.0, -4.0, 6.0, 4.0)
SPEED = Range(0.8, 1.3, "m/s", "speed of the pedestrians")
SIDE = Range(0.0, 1.0, "m", "lateral distance from the middle of the room")
_GROUP = {"people": Range(2, 4, "", "number of people in the group", whole=True), "side": SIDE}


@card(
    "Cross path",
    origin=ORIGIN,
    tests="Two people, one after the other, cross the robot's path at right angles.",
    leaves_out="Oblique paths: see the intersection without gestures.",
    intended="The robot lets them pass or goes first, at a distance.",
    happens="The robot and the first person are in the marked area within 3 s of each other.",
    measures=("time_to_collision_min", "closest_pedestrian_distance_min", "stalled_time"),
    parameters={"speed": SPEED, "side": SIDE},
)
def sean_cross_path(stream: Stream, speed: float, side: float) -> Situation:
    """One pedestrian comes from the south when the robot arrives; another comes from the north a little later."""
    area = box(side - 1.0, -1.0, side + 1.0, 1.0)
    up = walker((side, -min(speed * (side + 4.5), 3.6)), (side, 3.6), speed=speed, waits=(max(0.0, side + 4.5 - 3.6 / speed),))
    down = walker((side + 1.0, 3.6), (side + 1.0, -3.6), speed=speed, waits=(2.5 + float(stream.uniform()),))
    return Situation(
        map=place("sean_cross_path", BOUNDS),
        start=pose(-4.5, 0.0),
        goal=pose(5.0, 0.0),
        people=(up, down),
        happened=lambda recording: between(recording, 1, area) <= 3.0,
        area=(area,),
    )


@card(
    "Down path",
    origin=ORIGIN,
    tests="People walk along the robot's path, one in its direction and one towards it.",
    leaves_out="Corridors: see the frontal approach.",
    intended="The robot passes the oncoming person and follows or overtakes the other.",
    happens="The robot and the first person move towards each other less than 3 m apart.",
    measures=("closest_pedestrian_distance_min", "path_length_ratio", "velocity_average"),
    parameters={
        "speed": SPEED,
        "offset": Range(-0.2, 0.2, "m", "lateral distance of the first person from the robot's line"),
    },
)
def sean_down_path(stream: Stream, speed: float, offset: float) -> Situation:
    """The first pedestrian comes from the robot's goal; the second walks ahead of the robot."""
    return Situation(
        map=place("sean_down_path", BOUNDS),
        start=pose(-4.5, 0.0),
        goal=pose(4.5, 0.0),
        people=(walker((5.5, offset), (-5.5, offset), speed=speed), walker((-3.0, 0.8), (5.4, 1.2), speed=0.7 * speed)),
        happened=lambda recording: head_on(recording, 1, 3.0),
        area=(box(-3.0, -1.2, 3.0, 1.2),),
    )


@card(
    "Empty",
    origin=ORIGIN,
    tests="Behaviour of the robot on a free path: the baseline for the other four situations.",
    leaves_out="Interaction.",
    intended="The robot goes straight to its goal.",
    happens="No person comes within 3 m, and the robot gets to the other side.",
    measures=("time_to_goal", "path_length_ratio", "velocity_average"),
    parameters={"side": SIDE},
    conflict=False,
)
def sean_empty(stream: Stream, side: float) -> Situation:
    """The room is empty."""
    return Situation(
        map=place("sean_empty", BOUNDS),
        start=pose(-4.5, side),
        goal=pose(4.5, -side),
        people=(),
        happened=lambda recording: meetings(recording, 3.0) == 0 and bool(recording.pose[-1, 0] > 2.0),
    )


@card(
    "Join group",
    origin=ORIGIN,
    tests="Stopping near people who stand together, without entering their circle.",
    leaves_out="A free place in the circle: see joining a group.",
    intended="The robot stops next to the group.",
    happens="The robot gets across the room, and two people are within 2.8 m.",
    measures=("personal_violations", "closest_pedestrian_distance_min", "path_length_ratio"),
    parameters=_GROUP,
    conflict=False,
)
def sean_join_group(stream: Stream, people: int, side: float) -> Situation:
    """The goal is on the near side of a circle of people."""
    there, mine = circle((2.0, side), people, 1.0, math.pi)
    goal = pose(mine[0] - 0.4, mine[1], 0.0)

    def happened(recording: Recording) -> bool:
        came = recording.pose[-1, 0] > 0.0 and recording.pose[0, 0] < -2.0
        return bool(came) and crowding(recording, 2.8) >= min(people, 2)

    return Situation(place("sean_join_group", BOUNDS), pose(-4.5, -side), goal, tuple(there), happened)


@card(
    "Leave group",
    origin=ORIGIN,
    tests="Leaving people who stand together.",
    leaves_out="People in the robot's path: see leaving a group.",
    intended="The robot turns away and leaves.",
    happens="The robot starts within 2.8 m of two people and gets across the room.",
    measures=("personal_violations", "closest_pedestrian_distance_min", "time_to_goal"),
    parameters=_GROUP,
    conflict=False,
)
def sean_leave_group(stream: Stream, people: int, side: float) -> Situation:
    """The robot starts at a circle of people, on the side that faces its goal."""
    there, mine = circle((-3.0, side), people, 1.0, 0.0)

    def happened(recording: Recording) -> bool:
        near = [recording.pedestrian_position[0, k] for k in range(len(recording.pedestrian_id))]
        began = sum(math.dist(place, recording.pose[0, :2]) < 2.8 for place in near) >= 2
        return began and bool(recording.pose[-1, 0] > 2.0) and met(recording, 1, 2.8)

    start = pose(mine[0] + 0.3, mine[1], math.pi)
    return Situation(place("sean_leave_group", BOUNDS), start, pose(4.5, -side), tuple(there), happened)
