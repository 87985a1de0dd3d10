"""Cards with places that only the robot or one pedestrian can pass at a time."""

from __future__ import annotations

import math

import numpy as np

from agora.core.recording import Recording
from agora.interfaces import Range, Situation, card
from agora.maps.doors import Door, with_door
from agora.maps.grid import Map
from agora.seeds import Stream
from agora.tasks.cards.card import pose, walker
from agora.tasks.cards.passing import hallway
from agora.tasks.cards.predicates import between, changed_order, first_inside, head_on, met
from agora.tasks.cards.shapes import box, door, place

DOOR = Range(0.9, 1.2, "m", "width of the door")
SPEED = Range(0.7, 1.2, "m/s", "speed of the pedestrians")

_STANDS = (3600.0,)
_TAKES = 2.0  # time that a lift door takes to open, s


@card(
    "Narrow hallway",
    figure="7j",
    tests="Whether the robot recognises that the hallway is too narrow for two, and waits outside or backs out instead of "
    "blocking the hallway.",
    leaves_out="Negotiating who goes back.",
    intended="One waits in the room until the other has passed.",
    happens="They move towards each other or pass each other less than 3 m apart.",
    measures=("stalled_time", "time_to_goal", "closest_pedestrian_distance_min"),
    parameters={
        "width": Range(1.0, 1.5, "m", "width of the hallway, which is too narrow for two"),
        "speed": SPEED,
        "wait": Range(0.0, 2.0, "s", "time from the robot's start to the pedestrian's start"),
    },
)
def narrow_hallway(stream: Stream, width: float, speed: float, wait: float) -> Situation:
    """A hallway between two rooms, with the robot at one end and the pedestrian at the other."""
    return Situation(
        map=hallway("narrow_hallway", 6.0, width),
        start=pose(-2.2, 0.0),
        goal=pose(8.0, 0.0),
        people=(walker((7.5, 0.0), (-0.6, 0.0), (-0.8, 1.5), speed=speed, waits=(wait,)),),
        happened=lambda recording: head_on(recording, 1, 3.0) or changed_order(recording, 1, (1.0, 0.0), 3.0),
        area=(box(0.0, -width / 2, 6.0, width / 2),),
        timeout=90.0,
    )


def _two_rooms(name: str, width: float) -> Map:
    """Return two adjacent rooms of 5 x 5 m with a door between them at (0, 0)."""
    return place(name, (-5.0, -2.5, 5.0, 2.5), *door(0.0, -2.5, 2.5, 0.0, width))


@card(
    "Narrow doorway",
    figure="7k",
    tests="Right of way at a door that is wide enough for only one.",
    leaves_out="Doors that have to be opened.",
    intended="One makes room and lets the other through.",
    happens="Both are in the doorway within 8 s of each other, and come within 3 m.",
    measures=("stalled_time", "closest_pedestrian_distance_min", "time_to_goal"),
    parameters={
        "door": DOOR,
        "speed": SPEED,
        "start": Range(2.0, 2.6, "m", "distance of the pedestrian's start from the door; the robot starts at 3 m"),
    },
)
def narrow_doorway(stream: Stream, door: float, speed: float, start: float) -> Situation:
    """Robot and pedestrian approach the door from opposite sides."""
    area = box(-0.6, -door / 2, 0.6, door / 2)
    return Situation(
        map=_two_rooms("narrow_doorway", door),
        start=pose(-3.0, 0.0),
        goal=pose(3.5, 0.0),
        people=(walker((start, 0.0), (-0.9, 0.0), (-4.2, 1.2), speed=speed),),
        happened=lambda recording: between(recording, 1, area) <= 8.0 and met(recording, 1, 3.0),
        area=(area,),
    )


def _suite_of_rooms(name: str, width: float) -> Map:
    """Return a room of 6 x 5 m, a corridor of 12 x 2.4 m south of the room, and a door between them at (0, 0)."""
    room = [(-6.0, 0.2, -3.0, 5.0), (3.0, 0.2, 6.0, 5.0), (-6.0, 0.0, -width / 2, 0.2), (width / 2, 0.0, 6.0, 0.2)]
    return place(name, (-6.0, -2.4, 6.0, 5.0), *room)


@card(
    "Entering a room",
    figure="7l",
    tests="Whether the robot lets people out before it enters, and finds a place among the people inside.",
    leaves_out="Knocking, doors that must be opened.",
    intended="The robot waits next to the door; people who leave go first.",
    happens="Both are in the doorway within 8 s of each other, and come within 3 m.",
    measures=("stalled_time", "closest_pedestrian_distance_min", "personal_space_compliance.igibson"),
    parameters={
        "door": DOOR,
        "speed": SPEED,
        "inside": Range(1, 3, "", "number of people who stay in the room", whole=True),
        "wait": Range(0.0, 1.5, "s", "time until the first person leaves"),
    },
)
def entering_room(stream: Stream, door: float, speed: float, inside: int, wait: float) -> Situation:
    """The robot comes along the corridor; one pedestrian leaves the room, and other pedestrians stand inside."""
    area = box(-door / 2, -0.5, door / 2, 0.8)
    leaver = walker((0.0, 3.2), (0.0, 0.6), (0.0, -1.2), (5.0, -1.2), speed=speed, waits=(wait,))
    seats = ((-2.0, 4.2), (2.2, 3.6), (2.0, 1.6))
    others = [walker(seat, waits=_STANDS, heading=math.atan2(2.5 - seat[1], -seat[0])) for seat in seats[:inside]]
    return Situation(
        map=_suite_of_rooms("entering_room", door),
        start=pose(-3.5, -1.2),
        goal=pose(-1.2, 2.4, math.pi / 2),
        people=(leaver, *others),
        happened=lambda recording: between(recording, 1, area) <= 8.0 and met(recording, 1, 3.0),
        area=(area,),
    )


@card(
    "Leaving a room",
    figure="7m",
    tests="Whether the robot leaves carefully and makes room for people who enter.",
    leaves_out="Doors that have to be opened.",
    intended="The first to arrive goes first; if both arrive at the same time, the one that is leaving goes first.",
    happens="Both are in the doorway within 8 s of each other, and come within 3 m.",
    measures=("stalled_time", "closest_pedestrian_distance_min", "time_to_collision_min"),
    parameters={
        "door": DOOR,
        "speed": SPEED,
        "wait": Range(0.0, 1.0, "s", "time until the pedestrian starts"),
    },
)
def exiting_room(stream: Stream, door: float, speed: float, wait: float) -> Situation:
    """The robot is in the room; the pedestrian comes along the corridor and enters the room."""
    area = box(-door / 2, -0.5, door / 2, 0.8)
    return Situation(
        map=_suite_of_rooms("exiting_room", door),
        start=pose(0.0, 3.0, -math.pi / 2),
        goal=pose(-4.0, -1.2, math.pi),
        people=(walker((2.0, -1.2), (0.0, -1.2), (0.0, 0.7), (2.0, 3.5), speed=speed, waits=(wait,)),),
        happened=lambda recording: between(recording, 1, area) <= 8.0 and met(recording, 1, 3.0),
        area=(area,),
    )


def _lift(name: str, cabin: float, width: float, opens: float, stays: float) -> Map:
    """Return a lobby of 7 x 4 m with a square lift cabin to the north; the cabin's door at (0, 0) is initially closed."""
    half, sill = cabin / 2, 0.15
    walls = [(-3.5, sill, -half, cabin + sill), (half, sill, 3.5, cabin + sill)]
    leaves = Door(np.array([(-width / 2, sill / 2), (width / 2, sill / 2)]), opens=opens, closes=opens + stays, takes=_TAKES)
    around = place(name, (-3.5, -4.0, 3.5, cabin + sill), *walls, (-3.5, 0.0, -width / 2, sill), (width / 2, 0.0, 3.5, sill))
    return with_door(around, leaves)


_LIFT = {
    "cabin": Range(1.7, 2.2, "m", "side length of the elevator cabin"),
    "door": Range(0.9, 1.1, "m", "width of the elevator door"),
    "speed": SPEED,
    "opens": Range(1.0, 4.0, "s", "time until the door begins to open"),
    "stays": Range(14.0, 20.0, "s", "time until the door closes again, unless it is blocked"),
}
_NO_BUTTON = "Calling the elevator: once the door has closed, it stays closed."


@card(
    "Entering an elevator",
    figure="7n",
    tests="Whether the robot lets people out first and then enters and stands next to the people who stay.",
    leaves_out=_NO_BUTTON,
    intended="The robot waits next to the door until everyone who gets out has left.",
    happens="The first person who gets out and the robot go through the door within 15 s of each other, and come within 3 m.",
    measures=("stalled_time", "closest_pedestrian_distance_min", "time_to_goal"),
    parameters={
        **_LIFT,
        "leave": Range(1, 2, "", "number of people who get out", whole=True),
        "stay": Range(0, 1, "", "number of people who stay inside", whole=True),
    },
)
def entering_elevator(
    stream: Stream, cabin: float, door: float, speed: float, opens: float, stays: float, leave: int, stay: int
) -> Situation:
    """The robot waits in the lobby in front of the door; people who leave the lift start walking once the door is open."""
    area = box(-door / 2, -0.5, door / 2, 0.5)
    spots = ((0.0, 0.65), (0.0, 1.3))
    out = [
        walker(spot, (0.0, -1.0), (2.6 - n, -2.6 - 0.7 * n), speed=speed, waits=(opens + _TAKES + 1.2 * n,), heading=-math.pi / 2)
        for n, spot in enumerate(spots[:leave])
    ]
    rest = [walker((cabin / 2 - 0.35, cabin - 0.2), waits=_STANDS, heading=-math.pi / 2)][:stay]

    def happened(recording: Recording) -> bool:
        robot, person = first_inside(recording, 1, area)
        return math.isfinite(robot) and math.isfinite(person) and abs(robot - person) <= 15.0 and met(recording, 1, 3.0)

    return Situation(
        map=_lift("entering_elevator", cabin, door, opens, stays),
        start=pose(-0.8, -3.3, math.pi / 2),
        goal=pose(-cabin / 2 + 0.6, cabin / 2 + 0.15, math.pi / 2),
        people=(*out, *rest),
        happened=happened,
        area=(area,),
    )


@card(
    "Leaving an elevator",
    figure="7o",
    tests="Whether the robot leaves in time past people who wait in front of the door.",
    leaves_out=_NO_BUTTON,
    intended="People outside wait next to the door for some time; the robot leaves immediately.",
    happens="The robot is in the doorway before the first waiting person, and comes within 1.6 m of that person.",
    measures=("time_to_goal", "stalled_time", "closest_pedestrian_distance_min"),
    parameters={
        **_LIFT,
        "waiting": Range(1, 2, "", "number of people who wait outside", whole=True),
        "beside": Range(0.55, 0.75, "m", "lateral distance of the waiting people from the middle of the door"),
        "patience": Range(6.0, 10.0, "s", "time from the opening of the door until the first person enters"),
    },
)
def exiting_elevator(
    stream: Stream,
    cabin: float,
    door: float,
    speed: float,
    opens: float,
    stays: float,
    waiting: int,
    beside: float,
    patience: float,
) -> Situation:
    """The robot is in the cabin; people wait on both sides in front of the door."""
    area = box(-door / 2, -0.5, door / 2, 0.5)
    people = [
        walker(
            (side * (beside + 0.05), -1.0),
            (0.0, -0.4),
            (side * (cabin / 2 - 0.4), cabin - 0.3),
            speed=speed,
            waits=(opens + _TAKES + patience + 1.5 * n,),
            heading=math.pi / 2,
        )
        for n, side in enumerate((1.0, -1.0)[:waiting])
    ]

    def happened(recording: Recording) -> bool:
        robot, person = first_inside(recording, 1, area)
        return robot < person and met(recording, 1, 1.6)

    return Situation(
        map=_lift("exiting_elevator", cabin, door, opens, stays),
        start=pose(0.0, cabin / 2, -math.pi / 2),
        goal=pose(0.0, -3.2, -math.pi / 2),
        people=tuple(people),
        happened=happened,
        area=(area,),
    )
