"""Cards with crossing paths. The pedestrian's start is chosen so that it reaches the crossing at the same time as a robot that
drives at ``robot_speed``.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.interfaces import Range, Situation, card
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.cards.card import pose, walker
from agora.tasks.cards.predicates import between, first_inside, inside, met, track
from agora.tasks.cards.shapes import box, junction

WAY = 5.0
"""Distance from the robot's start to the crossing, m."""

ROBOT_SPEED = Range(0.4, 1.5, "m/s", "robot speed for which the encounter is timed")
SIDE = Range(0, 1, "", "1 if the pedestrian comes from the robot's left, 0 if from its right", whole=True)


def _along(angle: float, distance: float) -> tuple[float, float]:
    """Return the point at a given distance and direction from the crossing."""
    return distance * math.cos(angle), distance * math.sin(angle)


@card(
    "Intersection without gestures",
    figure="7f",
    tests="Right of way where two paths cross in the open, and whether it becomes clear early enough.",
    leaves_out="Walls that hide the pedestrian (blind corner), gestures.",
    intended="Robot or pedestrian slows down a little or adapts its path; neither stops.",
    happens="Both are in the marked area within 3 s of each other.",
    measures=("time_to_collision_min", "closest_pedestrian_distance_min", "stalled_time"),
    parameters={
        "angle": Range(60.0, 120.0, "deg", "angle between the two paths"),
        "arrival": Range(-0.5, 0.5, "s", "time from the robot's arrival at the crossing to the pedestrian's"),
        "speed": Range(0.8, 1.4, "m/s", "speed of the pedestrian"),
        "robot_speed": Range(0.9, 1.1, "m/s", ROBOT_SPEED.meaning),
        "left": SIDE,
    },
)
def intersection_no_gesture(stream: Stream, angle: float, arrival: float, speed: float, robot_speed: float, left: int) -> Situation:
    """An open floor; the paths cross in the middle."""
    turn = math.radians(angle) * (-1.0 if left else 1.0)
    start, end = _along(turn + math.pi, speed * (WAY / robot_speed + arrival)), _along(turn, 6.5)
    area = box(-1.2, -1.2, 1.2, 1.2)
    return Situation(
        map=Map.open((-8.0, -9.8), (8.0, 9.8), resolution=0.05, name="intersection_no_gesture"),
        start=pose(-WAY, 0.0),
        goal=pose(WAY, 0.0),
        people=(walker(start, end, speed=speed),),
        happened=lambda recording: between(recording, 1, area) <= 3.0,
        area=(area,),
    )


_JUNCTION = {
    "width": Range(2.0, 3.5, "m", "width of both corridors"),
    "speed": Range(0.9, 1.3, "m/s", "speed of the pedestrian"),
    "robot_speed": Range(0.9, 1.1, "m/s", ROBOT_SPEED.meaning),
}


@card(
    "Intersection, the pedestrian waits",
    figure="7g",
    tests="Whether the robot accepts the right of way without delay.",
    leaves_out="The gesture itself: a robot can see that the pedestrian has stopped, but not that it beckons.",
    intended="The pedestrian waits at the edge of the crossing for some seconds, and walks after the robot has crossed.",
    happens="The robot is in the crossing while the pedestrian waits at its edge.",
    measures=("stalled_time", "time_to_goal", "closest_pedestrian_distance_min"),
    parameters={
        **_JUNCTION,
        "wait": Range(2.0, 4.0, "s", "time for which the pedestrian still waits when the robot should reach the crossing"),
    },
    conflict=False,
)
def intersection_wait(stream: Stream, width: float, speed: float, robot_speed: float, wait: float) -> Situation:
    """The pedestrian reaches the edge of the crossing two seconds before the robot reaches the middle."""
    edge = -(width / 2 + 0.4)
    early = WAY / robot_speed - 2.0
    area = box(-width / 2, -width / 2, width / 2, width / 2)

    def happened(recording: Recording) -> bool:
        place = track(recording, 1)
        stands = np.hypot(*np.gradient(place, axis=0).T) < 0.01
        waiting = stands & (np.abs(place[:, 1] - edge) < 0.7)
        return bool((waiting & inside(recording.pose[:, :2], area)).any()) and first_inside(recording, 1, area)[1] > 0

    return Situation(
        map=junction("intersection_wait", 8.0, width, width),
        start=pose(-WAY, 0.0),
        goal=pose(WAY, 0.0),
        people=(walker((0.0, edge - speed * early), (0.0, edge), (0.0, 6.0), speed=speed, waits=(0.0, 2.0 + wait)),),
        happened=happened,
        area=(area,),
    )


@card(
    "Intersection, the pedestrian proceeds",
    figure="7h",
    tests="Whether the robot yields to a pedestrian that does not yield.",
    leaves_out="The gesture itself.",
    intended="The pedestrian goes first without looking; the robot slows down or stops and continues after it.",
    happens="Both are in the crossing within 3 s of each other, and the pedestrian no more than 1.5 s after the robot.",
    measures=("time_to_collision_min", "closest_pedestrian_distance_min", "collisions_pedestrian"),
    parameters={**_JUNCTION, "arrival": Range(-0.8, 0.2, "s", "time from the robot's arrival at the crossing to the pedestrian's")},
    sees_robots=False,
)
def intersection_proceed(stream: Stream, width: float, speed: float, robot_speed: float, arrival: float) -> Situation:
    """Two corridors; the pedestrian, who does not see the robot, comes from the south."""
    area = box(-width / 2, -width / 2, width / 2, width / 2)

    def happened(recording: Recording) -> bool:
        robot, person = first_inside(recording, 1, area)
        return between(recording, 1, area) <= 3.0 and person <= robot + 1.5

    return Situation(
        map=junction("intersection_proceed", 8.0, width, width),
        start=pose(-WAY, 0.0),
        goal=pose(WAY, 0.0),
        people=(walker((0.0, -speed * (WAY / robot_speed + arrival)), (0.0, 6.5), speed=speed),),
        happened=happened,
        area=(area,),
    )


@card(
    "Blind corner",
    figure="7i",
    tests="The robot's speed and choice of side at a corner that may hide a pedestrian.",
    leaves_out="Mirrors, sound; rounded corners.",
    intended="The robot takes the corner slowly and wide; the two pass each other after it.",
    happens="Both are at the corner within 4 s of each other, and come within 2.5 m.",
    measures=("time_to_collision_min", "velocity_max", "closest_pedestrian_distance_min"),
    parameters={
        "width": Range(2.2, 3.2, "m", "width of both corridors; the narrower they are, the later the two see each other"),
        "arrival": Range(-0.7, 0.7, "s", "time from the robot's arrival at the corner to the pedestrian's"),
        "speed": Range(0.8, 1.3, "m/s", "speed of the pedestrian"),
        "robot_speed": Range(0.9, 1.1, "m/s", ROBOT_SPEED.meaning),
    },
)
def blind_corner(stream: Stream, width: float, arrival: float, speed: float, robot_speed: float) -> Situation:
    """The robot comes from the west and turns south, the pedestrian comes from the south and turns west."""
    area = box(-width / 2 - 1.0, -width / 2 - 1.0, width / 2, width / 2)
    away = speed * (WAY / robot_speed + arrival)
    return Situation(
        map=junction("blind_corner", 8.0, width, width, arms="ws"),
        start=pose(-WAY, 0.0),
        goal=pose(0.0, -WAY, -math.pi / 2),
        people=(walker((0.0, -away), (0.0, 0.0), (-7.2, 0.0), speed=speed, tolerance=0.5),),
        happened=lambda recording: between(recording, 1, area) <= 4.0 and met(recording, 1, 2.5),
        area=(area,),
    )
