"""Cards in which robot and pedestrian move on one line: towards each other, one behind the other, or one overtaking the other."""

from __future__ import annotations

from agora.interfaces import Range, Situation, card
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.cards.card import pose, walker
from agora.tasks.cards.predicates import changed_order, head_on, met, together
from agora.tasks.cards.shapes import box, corridor, place

ROOM, HALF = 3.0, 2.0
"""Length and half width of the rooms at the ends of a hallway, m."""


def hallway(name: str, length: float, width: float) -> Map:
    """Return a hallway along x from (0, 0) to (length, 0), with a room at each end for letting others pass."""
    sides = [(0.0, width / 2, length, HALF), (0.0, -HALF, length, -width / 2)] if width < 2 * HALF else []
    return place(name, (-ROOM, -HALF, length + ROOM, HALF), *sides)


def _lane(width: float, offset: float) -> float:
    """Return an offset from the middle of the hallway, limited so that there is enough room next to the wall, m."""
    return min(offset, width / 2 - 0.4)


@card(
    "Frontal approach",
    figure="7a",
    tests="How early and how clearly the robot chooses a side, and how much of the avoidance it leaves to the pedestrian.",
    leaves_out="More than one pedestrian; gestures and gaze.",
    intended="Both keep to one side early and pass without stopping; if there is no room for two, one waits in a room.",
    happens="They move towards each other or pass each other less than 3 m apart.",
    measures=("closest_pedestrian_distance_min", "time_to_collision_min", "path_length_ratio"),
    parameters={
        "width": Range(1.5, 4.0, "m", "width of the hallway"),
        "offset": Range(0.0, 0.5, "m", "lateral distance of the pedestrian from the robot's line"),
        "speed": Range(0.8, 1.6, "m/s", "speed of the pedestrian"),
    },
)
def frontal_approach(stream: Stream, width: float, offset: float, speed: float) -> Situation:
    """The pedestrian comes from the other end and walks to the robot's end."""
    y = _lane(width, offset)
    return Situation(
        map=hallway("frontal_approach", 8.0, width),
        start=pose(-1.5, 0.0),
        goal=pose(9.5, 0.0),
        people=(walker((10.3, y), (-2.5, y), speed=speed),),
        happened=lambda recording: head_on(recording, 1, 3.0) or changed_order(recording, 1, (1.0, 0.0), 3.0),
        area=(box(1.0, -width / 2, 7.0, width / 2),),
    )


@card(
    "Pedestrian obstruction",
    figure="7b",
    tests="Whether the robot finds a path around a pedestrian that stands still or strolls in its path, at a comfortable distance.",
    leaves_out="Asking the pedestrian to make room.",
    intended="The robot goes around; the pedestrian is not disturbed.",
    happens="The robot comes within 1.8 m of the pedestrian.",
    measures=("stalled_time", "personal_space_compliance.igibson", "path_length_ratio"),
    parameters={
        "width": Range(2.2, 4.0, "m", "width of the corridor"),
        "offset": Range(0.0, 0.3, "m", "lateral distance of the pedestrian from the robot's line"),
        "speed": Range(0.0, 0.4, "m/s", "speed of the pedestrian; below 0.05 the pedestrian stands still"),
    },
    sees_robots=False,
)
def pedestrian_obstruction(stream: Stream, width: float, offset: float, speed: float) -> Situation:
    """The pedestrian walks in the same direction, much more slowly, or stands still."""
    stands = speed < 0.05
    person = walker((5.0, offset), (13.0, offset), speed=max(speed, 0.05), waits=(3600.0,) if stands else (), heading=0.0)
    return Situation(
        map=corridor("pedestrian_obstruction", 14.0, width),
        start=pose(1.0, 0.0),
        goal=pose(12.0, 0.0),
        people=(person,),
        happened=lambda recording: met(recording, 1, 1.8),
        area=(box(4.0, -width / 2, 10.0, width / 2),),
    )


@card(
    "Pedestrian overtaking",
    figure="7c",
    tests="Whether the robot stays predictable while a pedestrian overtakes it.",
    leaves_out="Sensors with poor rear view; a robot faster than the pedestrian is not overtaken.",
    intended="The robot keeps its lane and its speed; the pedestrian passes.",
    happens="The pedestrian starts behind the robot, ends ahead of it, and is within 2.5 m as it passes.",
    measures=("acceleration_average", "closest_pedestrian_distance_min", "jerk_average"),
    parameters={
        "width": Range(2.4, 4.0, "m", "width of the corridor"),
        "behind": Range(1.2, 2.5, "m", "distance of the pedestrian's start behind the robot"),
        "speed": Range(1.7, 2.0, "m/s", "speed of the pedestrian"),
    },
)
def pedestrian_overtaking(stream: Stream, width: float, behind: float, speed: float) -> Situation:
    """The pedestrian walks on the robot's line, faster than the robot."""
    return Situation(
        map=corridor("pedestrian_overtaking", 20.0, width),
        start=pose(3.5, 0.0),
        goal=pose(17.5, 0.0),
        people=(walker((3.5 - behind, 0.0), (19.5, 0.0), speed=speed),),
        happened=lambda recording: changed_order(recording, 1, (1.0, 0.0), 2.5),
        area=(box(4.0, -width / 2, 16.0, width / 2),),
    )


@card(
    "Robot overtaking",
    figure="7d",
    tests="Side, distance and speed with which the robot passes a slower pedestrian, and how soon it cuts in.",
    leaves_out="Oncoming traffic during the manoeuvre.",
    intended="The robot passes at a distance, or stays behind if there is no room; the pedestrian keeps its pace.",
    happens="The robot starts behind the pedestrian, ends ahead of it, and is within 2.5 m as it passes.",
    measures=("closest_pedestrian_distance_min", "time_to_collision_min", "velocity_average"),
    parameters={
        "width": Range(2.4, 4.0, "m", "width of the corridor"),
        "headway": Range(1.5, 3.0, "m", "distance of the pedestrian's start ahead of the robot"),
        "speed": Range(0.25, 0.4, "m/s", "speed of the pedestrian"),
    },
)
def robot_overtaking(stream: Stream, width: float, headway: float, speed: float) -> Situation:
    """The pedestrian walks on the robot's line, more slowly than the robot."""
    return Situation(
        map=corridor("robot_overtaking", 20.0, width),
        start=pose(1.5, 0.0),
        goal=pose(18.0, 0.0),
        people=(walker((1.5 + headway, 0.0), (19.0, 0.0), speed=speed),),
        happened=lambda recording: changed_order(recording, 1, (1.0, 0.0), 2.5),
        area=(box(3.0, -width / 2, 16.0, width / 2),),
    )


@card(
    "Down path",
    figure="7e",
    tests="Whether the robot drives behind a pedestrian at the pedestrian's pace without crowding.",
    leaves_out="Overtaking, which has its own card.",
    intended="The robot keeps a comfortable distance, or overtakes politely if the pedestrian is slower.",
    happens="For at least 4 s both move in the same direction less than 4 m apart.",
    measures=("closest_pedestrian_distance_average", "time_in_private_zone", "velocity_average"),
    parameters={
        "width": Range(2.0, 4.0, "m", "width of the corridor"),
        "headway": Range(1.0, 2.5, "m", "distance of the pedestrian's start ahead of the robot"),
        "speed": Range(0.7, 1.0, "m/s", "speed of the pedestrian"),
    },
    conflict=False,
)
def down_path(stream: Stream, width: float, headway: float, speed: float) -> Situation:
    """Both move in the same direction at about the same speed."""
    return Situation(
        map=corridor("down_path", 20.0, width),
        start=pose(1.5, 0.0),
        goal=pose(16.0, 0.0),
        people=(walker((1.5 + headway, 0.0), (19.2, 0.0), speed=speed),),
        happened=lambda recording: together(recording, 1, 4.0) >= 4.0,
        area=(box(3.0, -width / 2, 16.0, width / 2),),
    )
