"""Cards in which the robot accompanies someone, or joins or leaves people who stand together."""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.core.state import Doubles
from agora.draft.people import Person
from agora.interfaces import Range, Situation, card
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.cards.card import pose, walker
from agora.tasks.cards.predicates import crowding, distance, share_near, together, track
from agora.tasks.cards.shapes import box, corridor, place

CIRCLE = {
    "people": Range(2, 5, "", "number of people in the group", whole=True),
    "radius": Range(0.9, 1.2, "m", "radius of the circle on which the people stand"),
    "turn": Range(-50.0, 50.0, "deg", "direction of the robot's place in the circle; 0 is the far side"),
}


def circle(centre: tuple[float, float], people: int, radius: float, free: float, group: int = 0) -> tuple[list[Person], Doubles]:
    """Return people who stand evenly spaced on a circle and face its centre, and the pose of the place at angle ``free``, which is
    left empty.

    The circle is the p-space of Kendon's F-formations; the shared space in the middle (o-space) stays empty.
    """
    angles = free + np.arange(1, people + 1) * math.tau / (people + 1)
    spots = np.array(centre) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    there = [
        walker(
            (float(x), float(y)),
            waits=(3600.0,),
            heading=float(math.remainder(a + math.pi, math.tau)),
            group=group,
            state="talking",
        )
        for (x, y), a in zip(spots, angles, strict=True)
    ]
    mine = (centre[0] + radius * math.cos(free), centre[1] + radius * math.sin(free))
    return there, pose(*mine, math.remainder(free + math.pi, math.tau))


@card(
    "Joining a group",
    figure="7p",
    tests="Whether the robot approaches its place in a circle of people from outside, not through the middle.",
    leaves_out="People who make room: the robot's place in the circle is already free.",
    intended="The robot goes around the group to the gap and stops there; no person has to move.",
    happens="The robot ends less than 0.6 m from its place, and at least two people of the group were near it at the same time.",
    measures=("personal_violations", "closest_pedestrian_distance_min", "path_length_ratio"),
    parameters=CIRCLE,
)
def join_group(stream: Stream, people: int, radius: float, turn: float) -> Situation:
    """People talk in the middle of a room; the gap in their circle is on the side away from the robot."""
    there, mine = circle((2.0, 0.0), people, radius, math.radians(turn))

    def happened(recording: Recording) -> bool:
        arrived = float(np.hypot(*(recording.pose[-1, :2] - mine[:2]))) <= 0.6
        return arrived and crowding(recording, 2.0 * radius + 0.6) >= 2

    return Situation(
        map=place("join_group", (-5.0, -4.0, 6.0, 4.0)),
        start=pose(-4.0, 0.0),
        goal=mine,
        people=tuple(there),
        happened=happened,
        area=(_round((2.0, 0.0), radius + 0.5),),
    )


@card(
    "Leaving a group",
    figure="7q",
    tests="Whether the robot backs out of a circle of people and goes around it, not through the middle.",
    leaves_out="Saying goodbye.",
    intended="The robot turns away from the circle and goes around it; no person has to move.",
    happens="The robot starts among two or more people and ends more than 2.5 m from all people.",
    measures=("personal_violations", "closest_pedestrian_distance_min", "path_length_ratio"),
    parameters=CIRCLE,
)
def leave_group(stream: Stream, people: int, radius: float, turn: float) -> Situation:
    """The robot stands in the circle of people; its goal is behind the people on the opposite side."""
    there, mine = circle((-2.0, 0.0), people, radius, math.pi + math.radians(turn))

    def happened(recording: Recording) -> bool:
        near = [distance(recording, int(person)) for person in recording.pedestrian_id]
        among = [d for d in near if d[0] <= 2.0 * radius + 0.3]
        return len(among) >= 2 and all(d[-1] > 2.5 for d in near)

    return Situation(
        map=place("leave_group", (-6.0, -4.0, 5.0, 4.0)),
        start=mine,
        goal=pose(4.0, 0.0),
        people=tuple(there),
        happened=happened,
        area=(_round((-2.0, 0.0), radius + 0.5),),
    )


def _round(centre: tuple[float, float], radius: float) -> Doubles:
    angles = np.linspace(0.0, math.tau, 24, endpoint=False)
    return np.array(centre) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _winding(name: str) -> Map:
    """Return a room with a wall that people have to walk around."""
    return place(name, (-1.0, -4.0, 12.0, 4.0), (5.4, -4.0, 5.7, 1.0))


@card(
    "Following somebody",
    figure="7r",
    tests="Whether the robot stays behind a pedestrian around a corner and through a stop, without crowding or losing the "
    "pedestrian.",
    leaves_out="Choosing the person to follow: a planner only gets the goal. To follow a person, use the interplanner escort.",
    intended="The robot stays one to two metres behind and stops when the pedestrian stops.",
    happens="For 70 % of the time the robot is 0.6 to 2.6 m from the pedestrian, and for at least 4 s both move in the same "
    "direction.",
    measures=("closest_pedestrian_distance_average", "time_in_private_zone", "jerk_average"),
    parameters={
        "headway": Range(1.2, 1.8, "m", "distance between robot and pedestrian at the start"),
        "speed": Range(0.6, 0.9, "m/s", "speed of the pedestrian"),
        "stop": Range(1.0, 4.0, "s", "duration of the pedestrian's stop on the way"),
    },
    conflict=False,
    oracle="behind",
)
def following(stream: Stream, headway: float, speed: float, stop: float) -> Situation:
    """The pedestrian walks around the end of a wall, stops behind it, and continues."""
    route = ((3.0, 1.0), (5.0, 2.4), (7.5, 1.5), (10.5, -2.0))
    return Situation(
        map=_winding("following"),
        start=pose(0.0, 0.0, math.atan2(1.0, 3.0)),
        goal=pose(9.5, -0.9, -0.9),
        people=(walker((headway * 0.95, headway * 0.32), *route, speed=speed, waits=(0.0, 0.0, 0.0, stop)),),
        happened=lambda recording: share_near(recording, 1, 0.6, 2.6) >= 0.7 and together(recording, 1, 2.6) >= 4.0,
    )


@card(
    "Leading somebody",
    figure="7s",
    tests="Whether the robot leads at a pace that the pedestrian can keep up with, and waits if the pedestrian falls behind.",
    leaves_out="Planners that do not look back lose the pedestrian. To lead, use the interplanner escort with role=lead.",
    intended="The robot leads the way to the goal, with the pedestrian one to two metres behind.",
    happens="For 80 % of the time and at the end they are 0.5 to 3 m apart, and the robot advanced by 5 m.",
    measures=("velocity_average", "time_to_goal", "closest_pedestrian_distance_average"),
    parameters={
        "gap": Range(0.9, 1.4, "m", "distance at which the pedestrian follows"),
        "speed": Range(0.7, 1.0, "m/s", "maximum speed of the pedestrian"),
        "width": Range(2.0, 4.0, "m", "width of the corridor"),
    },
    conflict=False,
    oracle="ahead",
)
def leading(stream: Stream, gap: float, speed: float, width: float) -> Situation:
    """The pedestrian follows the robot through a corridor, however long the robot takes."""
    follower = walker((1.0, 0.0), speed=speed, company=(gap, 0.0, 3600.0), heading=0.0)

    def happened(recording: Recording) -> bool:
        came = distance(recording, 1)[-1] <= 3.0 and recording.pose[-1, 0] - recording.pose[0, 0] >= 5.0
        return bool(came) and share_near(recording, 1, 0.5, 3.0) >= 0.8

    return Situation(
        map=corridor("leading", 14.0, width),
        start=pose(2.4, 0.0),
        goal=pose(12.0, 0.0),
        people=(follower,),
        happened=happened,
    )


@card(
    "Accompanying somebody",
    figure="7t",
    tests="Whether the robot stays at a person's side through a change of pace and a stop.",
    leaves_out="Choosing the person to accompany: a planner only gets the goal. To accompany a person, use the interplanner escort "
    "with role=accompany.",
    intended="The robot stays at the pedestrian's side, about a metre away.",
    happens="For 70 % of the time they are less than 1 m apart along the corridor and 0.4 to 2.2 m across it; both move for at "
    "least 4 s.",
    measures=("closest_pedestrian_distance_average", "velocity_average", "jerk_average"),
    parameters={
        "offset": Range(0.9, 1.2, "m", "lateral distance between the paths of robot and pedestrian"),
        "speed": Range(0.6, 0.9, "m/s", "speed of the pedestrian"),
        "stop": Range(0.0, 3.0, "s", "duration of the pedestrian's stop halfway"),
    },
    conflict=False,
    oracle="beside",
)
def accompanying(stream: Stream, offset: float, speed: float, stop: float) -> Situation:
    """Robot and pedestrian move side by side along a wide corridor."""
    y = offset / 2

    def happened(recording: Recording) -> bool:
        along, across = (track(recording, 1) - recording.pose[:, :2]).T
        beside = (np.abs(along) <= 1.0) & (np.abs(across) >= 0.4) & (np.abs(across) <= 2.2)
        return float(beside.mean()) >= 0.7 and together(recording, 1, 2.6) >= 4.0

    return Situation(
        map=corridor("accompanying", 14.0, 4.0),
        start=pose(1.5, -y),
        goal=pose(11.5, -y),
        people=(walker((1.5, y), (6.5, y), (11.5, y), speed=speed, waits=(0.0, stop)),),
        happened=happened,
        area=(box(1.0, -1.5, 12.0, 1.5),),
    )
