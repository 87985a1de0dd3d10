"""The data that the kernels read for the social states of W worlds: rules, characters, memories and spots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agora.core.state import REACTIONS, SOCIAL_STATES, Array, Bools, Floats, Ints

(
    IDLE, WALKING, RUNNING, AVOIDING, TALKING, LISTENING, TELLING, TEXTING, PHONE, INTERESTED, INTERACTING, QUEUEING, SITTING,
    WORKING, PANICKING, SURPRISED, THREATENING,
) = range(len(SOCIAL_STATES))  # fmt: skip
REGULAR, IMPASSIVE, STARTLED, CURIOUS, SCARED, HOSTILE = range(len(REACTIONS))
TURNS, STORY, STROLL = 0, 1, 2
"""Kinds of conversation: speakers take turns; one tells a story; speakers take turns while they walk on."""

FOREVER = np.float32(1e9)


class Character(NamedTuple):
    """The characters of pedestrians, drawn or given at the start; each array is (W, P).

    Attributes:
        stress_high: threshold of high stress, in [0, 1].
        energy_low: threshold of low energy, in [0, 1].
        energy_high: threshold of high energy, in [0, 1].
        social_low: threshold of low social need, in [0, 1].
        social_high: threshold of high social need, in [0, 1].
        minimum_time: minimum duration of a state, s.
        vision: range of vision, m.
        personal_radius: radius of the personal space, m.
        cosine: cosine of half the angle of vision.
        running: pace when running.
        fear: increase in stress per second near a robot, 1/s.
        curiosity: rate of approaching a visible robot, 1/s.
        chat_rate: rate of starting a conversation between two people, 1/s.
        story_rate: rate of starting to tell a story, 1/s.
        group_rate: rate of starting a conversation in the walking group, 1/s.
        stroll_rate: rate of starting a conversation while walking, 1/s.
        chat_time: typical duration of a conversation between two people, s.
        story_time: typical duration of a story, s.
        group_time: typical duration of a conversation in the walking group, s.
        stroll_time: typical duration of a conversation while walking, s.
        talk_distance: maximum distance at which a speaker can be heard, m.
    """

    stress_high: Floats
    energy_low: Floats
    energy_high: Floats
    social_low: Floats
    social_high: Floats
    minimum_time: Floats
    vision: Floats
    cosine: Floats
    personal_radius: Floats
    running: Floats
    fear: Floats
    curiosity: Floats
    chat_rate: Floats
    story_rate: Floats
    group_rate: Floats
    stroll_rate: Floats
    chat_time: Floats
    story_time: Floats
    group_time: Floats
    stroll_time: Floats
    talk_distance: Floats


class Memory(NamedTuple):
    """The memory of social states, updated at every tick; all arrays except the last two are (W, P).

    Attributes:
        since: time spent in the state so far, s.
        left: time until the state ends, s.
        weary: time until robots are of interest again, s.
        rested: time until furniture is of interest again, s.
        pace: current speed, as a multiple of the undisturbed speed.
        wanted: target pace.
        goal_x: point to walk to instead of the waypoint, x, m.
        goal_y: point to walk to instead of the waypoint, y, m.
        gaze: direction to which the pedestrian turns while standing, rad; `FOREVER` if it does not turn.
        trigger: distance at which a robot ends the initial wait, m; 0 if none.
        robot: index of the robot that the pedestrian notices; -1 if none.
        talk: id of the host of the conversation; -1 if none.
        kind: kind of the conversation.
        host: slot of the host of the conversation; -1 if none.
        faces: slot of the conversation partner that the pedestrian looks at; -1 if none.
        spot: number of the spot that the pedestrian uses; -1 if none.
        place: place in the queue.
        arrived: whether the pedestrian is at the spot.
        event: event that the pedestrian wants to start; events are carried out after all pedestrians have decided.
        hazard: time integral of the event rates since the last event.
        fuse: value of ``hazard`` at which the next event occurs; -1 until it is drawn.
        circle: slots of pedestrians that talk or queue; only the leading entries are used.
        busy: whether the pedestrian has a decision to make.
        near: distance to the robot that the pedestrian notices, m.
        count: (W,) number of slots that have states.
        key: (W,) key of the random numbers.
    """

    since: Floats
    left: Floats
    weary: Floats
    rested: Floats
    pace: Floats
    trigger: Floats
    robot: Ints
    talk: Ints
    kind: Ints
    host: Ints
    faces: Ints
    spot: Ints
    place: Ints
    arrived: Ints
    event: Ints
    circle: Ints
    busy: Ints
    hazard: Floats
    fuse: Floats
    near: Floats
    wanted: Floats
    goal_x: Floats
    goal_y: Floats
    gaze: Floats
    seeks: Bools
    count: Ints  # type: ignore[assignment]
    key: Array


class Spots(NamedTuple):
    """The spots where furniture is used; all arrays except the last are (W, S).

    Attributes:
        x: position of the user, x, m.
        y: position of the user, y, m.
        heading: heading of the user, rad.
        use: index into `agora.pedestrians.shared.spots.USES`.
        count: (W,) number of spots in each world.
    """

    x: Floats
    y: Floats
    heading: Floats
    use: Ints
    count: Ints  # type: ignore[assignment]


def drifts() -> Floats:
    """Return the change in stress, energy and social need per second, (3, states), from Arena's statechart; states that are not in
    it use the values of the most similar state.
    """
    rest, tiring, chatting = (-0.05, 0.15, 0.05), (-0.01, -0.05, 0.01), (-0.01, 0.01, -0.05)
    handling = (-0.01, -0.05, 0.05)
    table = np.tile(np.array([-0.01, 0.01, 0.01], np.float32), (len(SOCIAL_STATES), 1))
    rows = {rest: (IDLE, SITTING), tiring: (RUNNING, PANICKING), handling: (INTERACTING, WORKING, INTERESTED)}
    rows[chatting] = (TALKING, LISTENING, TELLING, TEXTING, PHONE)
    for change, states in rows.items():
        table[list(states)] = change
    return np.ascontiguousarray(table.T)


def character(worlds: int, slots: int) -> Character:
    """Return empty characters."""
    return Character._make(np.ones((worlds, slots), np.float32) for _ in Character._fields)


def memory(worlds: int, slots: int) -> Memory:
    """Return an empty memory."""
    shape = (worlds, slots)
    reals = [np.zeros(shape, np.float32) for _ in range(6)]
    wholes = [np.zeros(shape, np.int32) for _ in range(11)]
    more = [np.zeros(shape, np.float32) for _ in range(7)]
    return Memory._make(
        [*reals, *wholes, *more, np.zeros(shape, np.bool_), np.zeros(worlds, np.int32), np.zeros(worlds, np.uint64)]
    )


def spots(worlds: int, most: int) -> Spots:
    """Return empty spots, ``most`` per world."""
    reals = [np.zeros((worlds, most), np.float32) for _ in range(3)]
    return Spots._make([*reals, np.zeros((worlds, most), np.int32), np.zeros(worlds, np.int32)])
