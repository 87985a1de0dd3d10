"""Pedestrians that keep the social state given by their scenario, such as phoning, waiting or talking, until its time is up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agora.core.jit import bind, hidden, lean_kernel
from agora.core.scalar import ONE, ZERO, atan2, wrap
from agora.core.state import SOCIAL_STATES, STAY, TYPES, Bools, Floats, Ints
from agora.draft.pedestrian_types import pedestrian_types
from agora.ranges import Checked, NotNegative, Period

if TYPE_CHECKING:
    from agora.world.start import Start
    from agora.world.world import World

IDLE, WALKING, RUNNING, TALKING, LISTENING, TELLING, TEXTING, PHONE = (
    SOCIAL_STATES.index(name) for name in ("idle", "walking", "running", "talking", "listening", "telling", "texting", "phone")
)
_TURN = np.float32(2.0)  # rad/s, turning rate of a standing pedestrian
_HERE = np.float32(0.3)  # m, distance within which a pedestrian counts as being at its place
_STILL = np.float32(0.1)  # m/s
_NOBODY = np.iinfo(np.int32).max


class _Given(NamedTuple):
    """The given states: arrays (W, P).

    Attributes:
        held: whether the pedestrian keeps its given state.
        state: given state, as an index into `agora.core.state.SOCIAL_STATES`.
        until: time at which the state ends, s.
        radius: distance from a robot at which the state ends early, m; 0 if none.
        talk: number of the conversation; -1 if none.
        stands: whether the pedestrian stays at its place during the state.
        pace: speed of a walking pedestrian during the state, as a multiple of its undisturbed speed.
        x: place of a standing pedestrian, x, m.
        y: place of a standing pedestrian, y, m.
        heading: heading at that place, rad.
        count: number of waypoints in the pedestrian's own waypoint list.
        mode: mode of the pedestrian's own waypoint list.
    """

    held: Bools
    state: Ints
    until: Floats
    radius: Floats
    talk: Ints
    stands: Bools
    pace: Floats
    x: Floats
    y: Floats
    heading: Floats
    count: Ints  # type: ignore[assignment]
    mode: Ints


@hidden
def _robot_is_near(given, people, robots, w, i):
    """Return whether a robot is close enough to end the state of pedestrian i."""
    reach = given.radius[w, i] * given.radius[w, i]
    for r in range(robots.x.shape[1]):
        dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
        if robots.active[w, r] and dx * dx + dy * dy <= reach:
            return True
    return False


@hidden
def _end_state(given, people, waypoints, minds, w, i):
    """Release a pedestrian from its given state and restore its waypoints; a pedestrian without a destination becomes idle."""
    given.held[w, i], minds.taken[w, i], minds.partner[w, i] = False, False, -1
    minds.state[w, i] = WALKING
    if given.stands[w, i]:
        waypoints.count[w, i], waypoints.mode[w, i] = given.count[w, i], given.mode[w, i]
    dx, dy = waypoints.list_x[w, i, 0] - people.x[w, i], waypoints.list_y[w, i, 0] - people.y[w, i]
    if given.count[w, i] < 2 and given.mode[w, i] == STAY and dx * dx + dy * dy <= waypoints.tolerance[w, i] ** 2:
        minds.state[w, i] = IDLE


@hidden
def _is_alone(given, traits, w, i):
    """Return whether the conversation of pedestrian i is over, i.e. whether no one else takes part, or no one talks."""
    others, speakers = 0, 0
    for j in range(traits.count[w]):
        if given.held[w, j] and given.talk[w, j] == given.talk[w, i]:
            others += j != i
            speakers += given.state[w, j] != LISTENING
    return others == 0 or speakers == 0


@hidden
def _converse(time, turn, given, people, traits, minds, w, i):
    """Give pedestrian i its role in a conversation; return the direction to the centre of the other members, rad."""
    talk, members, speakers, speaks, sx, sy = given.talk[w, i], 0, 0, False, ZERO, ZERO
    speaker, other = -1, -1
    for j in range(traits.count[w]):
        if given.held[w, j] and given.talk[w, j] == talk:
            speakers += given.state[w, j] != LISTENING
            if j != i:
                members += 1
                sx += people.x[w, j]
                sy += people.y[w, j]
                other = j if other < 0 or traits.id[w, j] < traits.id[w, other] else other
    now = np.int64(time / turn) % speakers
    for j in range(traits.count[w]):
        if given.held[w, j] and given.talk[w, j] == talk and given.state[w, j] != LISTENING:
            rank = 0
            for k in range(traits.count[w]):
                if given.held[w, k] and given.talk[w, k] == talk and given.state[w, k] != LISTENING:
                    rank += traits.id[w, k] < traits.id[w, j]
            speaker = j if rank == now else speaker
    speaks = speaker == i
    minds.state[w, i] = given.state[w, i] if speaks else LISTENING
    minds.partner[w, i] = traits.id[w, other if speaks else speaker]
    inverse = ONE / np.float32(members)
    return atan2(sy * inverse - people.y[w, i], sx * inverse - people.x[w, i])


@lean_kernel
def _keep_states(dt, period, turn, given, people, traits, waypoints, minds, robots, clock, first, last):
    for w in range(first, last):
        if clock.done[w]:
            continue
        time = np.float32(clock.step[w]) * dt
        for i in range(traits.count[w]):
            if given.held[w, i]:
                near = given.radius[w, i] > ZERO and _robot_is_near(given, people, robots, w, i)
                if near or time >= given.until[w, i] or not people.active[w, i]:
                    _end_state(given, people, waypoints, minds, w, i)
        for i in range(traits.count[w]):
            if given.held[w, i] and given.talk[w, i] >= 0 and _is_alone(given, traits, w, i):
                _end_state(given, people, waypoints, minds, w, i)
        for i in range(traits.count[w]):
            if not given.held[w, i]:
                continue
            minds.state[w, i], minds.taken[w, i] = given.state[w, i], True
            traits.speed[w, i] = minds.speed[w, i] * given.pace[w, i]
            gaze = given.heading[w, i]
            if given.talk[w, i] >= 0:
                gaze = _converse(time, turn, given, people, traits, minds, w, i)
            if given.stands[w, i]:
                dx, dy = given.x[w, i] - people.x[w, i], given.y[w, i] - people.y[w, i]
                waypoints.x[w, i], waypoints.y[w, i] = given.x[w, i], given.y[w, i]
                if dx * dx + dy * dy <= _HERE * _HERE:
                    traits.speed[w, i] = ZERO
                vx, vy = people.vx[w, i], people.vy[w, i]
                if vx * vx + vy * vy < _STILL * _STILL:
                    most, left = _TURN * period, wrap(gaze - people.heading[w, i])
                    people.heading[w, i] = wrap(people.heading[w, i] + min(max(left, -most), most))


@dataclass(frozen=True)
class GivenStates(Checked):
    """Makes pedestrians keep the social state that the scenario gives them, from the start until the state ends.

    Pedestrians that walk or run follow their waypoints, and so do pedestrians that phone or text, if they have any. All others
    stand at their starting position, look in the direction given by the scenario, and return if they are pushed away. Pedestrians
    in a conversation look at each other and take turns: one talks and the others listen. If one of them tells a story, the speaker
    does not change.

    A state ends when its time is up or a robot is near (`agora.draft.people.Person`: ``state_time``, ``state_radius``). A
    conversation ends for a pedestrian when no one else takes part any more, or no one talks. After the state has ended, the
    pedestrian sets out for its waypoints, and other behaviours may control it; until then, they leave it alone.

    Attributes:
        turn_time: time after which the next speaker talks, s.
        phone_pace: speed of a pedestrian walking with a phone, as a multiple of its undisturbed speed (Arena: 0.5).
    """

    turn_time: Period = 3.0
    phone_pace: NotNegative = 0.5

    def attach(self, world: World, every: int, sees: int) -> AttachedGivenStates:
        """Attach the behaviour to a world."""
        return AttachedGivenStates(self, world, every)


class AttachedGivenStates:
    """Given states attached to one world."""

    def __init__(self, rules: GivenStates, world: World, every: int) -> None:
        shape = world.traits.speed.shape
        self._rules, self._world, self._period = rules, world, np.float32(world.dt * every)
        kinds: dict[str, Any] = {"held": np.bool_, "stands": np.bool_}
        kinds |= dict.fromkeys(("state", "talk", "count", "mode"), np.int32)
        self.given = _Given(**{name: np.zeros(shape, kinds.get(name, np.float32)) for name in _Given._fields})

    def reset(self, world: int, start: Start) -> None:
        """Start an episode in one world; the behaviour controls pedestrians with a given state from the first step on."""
        given, people, w = self.given, start.pedestrians, world
        for field in given:
            field[w] = 0
        n, here = len(people.id), self._world
        held, away = people.state_time > 0, np.hypot(*np.moveaxis(people.waypoints - people.position[:, None], -1, 0))
        listed = np.arange(away.shape[1]) < people.waypoint_count[:, None]
        goes = ((away > people.tolerance[:, None]) & listed).any(axis=1)
        running = np.array([pedestrian_types()[TYPES[kind]].running for kind in people.type])
        paces: dict[int, Any] = {RUNNING: running, TEXTING: self._rules.phone_pace, PHONE: self._rules.phone_pace}
        walks = np.isin(people.state, (WALKING, *paces)) & goes
        given.held[w, :n], given.stands[w, :n], given.state[w, :n] = held, held & ~walks, people.state
        given.until[w, :n], given.radius[w, :n], given.talk[w, :n] = people.state_time, people.state_radius, people.talk
        given.pace[w, :n] = 1.0
        for state, pace in paces.items():
            given.pace[w, :n] = np.where(walks & (people.state == state), pace, given.pace[w, :n])
        given.x[w, :n], given.y[w, :n] = people.position.T
        given.heading[w, :n] = people.heading
        given.count[w, :n], given.mode[w, :n] = here.waypoints.count[w, :n], here.waypoints.mode[w, :n]
        stands = given.stands[w]
        here.waypoints.count[w, stands], here.waypoints.mode[w, stands] = 1, STAY
        here.minds.taken[w, given.held[w]] = True
        for talk in np.unique(people.talk[held & (people.talk >= 0)]):
            members = held & (people.talk == talk)
            speakers = people.id[members & (people.state != LISTENING)]
            here.minds.state[w, :n][members & (people.id != speakers.min(initial=_NOBODY))] = LISTENING

    def think(self, generation: int) -> Callable[[int, int], None]:
        """Return the function of (first, last) that makes the decisions for worlds ``first <= w < last``."""
        w = self._world
        people, robots = w.generation(generation)
        now = (people, w.traits, w.waypoints, w.minds, robots, w.status.clock)
        return bind(_keep_states, np.float32(w.dt), self._period, np.float32(self._rules.turn_time), self.given, *now)
