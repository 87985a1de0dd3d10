"""Describes a situation in plain sentences: what each robot and each person will do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from agora.core.state import LEAVE, LOOP, STAY, Doubles
from agora.draft.pedestrian_types import pedestrian_types
from agora.draft.people import Person
from agora.draft.scenario import MOVES, TALKS
from agora.draft.task import Task
from agora.maps.grid import Map

_ALWAYS = 3600.0  # value that means no limit in cards, s
_DIRECTIONS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")
_PEOPLE = {"adult": "an adult", "child": "a child", "elder": "an elder", "wheelchair": "in a wheelchair"}
_DOES = {
    "idle": "waits",
    "texting": "texts",
    "phone": "talks on the phone",
    "interacting": "uses the object there",
    "queueing": "queues",
    "sitting": "sits",
    "working": "works",
}
_MOVES = {
    "walking": "walks",
    "phone": "walks at half speed while it talks on the phone,",
    "texting": "walks at half speed while it texts,",
}


def direction(heading: float) -> str:
    """Return the word for a heading given in radians: east for 0, north for a quarter turn."""
    return _DIRECTIONS[round(heading / (math.pi / 4)) % 8]


def told(task: Task) -> Iterator[str]:
    """Yield a sentence for each robot and each person in a task, with positions in the frame of the map file."""
    for number, (start, goals) in enumerate(task.robots):
        who = "the robot" if len(task.robots) == 1 else f"robot {number}"
        ends = ", then ".join(f"{task.map.place(goal)}, facing {direction(goal[2])}" for goal in goals)
        yield f"{who} starts at {task.map.place(start)}, facing {direction(start[2])}, and drives to {ends}."
    everybody = task.pedestrians
    for person, name in zip(everybody, _names(everybody), strict=True):
        yield f"{name} {_deeds(person, everybody, task)}."


def _names(people: Sequence[Person]) -> list[str]:
    """Return people's names with number and type; for people without a name, return only the number and type."""
    kinds = [_PEOPLE[p.type] + ("" if p.reaction == "regular" else f", {p.reaction} of robots") for p in people]
    bare = [f"pedestrian {number}, {kind}" for number, kind in enumerate(kinds, 1)]
    return [f"{p.name} ({words})" if p.name else f"{words}," for p, words in zip(people, bare, strict=True)]


def _deeds(person: Person, everybody: Sequence[Person], task: Task) -> str:
    """Return the part of a person's sentence that follows the name."""
    here = f"{task.map.place(person.position)}, facing {direction(person.facing())}"
    way, after = _way(person, task.map, task.crowd.tolerance), _after(person)
    if person.company[0] > 0:
        distance, first, last = person.company
        return f"starts at {here} and stays {distance:.3g} m from the nearest robot from {first:.3g} to {last:.3g} s"
    if person.state_time <= 0:
        if person.waits and person.waits[0] > 0:
            return f"stands at {here}, {_for(person.waits[0])}" + (f", and then {way}" if way else "")
        if after:
            return (
                f"starts at {here}" + (f", and {way}" if way else "") + f"; with the behaviour social_states, it first waits{after}"
            )
        return f"starts at {here}, and {way}" if way else f"stands at {here} and has no waypoints"
    if way and (person.state in MOVES or person.state in _MOVES):
        pace = pedestrian_types()[person.type].running
        does = _MOVES.get(person.state, f"runs at {pace:g} times its walking speed")
        return f"starts at {here}, and {does}{_until(person)}; it {way}"
    stands = "sits" if person.state == "sitting" else "stands"
    does = _talks(person, everybody) if person.state in TALKS else "" if stands == "sits" else _DOES[person.state]
    return f"{stands} at {here}," + (f" and {does}" if does else "") + _until(person) + (f"; then it {way}" if way else "")


def _for(seconds: float) -> str:
    return "to the end" if seconds >= _ALWAYS else f"for {seconds:.3g} s"


def _until(person: Person) -> str:
    """Return the part of a sentence that says when a given state ends."""
    ends = [f"{person.state_time:.3g} s"] * (person.state_time < _ALWAYS)
    ends += [f"a robot is within {person.state_radius:g} m"] * (person.state_radius > 0)
    return f" until {' or '.join(ends) or 'the end'}"


def _after(person: Person) -> str:
    """Return the part of a sentence that says when the wait at the start ends, based on Arena's keys that only social states use;
    empty if there is no wait.
    """
    if person.habits.wait_time > 0:
        return f", for {person.habits.wait_time:g} s"
    return f", until a robot is within {person.habits.trigger_radius:g} m" if person.habits.trigger_radius > 0 else ""


def _talks(person: Person, everybody: Sequence[Person]) -> str:
    """Return the part of a sentence that describes a person's role in a conversation."""
    others = [p.name or f"pedestrian {k}" for k, p in enumerate(everybody, 1) if p.talk == person.talk and p is not person]
    names = " and ".join(filter(None, (", ".join(others[:-1]), others[-1])))
    return {"talking": f"talks with {names}", "listening": f"listens to {names}", "telling": f"tells {names} a story"}[person.state]


def _way(person: Person, map: Map, tolerance: float) -> str:
    """Return the part of a sentence that describes a person's path; empty for people without a destination."""
    points: Doubles = person.waypoints
    if (np.hypot(*(points - person.position).T) <= (person.tolerance or tolerance)).all():
        return ""
    places = [map.place(point) for point in points]
    waits = [f"{wait:.3g} s before {places[k]}" for k, wait in enumerate(person.waits[: len(places)]) if k and wait > 0]
    pauses = f", waiting {', '.join(waits)}" if waits else ""
    if len(places) == 1:
        return f"walks to {places[0]} and {'leaves' if person.mode == LEAVE else 'stays there'}{pauses}"
    ends = {LOOP: "repeatedly", STAY: "and stays there", LEAVE: "and leaves"}
    return f"walks to {', '.join(places)}, {ends.get(person.mode, 'in random order, endlessly')}{pauses}"
