"""Who does what next: first everybody for itself, from generation t, then what takes two, the lowest id first."""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import lean
from agora.core.scalar import HALF, ONE, ZERO, exp, sincos
from agora.core.state import SOCIAL_STATES
from agora.pedestrians.social_meeting import CHAT, ERRAND, GROUP, NOTHING, SEEK, STORY_TIME, WALK_AND_TALK
from agora.pedestrians.social_records import (
    AVOIDING,
    CURIOUS,
    FOREVER,
    HOSTILE,
    IDLE,
    IMPASSIVE,
    INTERACTING,
    INTERESTED,
    LISTENING,
    PANICKING,
    PHONE,
    QUEUEING,
    REGULAR,
    RUNNING,
    SCARED,
    SITTING,
    STARTLED,
    SURPRISED,
    TALKING,
    TELLING,
    TEXTING,
    THREATENING,
    WALKING,
    WORKING,
)
from agora.seeds import uniform_at

_STAY = 2
_CLOSE = np.float32(1.1)  # a robot within so many personal radii is noticed wherever one looks
_LOSE = np.float32(1.2)  # one who deals with a robot loses it at so many ranges of vision
_SLACK = np.float32(1.25)  # one who avoids a robot stops at so many distances at which it began
_SLOW_ROBOT = np.float32(0.7)  # m/s, above which a robot frightens by its speed (Arena)
_GIVE_UP = np.float32(30.0)  # s, after which one who does not get to a spot goes on
_THIRD, _QUARTER, _FIFTH = np.float32(1 / 3), np.float32(1 / 4), np.float32(1 / 5)
EVENT, CHOICE, DURATION = 0, 1, 2
"""Uses of the random numbers of one pedestrian at one step."""

_NONE = len(SOCIAL_STATES)
_OUTCOMES = (PHONE, TEXTING, RUNNING, IDLE, INTERESTED, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE)
_EVENTS = (NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, CHAT, SEEK, STORY_TIME, GROUP, WALK_AND_TALK, ERRAND)


@lean
def chance(rate_dt):
    """Probability that a Poisson event of this rate happens in this time: 1 - exp(-rate dt), also where that is tiny."""
    series = ONE - rate_dt * _FIFTH
    series = ONE - rate_dt * _QUARTER * series
    series = ONE - rate_dt * _THIRD * series
    series = rate_dt * (ONE - rate_dt * HALF * series)
    return series if rate_dt < HALF else ONE - exp(-rate_dt)


@lean
def draw(minds, traits, memory, status, w, i, use):
    """The uniform number of a pedestrian, the step and the use."""
    return np.float32(uniform_at(memory.key[w], traits.id[w, i], status.step[w], use))


@lean
def enter(minds, memory, w, i, state, left):
    """Begin a state that lasts ``left`` s; conversations and spots of the last one are given up."""
    minds.state[w, i], minds.partner[w, i] = state, -1
    memory.since[w, i], memory.left[w, i] = ZERO, left
    memory.talk[w, i], memory.spot[w, i], memory.arrived[w, i] = -1, -1, 0


@lean
def _aware_of(people, robots, character, minds, w, i):
    """Number and distance of the nearest robot that the pedestrian is aware of; -1 and a large distance for none."""
    best, least = -1, FOREVER
    state = minds.state[w, i]
    held = state == INTERESTED or state == SURPRISED or state == THREATENING or state == AVOIDING or state == PANICKING
    reach, close = character.vision[w, i], _CLOSE * character.personal_radius[w, i]
    for r in range(robots.x.shape[1]):
        dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
        distance = math.sqrt(dx * dx + dy * dy)
        if not robots.active[w, r] or distance >= least or distance > max(_LOSE * reach, close):
            continue
        seen = held or distance <= close
        if not seen and distance <= reach:
            sine, cosine = sincos(people.heading[w, i])
            seen = dx * cosine + dy * sine >= character.cosine[w, i] * distance
        if seen:
            best, least = r, distance
    return best, least


@lean
def _drift(dt, rules, table, robots, character, minds, memory, w, i, r, distance):
    """Stress, energy and social after ``dt``; a robot within the personal radius frightens."""
    state = minds.state[w, i]
    stress = minds.stress[w, i] + table[state, 0] * dt
    if r >= 0 and distance <= character.personal_radius[w, i] and minds.reaction[w, i] != IMPASSIVE:
        vx, vy = robots.world_vx[w, r], robots.world_vy[w, r]
        fast = max(math.sqrt(vx * vx + vy * vy) - _SLOW_ROBOT, ZERO)
        stress += (character.fear[w, i] + rules.fear_of_speed * fast) * dt
    minds.stress[w, i] = min(max(stress, ZERO), ONE)
    minds.energy[w, i] = min(max(minds.energy[w, i] + table[state, 1] * dt, ZERO), ONE)
    minds.social[w, i] = min(max(minds.social[w, i] + table[state, 2] * dt, ZERO), ONE)
    memory.since[w, i] += dt
    memory.weary[w, i] = max(memory.weary[w, i] - dt, ZERO)
    memory.rested[w, i] = max(memory.rested[w, i] - dt, ZERO)
    served = state != QUEUEING or memory.place[w, i] == 0
    if memory.spot[w, i] < 0 or (memory.arrived[w, i] and served):
        memory.left[w, i] -= dt


@lean
def _at_end(people, waypoints, w, i):
    """Whether one who stays at its last waypoint has got there."""
    n, k = waypoints.count[w, i], waypoints.index[w, i]
    if waypoints.mode[w, i] != _STAY or k < n - 1 or n < 1:
        return False
    dx, dy = waypoints.list_x[w, i, k] - people.x[w, i], waypoints.list_y[w, i, k] - people.y[w, i]
    return dx * dx + dy * dy <= waypoints.tolerance[w, i] * waypoints.tolerance[w, i]


@lean
def _finish(rules, people, waypoints, minds, robots, character, memory, w, i, r, distance):
    """Leave the state where its time is up, its reason has gone or what it needs is used up."""
    state, since, over = minds.state[w, i], memory.since[w, i], memory.left[w, i] <= ZERO
    low = minds.energy[w, i] <= character.energy_low[w, i]
    quiet = minds.social[w, i] <= character.social_low[w, i]
    if state == PANICKING and since >= character.minimum_time[w, i]:
        minds.energy[w, i] = max(minds.energy[w, i], character.energy_high[w, i])
        enter(minds, memory, w, i, RUNNING, FOREVER)
    elif state == RUNNING:
        over = low
    elif state == TEXTING or state == PHONE:
        over = over or quiet
    elif state == IDLE:
        over = over or (memory.left[w, i] > HALF * FOREVER and not _at_end(people, waypoints, w, i))
    elif state == AVOIDING:
        scared = minds.reaction[w, i] == SCARED
        far = distance > _SLACK * (rules.notice if scared else rules.avoid_distance)
        over = since >= ONE and (far or not (scared or _in_the_way(people, waypoints, robots, w, i, r)))
    elif state == INTERESTED or state == SURPRISED or state == THREATENING:
        over = over or r < 0
        memory.weary[w, i] = rules.indifference if over else ZERO
    elif state == TALKING or state == LISTENING or state == TELLING:
        over = over and memory.talk[w, i] < 0
    elif state == INTERACTING or state == QUEUEING or state == SITTING or state == WORKING:
        over = over or (memory.spot[w, i] >= 0 and since > _GIVE_UP and not memory.arrived[w, i])
        memory.rested[w, i] = rules.indifference if over else ZERO
    else:
        over = False
    if over and minds.state[w, i] == state:
        enter(minds, memory, w, i, WALKING, FOREVER)


@lean
def _closing(people, robots, w, i, r):
    """Whether the robot comes nearer to the pedestrian by its own motion."""
    dx, dy = people.x[w, i] - robots.x[w, r], people.y[w, i] - robots.y[w, r]
    return dx * robots.world_vx[w, r] + dy * robots.world_vy[w, r] > ZERO


@lean
def _in_the_way(people, waypoints, robots, w, i, r):
    """Whether the robot comes nearer, or is on the side that the pedestrian walks to."""
    if r < 0:
        return False
    dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
    ahead = dx * (waypoints.x[w, i] - people.x[w, i]) + dy * (waypoints.y[w, i] - people.y[w, i])
    return ahead > ZERO or _closing(people, robots, w, i, r)


@lean
def _react(rules, people, waypoints, minds, robots, memory, w, i, r, distance, share):
    """Take notice of a robot, each in its way (HuNavSim)."""
    reaction = minds.reaction[w, i]
    fresh = memory.weary[w, i] <= ZERO and distance <= rules.notice
    length = HALF + share
    if reaction == REGULAR or reaction == CURIOUS:
        if reaction == CURIOUS and fresh:
            enter(minds, memory, w, i, INTERESTED, rules.interest_time * length)
        elif distance <= rules.avoid_distance:
            if _closing(people, robots, w, i, r) if minds.state[w, i] == IDLE else _in_the_way(people, waypoints, robots, w, i, r):
                enter(minds, memory, w, i, AVOIDING, FOREVER)
    elif reaction == STARTLED and fresh:
        enter(minds, memory, w, i, SURPRISED, rules.surprise_time * length)
    elif reaction == SCARED and distance <= rules.notice:
        enter(minds, memory, w, i, AVOIDING, FOREVER)
    elif reaction == HOSTILE and fresh:
        enter(minds, memory, w, i, THREATENING, rules.threat_time * length)


@lean
def _happen(dt, rules, spots, sees, traits, minds, character, memory, status, w, i, r):
    """Let one of the things happen that may happen to one who walks or stands idle, at their rates."""
    social, energy = minds.social[w, i], minds.energy[w, i]
    lively = max(energy - character.energy_high[w, i], ZERO)
    talkative = max(social - character.social_high[w, i], ZERO) * rules.phone_rate
    idle = minds.state[w, i] == IDLE
    company = ONE if sees else ZERO
    grouped = company if traits.group[w, i] >= 0 else ZERO
    curious = character.curiosity[w, i] if r >= 0 and minds.reaction[w, i] == REGULAR and memory.weary[w, i] <= ZERO else ZERO
    tired = rules.rest_rate if energy <= character.energy_low[w, i] else ZERO
    errand = rules.errand_rate + lively + tired if spots.count[w] > 0 and memory.rested[w, i] <= ZERO else ZERO
    rates = (
        talkative * (ONE - rules.texting_share),
        talkative * rules.texting_share,
        ZERO if idle else lively * rules.running_rate,
        ZERO if idle else rules.pause_rate,
        curious,
        company * character.chat_rate[w, i],
        company * rules.seek_rate if social >= character.social_high[w, i] else ZERO,
        company * character.story_rate[w, i],
        grouped * character.group_rate[w, i],
        ZERO if idle else company * character.stroll_rate[w, i],
        errand,
    )
    total = ZERO
    for rate in rates:
        total += rate
    if total <= ZERO or draw(minds, traits, memory, status, w, i, EVENT) >= chance(total * dt):
        return
    mark, k = draw(minds, traits, memory, status, w, i, CHOICE) * total, 0
    while k < len(rates) - 1 and mark >= rates[k]:
        mark -= rates[k]
        k += 1
    memory.event[w, i] = _EVENTS[k]
    state = _OUTCOMES[k]
    if state < _NONE:
        length = HALF + draw(minds, traits, memory, status, w, i, DURATION)
        left = rules.pause_time * length if state == IDLE else FOREVER
        enter(minds, memory, w, i, state, rules.interest_time * length if state == INTERESTED else left)


@lean
def decide(dt, rules, table, sees, people, traits, waypoints, minds, robots, status, character, memory, spots, w):
    """Everybody of world w for itself: drift, end, react, begin; returns whether anybody wants or has something with others."""
    others = False
    for i in range(memory.count[w]):
        memory.event[w, i] = NOTHING
        if not people.active[w, i]:
            continue
        r, distance = _aware_of(people, robots, character, minds, w, i) if sees & 2 else (-1, FOREVER)
        memory.robot[w, i] = r
        _drift(dt, rules, table, robots, character, minds, memory, w, i, r, distance)
        if memory.trigger[w, i] > ZERO:
            if _triggered(people, robots, memory, w, i):
                enter(minds, memory, w, i, WALKING, FOREVER)
            continue
        state = minds.state[w, i]
        settled = memory.since[w, i] >= character.minimum_time[w, i]
        if settled and state != PANICKING and minds.stress[w, i] > character.stress_high[w, i]:
            enter(minds, memory, w, i, PANICKING, FOREVER)
        else:
            _finish(rules, people, waypoints, minds, robots, character, memory, w, i, r, distance)
        state = minds.state[w, i]
        rests = state == WALKING or state == IDLE or state == RUNNING
        if rests and minds.reaction[w, i] != IMPASSIVE and distance <= max(rules.notice, rules.avoid_distance):
            share = draw(minds, traits, memory, status, w, i, DURATION)
            _react(rules, people, waypoints, minds, robots, memory, w, i, r, distance, share)
            state = minds.state[w, i]
        if state == WALKING and _at_end(people, waypoints, w, i):
            enter(minds, memory, w, i, IDLE, FOREVER)
        elif settled and (state == WALKING or state == IDLE):
            _happen(dt, rules, spots, sees & 1, traits, minds, character, memory, status, w, i, r)
        others = others or memory.event[w, i] != NOTHING or memory.talk[w, i] >= 0 or minds.state[w, i] == QUEUEING
    return others


@lean
def _triggered(people, robots, memory, w, i):
    """Whether a robot is within the trigger zone of one who waits for it."""
    reach = memory.trigger[w, i] * memory.trigger[w, i]
    for r in range(robots.x.shape[1]):
        dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
        if robots.active[w, r] and dx * dx + dy * dy <= reach:
            memory.trigger[w, i] = ZERO
            return True
    return False
