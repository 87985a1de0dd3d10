"""Joint actions of pedestrians: conversations, spots at furniture, queues. Pedestrians are processed in order of id, never of
slot.
"""

from __future__ import annotations

import math

import numpy as np

from agora.core.jit import hidden, lean_inlined
from agora.core.scalar import HALF, ONE, TWO, ZERO, sincos
from agora.pedestrians.behaviours.social_states._records import (
    FOREVER,
    IDLE,
    INTERACTING,
    LISTENING,
    QUEUEING,
    SITTING,
    STORY,
    STROLL,
    TALKING,
    TELLING,
    TURNS,
    WALKING,
    WORKING,
)
from agora.pedestrians.shared.spots import QUEUE, SIT, WORK
from agora.seeds import uniform_at

NOTHING, CHAT, SEEK, STORY_TIME, GROUP, WALK_AND_TALK, ERRAND = range(7)
"""Values of `Memory.event`."""

_LONGEST_QUEUE = 8
_LENGTH = 3  # index of the random number for the duration of a meeting
_LAST = np.int64(2**62)


@lean_inlined
def _join_conversation(minds, memory, traits, w, i, host, state, left, kind):
    """Join the conversation of ``host``."""
    minds.state[w, i], minds.partner[w, i] = state, -1
    memory.since[w, i], memory.left[w, i] = ZERO, left
    memory.talk[w, i], memory.kind[w, i], memory.event[w, i] = traits.id[w, host], kind, NOTHING
    memory.spot[w, i], memory.arrived[w, i] = -1, 0


@lean_inlined
def _is_available(people, minds, memory, w, j):
    """Return whether a pedestrian is available for a conversation."""
    rests = (minds.state[w, j] == WALKING or minds.state[w, j] == IDLE) and not minds.taken[w, j]
    return people.active[w, j] and rests and memory.trigger[w, j] <= ZERO


@lean_inlined
def _partner(people, traits, minds, character, memory, w, i, reach, looks):
    """Return the slot of the nearest available person within ``reach`` m and, if ``looks``, in the cone of vision; -1 if none."""
    best, least = -1, reach * reach
    sine, cosine = sincos(people.heading[w, i])
    for j in range(memory.count[w]):
        if j == i or not _is_available(people, minds, memory, w, j):
            continue
        dx, dy = people.x[w, j] - people.x[w, i], people.y[w, j] - people.y[w, i]
        square = dx * dx + dy * dy
        if looks and dx * cosine + dy * sine < character.cosine[w, i] * math.sqrt(square):
            continue
        if square < least or (square == least and best >= 0 and traits.id[w, j] < traits.id[w, best]):
            best, least = j, square
    return best


@lean_inlined
def _start_conversation(people, traits, minds, character, memory, w, i, event, length):
    """Start a conversation between two people. The partner whom the pedestrian seeks is the host, so that the pedestrian approaches
    the partner.
    """
    seeks = event == SEEK
    reach = character.vision[w, i] if seeks else character.talk_distance[w, i]
    j = _partner(people, traits, minds, character, memory, w, i, reach, seeks)
    if j < 0:
        return
    strolls = event == WALK_AND_TALK
    left = (character.stroll_time[w, i] if strolls else character.chat_time[w, i]) * length
    kind = STROLL if strolls else TURNS
    _join_conversation(minds, memory, traits, w, i, j, TALKING, left, kind)
    _join_conversation(minds, memory, traits, w, j, j, LISTENING, left, kind)


@lean_inlined
def _gather(people, traits, minds, character, memory, w, i, event, length):
    """Start a story for the people nearby, or a conversation in the group, with the pedestrian that starts it as the host."""
    tells = event == STORY_TIME
    reach = character.talk_distance[w, i] * (ONE if tells else TWO)
    left = (character.story_time[w, i] if tells else character.group_time[w, i]) * length
    kind, listeners = STORY if tells else TURNS, 0
    for j in range(memory.count[w]):
        dx, dy = people.x[w, j] - people.x[w, i], people.y[w, j] - people.y[w, i]
        near = dx * dx + dy * dy <= reach * reach
        ours = tells or traits.group[w, j] == traits.group[w, i]
        if j != i and near and ours and _is_available(people, minds, memory, w, j):
            _join_conversation(minds, memory, traits, w, j, i, LISTENING, left, kind)
            listeners += 1
    if listeners:
        _join_conversation(minds, memory, traits, w, i, i, TELLING if tells else TALKING, left, kind)


@lean_inlined
def _go_to_spot(rules, people, minds, character, memory, spots, w, i, length):
    """Go to the nearest free spot, or to a seat if tired; the end of a queue counts as free while the queue is short enough."""
    tired = minds.energy[w, i] <= character.energy_low[w, i]
    best, least, ahead = -1, rules.errand_reach * rules.errand_reach, 0
    for s in range(spots.count[w]):
        dx, dy = spots.x[w, s] - people.x[w, i], spots.y[w, s] - people.y[w, i]
        square = dx * dx + dy * dy
        if square >= least or (tired and spots.use[w, s] != SIT):
            continue
        users = 0
        for j in range(memory.count[w]):
            users += people.active[w, j] and memory.spot[w, j] == s
        if users == 0 or (spots.use[w, s] == QUEUE and users < _LONGEST_QUEUE):
            best, least, ahead = s, square, users
    if best < 0:
        return
    use = spots.use[w, best]
    state = SITTING if use == SIT else WORKING if use == WORK else QUEUEING if use == QUEUE else INTERACTING
    minds.state[w, i], minds.partner[w, i] = state, -1
    memory.since[w, i], memory.spot[w, i], memory.place[w, i], memory.arrived[w, i] = ZERO, best, ahead, 0
    memory.left[w, i] = (rules.service_time if use == QUEUE else rules.errand_time) * length


@hidden
def carry_out_wishes(rules, people, traits, minds, character, memory, spots, clock, w):
    """Carry out the joint actions that pedestrians of world w want to start, lowest id first."""
    while True:
        i, lowest = -1, _LAST
        for j in range(memory.count[w]):
            if memory.event[w, j] != NOTHING and traits.id[w, j] < lowest:
                i, lowest = j, np.int64(traits.id[w, j])
        if i < 0:
            return
        event = memory.event[w, i]
        memory.event[w, i] = NOTHING
        length = HALF + np.float32(uniform_at(memory.key[w], traits.id[w, i], clock.step[w], _LENGTH))
        if event == ERRAND:
            _go_to_spot(rules, people, minds, character, memory, spots, w, i, length)
        elif event in (STORY_TIME, GROUP):
            _gather(people, traits, minds, character, memory, w, i, event, length)
        else:
            _start_conversation(people, traits, minds, character, memory, w, i, event, length)


@lean_inlined
def _precedes(traits, memory, w, i, j):
    """Return whether i precedes j in the circle: ordered by conversation, then by id."""
    a, b = memory.talk[w, i], memory.talk[w, j]
    return a < b or (a == b and traits.id[w, i] < traits.id[w, j])


@lean_inlined
def _form_circle(people, traits, minds, memory, w):
    """List the pedestrians that queue, and then those that talk; return the number of queueing pedestrians and the total."""
    queueing, size = 0, 0
    for i in range(memory.count[w]):
        talks = memory.talk[w, i] >= 0
        if people.active[w, i] and (talks or (minds.state[w, i] == QUEUEING and memory.spot[w, i] >= 0)):
            k = size
            while k > 0 and _precedes(traits, memory, w, i, memory.circle[w, k - 1]):
                memory.circle[w, k] = memory.circle[w, k - 1]
                k -= 1
            memory.circle[w, k] = i
            size += 1
            queueing += not talks
    return queueing, size


@lean_inlined
def _leave_conversation(minds, memory, w, i):
    """Leave a conversation and walk on."""
    minds.state[w, i], minds.partner[w, i], memory.talk[w, i] = WALKING, -1, -1
    memory.since[w, i], memory.left[w, i] = ZERO, FOREVER
    memory.hazard[w, i], memory.fuse[w, i] = ZERO, -ONE


@lean_inlined
def _pass_turn(rules, people, traits, minds, character, memory, w, first, members):
    """Pass the turn in a conversation (a section of the circle); end the conversation if the host is gone, alone, or out of
    earshot, or if time is up.
    """
    host = -1
    for k in range(first, first + members):
        j = memory.circle[w, k]
        host = j if traits.id[w, j] == memory.talk[w, j] else host
    over = host < 0 or members < 2 or memory.left[w, host] <= ZERO
    story, turn = False, 0
    if not over:
        story, turn = memory.kind[w, host] == STORY, np.int64(memory.since[w, host] / rules.turn_time) % members
    for k in range(members):
        i = memory.circle[w, first + k]
        if over or not _hears(people, character, memory, w, i, host):
            _leave_conversation(minds, memory, w, i)
            continue
        speaks = i == host if story else k == turn
        if speaks:
            rank = (0 if k else 1) if story else (turn + 1) % members
            faces = memory.circle[w, first + rank]
            minds.state[w, i] = TELLING if story else TALKING
        else:
            faces = host if story else memory.circle[w, first + turn]
            minds.state[w, i] = LISTENING
        memory.host[w, i], memory.faces[w, i], minds.partner[w, i] = host, faces, traits.id[w, faces]


@lean_inlined
def _hears(people, character, memory, w, i, host):
    """Return whether a pedestrian is within earshot of the host."""
    dx, dy = people.x[w, host] - people.x[w, i], people.y[w, host] - people.y[w, i]
    reach = TWO * (character.talk_distance[w, i] if memory.kind[w, i] == STROLL else character.vision[w, i])
    return dx * dx + dy * dy <= reach * reach


@lean_inlined
def _rank(traits, memory, w, size, i):
    """Return how many of the ``size`` queueing pedestrians are ahead of pedestrian i in its queue."""
    rank, place, identity = 0, memory.place[w, i], traits.id[w, i]
    for k in range(size):
        j = memory.circle[w, k]
        if memory.spot[w, j] == memory.spot[w, i]:
            first = memory.place[w, j] < place or (memory.place[w, j] == place and traits.id[w, j] < identity)
            rank += j != i and first
    return rank


@lean_inlined
def update_turns(rules, people, traits, minds, character, memory, w):
    """Update the turns in conversations and the places in queues of world w; all are computed before any is written."""
    queueing, size = _form_circle(people, traits, minds, memory, w)
    for k in range(queueing):
        i = memory.circle[w, k]
        memory.event[w, i] = _rank(traits, memory, w, queueing, i)
    for k in range(queueing):
        i = memory.circle[w, k]
        if memory.event[w, i] != memory.place[w, i]:
            memory.since[w, i], memory.arrived[w, i] = ZERO, 0
        memory.place[w, i], memory.event[w, i] = memory.event[w, i], NOTHING
    first = queueing
    while first < size:
        last, talk = first + 1, memory.talk[w, memory.circle[w, first]]
        while last < size and memory.talk[w, memory.circle[w, last]] == talk:
            last += 1
        _pass_turn(rules, people, traits, minds, character, memory, w, first, last - first)
        first = last
