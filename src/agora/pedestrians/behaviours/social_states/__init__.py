"""Social states as in Arena 3.0 (Kaestner et al., RSS 2024, Table II and statechart), and reactions to robots as in HuNavSim.

Reactions: Perez-Higueras, Otero, Caballero and Merino, "HuNavSim: A ROS 2 human navigation simulator for benchmarking human-aware
robot navigation", RA-L 8, 2023. Differences from Arena's code: time is simulated time; changes are per second instead of per tick,
and events occur at rates, so that results do not depend on the time step; the cone of vision points along the heading; and
pedestrian types differ as their data specify.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agora.core.jit import bind, kernel
from agora.core.kernel_record import kernel_record
from agora.core.state import SOCIAL_STATES, Array, Doubles
from agora.draft.pedestrian_types import pedestrian_types
from agora.pedestrians.behaviours.social_states import _records as records
from agora.pedestrians.behaviours.social_states._motion import think
from agora.pedestrians.behaviours.social_states._records import FOREVER, IDLE, WALKING, Character
from agora.pedestrians.shared.spots import usable_spots
from agora.ranges import Chance, Checked, Distance, Duration, NotNegative, Period
from agora.seeds import key_of, normal_at

if TYPE_CHECKING:
    from agora.world.start import Habits, Start
    from agora.world.world import World

_LEAST = {"minimum_time": 1.0, "personal_radius": 0.5, "vision": 0.5, "half_angle": 5.0}
_HIGHEST_RATE = 20.0  # 1/s, rate of an event that a scenario requires
_ROLL = 0.5  # s, time between random draws in Arena's engine


@kernel
def _normals(key, identities, out, first, last):
    for i in range(first, last):
        for k in range(out.shape[1]):
            out[i, k] = normal_at(key, identities[i], 0, k)


class _Kinds(NamedTuple):
    """Means and standard deviations (types, normals) of the drawn values of every type, and the values that all pedestrians of a
    type share.
    """

    names: tuple[str, ...]
    mean: Doubles
    deviation: Doubles
    fixed: dict[str, Doubles]


@dataclass(frozen=True)
class SocialStates(Checked):
    """Gives pedestrians activities other than walking: idling, running, talking, telling stories, texting, phoning, using
    furniture, queueing, panicking, and reacting to robots.

    Stress, energy and social need lie in [0, 1], and each drifts at a rate that depends on the state; a pedestrian compares them
    with its own thresholds (`agora.draft.pedestrian_types`). Paces are multiples of the preferred speed set by the preceding
    behaviours; the values for running (2) and phoning (0.5) are from Arena. The behaviour replaces a waypoint only while a state
    needs a different one.

    Attributes:
        running_rate: rate of starting to run, per unit of energy above the high threshold, 1/s (Arena: 1).
        phone_rate: rate of starting to use a phone, per unit of social need above the high threshold, 1/s (Arena: 1).
        texting_share: fraction of the pedestrians using a phone who text instead of talking.
        seek_rate: rate of approaching a visible person to talk, while social need is above the high threshold, 1/s.
        chat_rate: rate of starting a conversation between two people, 1/s (Arena: probability 0.01 every 0.5 s).
        story_rate: rate of starting to tell a story, 1/s (Arena: as ``chat_rate``).
        group_rate: rate of starting a conversation in the walking group, 1/s (Arena: as ``chat_rate``).
        stroll_rate: rate of starting a conversation while walking, 1/s (Arena: as ``chat_rate``).
        chat_time: typical duration of a conversation between two people, s; the actual duration is 0.5 to 1.5 times this.
        story_time: typical duration of a story, s; varies like ``chat_time``.
        group_time: typical duration of a conversation in the walking group, s; varies like ``chat_time``.
        stroll_time: typical duration of a conversation while walking, s; varies like ``chat_time``.
        turn_time: time after which the next speaker talks, s.
        talk_distance: maximum distance at which a speaker can be heard, m.
        pause_rate: rate of pausing to stand idle, 1/s.
        pause_time: duration of such a pause, s.
        errand_rate: rate of going to a piece of furniture, regardless of energy, 1/s.
        rest_rate: rate of going to a piece of furniture while energy is low, 1/s.
        errand_reach: maximum distance of the furniture that pedestrians go to, m.
        errand_time: time spent at furniture, s.
        service_time: time spent at the head of a queue, s.
        notice: distance within which reactions to a robot begin, m.
        avoid_distance: distance that pedestrians keep from a robot that is in their way, m.
        avoid_pace: pace of pedestrians who avoid a robot.
        play_distance: distance from a robot at which curious pedestrians stay, m.
        play_pace: pace of curious pedestrians.
        interest_time: time for which curious pedestrians stay near a robot, s.
        block_distance: distance from a robot's centre at which threatening pedestrians stand in front of the robot, m.
        block_pace: pace of threatening pedestrians.
        threat_time: time for which threatening pedestrians block the robot, s.
        surprise_time: time for which surprised pedestrians stop to look, s.
        indifference: time after an encounter until a robot or a piece of furniture is of interest again, s.
        fear_of_speed: increase in stress per second, for each m/s by which a robot that is too near exceeds 0.7 m/s.
        phone_pace: pace of walking while using a phone.
        thinking_time: time between decisions, s, rounded to a whole number of crowd periods; between decisions, pedestrians repeat
            their last one.
    """

    running_rate: NotNegative = 1.0
    phone_rate: NotNegative = 1.0
    texting_share: Chance = 0.5
    seek_rate: NotNegative = 0.5
    chat_rate: NotNegative = 0.02
    story_rate: NotNegative = 0.02
    group_rate: NotNegative = 0.02
    stroll_rate: NotNegative = 0.02
    chat_time: Duration = 6.2
    story_time: Duration = 10.0
    group_time: Duration = 10.0
    stroll_time: Duration = 6.0
    turn_time: Period = 3.0
    talk_distance: Distance = 1.5
    pause_rate: NotNegative = 0.01
    pause_time: Duration = 4.0
    errand_rate: NotNegative = 0.02
    rest_rate: NotNegative = 0.5
    errand_reach: Distance = 8.0
    errand_time: Duration = 15.0
    service_time: Duration = 6.0
    notice: Distance = 4.0
    avoid_distance: Distance = 2.0
    avoid_pace: NotNegative = 0.6
    play_distance: Distance = 1.2
    play_pace: NotNegative = 0.7
    interest_time: Duration = 15.0
    block_distance: Distance = 1.0
    block_pace: NotNegative = 1.2
    threat_time: Duration = 10.0
    surprise_time: Duration = 4.0
    indifference: NotNegative = 30.0
    fear_of_speed: NotNegative = 1.0
    phone_pace: NotNegative = 0.5
    thinking_time: Duration = 0.25

    def attach(self, world: World, every: int, sees: int) -> AttachedSocialStates:
        """Attach the behaviour to a world."""
        return AttachedSocialStates(self, world, every, sees)


SocialRules = kernel_record("SocialRules", SocialStates)


class AttachedSocialStates:
    """Social states attached to one world.

    Attributes:
        memory: memory of the social states, updated at every tick.
        character: characters of the pedestrians.
        spots: spots where furniture is used.
    """

    def __init__(self, rules: SocialStates, world: World, every: int, sees: int) -> None:
        self._rules, self._world, self._every, self._sees = rules, world, every, sees
        shape = world.layout.worlds, world.slots
        self.memory, self.character = records.memory(*shape), records.character(*shape)
        self.spots = records.spots(world.layout.worlds, 1)
        self._kinds = _kinds()
        self._bound: list[Callable[[int, int], None]] = []

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the function of (first, last) that makes the decisions for worlds ``first <= w < last``, based on the given
        generation of the state.
        """
        if not self._bound:
            self._bind()
        return lambda first, last: self._bound[generation](first, last)

    def _bind(self) -> None:
        w = self._world
        dt = w.dt * self._every
        ticks = max(1, round(self._rules.thinking_time / dt))
        fixed = np.float32(dt), np.int64(ticks), np.int64(self._every), SocialRules.of(self._rules), records.drifts()
        self._bound = [
            bind(think, *fixed, np.int64(self._sees), people, w.traits, w.waypoints, w.minds, robots,
                 w.status.clock, self.character, self.memory, self.spots)
            for people, robots in (w.generation(0), w.generation(1))
        ]  # fmt: skip

    def reset(self, world: int, start: Start) -> None:
        """Start an episode in one world."""
        crowd, memory, w = start.pedestrians, self.memory, world
        n = len(crowd.id)
        memory.count[w], memory.key[w] = n, key_of(start.entry, start.seed, "social_states")
        for field in memory[: -len(("count", "key"))]:
            field[w] = 0
        memory.robot[w], memory.talk[w], memory.spot[w], memory.fuse[w] = -1, -1, -1, -1.0
        self._draw_characters(w, crowd.type, crowd.id, n)
        self._place_spots(w, start)
        memory.left[w, :n] = [self._duration(SOCIAL_STATES[state]) for state in crowd.state]
        for i, habits in enumerate(crowd.habits):
            self._take_habits(w, i, habits)
        walks = self._world.minds.state[w, :n] == WALKING
        memory.pace[w, :n] = np.where(walks, 1.0, 0.0)

    def _draw_characters(self, w: int, kinds: Array, identities: Array, n: int) -> None:
        """Draw the thresholds of the n pedestrians of world w, based on their ids and types."""
        names, mean, deviation, fixed = self._kinds
        drawn = np.zeros((n, len(names)))
        _normals(self.memory.key[w], identities, drawn, 0, n)
        values = dict(zip(names, (mean[kinds] + deviation[kinds] * drawn).T, strict=True))
        for name, least in _LEAST.items():
            values[name] = np.maximum(values[name], least)
        values["cosine"] = np.cos(np.radians(np.minimum(values.pop("half_angle"), 180.0)))
        values |= {name: value[kinds] for name, value in fixed.items()}
        for name in Character._fields:
            given: Any = values[name] if name in values else getattr(self._rules, name)
            getattr(self.character, name)[w, :n] = given

    def _place_spots(self, w: int, start: Start) -> None:
        radius = float(start.pedestrians.radius.max(initial=0.0))
        poses, uses = usable_spots(start.furniture, start.map, radius)
        if len(poses) > self.spots.x.shape[1]:
            wider = records.spots(self._world.layout.worlds, len(poses))
            for old, new in zip(self.spots, wider, strict=True):
                new[..., : old.shape[-1]] = old
            self.spots = wider
            self._bind()
        self.spots.count[w] = len(poses)
        self.spots.x[w, : len(poses)], self.spots.y[w, : len(poses)], self.spots.heading[w, : len(poses)] = poses.T
        self.spots.use[w, : len(poses)] = uses

    def _duration(self, state: str) -> float:
        """Return the duration of an initial state, s; `FOREVER` if the state has no time limit."""
        rules = self._rules
        times = {"interested": rules.interest_time, "surprised": rules.surprise_time, "threatening": rules.threat_time}
        times |= dict.fromkeys(("interacting", "sitting", "working", "queueing"), rules.errand_time)
        times |= {"idle": rules.pause_time, "talking": rules.chat_time, "listening": rules.chat_time, "telling": rules.story_time}
        return times.get(state, float(FOREVER))

    def _take_habits(self, w: int, i: int, habits: Habits) -> None:
        """Copy the habits that a scenario gives to one pedestrian."""
        for name in Character._fields:
            probability = getattr(habits, name.replace("_rate", "_probability"), None)
            if name.endswith("_rate") and probability is not None:
                rate = _HIGHEST_RATE if probability >= 1 else -math.log1p(-probability) / _ROLL
                getattr(self.character, name)[w, i] = min(rate, _HIGHEST_RATE)
            elif (name.endswith("_time") or name == "talk_distance") and getattr(habits, name, None) is not None:
                getattr(self.character, name)[w, i] = getattr(habits, name)
        if habits.wait_time > 0 or habits.trigger_radius > 0:
            self._world.minds.state[w, i] = IDLE
            self.memory.left[w, i], self.memory.trigger[w, i] = max(habits.wait_time, 1e-6), habits.trigger_radius


def _kinds() -> _Kinds:
    types = list(pedestrian_types().values())
    names = tuple(types[0].normals)
    table = np.array([[kind.normals[name] for name in names] for kind in types])
    fixed = {name: np.array([getattr(kind, name) for kind in types]) for name in ("running", "fear", "curiosity")}
    return _Kinds(names, table[..., 0], table[..., 1], fixed)
