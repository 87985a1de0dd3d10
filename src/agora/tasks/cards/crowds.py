"""Cards with many people."""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.draft.people import Person
from agora.draft.placement import place as places
from agora.interfaces import Range, Situation, card
from agora.seeds import Stream
from agora.tasks.cards.card import pose, walker
from agora.tasks.cards.passing import hallway
from agora.tasks.cards.predicates import crowding, meetings
from agora.tasks.cards.shapes import box, junction, place

SPEED = Range(0.8, 1.3, "m/s", "mean speed of the pedestrians")
_SPREAD = 0.15  # m/s


def draw_speed(stream: Stream, mean: float) -> float:
    """Draw a walking speed around the mean, m/s."""
    return mean + float(stream.uniform(-_SPREAD, _SPREAD))


@card(
    "Crowd navigation",
    figure="7u",
    tests="Getting through people who walk in all directions.",
    leaves_out="Groups and standing people.",
    intended="The robot gets through without pushing and without freezing.",
    happens="At least two pedestrians come within 2.5 m.",
    measures=("success", "personal_space_compliance.igibson", "time_to_goal", "stalled_time"),
    parameters={"density": Range(0.05, 0.2, "1/m2", "number of pedestrians per area"), "speed": SPEED},
)
def crowd_navigation(stream: Stream, density: float, speed: float) -> Situation:
    """A hall of 12 x 9 m, in which each person walks back and forth between two random points."""
    hall, count = place("crowd_navigation", (-6.0, -4.5, 6.0, 4.5)), round(density * 108)
    ends = ((-5.0, -3.5, 1.5), (5.0, 3.5, 1.0))
    points = places(stream, hall, 0.4, 2 * count, apart=0.6, keep_out=ends)
    people = [walker(*_pair(a, b), speed=draw_speed(stream, speed), mode=0) for a, b in zip(points[::2], points[1::2], strict=True)]
    return Situation(
        map=hall,
        start=pose(-5.0, -3.5, 0.6),
        goal=pose(5.0, 3.5, 0.6),
        people=tuple(people),
        happened=lambda recording: meetings(recording, 2.5) >= 2,
        timeout=90.0,
    )


def _pair(start: np.ndarray, other: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Return the waypoints from the start to the other point and back."""
    a, b = (float(start[0]), float(start[1])), (float(other[0]), float(other[1]))
    return a, b, a


@card(
    "Parallel traffic",
    figure="7v",
    tests="Moving with or against a stream of people along a corridor without disturbing it.",
    leaves_out="Crossing streams.",
    intended="The robot joins a stream in its direction, or keeps to one side of an oncoming one.",
    happens="At least two pedestrians come within 2 m.",
    measures=("velocity_average", "closest_pedestrian_distance_min", "stalled_time"),
    parameters={
        "people": Range(3, 8, "", "number of pedestrians", whole=True),
        "against": Range(0.0, 1.0, "", "share of the pedestrians that walk towards the robot"),
        "speed": SPEED,
    },
)
def parallel_traffic(stream: Stream, people: int, against: float, speed: float) -> Situation:
    """A wide hallway; people who come towards the robot keep to their right."""
    opposite = round(people * against)
    walkers: list[Person] = []
    for n in range(people):
        comes = n < opposite
        across = float(stream.uniform(0.1, 1.4) if comes else stream.uniform(-1.4, 0.6))
        at = 4.0 + 1.1 * n if comes else 0.2 + 1.0 * (n - opposite)
        end = (-2.4, across) if comes else (14.4, across)
        pace = draw_speed(stream, speed if comes else 0.65)
        walkers.append(walker((at, across), end, speed=pace))
    return Situation(
        map=hallway("parallel_traffic", 12.0, 3.4),
        start=pose(-1.5, 0.0),
        goal=pose(13.0, -0.6),
        people=tuple(walkers),
        happened=lambda recording: meetings(recording, 2.0) >= 2,
        area=(box(0.0, -1.7, 12.0, 1.7),),
        timeout=90.0,
    )


@card(
    "Perpendicular traffic",
    figure="7w",
    tests="Crossing a stream of people.",
    leaves_out="Traffic lights, people who must stop for the robot.",
    intended="The robot finds a gap and crosses without making people stop.",
    happens="At least two pedestrians come within 2 m.",
    measures=("time_to_collision_min", "stalled_time", "closest_pedestrian_distance_min"),
    parameters={
        "people": Range(4, 8, "", "number of pedestrians", whole=True),
        "both": Range(0, 1, "", "1 if the pedestrians come from both sides, 0 if from one", whole=True),
        "speed": SPEED,
    },
)
def perpendicular_traffic(stream: Stream, people: int, both: int, speed: float) -> Situation:
    """A stream of people walks north along a wide corridor; the robot crosses it from one side corridor to another."""
    walkers: list[Person] = []
    for n in range(people):
        down = both and n % 2
        x = float(stream.uniform(0.2, 1.2)) * (-1.0 if down else 1.0)
        side = 1.0 if down else -1.0
        y = side * (6.8 - 1.5 * (n // 2 if both else n))
        walkers.append(walker((x, y), (x, -side * 7.2), (x, side * 7.2), speed=draw_speed(stream, speed), mode=0))
    area = box(-1.5, -1.2, 1.5, 1.2)
    return Situation(
        map=junction("perpendicular_traffic", 8.0, 2.4, 3.0),
        start=pose(-4.5, 0.0),
        goal=pose(5.5, 0.0),
        people=tuple(walkers),
        happened=lambda recording: meetings(recording, 2.0) >= 2,
        area=(area,),
    )


@card(
    "Circular crossing",
    figure="7x",
    tests="The classic test of crowd navigation: everyone crosses a circle to the opposite side.",
    leaves_out="The layout of a real place.",
    intended="Everyone gets across; nobody turns back.",
    happens="At least two pedestrians come within 2 m.",
    measures=("success", "time_to_goal", "closest_pedestrian_distance_min"),
    parameters={
        "people": Range(4, 10, "", "number of pedestrians", whole=True),
        "radius": Range(4.0, 5.0, "m", "radius of the circle"),
        "noise": Range(0.1, 0.4, "m", "maximum offset of starts and goals from the circle, along each axis"),
        "speed": SPEED,
    },
)
def circular_crossing(stream: Stream, people: int, radius: float, noise: float, speed: float) -> Situation:
    """Pedestrians start evenly spaced on a circle and walk to the opposite point."""
    walkers = []
    for n in range(people):
        angle = math.pi + (n + 1) * math.tau / (people + 1)
        direction = np.array([math.cos(angle), math.sin(angle)])
        ends = np.stack([radius * direction, -radius * direction]) + stream.uniform(-noise, noise, (2, 2))
        start, end = ((float(x), float(y)) for x, y in ends)
        walkers.append(walker(start, end, speed=draw_speed(stream, speed)))
    return Situation(
        map=place("circular_crossing", (-7.5, -7.0, 7.5, 7.0)),
        start=pose(-radius, 0.0),
        goal=pose(radius, 0.0),
        people=tuple(walkers),
        happened=lambda recording: meetings(recording, 2.0) >= 2,
        area=(box(-1.5, -1.5, 1.5, 1.5),),
    )


@card(
    "Robot crowding",
    figure="7y",
    tests="Reaction of the robot to curious people that approach from all sides and block its path.",
    leaves_out="People who touch the robot or block it on purpose.",
    intended="The robot stops, or continues slowly if there is room; when they leave, it drives on.",
    happens="Three pedestrians are within 2.2 m of the robot at the same time.",
    measures=("stalled_time", "collisions_pedestrian", "closest_pedestrian_distance_min"),
    parameters={
        "people": Range(4, 6, "", "number of curious people", whole=True),
        "near": Range(0.8, 1.1, "m", "distance from the robot at which they stop"),
        "interest": Range(8.0, 15.0, "s", "time for which they stay near the robot"),
        "speed": SPEED,
    },
)
def robot_crowding(stream: Stream, people: int, near: float, interest: float, speed: float) -> Situation:
    """People in a ring around the robot, one of them in its path, approach the robot, stay near it for some time, and go back."""
    curious = []
    for n in range(people):
        angle = n * math.tau / people + float(stream.uniform(-0.15, 0.15))
        spot = (2.3 * math.cos(angle) - 2.5, 2.3 * math.sin(angle))
        away = (3.6 * math.cos(angle) - 2.5, 3.6 * math.sin(angle))
        facing = math.remainder(angle + math.pi, math.tau)
        company = (near, 0.0, interest + 0.5 * n)
        curious.append(walker(spot, away, speed=draw_speed(stream, speed), company=company, heading=facing, reaction="curious"))
    return Situation(
        map=place("robot_crowding", (-7.0, -5.0, 7.0, 5.0)),
        start=pose(-2.5, 0.0),
        goal=pose(5.5, 0.0),
        people=tuple(curious),
        happened=lambda recording: crowding(recording, 2.2) >= 3,
    )


@card(
    "Waiting line",
    origin="Agora; requested by users of benchmarks",
    tests="Whether the robot takes its place at the end of a queue, or crosses the queue without cutting in.",
    leaves_out="Being served: the robot's task ends at its place.",
    intended="To join, the robot goes to the end of the queue; to cross, it goes around the queue or through a gap, and keeps its "
    "distance.",
    happens="To join, it ends less than 0.6 m from its place. To cross, it gets to the other side, with two people within 4 m.",
    measures=("personal_violations", "closest_pedestrian_distance_min", "path_length_ratio"),
    parameters={
        "people": Range(2, 6, "", "number of people in the queue", whole=True),
        "spacing": Range(0.8, 1.0, "m", "distance between people in the queue"),
        "service": Range(6.0, 10.0, "s", "time until the next person is served"),
        "cross": Range(0, 1, "", "1 if the robot crosses the queue, 0 if it joins the queue", whole=True),
    },
    sees_robots=False,
    conflict=False,
)
def queue(stream: Stream, people: int, spacing: float, service: float, cross: int) -> Situation:
    """People queue at a counter; from time to time the first person leaves and the others move up."""
    front = 3.2
    spots = [(0.0, front - spacing * n) for n in range(people + 1)]
    wait = service - spacing / 0.8
    line = []
    for n in range(people):
        ahead = [spots[k] for k in range(n - 1, -1, -1)]
        route = (*ahead, (2.2, front), (4.5, 1.0))
        waits = (service, *(wait for _ in ahead), 0.0)
        line.append(walker(spots[n], *route, speed=0.8, waits=waits, heading=math.pi / 2, tolerance=0.1, state="queueing"))
    end = spots[people]
    middle = spots[people // 2][1] if people > 2 else spots[0][1]
    start = pose(-4.5, middle) if cross else pose(-4.5, -2.5, 0.4)
    goal = pose(4.5, middle - 1.0) if cross else pose(*end, math.pi / 2)

    def happened(recording: Recording) -> bool:
        if cross:
            passed = recording.pose[0, 0] < -1.0 and recording.pose[-1, 0] > 1.0
            return bool(passed) and crowding(recording, 4.0) >= 2
        return float(np.hypot(*(recording.pose[-1, :2] - np.array(end)))) <= 0.6 and meetings(recording, 3.0) >= 1

    return Situation(
        map=place("queue", (-6.0, -4.0, 6.0, 4.5), (-1.5, front + 0.5, 1.5, front + 1.1)),
        start=start,
        goal=goal,
        people=tuple(line),
        happened=happened,
        area=(box(-0.4, spots[people][1] - 0.4, 0.4, front + 0.4),),
    )
