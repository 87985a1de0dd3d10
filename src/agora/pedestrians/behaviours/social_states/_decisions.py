"""Decisions of pedestrians: first individual decisions, based on generation t; then decisions that involve two people, lowest id
first.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import lean_inlined
from agora.core.scalar import HALF, ONE, ZERO, sincos
from agora.core.state import SOCIAL_STATES, STAY
from agora.pedestrians.behaviours.social_states._meeting import CHAT, ERRAND, GROUP, NOTHING, SEEK, STORY_TIME, WALK_AND_TALK
from agora.pedestrians.behaviours.social_states._records import (
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
from agora.pedestrians.shared.neighbours import SEES_PEDESTRIANS, SEES_ROBOTS, lanes
from agora.seeds import uniform_at

_CLOSE = np.float32(1.1)  # multiple of the personal radius within which a robot is noticed in every direction
_LOSE = np.float32(1.2)  # multiple of the range of vision at which a pedestrian that reacts to a robot loses sight of it
_SLACK = np.float32(1.25)  # a pedestrian stops avoiding a robot at this multiple of the distance at which it started
_SLOW_ROBOT = np.float32(0.7)  # m/s, above which a robot's speed is frightening (Arena)
_AGES = HALF * FOREVER  # s, more than any drawn duration
_UNLIT = np.float32(-1.0)
_GIVE_UP = np.float32(30.0)  # s, time after which a pedestrian that does not reach its spot gives up
EVENT, CHOICE, DURATION = 0, 1, 2
"""Indices of the random numbers for one pedestrian in one step."""

_NONE = len(SOCIAL_STATES)
_OUTCOMES = (PHONE, TEXTING, RUNNING, IDLE, INTERESTED, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE)
_EVENTS = (NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, CHAT, SEEK, STORY_TIME, GROUP, WALK_AND_TALK, ERRAND)


@lean_inlined
def draw(minds, traits, memory, clock, w, i, use):
    """Return the uniform random number of a pedestrian for the current step and a given use."""
    return np.float32(uniform_at(memory.key[w], traits.id[w, i], clock.step[w], use))


@lean_inlined
def enter_state(minds, memory, w, i, state, left):
    """Enter a state that lasts ``left`` seconds, and give up the conversation or spot of the previous state."""
    minds.state[w, i], minds.partner[w, i] = state, -1
    memory.since[w, i], memory.left[w, i] = ZERO, left
    memory.talk[w, i], memory.spot[w, i], memory.arrived[w, i] = -1, -1, 0
    memory.hazard[w, i], memory.fuse[w, i] = ZERO, _UNLIT


@lean_inlined
def _notice(people, robots, character, minds, memory, sees, top, w):
    """For each pedestrian, find the nearest robot that it notices, and the distance to that robot; a pedestrian notices robots in
    its cone of vision, robots very near to it, and the robot that it already reacts to.
    """
    x, y, heading, state = people.x[w], people.y[w], people.heading[w], minds.state[w]
    vision, cone, personal = character.vision[w], character.cosine[w], character.personal_radius[w]
    robot, near = memory.robot[w], memory.near[w]
    for i in range(top):
        robot[i], near[i] = -1, FOREVER
    for r in range(robots.x.shape[1]):
        if not (sees & SEES_ROBOTS and robots.active[w, r]):
            continue
        rx, ry, number = robots.x[w, r], robots.y[w, r], np.int32(r)
        for i in range(top):
            dx, dy = rx - x[i], ry - y[i]
            distance = math.sqrt(dx * dx + dy * dy)
            sine, cosine = sincos(heading[i])
            s = state[i]
            held = (s == INTERESTED) | (s == SURPRISED) | (s == THREATENING) | (s == AVOIDING) | (s == PANICKING)
            ahead = dx * cosine + dy * sine >= cone[i] * distance
            seen = (distance <= _CLOSE * personal[i]) | (ahead & (distance <= vision[i])) | (held & (distance <= _LOSE * vision[i]))
            first = seen & (distance < near[i])
            robot[i] = number if first else robot[i]
            near[i] = distance if first else near[i]


@lean_inlined
def _drift(dt, rules, table, robots, character, minds, memory, top, w):
    """Update stress, energy, social need and timers over ``dt``; a robot within the personal radius raises stress."""
    stress, energy, social, state, reaction = minds.stress[w], minds.energy[w], minds.social[w], minds.state[w], minds.reaction[w]
    since, left, weary, rested = memory.since[w], memory.left[w], memory.weary[w], memory.rested[w]
    spot, arrived, place, near, robot = memory.spot[w], memory.arrived[w], memory.place[w], memory.near[w], memory.robot[w]
    personal, fear, count = character.personal_radius[w], character.fear[w], memory.count[w]
    calming, resting, sociable = table[0], table[1], table[2]
    for i in range(top):
        if i >= count:
            break
        s = state[i]
        more = calming[s]
        if near[i] <= personal[i] and reaction[i] != IMPASSIVE:
            vx, vy = robots.world_vx[w, robot[i]], robots.world_vy[w, robot[i]]
            more += fear[i] + rules.fear_of_speed * max(math.sqrt(vx * vx + vy * vy) - _SLOW_ROBOT, ZERO)
        stress[i] = min(max(stress[i] + more * dt, ZERO), ONE)
        energy[i] = min(max(energy[i] + resting[s] * dt, ZERO), ONE)
        social[i] = min(max(social[i] + sociable[s] * dt, ZERO), ONE)
    for i in range(top):
        since[i] += dt
        weary[i] = max(weary[i] - dt, ZERO)
        rested[i] = max(rested[i] - dt, ZERO)
        counts = (spot[i] < 0) | ((arrived[i] != 0) & ((state[i] != QUEUEING) | (place[i] == 0)))
        left[i] -= dt if counts else ZERO


@lean_inlined
def _rates(rules, company, grouped, furniture, social, energy, idle, curious, limits, rates):
    """Compute the event rates of a pedestrian that is walking or idle, 1/s, in the order of `_OUTCOMES`."""
    energy_low, energy_high, social_high = limits
    chat, story, group, stroll = rates
    lively = max(energy - energy_high, ZERO)
    talkative = max(social - social_high, ZERO) * rules.phone_rate
    walks = ZERO if idle else ONE
    tired = rules.rest_rate if energy <= energy_low else ZERO
    return (
        talkative * (ONE - rules.texting_share),
        talkative * rules.texting_share,
        walks * lively * rules.running_rate,
        walks * rules.pause_rate,
        curious,
        company * chat,
        company * rules.seek_rate if social >= social_high else ZERO,
        company * story,
        grouped * group,
        walks * company * stroll,
        furniture * (rules.errand_rate + lively + tired),
    )


@lean_inlined
def _all_rates(rules, spots, sees, traits, minds, character, memory, w, i):
    """Compute `_rates` for one pedestrian."""
    company = ONE if sees & SEES_PEDESTRIANS else ZERO
    grouped = company if traits.group[w, i] >= 0 else ZERO
    furniture = ONE if spots.count[w] > 0 and memory.rested[w, i] <= ZERO else ZERO
    curious = memory.robot[w, i] >= 0 and minds.reaction[w, i] == REGULAR and memory.weary[w, i] <= ZERO
    limits = (character.energy_low[w, i], character.energy_high[w, i], character.social_high[w, i])
    rates = (character.chat_rate[w, i], character.story_rate[w, i], character.group_rate[w, i], character.stroll_rate[w, i])
    idle = minds.state[w, i] == IDLE
    interest = character.curiosity[w, i] if curious else ZERO
    return _rates(rules, company, grouped, furniture, minds.social[w, i], minds.energy[w, i], idle, interest, limits, rates)


@lean_inlined
def _add_hazards(dt, rules, spots, sees, traits, waypoints, minds, character, memory, top, w):
    """Integrate the event rates of pedestrians that are walking or idle, and mark the pedestrians that have a decision to make."""
    state, reaction, mode = minds.state[w], minds.reaction[w], waypoints.mode[w]
    stress, energy, social = minds.stress[w], minds.energy[w], minds.social[w]
    since, hazard, fuse, busy, left = memory.since[w], memory.hazard[w], memory.fuse[w], memory.busy[w], memory.left[w]
    taken = minds.taken[w]
    trigger, robot, near, spot, arrived = memory.trigger[w], memory.robot[w], memory.near[w], memory.spot[w], memory.arrived[w]
    stress_high, energy_low, social_low = character.stress_high[w], character.energy_low[w], character.social_low[w]
    least, reach = character.minimum_time[w], max(rules.notice, rules.avoid_distance)
    for i in range(top):
        total = ZERO
        for rate in _all_rates(rules, spots, sees, traits, minds, character, memory, w, i):
            total += rate
        s = state[i]
        free = ((s == WALKING) | (s == IDLE)) & (since[i] >= least[i]) & (trigger[i] <= ZERO)
        hazard[i] += total * dt if free else ZERO
        due = free & (hazard[i] >= fuse[i]) | (trigger[i] > ZERO) | (left[i] <= ZERO) | (stress[i] > stress_high[i])
        rests = (s == WALKING) | (s == IDLE) | (s == RUNNING)
        reacts = rests & (near[i] <= reach) & (reaction[i] != IMPASSIVE) | (s == AVOIDING) | (s == PANICKING)
        lost = ((s == INTERESTED) | (s == SURPRISED) | (s == THREATENING)) & (robot[i] < 0)
        used_up = (s == RUNNING) & (energy[i] <= energy_low[i]) | ((s == PHONE) | (s == TEXTING)) & (social[i] <= social_low[i])
        stays = (s == WALKING) & (mode[i] == STAY) | (s == IDLE) & (left[i] > _AGES)
        gives_up = (spot[i] >= 0) & (arrived[i] == 0) & (since[i] > _GIVE_UP)
        decides = (due | reacts | lost | used_up | stays | gives_up) & (not taken[i])
        busy[i] = np.int32(1) if decides else np.int32(0)


@lean_inlined
def _is_at_end(people, waypoints, w, i):
    """Return whether a pedestrian stays at its last waypoint, i.e. has reached it and is not walking to another point."""
    n, k = waypoints.count[w, i], waypoints.index[w, i]
    x, y = waypoints.list_x[w, i, k], waypoints.list_y[w, i, k]
    if waypoints.mode[w, i] != STAY or k < n - 1 or n < 1 or waypoints.x[w, i] != x or waypoints.y[w, i] != y:
        return False
    dx, dy = x - people.x[w, i], y - people.y[w, i]
    return dx * dx + dy * dy <= waypoints.tolerance[w, i] * waypoints.tolerance[w, i]


@lean_inlined
def _finish_state(rules, people, waypoints, minds, robots, character, memory, w, i, r, distance):
    """Leave the current state if its time is up, its cause has disappeared, or its resource is used up."""
    state, since, over = minds.state[w, i], memory.since[w, i], memory.left[w, i] <= ZERO
    low = minds.energy[w, i] <= character.energy_low[w, i]
    quiet = minds.social[w, i] <= character.social_low[w, i]
    if state == PANICKING and since >= character.minimum_time[w, i]:
        minds.energy[w, i] = max(minds.energy[w, i], character.energy_high[w, i])
        enter_state(minds, memory, w, i, RUNNING, FOREVER)
    elif state == RUNNING:
        over = low
    elif state in (TEXTING, PHONE):
        over = over or quiet
    elif state == IDLE:
        over = over or (memory.left[w, i] > _AGES and not _is_at_end(people, waypoints, w, i))
    elif state == AVOIDING:
        scared = minds.reaction[w, i] == SCARED
        far = distance > _SLACK * (rules.notice if scared else rules.avoid_distance)
        over = since >= ONE and (far or not (scared or _is_in_the_way(people, waypoints, robots, w, i, r)))
    elif state in (INTERESTED, SURPRISED, THREATENING):
        over = over or r < 0
        memory.weary[w, i] = rules.indifference if over else ZERO
    elif state in (TALKING, LISTENING, TELLING):
        over = over and memory.talk[w, i] < 0
    elif state in (INTERACTING, QUEUEING, SITTING, WORKING):
        over = over or (memory.spot[w, i] >= 0 and since > _GIVE_UP and not memory.arrived[w, i])
        memory.rested[w, i] = rules.indifference if over else ZERO
    else:
        over = False
    if over and minds.state[w, i] == state:
        enter_state(minds, memory, w, i, WALKING, FOREVER)


@lean_inlined
def _is_approaching(people, robots, w, i, r):
    """Return whether the robot's own motion brings it closer to the pedestrian."""
    dx, dy = people.x[w, i] - robots.x[w, r], people.y[w, i] - robots.y[w, r]
    return dx * robots.world_vx[w, r] + dy * robots.world_vy[w, r] > ZERO


@lean_inlined
def _is_in_the_way(people, waypoints, robots, w, i, r):
    """Return whether the robot is approaching the pedestrian, or is in the half-plane that the pedestrian is walking into."""
    if r < 0:
        return False
    dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
    ahead = dx * (waypoints.x[w, i] - people.x[w, i]) + dy * (waypoints.y[w, i] - people.y[w, i])
    return ahead > ZERO or _is_approaching(people, robots, w, i, r)


@lean_inlined
def _react(rules, people, traits, waypoints, minds, robots, memory, clock, w, i, r, distance):
    """React to a robot according to the pedestrian's reaction type (HuNavSim)."""
    reaction, state, left = minds.reaction[w, i], -1, FOREVER
    fresh = memory.weary[w, i] <= ZERO and distance <= rules.notice
    if reaction == CURIOUS and fresh:
        state, left = INTERESTED, rules.interest_time
    elif reaction == STARTLED and fresh:
        state, left = SURPRISED, rules.surprise_time
    elif reaction == HOSTILE and fresh:
        state, left = THREATENING, rules.threat_time
    elif reaction == SCARED and distance <= rules.notice:
        state = AVOIDING
    elif (reaction in (REGULAR, CURIOUS)) and distance <= rules.avoid_distance:
        idle = minds.state[w, i] == IDLE
        if _is_approaching(people, robots, w, i, r) or (not idle and _is_in_the_way(people, waypoints, robots, w, i, r)):
            state = AVOIDING
    if state >= 0:
        share = draw(minds, traits, memory, clock, w, i, DURATION)
        enter_state(minds, memory, w, i, state, left * (HALF + share))


@lean_inlined
def _draw_event(rules, spots, sees, traits, minds, character, memory, clock, w, i):
    """Draw an event for a pedestrian that is walking or idle, with probabilities proportional to the event rates."""
    rates = _all_rates(rules, spots, sees, traits, minds, character, memory, w, i)
    total = ZERO
    for rate in rates:
        total += rate
    mark, k = draw(minds, traits, memory, clock, w, i, CHOICE) * total, 0
    while k < len(rates) - 1 and mark >= rates[k]:
        mark -= rates[k]
        k += 1
    memory.hazard[w, i], memory.fuse[w, i], memory.event[w, i] = ZERO, _UNLIT, _EVENTS[k]
    state = _OUTCOMES[k]
    if state < _NONE:
        length = HALF + draw(minds, traits, memory, clock, w, i, DURATION)
        left = rules.pause_time * length if state == IDLE else FOREVER
        enter_state(minds, memory, w, i, state, rules.interest_time * length if state == INTERESTED else left)


@lean_inlined
def _decide_one(rules, sees, people, traits, waypoints, minds, robots, clock, character, memory, spots, w, i):
    """Make the individual decision of one pedestrian: end the state, react to a robot, or start an activity."""
    r, distance = memory.robot[w, i], memory.near[w, i]
    if memory.trigger[w, i] > ZERO:
        if _is_triggered(people, robots, memory, w, i):
            enter_state(minds, memory, w, i, WALKING, FOREVER)
        return
    if memory.fuse[w, i] < ZERO:
        memory.fuse[w, i] = -math.log(ONE - draw(minds, traits, memory, clock, w, i, EVENT))
    settled = memory.since[w, i] >= character.minimum_time[w, i]
    if settled and minds.state[w, i] != PANICKING and minds.stress[w, i] > character.stress_high[w, i]:
        enter_state(minds, memory, w, i, PANICKING, FOREVER)
    else:
        _finish_state(rules, people, waypoints, minds, robots, character, memory, w, i, r, distance)
    state = minds.state[w, i]
    rests = state in (WALKING, IDLE, RUNNING)
    if rests and minds.reaction[w, i] != IMPASSIVE and distance <= max(rules.notice, rules.avoid_distance):
        _react(rules, people, traits, waypoints, minds, robots, memory, clock, w, i, r, distance)
        state = minds.state[w, i]
    if state == WALKING and _is_at_end(people, waypoints, w, i):
        enter_state(minds, memory, w, i, IDLE, FOREVER)
    elif ZERO <= memory.fuse[w, i] <= memory.hazard[w, i] and (state in (WALKING, IDLE)):
        _draw_event(rules, spots, sees, traits, minds, character, memory, clock, w, i)


@lean_inlined
def decide(dt, rules, table, sees, people, traits, waypoints, minds, robots, clock, character, memory, spots, w):
    """Make the individual decisions in world w: update drifting values, end states, react to robots, start activities. Return
    whether any pedestrian wants to start an activity that involves others.
    """
    count, wishes, others = memory.count[w], False, False
    top = lanes(count)
    _notice(people, robots, character, minds, memory, sees, top, w)
    _drift(dt, rules, table, robots, character, minds, memory, top, w)
    _add_hazards(dt, rules, spots, sees, traits, waypoints, minds, character, memory, top, w)
    for i in range(count):
        memory.event[w, i] = NOTHING
        if memory.busy[w, i] and people.active[w, i]:
            _decide_one(rules, sees, people, traits, waypoints, minds, robots, clock, character, memory, spots, w, i)
            wishes = wishes or memory.event[w, i] != NOTHING
        others = others or memory.talk[w, i] >= 0 or minds.state[w, i] == QUEUEING
    return wishes, others


@lean_inlined
def _is_triggered(people, robots, memory, w, i):
    """Return whether a robot is within the trigger zone of a waiting pedestrian."""
    reach = memory.trigger[w, i] * memory.trigger[w, i]
    for r in range(robots.x.shape[1]):
        dx, dy = robots.x[w, r] - people.x[w, i], robots.y[w, r] - people.y[w, i]
        if robots.active[w, r] and dx * dx + dy * dy <= reach:
            memory.trigger[w, i] = ZERO
            return True
    return False
