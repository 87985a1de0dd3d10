"""What the social states of W worlds are computed from: rules, characters, memories and spots, as the kernels read them."""

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
"""Kinds of conversation: who speaks changes; one tells a story; who speaks changes while they walk on."""

STAND, SIT, WORK, QUEUE = range(4)
USES = ("stand", "sit", "work", "queue")
"""What a spot is for (`agora.maps.furniture.Spot`); `Spots.use` is the number in this list."""

FOREVER = np.float32(1e9)


class SocialParameters(NamedTuple):
    """Parameters that all pedestrians share: the fields of `SocialStates`, float32, in its units."""

    running_rate: np.float32
    phone_rate: np.float32
    texting_share: np.float32
    seek_rate: np.float32
    pause_rate: np.float32
    pause_time: np.float32
    errand_rate: np.float32
    rest_rate: np.float32
    errand_reach: np.float32
    errand_time: np.float32
    service_time: np.float32
    turn_time: np.float32
    notice: np.float32
    avoid_distance: np.float32
    avoid_pace: np.float32
    play_distance: np.float32
    play_pace: np.float32
    block_distance: np.float32
    block_pace: np.float32
    interest_time: np.float32
    surprise_time: np.float32
    threat_time: np.float32
    indifference: np.float32
    fear_of_speed: np.float32
    phone_pace: np.float32


class Character(NamedTuple):
    """What a pedestrian is like, drawn or given at the start; (W, P) each.

    Attributes:
        stress_high, energy_low, energy_high, social_low, social_high: thresholds in [0, 1].
        minimum_time: s. vision, personal_radius: m. cosine: of the half-angle of vision. running: pace.
        fear, curiosity: 1/s.
        chat_rate, story_rate, group_rate, stroll_rate: of beginning a conversation, 1/s.
        chat_time, story_time, group_time, stroll_time: its typical duration, s. talk_distance: m.
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
    """What changes from tick to tick; (W, P) each but the last two.

    Attributes:
        since: time in the state, s. left: until it ends, s.
        weary: until robots are interesting again, s. rested: until furniture is, s.
        pace: present speed in undisturbed speeds; wanted: the one that it changes to.
        goal_x, goal_y: where it wants to go, m, where it seeks: where that is not the waypoint that it has anyway.
        gaze: angle to which it turns while it stands, rad; `FOREVER` where it does not.
        trigger: distance of a robot that ends the wait at the start, m; 0 for none.
        robot: number of the robot that it is aware of, -1 for none.
        talk: id of who the conversation is about, -1 for none. kind: of conversation.
        host, faces: slots of who it is about and of whom one looks at in it, -1 for none.
        spot: number of the spot it uses, -1 for none. place: in the queue. arrived: whether it is there.
        event: what it wants to begin, decided first and settled between all.
        hazard: what its rates have added up to since the last event; fuse: at which the next one happens, -1 where to be drawn.
        circle: slots of those who talk or queue, as many as there are. busy: whether there is something to decide.
        near: distance of the robot that it is aware of, m.
        count: (W,) slots that states are kept of. key: (W,) of the random numbers.
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
    """Where furniture is used; (W, S) each but the last.

    Attributes:
        x, y, heading: pose of who uses it, m and rad. use: number in `USES`. count: (W,) spots of each world.
    """

    x: Floats
    y: Floats
    heading: Floats
    use: Ints
    count: Ints  # type: ignore[assignment]


def drifts() -> Floats:
    """(3, states) change of stress, energy and social a second (Arena's statechart; rows without a source follow the nearest)."""
    rest, tiring, chatting = (-0.05, 0.15, 0.05), (-0.01, -0.05, 0.01), (-0.01, 0.01, -0.05)
    handling = (-0.01, -0.05, 0.05)
    table = np.tile(np.array([-0.01, 0.01, 0.01], np.float32), (len(SOCIAL_STATES), 1))
    rows = {rest: (IDLE, SITTING), tiring: (RUNNING, PANICKING), handling: (INTERACTING, WORKING, INTERESTED)}
    rows[chatting] = (TALKING, LISTENING, TELLING, TEXTING, PHONE)
    for change, states in rows.items():
        table[list(states)] = change
    return np.ascontiguousarray(table.T)


def character(worlds: int, slots: int) -> Character:
    """Characters of nobody."""
    return Character._make(np.ones((worlds, slots), np.float32) for _ in Character._fields)


def memory(worlds: int, slots: int) -> Memory:
    """Memories of nobody."""
    shape = (worlds, slots)
    reals = [np.zeros(shape, np.float32) for _ in range(6)]
    wholes = [np.zeros(shape, np.int32) for _ in range(11)]
    more = [np.zeros(shape, np.float32) for _ in range(7)]
    return Memory._make(
        [*reals, *wholes, *more, np.zeros(shape, np.bool_), np.zeros(worlds, np.int32), np.zeros(worlds, np.uint64)]
    )


def spots(worlds: int, most: int) -> Spots:
    """Room for so many spots a world, none in use."""
    reals = [np.zeros((worlds, most), np.float32) for _ in range(3)]
    return Spots._make([*reals, np.zeros((worlds, most), np.int32), np.zeros(worlds, np.int32)])
