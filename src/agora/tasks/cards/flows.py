"""Streams of people through bottlenecks and junctions: archetypes from robot_sf's scenario sets, with our own numbers."""

from __future__ import annotations

import math

from agora.core.recording import Recording
from agora.interfaces import Range, Situation, card
from agora.seeds import Stream
from agora.tasks.cards.card import pose, walker
from agora.tasks.cards.crowds import draw_speed
from agora.tasks.cards.predicates import between, inside, meetings
from agora.tasks.cards.shapes import box, door, junction, place

ORIGIN = "robot_sf, scenario archetypes"
PEOPLE = Range(3, 7, "", "number of pedestrians", whole=True)
SPEED = Range(0.8, 1.2, "m/s", "mean speed of the pedestrians")


@card(
    "Bottleneck",
    origin=ORIGIN,
    tests="Going through an opening with others in the same direction.",
    leaves_out="Pressure of a dense crowd.",
    intended="The robot waits for its turn.",
    happens="The robot is in the opening within 4 s of a pedestrian.",
    measures=("stalled_time", "time_to_goal", "closest_pedestrian_distance_min"),
    parameters={"people": PEOPLE, "opening": Range(1.1, 1.8, "m", "width of the opening"), "speed": SPEED},
)
def bottleneck(stream: Stream, people: int, opening: float, speed: float) -> Situation:
    """All people walk from the west room to the east room, with the robot among them."""
    area = box(-1.0, -opening / 2, 1.0, opening / 2)
    walkers = []
    for n in range(people):
        side = 1.0 if n % 2 else -1.0
        start = (-3.2 - 0.8 * (n // 2), side * float(stream.uniform(0.9, 1.8)))
        end = (4.6 - 0.7 * (n // 2), side * 1.9)
        walkers.append(walker(start, (-0.5, 0.0), (0.7, 0.0), end, speed=draw_speed(stream, speed), tolerance=0.5))

    def happened(recording: Recording) -> bool:
        through = inside(recording.pose[:, :2], area).any()
        return bool(through) and any(between(recording, int(k), area) <= 4.0 for k in recording.pedestrian_id)

    return Situation(
        map=place("bottleneck", (-6.5, -2.5, 5.5, 2.5), *door(0.0, -2.5, 2.5, 0.0, opening, thickness=0.8)),
        start=pose(-3.6, 0.0),
        goal=pose(4.0, 0.0),
        people=tuple(walkers),
        happened=happened,
        area=(area,),
    )


@card(
    "Merging",
    origin=ORIGIN,
    tests="Whether the robot and a stream of people interleave where their paths merge.",
    leaves_out="Lanes with right of way.",
    intended="The robot adapts its speed before the junction and joins in a gap.",
    happens="The robot is in the junction within 3 s of a pedestrian.",
    measures=("time_to_collision_min", "velocity_average", "jerk_average"),
    parameters={"people": PEOPLE, "width": Range(2.4, 3.2, "m", "width of the corridors"), "speed": SPEED},
)
def merging(stream: Stream, people: int, width: float, speed: float) -> Situation:
    """The robot drives straight east; people come from the south and turn east."""
    walkers = []
    for n in range(people):
        x, y = float(stream.uniform(-0.4, 0.4)), -2.6 - 0.8 * n
        walkers.append(walker((x, y), (0.3, -0.1), (9.2, -0.1), speed=draw_speed(stream, speed), tolerance=0.6))
    area = box(-width / 2, -width / 2, width / 2 + 1.0, width / 2)
    return Situation(
        map=junction("merging", 9.5, width, width, arms="ews"),
        start=pose(-4.0, 0.0),
        goal=pose(6.0, 0.0),
        people=tuple(walkers),
        happened=lambda recording: any(between(recording, int(k), area) <= 3.0 for k in recording.pedestrian_id),
        area=(area,),
    )


@card(
    "T-intersection",
    origin=ORIGIN,
    tests="Turning across a stream of oncoming people, some of whom turn into the same corridor.",
    leaves_out="Lanes with right of way.",
    intended="The robot yields to the stream that it crosses, and turns.",
    happens="The robot is in the junction within 4 s of the first pedestrian, and two pedestrians come within 2.5 m.",
    measures=("time_to_collision_min", "stalled_time", "closest_pedestrian_distance_min"),
    parameters={"people": PEOPLE, "width": Range(2.4, 3.2, "m", "width of the corridors"), "speed": SPEED},
)
def t_intersection(stream: Stream, people: int, width: float, speed: float) -> Situation:
    """The robot comes from the west and turns north; people come from the east, and some continue west while others turn north."""
    walkers = []
    for n in range(people):
        lane, start = width / 2 - 0.5 - float(stream.uniform(0.0, 0.3)), 2.6 + 0.9 * n
        turns = n % 2 == 1
        route = ((0.2, lane), (0.2, 8.2)) if turns else ((-8.2, lane),)
        walkers.append(walker((start, lane), *route, speed=draw_speed(stream, speed), tolerance=0.5))
    area = box(-width / 2, -width / 2, width / 2, width / 2)
    return Situation(
        map=junction("t_intersection", 11.0, width, width, arms="ewn"),
        start=pose(-4.0, 0.0),
        goal=pose(0.0, 5.5, math.pi / 2),
        people=tuple(walkers),
        happened=lambda recording: between(recording, 1, area) <= 4.0 and meetings(recording, 2.5) >= 2,
        area=(area,),
        timeout=90.0,
    )
